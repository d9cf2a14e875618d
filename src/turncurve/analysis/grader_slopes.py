"""What a grader's errors do to the slope of the error rate over turns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.line_over_turns import TURNS, line_over_turns, too_little
from turncurve.analysis.over_clusters import Resampling, Sized, estimate_over_runs
from turncurve.stats.confusion import sensitivity, specificity
from turncurve.stats.estimate import Estimate, absent

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slopes:
    """The error rate's slope over turns, by the labels and by the grades of the same turns.

    Attributes:
        labelled: Change of the share labelled failing in 10 turns.
        graded: Likewise of the share graded failing.
        bias: `graded` less `labelled`: what the grader's errors do to the slope.
        divided: `graded` over (sensitivity + specificity - 1), which is right only where neither of
            the two changes with the turn; absent where they were found to.
    """

    labelled: Estimate
    graded: Estimate
    bias: Estimate
    divided: Estimate


def slopes_of(
    run: IntArray,
    turn: IntArray,
    graded: BoolArray,
    labelled: BoolArray,
    *,
    changes: bool,
    resampling: Resampling,
) -> Slopes:
    """The slopes of the error rate by labels and by grades, and what a pooled correction gives.

    Args:
        run: Which run each turn is of; shape (n_turns,).
        turn: From 1.
        graded: Whether the grader calls the turn failing.
        labelled: Whether the reference does.
        changes: Whether sensitivity or specificity was found to change with the turn.
        resampling: Level of the intervals, and draws behind the divided slope.
    """
    at, level = turn / TURNS, resampling.level
    by_label, by_grade = labelled.astype(np.float64), graded.astype(np.float64)
    what = f"in {TURNS} turns of the share of turns"
    return Slopes(
        labelled=line_over_turns(f"change {what} labelled failing", run, at, by_label, level)[0],
        graded=line_over_turns(f"change {what} graded failing", run, at, by_grade, level)[0],
        bias=line_over_turns(f"excess {what} graded failing", run, at, by_grade - by_label, level)[
            0
        ],
        divided=_divided(run, at, by_grade, by_label, changes=changes, resampling=resampling),
    )


def _divided(
    run: IntArray,
    at: FloatArray,
    graded: FloatArray,
    labelled: FloatArray,
    *,
    changes: bool,
    resampling: Resampling,
) -> Estimate:
    """The graded slope over Se + Sp - 1, both from the same runs, which are resampled together."""
    estimand = f"change of the error rate in {TURNS} turns, graded slope over (Se + Sp - 1)"
    if changes:
        why = "sensitivity or specificity changes with the turn: no one pair of them corrects it"
        return absent(estimand, why, level=resampling.level)
    if too_little(run, at) is not None:
        return absent(estimand, str(too_little(run, at)), level=resampling.level)
    clusters, cluster = np.unique(run, return_inverse=True)
    cells = (graded * labelled, graded * (1 - labelled), (1 - graded) * labelled)
    columns = (*cells, (1 - graded) * (1 - labelled), at, at * at, at * graded)
    sums = np.stack(
        [np.bincount(cluster.ravel(), weights=c, minlength=len(clusters)) for c in columns], axis=1
    ).astype(np.float64)
    sized = Sized(
        estimand=estimand,
        n_turns=len(run),
        n_runs=len(clusters),
        lowest=-math.inf,
        highest=math.inf,
    )
    youden = Sized(
        estimand="Se + Sp - 1", n_turns=len(run), n_runs=len(clusters), lowest=-1.0, highest=1.0
    )
    entries: dict[str, tuple[Sized, Callable[[FloatArray], FloatArray], str]] = {
        "slope": (sized, _slope_over_youden, "no turn, or every turn, is labelled failing"),
        "youden": (youden, _youden, "no turn, or every turn, is labelled failing"),
    }
    found = estimate_over_runs(sums, entries, resampling)
    least = found["youden"].low
    if found["youden"].value is not None and (least is None or least <= 0):
        why = "the grader is not surely better than chance (Se + Sp - 1 may be 0)"
        return absent(estimand, why, level=resampling.level)
    return found["slope"]


def _youden(sums: FloatArray) -> FloatArray:
    tables = np.asarray(sums[..., :4]).reshape(*sums.shape[:-1], 2, 2)
    return np.asarray(sensitivity(tables, 0) + specificity(tables, 0) - 1)


def _slope_over_youden(sums: FloatArray) -> FloatArray:
    n = sums[..., :4].sum(axis=-1)
    graded = sums[..., 0] + sums[..., 1]
    product = sums[..., 6] - sums[..., 4] * graded / n
    spread = sums[..., 5] - sums[..., 4] ** 2 / n
    below = spread * _youden(sums)
    none = np.full(below.shape, np.nan)
    return np.asarray(np.divide(product, below, out=none, where=(spread > 1e-12) & (below != 0)))
