"""What an Inspect log says of single turns: rubric scores, intermediate scores, graded traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from readers.inspect_logs import call, event, runs_of, sample, span
from turncurve.model import Run

THREE = [call(message_id="a1"), call(message_id="a2"), call(message_id="a3")]
KEY = "inspect_degradation.graded_trace"


def quality(run: Run) -> list[float | None]:
    return [turn.values.get("quality") for turn in run.turns]


def judged(folder: Path, metadata: dict[str, Any], value: Any = 0.6, **fields: Any) -> Run:
    scores = {"rubric": {"value": value, "metadata": metadata}}
    (run,) = runs_of(folder, sample(*THREE, scores=scores, **fields))
    return run


@pytest.mark.parametrize("key", ["turncurve.quality", "turn_scores", "per_turn"])
@pytest.mark.parametrize(
    "scores",
    [
        [0.9, None, 0.3],
        [{"turn": 3, "score": 0.3}, {"turn": 1, "quality": 0.9}],
        [{"turn": 1, "value": 0.9}, {"turn": 3, "value": 0.3}, {"turn": 2}],
        {"1": 0.9, "3": 0.3},
    ],
    ids=["list", "objects", "objects with a gap", "mapping"],
)
def test_scores_by_turn(tmp_path: Path, key: str, scores: Any) -> None:
    """Each documented form gives the turn's quality, counted from 1; a gap stays unknown."""
    run = judged(tmp_path, {key: scores})
    assert quality(run) == [0.9, None, 0.3]
    assert run.quality_scale == (0.0, 1.0)


@pytest.mark.parametrize(
    ("metadata", "scale"),
    [
        ({"turn_scores": [4, 5, 1], "scale": [1, 5]}, (1.0, 5.0)),
        ({"turn_scores": [4, 5, 1], "turncurve.scale": [0, 10]}, (0.0, 10.0)),
        ({"turn_scores": [4, 5, 1]}, None),
        ({"turn_scores": [4, 5, 1], "scale": [5, 1]}, None),
    ],
)
def test_the_scale_of_a_rubric(
    tmp_path: Path, metadata: dict[str, Any], scale: tuple[float, float] | None
) -> None:
    """The scale is the one that is given; numbers beyond 0 to 1 without one have none."""
    assert judged(tmp_path, metadata).quality_scale == scale


def test_a_rubrics_own_number_is_no_verdict(tmp_path: Path) -> None:
    """The mean of a rubric's grades, even if it is 1, is no success; a letter beside grades is."""
    assert judged(tmp_path, {"turn_scores": [1, 1, 1]}, 1.0).success is None
    assert judged(tmp_path, {"turn_scores": [1, 1, 1]}, "C").success is True


def test_scores_beyond_the_last_turn_are_left_out(tmp_path: Path) -> None:
    """A score of a turn that the run doesn't have is left out, and that is said."""
    run = judged(tmp_path, {"turn_scores": [1, 1, 1, 0]})
    assert quality(run) == [1, 1, 1]
    wanted = "turns beyond the last turn 3 that the score 'rubric' judges, left out: 1"
    assert wanted in run.notes


def test_a_second_rubric_is_a_signal_of_its_own(tmp_path: Path) -> None:
    """Of two scores that judge turns the first is the quality, the other bears its own name."""
    scores = {
        "first": {"value": 1, "metadata": {"turn_scores": [1, 1, 1]}},
        "second": {"value": 0, "metadata": {"turn_scores": [0, 0, 0]}},
    }
    (run,) = runs_of(tmp_path, sample(*THREE, scores=scores))
    assert quality(run) == [1, 1, 1]
    assert [turn.values["second"] for turn in run.turns] == [0, 0, 0]


def test_an_intermediate_score_is_that_of_the_turn_before(tmp_path: Path) -> None:
    """Scores given while the agent runs judge the turn they follow; final ones judge none."""
    (run,) = runs_of(
        tmp_path,
        sample(
            event("score", score={"value": "C"}, intermediate=True, scorer="check"),
            THREE[0],
            THREE[1],
            event("score", score={"value": "C"}, intermediate=True, scorer="check"),
            THREE[2],
            event("score", score={"value": 0.25}, intermediate=True, scorer="check"),
            event("score", score={"value": 1.0}, scorer="check"),
        ),
    )
    assert quality(run) == [None, 1.0, 0.25]
    assert run.quality_scale == (0.0, 1.0)


