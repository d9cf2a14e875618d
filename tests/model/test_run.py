"""What a run, a turn and their parts refuse to say."""

from __future__ import annotations

import pytest

from turncurve.errors import InvariantError
from turncurve.model import Event, ExitType, Grade, Run, ToolResult, Turn


def run_of(*indices: int, **fields: object) -> Run:
    turns = tuple(Turn(index=index) for index in indices)
    return Run(id="r", turns=turns, format="made_up", path="r.json", **fields)  # type: ignore[arg-type]


def test_turns_rise_from_one() -> None:
    """Turns may have gaps; one that is below 1, falls or stands twice is refused."""
    assert len(run_of(2, 5, 9).turns) == 3
    with pytest.raises(InvariantError, match="turns count from 1"):
        run_of(0)
    with pytest.raises(InvariantError, match="wanted rising turns, got 3 after 4"):
        run_of(1, 4, 3)
    with pytest.raises(InvariantError, match="turn 4 stands twice"):
        run_of(1, 4, 4)


@pytest.mark.parametrize("cost", [-0.01, float("nan")])
def test_a_cost_is_a_number_from_zero(cost: float) -> None:
    """A negative cost and one that is no number are refused."""
    with pytest.raises(InvariantError, match="wanted cost_usd >= 0"):
        Turn(index=1, cost_usd=cost)


def test_an_event_stands_at_a_turn_or_right_after_the_last() -> None:
    """Turn n + 1 is where an event after the last turn stands; neither 0 nor n + 2 is a place."""
    for turn in (1, 4):
        assert run_of(1, 3, events=(Event(kind="compaction", turn=turn),)).events[0].turn == turn
    for turn in (0, 5):
        with pytest.raises(InvariantError, match=f"got compaction at {turn}"):
            run_of(1, 3, events=(Event(kind="compaction", turn=turn),))


@pytest.mark.parametrize("success", [True, False])
def test_the_end_does_not_contradict_the_outcome(*, success: bool) -> None:
    """A run that finished in success did not fail, and the reverse; other ends go with either."""
    assert run_of(exit_type=ExitType.finished(success), success=success).success is success
    assert run_of(exit_type=ExitType.BUDGET, success=success).success is success
    with pytest.raises(InvariantError, match="contradicts"):
        run_of(exit_type=ExitType.finished(not success), success=success)


def test_a_finish_without_an_outcome_is_unknown() -> None:
    """Finishing by itself says nothing where the outcome is not known."""
    assert ExitType.finished(None) is ExitType.UNKNOWN
    assert ExitType.finished(success=True) is ExitType.SUCCESS_FINISH


def test_a_verdict_on_a_result_names_its_detector() -> None:
    """Neither a failure nor a success is claimed without saying what told it."""
    assert ToolResult(text="ok").error is None
    for error in (True, False):
        with pytest.raises(InvariantError, match="wanted a detector"):
            ToolResult(error=error)


def test_a_grade_is_a_judgement_or_missing_for_a_reason() -> None:
    """A grade has exactly one of a validity and a reason why it is missing."""
    assert Grade(grader="g", validity=None, missing_reason="no JSON").validity is None
    with pytest.raises(InvariantError, match="either a validity or a missing_reason"):
        Grade(grader="g", validity=None)
    with pytest.raises(InvariantError, match="either a validity or a missing_reason"):
        Grade(grader="g", validity="pass", missing_reason="no JSON")
