"""Errors by graders: which turns were judged failing, and which grades are missing."""

from __future__ import annotations

from turncurve.model import Grade, Run
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.table import SignalInfo


def error(run: Run) -> FloatArray:
    """Share of a turn's graders that judged it failing: 0 or 1 for one grader.

    Neutral and pass are no failure. NaN where no grade was tried or none could be had: a missing
    grade is never neutral.
    """
    return per_turn([_failing_share(turn.grades) if turn.grades else None for turn in run.turns])


def grade_missing(run: Run) -> FloatArray:
    """1 where grades were tried and none could be had, 0 where one was; NaN if none was tried."""
    return per_turn([_none_was_had(turn.grades) if turn.grades else None for turn in run.turns])


def _failing_share(grades: tuple[Grade, ...]) -> float | None:
    if len(grades) == 1:
        validity = grades[0].validity
        return None if validity is None else float(validity == "fail")
    had = [grade.validity == "fail" for grade in grades if grade.validity is not None]
    return sum(had) / len(had) if had else None


def _none_was_had(grades: tuple[Grade, ...]) -> float:
    if len(grades) == 1:
        return float(grades[0].validity is None)
    return float(all(grade.validity is None for grade in grades))


ERROR = Signal(
    info=SignalInfo(
        name="error",
        title="Error rate (from grades)",
        unit="share",
        better="low",
        denominator="turns with a grade",
        low=0.0,
        high=1.0,
    ),
    observe=error,
)
GRADE_MISSING = Signal(
    info=SignalInfo(
        name="grade_missing",
        title="Missing grades",
        unit="share",
        better="low",
        denominator="turns that a grader was asked about",
        low=0.0,
        high=1.0,
        curve=False,
    ),
    observe=grade_missing,
)
