"""Token totals of Claude Code sessions, beside those of a library that reads them too."""

from __future__ import annotations

from pathlib import Path

import pytest

from turncurve.readers.claude_code import READER

agentpile = pytest.importorskip("agentpile", reason="the second opinion is not installed")

FIXTURES = sorted((Path(__file__).resolve().parents[1] / "data/claude_code").glob("*.jsonl"))


def theirs(path: Path) -> tuple[int, int]:
    """Input and output tokens of all steps, as the other library counts them."""
    metrics = [
        step.get("metrics") or {}
        for run in agentpile.load(str(path))
        for step in run.to_dict()["steps"]
    ]
    return (
        sum(one.get("prompt_tokens") or 0 for one in metrics),
        sum(one.get("completion_tokens") or 0 for one in metrics),
    )


def ours(path: Path) -> tuple[int, int]:
    usages = [
        turn.usage
        for run in READER.read(path, lambda _: None)
        for turn in run.turns
        if turn.usage is not None
    ]
    return sum(u.context_tokens or 0 for u in usages), sum(u.output or 0 for u in usages)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_fixtures_agree(path: Path) -> None:
    """Input and output tokens of each fixture are the same in both."""
    assert ours(path) == theirs(path)


@pytest.mark.corpus
def test_real_sessions_agree(corpus) -> None:
    """So are those of the real sessions; the longest has 107,597 output tokens."""
    paths = sorted(corpus("claude_code").glob("*.jsonl"))
    for path in paths:
        assert ours(path) == theirs(path), path.name
    assert max(ours(path)[1] for path in paths) == 107_597