def test_several_intermediate_scorers_are_signals(tmp_path: Path) -> None:
    """Where two scorers judge while the agent runs, neither is taken for the quality."""
    (run,) = runs_of(
        tmp_path,
        sample(
            THREE[0],
            event("score", score={"value": 0.5}, intermediate=True, scorer="a"),
            event("score", score={"value": 0.7}, intermediate=True, scorer="b"),
        ),
    )
    assert dict(run.turns[0].values) == {"a": 0.5, "b": 0.7}


def step(index: int, validity: str = "pass", **fields: Any) -> dict[str, Any]:
    return {"step_index": index, "validity": validity, "grader_model": "g", **fields}


def test_a_step_without_a_grader_has_the_traces(tmp_path: Path) -> None:
    """Who graded is said by the step, else by the trace, else by nobody."""
    steps = [step(0), step(1, grader_model=None)]
    run = judged(tmp_path, {KEY: {"steps": steps, "metadata": {"grader": "h"}}})
    assert [turn.grades[0].grader for turn in run.turns[:2]] == ["g", "h"]
    run = judged(tmp_path, {KEY: {"steps": steps}})
    assert run.turns[1].grades[0].grader == "unknown"


def test_graded_traces(tmp_path: Path) -> None:
    """A graded trace grades the turns, its steps counted from 0; a parse error is no grade."""
    trace = {
        "trace_id": "t",
        "success": False,
        "steps": [
            step(0, severity=None, complexity="low", dependency="n/a", is_looping=False),
            step(1, "fail", severity="high", dependency="dependent", is_looping=True),
            step(2, "neutral", raw={"parse_error": "no JSON object found"}),
        ],
    }
    run = judged(tmp_path, {KEY: trace})
    grades = [turn.grades[0] for turn in run.turns]
    assert [grade.validity for grade in grades] == ["pass", "fail", None]
    assert grades[2].missing_reason == "no JSON object found"
    assert (grades[1].severity, grades[1].dependency, grades[1].looping) == (
        "high",
        "dependent",
        True,
    )
    assert run.success is False
    assert run.score is None


def test_graded_traces_in_the_samples_metadata(tmp_path: Path) -> None:
    """The key is understood in the sample's metadata too."""
    (run,) = runs_of(tmp_path, sample(*THREE, metadata={KEY: {"steps": [step(1, "fail")]}}))
    assert [len(turn.grades) for turn in run.turns] == [0, 1, 0]


def test_steps_that_are_no_turn_of_their_own(tmp_path: Path) -> None:
    """The grader makes a step of a second tool result too; only a call's own step grades it."""
    calls = [
        {"id": name, "function": "f", "arguments": {}, "type": "function"} for name in ("x", "y")
    ]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "id": "a1", "tool_calls": calls},
        {"role": "tool", "content": "1", "tool_call_id": "x"},
        {"role": "tool", "content": "2", "tool_call_id": "y"},
        {"role": "assistant", "content": "", "id": "a2"},
        {"role": "user", "content": "more"},
        {"role": "assistant", "content": "", "id": "a3"},
    ]
    steps = [step(0), step(1, "fail"), step(2, "neutral"), step(3)]
    run = judged(tmp_path, {KEY: {"steps": steps}}, messages=messages)
    assert [[g.validity for g in turn.grades] for turn in run.turns] == [
        ["pass"],
        ["neutral"],
        ["pass"],
    ]
    assert any(note.endswith("whose grades were left out: 1 of 4") for note in run.notes)


def test_sub_agents_are_not_judged_by_the_samples_scores(tmp_path: Path) -> None:
    """A sample's scores by turn are those of its main agent."""
    scores = {"rubric": {"value": 1, "metadata": {"turn_scores": [0.5]}}}
    main, sub = runs_of(
        tmp_path,
        sample(
            span("boss", "agent"),
            span("helper", "agent", "boss"),
            call(span_id="boss"),
            call(span_id="helper"),
            scores=scores,
        ),
    )
    assert quality(main) == [0.5]
    assert quality(sub) == [None]
    assert sub.parent == main.id
    assert sub.agent == "boss/helper"
