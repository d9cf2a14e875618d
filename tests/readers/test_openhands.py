"""OpenHands event lists and evaluation output to runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turncurve.model import ExitType, Run
from turncurve.readers.base import raise_problem
from turncurve.readers.openhands import READER


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def test_actions_of_one_response_are_one_turn(data: Path) -> None:
    """Two calls of one model response are one turn, counted once."""
    (run,) = read(data / "openhands/events.json")
    assert [[call.name for call in turn.tool_calls] for turn in run.turns] == [
        ["execute_bash", "str_replace_editor"],
        ["execute_bash"],
        ["execute_bash"],
        ["finish"],
    ]
    assert run.turns[0].text == "I look."


def test_cumulative_counters_are_differenced(data: Path) -> None:
    """Tokens and cost of a turn are how much the session's counters grew."""
    (run,) = read(data / "openhands/events.json")
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert [usage.context_tokens for usage in usages] == [1000, 1200, 500, 300]
    assert [usage.cache_read for usage in usages] == [0, 900, 100, 200]
    assert [turn.cost_usd for turn in run.turns] == pytest.approx([0.01, 0.02, 0.01, 0.01])


def test_results_find_their_cause(data: Path) -> None:
    """Observations go to the action that they name, over gaps in the ids."""
    (run,) = read(data / "openhands/events.json")
    assert [(r.text, r.error, r.detector) for turn in run.turns for r in turn.tool_results] == [
        ("a.txt", False, "return_code"),
        ("no such file", True, "status"),
        ("failed", True, "return_code"),
        ("still running", None, None),
    ]


def test_a_condensation_is_a_compaction(data: Path) -> None:
    """It is no turn, and stands before the turn after it."""
    (run,) = read(data / "openhands/events.json")
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 3)]


def test_calls_listed_by_response_count(data: Path) -> None:
    """Tokens and latency that are listed for a response are that turn's."""
    run, _ = read(data / "openhands/output.jsonl")
    usage = run.turns[0].usage
    assert usage
    assert (usage.input_uncached, usage.cache_read, usage.cache_write) == (250, 100, 50)
    assert run.turns[0].seconds == 2.5


def test_evaluation_rows_are_runs(data: Path) -> None:
    """A row is a run with its outcome; too many iterations are the budget's end."""
    runs = read(data / "openhands/output.jsonl")
    assert [(run.scenario, run.success, run.exit_type) for run in runs] == [
        ("demo-1", True, ExitType.SUCCESS_FINISH),
        ("demo-2", False, ExitType.BUDGET),
    ]


def test_pairs_of_old_outputs(data: Path) -> None:
    """A history of pairs of action and observation gives turns with results, and the run's cost."""
    _, run = read(data / "openhands/output.jsonl")
    assert [r.error for turn in run.turns for r in turn.tool_results] == [False]
    assert run.totals
    assert run.totals.cost_usd == 0.5


def test_a_session_that_broke_off_is_still_running(data: Path, tmp_path: Path) -> None:
    """Where the last state is running, the run has no end yet."""
    events = json.loads((data / "openhands/events.json").read_text())
    events[-1]["extras"]["agent_state"] = "running"
    path = tmp_path / "events.json"
    path.write_text(json.dumps(events[:-2] + events[-1:]))
    assert read(path)[0].exit_type is ExitType.STILL_RUNNING


@pytest.mark.corpus
def test_real_events(corpus) -> None:
    """Two turns of 5,863 and 5,996 prompt tokens; the second had 5,632 of them cached."""
    path = corpus("atif/harbor__0001-trajectory-format__openhands_trajectory.json")
    (run,) = read(path)
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert [usage.context_tokens for usage in usages] == [5863, 5996]
    assert usages[1].cache_read == 5632
    assert sum(turn.cost_usd for turn in run.turns) == pytest.approx(0.01934775)
