"""The slope of a number over turns within runs, with an error that holds for few clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.stats.cluster_jackknife import told_without
from turncurve.stats.cluster_ols import LEAST_DF, ClusterFit, cluster_ols
from turncurve.stats.estimate import Estimate, absent, none_if_nan

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
ObjectArray: TypeAlias = NDArray[np.object_]

CR2 = "least squares within runs, CR2 standard error over {unit}s, Satterthwaite t"
NO_SPREAD = "no interval: the value never changes within a run, or the fit leaves nothing"
ALONE = "turn of a run with no other, which tells nothing of a change"
UNKNOWN = "turn whose value or control is not known"
ALL_BUT_NONE = 1e-9
"""Share of what tells a slope that must be left without any one cluster."""
OWN_HALF = 0.5
"""Share of the weight whose fewest owners are counted."""


class Rows(NamedTuple):
    """Turns that a slope is of; arrays of shape (n_rows,).

    Attributes:
        at: Position: the turn, tokens, progress.
        run: Run of each row, its position in `ids`.
        cluster: Independent unit of each row.
        unit: What that is: task or run.
        ids: Ids of runs; shape (n_runs,).
    """

    at: FloatArray
    run: IntArray
    cluster: IntArray
    unit: str
    ids: ObjectArray

    def part(self, which: NDArray[np.bool_]) -> Rows:
        """Some of the rows; `which` has shape (n_rows,)."""
        return self._replace(at=self.at[which], run=self.run[which], cluster=self.cluster[which])


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """Who owns a slope: shares of what tells it, sum of squares of position net of all else.

    Attributes:
        effective_runs: Runs of equal weight that would tell as much.
        effective_clusters: Likewise clusters.
        n_own_half: Fewest runs that hold half of the weight.
        largest_run: Id of the run with the most.
        largest_share: Its share.
    """

    effective_runs: float
    effective_clusters: float
    n_own_half: int
    largest_run: str
    largest_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinSlope:
    """A slope, its p, and who owns it.

    Attributes:
        estimate: Change of the value where the position grows by 1, absent with a reason.
        p: Two-sided, of no change; None with `no_p`.
        no_p: Why there is none.
        weight: Who owns it; None where there is no slope.
        controls: Names of what is held fixed, as far as it varies within runs.
    """

    estimate: Estimate
    p: float | None = None
    no_p: str | None = None
    weight: Weight | None = None
    controls: tuple[str, ...] = ()


def within_slope(
    estimand: str,
    rows: Rows,
    value: FloatArray,
    controls: Mapping[str, FloatArray] | None = None,
    *,
    level: float,
) -> WithinSlope:
    """The least-squares slope of a value over position, the means of each run taken off both.

    A control that does not vary within runs is left out, and said.

    Args:
        estimand: What is estimated, in a sentence.
        rows: Where each value stands.
        value: NaN where not known; shape (n_rows,).
        controls: By name, held fixed; NaN where not known.
        level: Confidence level.
    """
    given = controls or {}
    known = ~np.isnan(value) & ~np.isnan(rows.at)
    for column in given.values():
        known &= ~np.isnan(column)
    per_run = np.bincount(rows.run[known], minlength=int(rows.run.max(initial=0)) + 1)
    alone = known & (per_run[rows.run] < 2)
    used = known & ~alone
    left_out = excluded_counts({UNKNOWN: ~known, ALONE: alone})
    part = rows.part(used)
    held = {n: c[used] for n, c in given.items() if _varies(c[used], part.run)}
    idle = [f"{n} does not vary within runs: it is no control" for n in given if n not in held]
    y, x = value[used], np.column_stack([part.at, *held.values()]) if used.any() else None
    if x is None or not _varies(part.at, part.run):
        return WithinSlope(
            estimate=absent(estimand, "no run has two turns to compare", level=level)
        )
    try:
        fit = cluster_ols(y, x, part.cluster, absorb=part.run, level=level)
    except (NotEnoughDataError, InvariantError) as problem:
        return WithinSlope(
            estimate=absent(estimand, _why(problem, part, held), level=level),
            controls=tuple(held),
        )
    if told_without(x, part.cluster, absorb=part.run).min() < ALL_BUT_NONE:
        why = f"one {rows.unit} alone tells it: how far others would differ is not known"
        none = absent(estimand, why, level=level)
        return WithinSlope(estimate=none, controls=tuple(held))
    estimate, p, no_p = first_coefficient(estimand, fit, rows.unit, excluded=left_out)
    return WithinSlope(
        estimate=with_counts(estimate, part.run, (*idle, *estimate.warnings)),
        p=p,
        no_p=no_p,
        weight=_weight(x, part, fit),
        controls=tuple(held),
    )


def first_coefficient(
    estimand: str, fit: ClusterFit, unit: str, *, excluded: Mapping[str, int] | None = None
) -> tuple[Estimate, float | None, str | None]:
    """The first coefficient of a fit as an estimate, its p, and why there is no p.

    Args:
        estimand: What it is, in a sentence.
        fit: The fit.
        unit: What its clusters are.
        excluded: Reason to number of turns left out.
    """
    spread = float(fit.std_error[0]) > 0
    df = float(fit.df[0])
    no_p = None
    if not spread:
        no_p = NO_SPREAD
    elif df < LEAST_DF:
        no_p = (
            f"a p value needs {LEAST_DF:g} degrees of freedom, and these data give {df:.1f}: "
            f"{float(fit.effective_clusters[0]):.1f} {unit}s' worth tell the slope"
        )
    estimate = Estimate(
        estimand=estimand,
        value=float(fit.value[0]),
        std_error=float(fit.std_error[0]) if spread else None,
        low=none_if_nan(float(fit.low[0])) if spread else None,
        high=none_if_nan(float(fit.high[0])) if spread else None,
        level=fit.level,
        method=CR2.format(unit=unit),
        df=none_if_nan(df) if spread else None,
        n_turns=fit.n_rows,
        n_clusters=fit.n_clusters,
        excluded=excluded or {},
        assumptions=(f"{unit}s are independent",),
        warnings=() if spread else (NO_SPREAD,),
    )
    return estimate, none_if_nan(float(fit.p[0])) if no_p is None else None, no_p


def with_counts(estimate: Estimate, run: IntArray, warnings: Sequence[str]) -> Estimate:
    """The estimate with its number of runs, and its warnings."""
    return replace(estimate, n_runs=len(np.unique(run)), warnings=tuple(warnings))


def _why(problem: Exception, part: Rows, held: Mapping[str, FloatArray]) -> str:
    if isinstance(problem, InvariantError):
        return f"turn and {', '.join(held)} cannot be told apart within runs"
    n = len(np.unique(part.cluster))
    return f"{n} {part.unit} has turns to compare: two are needed" if n < 2 else str(problem)


def net_of_runs(values: FloatArray, run: IntArray) -> FloatArray:
    """Values less their mean in the run; shape (n_rows,)."""
    number = np.unique(run, return_inverse=True)[1].ravel()
    mean = np.bincount(number, weights=values) / np.maximum(np.bincount(number), 1)
    return np.asarray(values - mean[number])


def _varies(values: FloatArray, run: IntArray) -> bool:
    if not len(values):
        return False
    scale = float(np.abs(values).max())
    return bool(np.abs(net_of_runs(values, run)).max() > 1e-9 * max(scale, 1e-300))


def _weight(x: FloatArray, part: Rows, fit: ClusterFit) -> Weight:
    columns = [net_of_runs(column, part.run) for column in x.T]
    at = columns[0]
    if len(columns) > 1:
        others = np.column_stack(columns[1:])
        at = at - others @ np.linalg.lstsq(others, at, rcond=None)[0]
    runs, number = np.unique(part.run, return_inverse=True)
    share = np.bincount(number.ravel(), weights=at * at)
    share = share / share.sum()
    order = np.argsort(-share)
    reached = int(np.searchsorted(np.cumsum(share[order]), OWN_HALF - 1e-12)) + 1
    return Weight(
        effective_runs=float(1 / (share**2).sum()),
        effective_clusters=float(fit.effective_clusters[0]),
        n_own_half=min(reached, len(runs)),
        largest_run=str(part.ids[runs[order[0]]]),
        largest_share=float(share[order[0]]),
    )
