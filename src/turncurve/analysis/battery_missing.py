"""Missing grades: where in a run they are, and how far they could move the slope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.within_slope import Rows, WithinSlope, net_of_runs, within_slope
from turncurve.stats.estimate import Estimate, absent

FloatArray: TypeAlias = NDArray[np.float64]

NONE_MISSING = "no grade is missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingGradesTest:
    """Whether grades go missing at certain turns, and what that could do to the slope.

    Attributes:
        n_missing: Turns whose grade was tried and is missing.
        n_tried: Turns for which one was tried.
        by_turn: Change by turn within runs of the chance that a grade is missing.
        verdict: "finding" where missing grades go with the position, "clean" where none is missing,
            else "inconclusive": so few can always be missing for a reason.
        lowest_slope: The slope of failing by turn if every missing grade had been such as to make
            it as low as can be: those after the middle of the run no failure, the others one.
        highest_slope: The opposite.
        overturns: Whether 0 lies between the two.
    """

    n_missing: int
    n_tried: int
    by_turn: WithinSlope
    verdict: Literal["finding", "clean", "inconclusive"]
    lowest_slope: Estimate
    highest_slope: Estimate
    overturns: bool | None


def missing_grades(steps: GradedSteps, *, level: float) -> MissingGradesTest:
    """Test missing grades against the turn, and bound the slope over all that they could be."""
    table = steps.table
    judged = np.zeros(len(table.turn), dtype=np.bool_)
    judged[steps.row] = True
    tried = judged | steps.missing
    run, n_missing = table.run[tried], int(steps.missing.sum())
    cluster = _clusters_of(steps)[run]
    turn = table.turn[tried].astype(np.float64)
    rows = Rows(turn, run, cluster, steps.unit, table.runs.id)
    lacking = steps.missing[tried]
    estimand = "Change by turn, within runs, of the chance that a grade is missing."
    limits = [_limit(steps, rows, lacking, tried, way, level) for way in (-1, 1)]
    if not n_missing:
        by_turn = WithinSlope(estimate=absent(estimand, NONE_MISSING, level=level))
    else:
        by_turn = within_slope(estimand, rows, lacking.astype(np.float64), level=level)
    ends = [one.value for one in limits]
    return MissingGradesTest(
        n_missing=n_missing,
        n_tried=int(tried.sum()),
        by_turn=by_turn,
        verdict=_verdict(n_missing, by_turn, level),
        lowest_slope=limits[0],
        highest_slope=limits[1],
        overturns=None if ends[0] is None or ends[1] is None else ends[0] <= 0 <= ends[1],
    )


def _clusters_of(steps: GradedSteps) -> NDArray[np.int64]:
    """As `run_clusters`, with a cluster of its own for a run of which every grade is missing."""
    found = steps.run_clusters()
    apart = int(found.max(initial=0)) + 1 + np.arange(len(found))
    return np.where(found < 0, apart, found)


def _limit(
    steps: GradedSteps,
    rows: Rows,
    lacking: NDArray[np.bool_],
    tried: NDArray[np.bool_],
    way: int,
    level: float,
) -> Estimate:
    estimand = (
        "Change of the failing share by turn within runs, were each missing grade the one that "
        f"makes it {'lowest' if way < 0 else 'highest'}."
    )
    fail = steps.table.column("error")[tried]
    late = net_of_runs(rows.at, rows.run) * way > 0
    value = np.where(lacking, late.astype(np.float64), fail)
    return within_slope(estimand, rows, value, level=level).estimate


def _verdict(
    n_missing: int, by_turn: WithinSlope, level: float
) -> Literal["finding", "clean", "inconclusive"]:
    if not n_missing:
        return "clean"
    return "finding" if by_turn.p is not None and by_turn.p < 1 - level else "inconclusive"
