"""The hook: off by default, records turns, ends spirals that are still scored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.agent import as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, includes, mean, scorer
from inspect_ai.solver import TaskState

import turncurve.inspect_ext.live_hook  # noqa: F401 - registers the hook
from inspect_ext.offline import lookup, mock, record, run, says, submits, uses, words
from turncurve.ingest import read_table
from turncurve.inspect_ext import signals_scorer
from turncurve.inspect_ext.switches import LIVE, STOP, is_on, most_turns_in_spiral

STUCK = " ".join(f"k{n}" for n in range(15)) + " " + " ".join(["a", "b"] * 30)


def task(*scorers: Scorer, **fields: Any) -> Task:
    return Task(
        name="desk",
        dataset=[Sample(id=7, input="w", target="done")],
        solver=react(tools=[lookup()], **fields),
        scorer=list(scorers) or [includes(), signals_scorer()],
    )


def rows(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("turns-*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_it_is_off_unless_switched_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a switch nothing is recorded and no run ends."""
    monkeypatch.delenv(LIVE, raising=False)
    monkeypatch.delenv(STOP, raising=False)
    assert not is_on()
    done = run(task(), words(STUCK), tmp_path / "logs")
    assert (done.samples or [])[0].limit is None
    assert record(done)["n_turns"] == 76


def test_it_records_each_turn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row a turn with the tokens of the log, under the run's own name, though told twice."""
    monkeypatch.setenv(LIVE, str(tmp_path / "live"))
    done = run(task(), words("k1 k2 bad k4"), tmp_path / "logs", epochs=2)
    found = rows(tmp_path / "live")
    assert len(found) == 10
    table = read_table([tmp_path / "logs"]).table
    live = read_table([tmp_path / "live"]).table
    assert sorted(live.runs.id) == sorted(table.runs.id)
    order = [list(live.runs.id).index(name) for name in table.runs.id]
    again = live.take_runs(order) if order != [0, 1] else live
    for name in ("context_tokens", "output_tokens", "compaction", "started_at"):
        assert again.columns[name].tolist() == table.columns[name].tolist()
    assert [row["turn"] for row in found if row["trial"] == 1] == [1, 2, 3, 4, 5]
    assert done.status == "success"


def test_graders_and_sub_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader's calls are no turns; a sub-agent's are, under its own name."""
    monkeypatch.setenv(LIVE, str(tmp_path / "live"))

    @scorer(metrics=[mean()])
    def asks() -> Scorer:
        async def grade(state: TaskState, target: Target) -> Score:
            del state, target
            await get_model().generate("grade it")
            return Score(value=1)

        return grade

    def boss(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        if any(message.text == "dig" for message in messages):
            return submits("dug")
        if messages[0].text == "grade it":
            return says("fine")
        return [uses("digger", input="dig"), submits()][turn - 1]

    digger = react(name="digger", description="digs", tools=[lookup()])
    made = task(asks())
    made.solver = react(tools=[as_tool(digger)])
    run(made, boss, tmp_path / "logs")
    found = [(row["agent"], row["turn"]) for row in rows(tmp_path / "live")]
    assert sorted(found) == [("react", 1), ("react", 2), ("react/digger", 1)]


def test_a_spiral_ends_as_a_limit_and_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends after five turns in a spiral, before the sixth; scores and limit stand in the log."""
    monkeypatch.setenv(STOP, "5")
    done = run(task(), words(STUCK), tmp_path)
    sample = (done.samples or [])[0]
    assert done.status == "success"
    assert sample.limit is not None
    assert sample.limit.type == "custom"
    assert set(sample.scores or {}) == {"includes", "signals_scorer"}
    spiral = [mark == 1 for mark in record(done)["signals"]["spiral"]]
    assert spiral.index(True) == len(spiral) - 5
    assert all(spiral[-5:])
    told = f"spiral: turns {len(spiral) - 4} to {len(spiral)} go round in circles"
    if "reason" in type(sample.limit).model_fields:  # Inspect 0.3.260 keeps none
        assert sample.limit.reason == told
    table = read_table([done.location]).table
    assert table.runs.exit_type.tolist() == ["budget"]
    assert "limit" in table.events.kind.tolist()


def test_a_healthy_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty different calls are no spiral, whatever the switch."""
    monkeypatch.setenv(STOP, "1")
    done = run(task(), words(" ".join(f"k{n}" for n in range(40))), tmp_path)
    assert (done.samples or [])[0].limit is None
    assert record(done)["n_turns"] == 41


def test_scoring_is_never_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scorer that asks a model about a run that ended in a spiral gets its answer."""
    asked: list[str] = []

    @scorer(metrics=[mean()])
    def asks() -> Scorer:
        async def grade(state: TaskState, target: Target) -> Score:
            del state, target
            asked.append((await get_model(role="grader").generate("grade it")).completion)
            return Score(value=1)

        return grade

    monkeypatch.setenv(STOP, "1")
    grader = mock(lambda turn, messages: says("fine"))  # noqa: ARG005 - a script
    done = run(task(asks()), words(STUCK), tmp_path, model_roles={"grader": grader})
    sample = (done.samples or [])[0]
    assert (done.status, sample.error, asked) == ("success", None, ["fine"])
    assert sample.limit is not None


@pytest.mark.parametrize("given", ["0", "-3", "five", "2.5"])
def test_a_switch_that_cannot_be_read(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the variable, what was wanted and what came."""
    monkeypatch.setenv(STOP, given)
    with pytest.raises(ValueError, match=f"{STOP}: wanted a number of turns from 1"):
        most_turns_in_spiral()
