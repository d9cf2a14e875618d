"""Lower limits for the mean of a bounded signal by bucket, which hold where breaches are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, chdtri, ndtri, stdtrit

from turncurve.stats.curve import cell_means

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_ROUNDING = 1e-20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLimits:
    """One entry a bucket that has any value, in rising order; arrays of shape (n_buckets,).

    `low` is NaN where fewer than two runs have a value.
    """

    bucket: IntArray
    low: FloatArray
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Runs within the buckets that have two or more; `at` is the position of a cell's bucket."""

    at: IntArray
    run: IntArray
    n_runs: FloatArray
    mean: FloatArray
    """Of each bucket, within [0, 1]."""
    of_run: FloatArray
    """Of each cell."""
    turns: FloatArray
    """Harmonic mean over runs of the turns in each bucket."""
    turn_variance: FloatArray
    """Of single turns around their bucket's mean, each run weighing the same."""


def lower_limits(
    values: ArrayLike,
    run: ArrayLike,
    bucket: ArrayLike,
    *,
    low: float,
    high: float,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> ShareLimits:
    """Lower limits of the mean over runs by bucket that hold in all buckets at once.

    For a signal between `low` and `high`. Where breaches are few, a t limit fails: data sets that
    happen to show few of them have a small spread too. This is Korn and Graubard's limit instead:
    Clopper and Pearson's for a sample of the effective size n / D, where D is the variance of the
    runs' means over that of a single yes-or-no trial, p (1 - p). D is the largest of

    - that of all buckets pooled, since a bucket with two breaches can't tell how they cluster,
    - the bucket's own,
    - what turns without any resemblance within a run would give, so that a turn of 0 or 1 is never
      worth more than one trial.

    D is itself estimated, with Satterthwaite's degrees of freedom from how unevenly the runs share
    the spread (k runs with one breach each give about 2 k), at most n - 1. The buckets may err each
    by itself, or all together where runs keep their levels, so the limit is the lower of two:

    - at Bonferroni's tail (1 - level) / n_buckets, with n / D cut by (z / t)**2 at that tail,
    - at the tail 1 - level, with the upper limit of D at level (1 + level) / 2 in its place.

    Neither size is below n: a run is worth at least one trial. Where the runs agree in every bucket
    there is no spread, and the limit is low + (mean - low) * tail ** (1 / n) at Bonferroni's tail:
    below it, so many runs that all reach the mean would be rarer than that, by Markov's inequality.

    Args:
        values: The signal; shape (n_turns,), NaN where a turn has none.
        run: Which run a turn belongs to; integers, shape (n_turns,), in any order.
        bucket: Which bucket a turn belongs to; integers, shape (n_turns,).
        low: Lowest possible value.
        high: Highest possible value.
        weights: How much a turn weighs within its run and bucket, as for `curve.cell_means`; uneven
            weights make a run's turns worth fewer, (sum w)**2 / sum w**2.
        level: Chance that the limits hold everywhere.

    References:
        Korn & Graubard (1998), Survey Methodology 24:193-201; Clopper & Pearson (1934), Biometrika
        26:404-413; Satterthwaite (1946), Biometrics Bulletin 2:110-114.
    """
    if not low < high:
        raise ValueError(f"lower_limits: wanted low below high, got {low!r} and {high!r}")
    share = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    weight = np.ones(len(share)) if weights is None else np.asarray(weights, dtype=np.float64)
    counted = ~np.isnan(share) & (weight > 0)
    buckets, usable, cells = _cells(
        share[counted],
        np.asarray(run, dtype=np.int64)[counted],
        np.asarray(bucket, dtype=np.int64)[counted],
        weight[counted],
    )
    limit = np.full(len(buckets), np.nan)
    if usable.any():
        limit[usable] = low + (high - low) * _limits(cells, level)
    return ShareLimits(bucket=buckets, low=limit, level=level)


def _cells(
    share: FloatArray, run: IntArray, bucket: IntArray, weight: FloatArray
) -> tuple[IntArray, NDArray[np.bool_], _Cells]:
    """All buckets with a value, those with two runs or more, and the cells of these."""
    found = cell_means(share, run, bucket, weights=weight)
    per_turn = cell_means(weight, run, bucket).value
    turns = found.n_turns * per_turn / cell_means(weight, run, bucket, weights=weight).value
    buckets, at = np.unique(found.bucket, return_inverse=True)
    n_all = np.bincount(at, minlength=len(buckets))
    mean = np.bincount(at, weights=found.value, minlength=len(buckets)) / np.maximum(n_all, 1)
    around = (share - mean[np.searchsorted(buckets, bucket)]) ** 2
    squares = cell_means(around, run, bucket, weights=weight)
    usable = n_all > 1
    kept = usable[at]
    position = (np.cumsum(usable) - 1)[at[kept]]
    n = n_all[usable].astype(np.float64)

    def over_runs(of_cell: NDArray[np.float64]) -> FloatArray:
        return np.bincount(position, weights=of_cell[kept], minlength=len(n)) / n

    return (
        buckets.astype(np.int64),
        usable,
        _Cells(
            at=position.astype(np.int64),
            run=found.run[kept],
            n_runs=n,
            mean=np.clip(mean[usable], 0.0, 1.0),
            of_run=found.value[kept],
            turns=1 / over_runs(1 / turns),
            turn_variance=over_runs(squares.value),
        ),
    )


def _limits(cells: _Cells, level: float) -> FloatArray:
    n, mean = cells.n_runs, cells.mean
    trial = mean * (1 - mean)
    spread = (cells.of_run - mean[cells.at]) ** 2 * (n / (n - 1))[cells.at]
    total, trials = spread.sum(), (n * trial).sum()
    alpha = 1 - level
    tail = alpha / len(n)
    if total <= _ROUNDING * len(spread) or trials <= 0:
        return np.asarray(mean * tail ** (1 / n), dtype=np.float64)
    of_bucket = np.bincount(cells.at, weights=spread, minlength=len(n)) / n
    turn = np.maximum(_ratio(cells.turn_variance, trial), (n * cells.turn_variance).sum() / trials)
    effect = np.maximum(_ratio(of_bucket, trial), total / trials)
    size = n / np.maximum(effect, turn / cells.turns)
    df = np.minimum(_satterthwaite(spread, cells.run), n - 1)
    by_itself = _clopper_pearson(mean, size * (ndtri(tail) / stdtrit(df, tail)) ** 2, n, tail)
    together = _clopper_pearson(mean, size * chdtri(df, 1 - alpha / 2) / df, n, alpha)
    return np.minimum(by_itself, together)


def _clopper_pearson(
    mean: FloatArray, size: FloatArray, least: FloatArray, tail: float
) -> FloatArray:
    """The lower limit of a share of `size` trials, or of the least number of them."""
    trials = np.maximum(size, least)
    hits = mean * trials
    limit = betaincinv(np.maximum(hits, np.finfo(float).tiny), trials - hits + 1, tail)
    return np.where(hits > 0, limit, 0.0)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    result: FloatArray = np.zeros(len(whole))
    return np.divide(part, whole, out=result, where=whole > 0)


def _satterthwaite(spread: FloatArray, run: IntArray) -> float:
    """Degrees of freedom of the sum of the runs' squares, from how these vary."""
    _, at = np.unique(run, return_inverse=True)
    of_run = np.bincount(at, weights=spread)
    uneven = len(of_run) * of_run.var(ddof=1)
    return float(2 * of_run.sum() ** 2 / uneven) if uneven > 0 else np.inf
