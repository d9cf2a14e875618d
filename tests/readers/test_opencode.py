"""opencode exports to runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

READER = READERS["opencode"]


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def test_a_step_is_a_turn(data: Path) -> None:
    """A message of two steps is two turns, each with its tokens, cost and tools."""
    (run,) = read(data / "opencode/session.json")
    assert [[c.name for c in turn.tool_calls] for turn in run.turns] == [
        ["bash"],
        ["read"],
        [],
        [],
    ]
    assert [turn.cost_usd for turn in run.turns] == [0.03, 0.01, 0.01, 0.01]


def test_cache_and_reasoning_are_apart(data: Path) -> None:
    """Context is the sum of the three inputs; reasoning is a part of the output."""
    usage = read(data / "opencode/session.json")[0].turns[0].usage
    assert usage
    assert (usage.context_tokens, usage.output, usage.reasoning) == (1202, 80, 5)


def test_states_are_results(data: Path) -> None:
    """completed and error are results, by status."""
    run = read(data / "opencode/session.json")[0]
    results = [r for turn in run.turns for r in turn.tool_results]
    assert [(r.text, r.error, r.detector) for r in results] == [
        ("ok", False, "status"),
        ("File not found", True, "status"),
    ]


def test_a_pending_call_has_no_result(data: Path, tmp_path: Path) -> None:
    """A tool that is still running has a call and no result."""
    document = json.loads((data / "opencode/session.json").read_text())
    document["messages"][1]["parts"][3]["state"] = {"status": "running", "input": {}}
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document))
    turn = read(path)[0].turns[0]
    assert (len(turn.tool_calls), turn.tool_results) == (1, ())


def test_the_turn_after_the_summary_follows_the_compaction(data: Path) -> None:
    """The summary is a call itself; the compaction stands before the turn after it."""
    run = read(data / "opencode/session.json")[0]
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 4)]


def test_a_child_session_names_its_parent(data: Path) -> None:
    """A session with a parentID is a sub-agent's; an abort is the user's."""
    (run,) = read(data / "opencode/child.json")
    assert (run.parent, run.agent, run.exit_type) == (
        "ses_1",
        "main/explore",
        ExitType.USER_ABORT,
    )


def test_seconds_are_those_of_a_bare_answer(data: Path) -> None:
    """A message's time holds its tools' too, so only an answer without tools has seconds."""
    run = read(data / "opencode/session.json")[0]
    assert [turn.seconds for turn in run.turns] == [None, None, None, 2.5]


@pytest.mark.corpus
def test_real_session(corpus) -> None:
    """Calls, tokens and cost add up to what the session says of itself."""
    path = corpus("opencode/session.json")
    info = json.loads(path.read_text())["info"]
    (run,) = read(path)
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert len(run.turns) == 21
    assert sum(turn.cost_usd for turn in run.turns) == pytest.approx(info["cost"])
    assert sum(u.output for u in usages) == info["tokens"]["output"]
    assert sum(u.cache_read for u in usages) == info["tokens"]["cache"]["read"]
    assert sum(u.cache_write for u in usages) == info["tokens"]["cache"]["write"]
