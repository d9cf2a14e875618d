"""A run written as ATIF and read again is the run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from readers.test_contract import fixtures
from turncurve.errors import ReadError
from turncurve.model import Event, Grade, Message, Run, ToolCall, ToolResult, Turn, Usage
from turncurve.readers import READERS
from turncurve.report.export.atif import losses, trajectory


def written(run: Run, signals: Mapping[str, float] | None = None) -> dict[str, Any]:
    text = json.dumps(trajectory(run, [signals or {}] * len(run.turns)), allow_nan=False)
    document: dict[str, Any] = json.loads(text)
    return document


def read_back(document: dict[str, Any], folder: Path) -> tuple[Run, list[ReadError]]:
    path, told = folder / "one.json", list[ReadError]()
    path.write_text(json.dumps(document))
    (run,) = READERS["atif"].read(path, told.append)
    return run, told


def without_place(run: Run) -> Run:
    """The run apart from where it was read, and times rounded to the format's microseconds."""
    turns = tuple(
        replace(t, record=None, started_at=t.started_at and round(t.started_at, 5))
        for t in run.turns
    )
    return replace(run, format="", path="", record=None, turns=turns)


@pytest.mark.parametrize("name", READERS.names())
def test_every_run_reads_back_as_it_was(name: str, tmp_path: Path) -> None:
    """Of each fixture of each format, each field of each turn and run comes back."""
    for path in fixtures(name):
        for run in READERS[name].read(path, lambda _: None):
            back, told = read_back(written(run), tmp_path)
            assert told == []
            assert without_place(back) == without_place(run)


@pytest.mark.parametrize("name", READERS.names())
def test_the_format_accepts_every_run(name: str) -> None:
    """The models of the format itself find nothing wrong with any fixture's document."""
    model = pytest.importorskip("atif", reason="the second opinion is not installed").Trajectory
    for path in fixtures(name):
        for run in READERS[name].read(path, lambda _: None):
            model.model_validate(written(run, {"context_tokens": 3.0}))


RUN = Run(
    id="r",
    format="hand",
    path="hand.json",
    events=(Event(kind="compaction", turn=2),),
    turns=(
        Turn(
            index=1,
            text="half \ud800 a pair",
            before=(Message(role="user", text="go"),),
            tool_calls=(ToolCall(name="sh", arguments="ls"), ToolCall(id="c2", name="ls")),
            tool_results=(
                ToolResult(call_id="c2", text="a", error=False, detector="flag"),
                ToolResult(call_id="elsewhere", text="b"),
            ),
            usage=Usage(input_uncached=70, cache_read=20, cache_write=10, output=5, reasoning=2),
            values={"quality": 4.0},
            grades=(
                Grade(grader="g", rubric="v1", validity="pass"),
                Grade(grader="h", validity=None, missing_reason="no answer"),
            ),
        ),
        Turn(index=2, cost_usd=0.5),
    ),
)


def test_the_format_s_own_fields() -> None:
    """What ATIF has a place for stands there: a prompt includes its cached tokens."""
    document = written(RUN)
    assert document["schema_version"] == "ATIF-v1.8"
    assert [step["source"] for step in document["steps"]] == ["user", "agent", "system", "agent"]
    assert [step["step_id"] for step in document["steps"]] == [1, 2, 3, 4]
    assert document["steps"][1]["metrics"] == {
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "cached_tokens": 20,
        "extra": {"cache_creation_input_tokens": 10, "reasoning_tokens": 2},
    }
    boundary = document["steps"][2]["extra"]["context_management"]
    assert boundary == {"type": "compaction", "boundary": "replace"}
    calls = document["steps"][1]["tool_calls"]
    assert [call["tool_call_id"] for call in calls] == ["call-1-1", "c2"]
    assert [call["arguments"] for call in calls] == [{"text": "ls"}, {}]
    results = document["steps"][1]["observation"]["results"]
    assert [result.get("source_call_id") for result in results] == ["c2", None]
    assert "metrics" not in {**document["steps"][2]}


def test_sums_stand_where_every_turn_has_the_number() -> None:
    """A sum over half of the turns is none; a number that is not known has no key."""
    assert "final_metrics" not in written(RUN)
    twice = replace(RUN, turns=(RUN.turns[1], replace(RUN.turns[1], index=3)), events=())
    assert written(twice)["final_metrics"] == {"total_cost_usd": 1.0}


def test_signals_and_grades_stand_in_extra() -> None:
    """Signals by name; a missing grade has its reason, and no validity."""
    own = written(RUN, {"context_tokens": 100.0})["steps"][1]["extra"]["turncurve"]
    assert own["turn"] == 1
    assert own["signals"] == {"context_tokens": 100.0}
    assert own["values"] == {"quality": 4.0}
    assert own["grades"] == [
        {"grader": "g", "rubric": "v1", "validity": "pass"},
        {"grader": "h", "missing_reason": "no answer"},
    ]


def test_what_other_tools_do_not_see_is_said() -> None:
    """A sub-agent's parent, arguments that are a text, and a run without a turn are told."""
    assert ["no JSON object" in loss for loss in losses(RUN)] == [True]
    empty = replace(RUN, turns=(), events=(), parent="p")
    assert len([*losses(empty)]) == 2
    assert [*losses(replace(RUN, turns=RUN.turns[1:]))] == []
