"""What graders said of each turn: failing, neutral, looping, how hard; and which grades lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from turncurve.model import Grade, Run
from turncurve.signals.base import FloatArray, Signal, observed_together, per_turn, unknown
from turncurve.table import SignalInfo

LEVELS = {"low": 0.0, "medium": 1.0, "high": 2.0}
"""Complexity as a number."""


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


def _details(run: Run) -> Mapping[str, FloatArray | Sequence[float | None]]:
    """What else the grades of a run say; NaN where no grade says it."""
    if not any(turn.grades for turn in run.turns):
        nothing = unknown(run)
        return dict.fromkeys(DETAILS, nothing)
    return {
        name: per_turn([_mean_said(turn.grades, said) for turn in run.turns])
        for name, said in DETAILS.items()
    }


def _dependent(grade: Grade) -> float | None:
    """1 for a failure that is not said to start anew: it follows from an earlier one."""
    if grade.validity != "fail" or grade.dependency is None:
        return None
    return float(grade.dependency != "independent")


DETAILS: Mapping[str, Callable[[Grade], float | None]] = {
    "grade_neutral": lambda grade: float(grade.validity == "neutral"),
    "grade_looping": lambda grade: None if grade.looping is None else float(grade.looping),
    "grade_complexity": lambda grade: LEVELS.get(grade.complexity or ""),
    "grade_dependent": _dependent,
}
"""What a grade says beside fail or not, by signal."""


def _mean_said(grades: tuple[Grade, ...], said: Callable[[Grade], float | None]) -> float | None:
    known = [
        value
        for grade in grades
        if grade.validity is not None and (value := said(grade)) is not None
    ]
    return sum(known) / len(known) if known else None


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
GRADE_NEUTRAL = observed_together(
    _details,
    SignalInfo(
        name="grade_neutral",
        title="Neutral turns (from grades)",
        unit="share",
        denominator="turns with a grade",
        low=0.0,
        high=1.0,
        curve=False,
    ),
)
GRADE_LOOPING = observed_together(
    _details,
    SignalInfo(
        name="grade_looping",
        title="Looping turns (from grades)",
        unit="share",
        better="low",
        denominator="turns whose grade says whether they loop",
        low=0.0,
        high=1.0,
        curve=False,
    ),
)
GRADE_COMPLEXITY = observed_together(
    _details,
    SignalInfo(
        name="grade_complexity",
        title="Complexity (from grades)",
        unit="0 low, 1 medium, 2 high",
        denominator="turns whose grade says how hard they are",
        low=0.0,
        high=2.0,
        curve=False,
    ),
)
GRADE_DEPENDENT = observed_together(
    _details,
    SignalInfo(
        name="grade_dependent",
        title="Failures that follow from another (from grades)",
        unit="share",
        better="low",
        denominator="failing turns whose grade says what they depend on",
        low=0.0,
        high=1.0,
        curve=False,
    ),
)
