"""The shipped example holds what examples/README.md says is planted in it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import pytest

from turncurve.model import Run
from turncurve.readers.base import raise_problem
from turncurve.readers.inspect_log import read

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def read_folder(folder: Path) -> list[Run]:
    return [run for path in sorted(folder.glob("*.eval")) for run in read(path, raise_problem)]


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """All runs of the example."""
    return read_folder(EXAMPLES / "long-agent")


def compaction(run: Run) -> int | None:
    return next((event.turn for event in run.events if event.kind == "compaction"), None)


def quality(run: Run, within: Callable[[int], bool]) -> float:
    return mean(
        turn.values["quality"]
        for turn in run.turns
        if within(turn.index) and "quality" in turn.values
    )


def failed(runs: list[Run], within: Callable[[Run, int], bool]) -> tuple[int, int]:
    results = [
        result
        for run in runs
        for turn in run.turns
        if within(run, turn.index)
        for result in turn.tool_results
    ]
    return sum(result.error is True for result in results), len(results)


def test_shape(runs: list[Run]) -> None:
    """8 shifts of 3 trials, 1,760 turns, 62 to 85 a run, in under 2 MB."""
    assert Counter(Counter(run.scenario for run in runs).values()) == {3: 8}
    lengths = [len(run.turns) for run in runs]
    assert (sum(lengths), min(lengths), max(lengths)) == (1760, 62, 85)
    size = sum(path.stat().st_size for path in (EXAMPLES / "long-agent").iterdir())
    assert size < 2_000_000


def test_how_the_runs_ended(runs: list[Run]) -> None:
    """14 runs succeed, 7 fail, 3 come to the turn limit."""
    exits = Counter(run.exit_type.value for run in runs)
    assert exits == {"success_finish": 14, "fail_finish": 7, "budget": 3}
    assert {run.exit_text for run in runs if run.exit_type.value == "budget"} == {"turn limit"}


def test_one_compaction_in_the_middle(runs: list[Run]) -> None:
    """18 runs are compacted once, before turn 42 to 44; the 6 kept whole are not."""
    counts = Counter(sum(event.kind == "compaction" for event in run.events) for run in runs)
    assert counts == {1: 18, 0: 6}
    assert {compaction(run) for run in runs} == {42, 43, 44, None}


def test_the_context_falls_at_the_compaction(runs: list[Run]) -> None:
    """The compaction takes more than half of the context away, and caches grow with it."""
    for run in runs:
        tokens = [turn.usage.context_tokens or 0 for turn in run.turns if turn.usage]
        cached = [turn.usage.cache_read or 0 for turn in run.turns if turn.usage]
        assert len(tokens) == len(run.turns)
        assert all(0 <= part < whole for part, whole in zip(cached, tokens, strict=True))
        turn = compaction(run)
        if turn is not None:
            assert tokens[turn - 1] < tokens[turn - 2] / 2
            assert tokens[: turn - 1] == sorted(tokens[: turn - 1])


def test_quality_falls_after_the_compaction_and_not_before(runs: list[Run]) -> None:
    """The planted step: 0.987 before the compaction, 0.711 after it, in each run at least 0.2."""
    compacted = [(run, turn) for run in runs if (turn := compaction(run)) is not None]
    before = [quality(run, lambda t, at=turn: t < at) for run, turn in compacted]
    after = [quality(run, lambda t, at=turn: t >= at) for run, turn in compacted]
    assert mean(before) == pytest.approx(0.987, abs=5e-4)
    assert mean(after) == pytest.approx(0.711, abs=5e-4)
    assert min(b - a for b, a in zip(before, after, strict=True)) > 0.2
    early = [quality(run, lambda t: t <= 20) for run, _ in compacted]
    late = [quality(run, lambda t, at=turn: 20 < t < at) for run, turn in compacted]
    assert abs(mean(early) - mean(late)) < 0.02


def test_a_long_context_alone_is_no_fault(runs: list[Run]) -> None:
    """Where the conversation is kept whole, quality is 0.975 throughout, at a larger context."""
    whole = [run for run in runs if compaction(run) is None]
    assert mean(quality(run, lambda t: t > 0) for run in whole) == pytest.approx(0.975, abs=5e-4)
    halves = [quality(run, lambda t: t <= 40) - quality(run, lambda t: t > 40) for run in whole]
    assert abs(mean(halves)) < 0.02
    largest = [max(t.usage.context_tokens or 0 for t in run.turns if t.usage) for run in whole]
    assert min(largest) > 9000


def test_tool_errors_rise_after_the_compaction(runs: list[Run]) -> None:
    """3 of 759 tool results fail before the compaction, 111 of 572 after, 5 of 426 without one."""
    compacted = [run for run in runs if compaction(run) is not None]
    whole = [run for run in runs if compaction(run) is None]
    assert failed(compacted, lambda run, t: t < (compaction(run) or 0)) == (3, 759)
    assert failed(compacted, lambda run, t: t >= (compaction(run) or 0)) == (111, 572)
    assert failed(whole, lambda _, t: t > 0) == (5, 426)


def test_the_readme_says_these_figures() -> None:
    """The figures that these tests hold stand in the example's README."""
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for figure in ("0.987", "0.711", "0.975", "3 of 759", "111 of 572", "5 of 426", "1,760"):
        assert figure in text


def test_nothing_of_the_machine_that_made_it(runs: list[Run]) -> None:
    """The logs name no folder of the machine on which they were made."""
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 - an extra

    texts = [
        read_eval_log(str(path)).model_dump_json(exclude={"location"})
        for path in (EXAMPLES / "long-agent").glob("*.eval")
    ]
    assert runs
    assert not [found for text in texts for found in re.findall(r"/(?:home|root|tmp|Users)/", text)]


def test_making_it_again_gives_the_same(runs: list[Run], tmp_path: Path) -> None:
    """A shift made anew has the shipped turns, calls, results and scores; times and ids differ."""
    script = [sys.executable, str(EXAMPLES / "make_example.py"), str(tmp_path), "audit-week"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    def facts(run: Run) -> list[object]:
        return [
            (
                turn.text,
                [(call.name, call.arguments) for call in turn.tool_calls],
                [(result.text, result.error) for result in turn.tool_results],
                turn.usage,
                turn.values,
            )
            for turn in run.turns
        ]

    shipped = [facts(run) for run in runs if run.scenario == "ticket_desk/audit-week"]
    assert [facts(run) for run in read_folder(tmp_path)] == shipped
