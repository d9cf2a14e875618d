"""A signal's mean by bucket, with runs (or scenarios) as the units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtrit

from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

MIN_UNITS_FOR_CORRELATION = 10
"""Below this many runs the correlation of buckets is not estimated; the band is Bonferroni's."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanCurve:
    """One entry a bucket that has any value, in rising order; arrays of shape (n_buckets,).

    `std_error`, `df`, `low` and `high` are NaN where fewer than two units have a value: the turns
    of one run are no replicates. Where the units agree `std_error` is 0, and `low` and `high` are
    NaN: no spread says nothing of how sure the value is.
    """

    bucket: IntArray
    n_runs: IntArray
    n_turns: IntArray
    """Turns with a value."""
    n_units: IntArray
    """Independent units behind the interval: runs, or clusters where they were given."""
    value: FloatArray
    std_error: FloatArray
    df: FloatArray
    low: FloatArray
    high: FloatArray
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The mean of each run within each bucket, one entry a pair that has a value."""

    run: IntArray
    bucket: IntArray
    n_turns: IntArray
    value: FloatArray


def cell_means(
    values: ArrayLike, run: ArrayLike, bucket: ArrayLike, *, weights: ArrayLike | None = None
) -> Cells:
    """The mean of each run within each bucket, over the turns that have a value.

    Args:
        values: The signal; shape (n_turns,), NaN where a turn has none.
        run: Which run a turn belongs to; integers, shape (n_turns,), in any order.
        bucket: Which bucket a turn belongs to; integers, shape (n_turns,).
        weights: How much a turn weighs within its run and bucket: a rate's denominator, or the part
            of the turn that lies in the bucket. Shape (n_turns,); a turn of weight 0 or NaN has no
            value. Without weights, turns weigh the same.
    """
    y = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    known = ~np.isnan(y) & (weight > 0)
    y, weight = y[known], weight[known]
    buckets, runs, position = _pairs(
        np.asarray(bucket, dtype=np.int64)[known], np.asarray(run, dtype=np.int64)[known]
    )
    n = len(runs)
    n_turns = np.bincount(position, minlength=n).astype(np.int64)
    return Cells(run=runs, bucket=buckets, n_turns=n_turns, value=_means(y, weight, position, n))


def _means(values: FloatArray, weight: FloatArray, group: IntArray, n: int) -> FloatArray:
    """The weighted mean of each of n groups, none of them empty.

    It is kept between the group's lowest and highest value, which rounding may leave: the mean of
    equal values is that value.
    """
    total = np.bincount(group, weights=weight, minlength=n)
    mean = np.bincount(group, weights=weight * values, minlength=n) / total
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(lowest, group, values)
    np.maximum.at(highest, group, values)
    return np.clip(mean, lowest, highest)


def _pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The distinct pairs, and which of them each position has; quick where `second` is sorted."""
    if not len(first):
        return first, second, first
    low = first.min()
    width = first.max() - low + 1
    key = second * width + (first - low)
    order = np.argsort(key, kind="stable")
    in_order = key[order]
    new = np.concatenate([[True], np.diff(in_order) != 0])
    position = np.empty(len(key), dtype=np.int64)
    position[order] = np.cumsum(new) - 1
    return in_order[new] % width + low, in_order[new] // width, position


def mean_curve(
    values: ArrayLike,
    run: ArrayLike,
    bucket: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> MeanCurve:
    """The mean of a signal by bucket: the mean over runs of each run's mean within the bucket.

    Every run weighs the same within a bucket, however many of its turns lie there and whatever
    these weigh. The standard error is SD / sqrt(n_runs) over the runs' means, with n_runs - 1
    degrees of freedom. With `cluster` it is CR2's (for a mean: each cluster's summed deviation,
    divided by sqrt(1 - its share of the runs)) with Satterthwaite's degrees of freedom; with
    clusters of one run each the two are the same. Runs that agree have no limits.

    Args:
        values: The signal; shape (n_turns,), NaN where a turn has none.
        run: Which run a turn belongs to; integers, shape (n_turns,), in any order.
        bucket: Which bucket a turn belongs to; integers, shape (n_turns,).
        weights: How much a turn weighs within its run and bucket, as for `cell_means`.
        cluster: Which cluster a turn's run belongs to (its scenario); integers, shape (n_turns,).
        level: Confidence level of the intervals, which are t intervals for each bucket by itself.

    References:
        Bell & McCaffrey (2002), Survey Methodology 28:169-181 (CR2 and its degrees of freedom).
    """
    cells = cell_means(values, run, bucket, weights=weights)
    unit = cells.run if cluster is None else _cluster_of(cells.run, run, cluster)
    return _curve_of(cells, unit, level)


def _curve_of(cells: Cells, unit: IntArray, level: float) -> MeanCurve:
    """The curve of some cells; `unit` is the independent unit that each belongs to."""
    buckets, at = np.unique(cells.bucket, return_inverse=True)
    n = len(buckets)
    n_runs = np.bincount(at, minlength=n)
    value = _means(cells.value, np.ones(len(at)), at, n)
    deviation = cells.value - value[at]
    # Runs that agree do so whatever rounding makes of their mean: a spread of 1e-17 is none.
    deviation[np.abs(deviation) <= _ROUNDING * np.abs(cells.value)] = 0.0
    n_units, std_error, df = _cr2(deviation, at, unit, n_runs)
    half = t_quantile(level, df) * np.where(std_error > 0, std_error, np.nan)
    return MeanCurve(
        bucket=buckets,
        n_runs=n_runs.astype(np.int64),
        n_turns=np.bincount(at, weights=cells.n_turns, minlength=n).astype(np.int64),
        n_units=n_units,
        value=value,
        std_error=std_error,
        df=df,
        low=value - half,
        high=value + half,
        level=level,
    )


def simultaneous_band(
    cells: Cells,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2_000,
    side: Literal["both", "low"] = "both",
) -> MeanCurve:
    """The curve of `mean_curve` with limits that hold at all its buckets at once.

    Use it when the curve itself is used to pick a bucket. The joint distribution of the buckets'
    t statistics is drawn with Gaussian multipliers on whole runs, so that the correlation of
    neighbouring buckets counts; the level of the smallest p is then turned back into a t
    multiplier for each bucket's own degrees of freedom. With one bucket this is the t interval.
    With fewer than 10 runs the correlation is not estimated and the band is Bonferroni's.
    A bucket with fewer than two runs, or whose runs agree, has no limits and takes no part.

    Args:
        cells: From `cell_means`.
        rng: Source of randomness.
        level: Chance that the band holds everywhere.
        resamples: Number of draws.
        side: "low" gives a lower limit alone (`high` is infinite), for "stays above a target".

    References:
        Westfall & Young (1993), Resampling-Based Multiple Testing (smallest p over positions);
        Chernozhukov, Chetverikov & Kato (2013), Annals of Statistics 41:2786-2819 (multipliers).
    """
    curve = _curve_of(cells, cells.run, level)
    usable = (curve.df > 0) & (curve.std_error > 0)
    tails = 2 if side == "both" else 1
    tail = _joint_tail(cells, curve, usable, rng, resamples, tails) / tails
    half = np.full(len(curve.value), np.nan)
    half[usable] = stdtrit(curve.df[usable], 1 - tail) * curve.std_error[usable]
    high = curve.value + half if side == "both" else np.where(usable, np.inf, np.nan)
    return replace(curve, low=curve.value - half, high=high)


def within_scale(curve: MeanCurve, low: float | None, high: float | None) -> MeanCurve:
    """The curve with limits that respect the scale of the signal.

    Limits outside the scale are cut to it, though never so far that a value which itself lies
    outside is left out. Where all units agree on an end of a scale that is known at both ends, one
    limit is that end and the other Clopper and Pearson's for 0 of n units. That holds for any
    quantity on the scale, as one with mean m above its lowest value 0 is 0 with a chance of at
    most 1 - m. Units that agree on any other value have no limits.

    Args:
        curve: From `mean_curve`.
        low: Lowest possible value; None if there is none or it is not known.
        high: Highest possible value, likewise.
    """
    lower, upper = curve.low.copy(), curve.high.copy()
    if low is not None and high is not None:
        tail = (1 - curve.level) / 2
        room = (high - low) * (1 - tail ** (1 / curve.n_units))
        agreed = (curve.std_error == 0) & (curve.n_units > 1)
        near = _ROUNDING * (high - low)
        top = agreed & (np.abs(curve.value - high) <= near)
        bottom = agreed & (np.abs(curve.value - low) <= near)
        lower[top], upper[top] = high - room[top], high
        lower[bottom], upper[bottom] = low, low + room[bottom]
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    return replace(
        curve,
        low=np.minimum(np.clip(lower, least, most), curve.value),
        high=np.maximum(np.clip(upper, least, most), curve.value),
    )


def _cluster_of(runs: IntArray, run: ArrayLike, cluster: ArrayLike) -> IntArray:
    distinct, first = np.unique(np.asarray(run), return_index=True)
    of_run = np.asarray(cluster)[first]
    return np.asarray(of_run[np.searchsorted(distinct, runs)], dtype=np.int64)


def _cr2(
    deviation: FloatArray, bucket: IntArray, unit: IntArray, n_runs: IntArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Units, standard error and degrees of freedom of each bucket's mean; NaN with one unit.

    For a mean, CR2 has a closed form: with n runs in all, n_g in cluster g and a_g = 1 - n_g / n,
    V = sum(S_g**2 / a_g) / n**2, where S_g is the cluster's summed deviation.
    """
    at, _, position = _pairs(bucket, unit)
    size = np.bincount(position, minlength=len(at)).astype(np.float64)
    summed = np.bincount(position, weights=deviation, minlength=len(at))
    n = n_runs.astype(np.float64)
    n_buckets = len(n)
    left = 1 - size / n[at]
    alone = left <= 0
    left[alone] = np.nan
    variance = np.bincount(at, weights=summed**2 / left, minlength=n_buckets) / n**2
    spread = size**2 / left
    total = np.bincount(at, weights=spread, minlength=n_buckets)
    squares = np.bincount(at, weights=spread**2, minlength=n_buckets)
    own = np.bincount(at, weights=size**2, minlength=n_buckets)
    trace = own / n**4 + (total**2 - squares) / n**6
    n_units = np.bincount(at, minlength=n_buckets).astype(np.int64)
    return n_units, np.sqrt(variance), 1 / (n**2 * trace)


def _joint_tail(
    cells: Cells,
    curve: MeanCurve,
    usable: NDArray[np.bool_],
    rng: np.random.Generator,
    resamples: int,
    tails: int,
) -> float:
    """The p at which a bucket's interval must be taken for all to hold together."""
    n_used = int(usable.sum())
    alpha = 1 - curve.level
    runs, row = np.unique(cells.run, return_inverse=True)
    if n_used < 2 or len(runs) < MIN_UNITS_FOR_CORRELATION:
        return alpha / max(n_used, 1)
    column = np.searchsorted(curve.bucket, cells.bucket)
    deviation = np.zeros((len(runs), len(curve.bucket)))
    deviation[row, column] = cells.value - curve.value[column]
    smallest = smallest_p_draws(deviation[:, usable], rng=rng, resamples=resamples, tails=tails)
    return float(np.quantile(smallest, alpha))


def smallest_p_draws(
    deviation: FloatArray, *, rng: np.random.Generator, resamples: int, tails: int = 2
) -> FloatArray:
    """The smallest p over several means, drawn where none differs from 0: shape (resamples,).

    Gaussian multipliers on whole units keep the correlation of the means.

    Args:
        deviation: Each unit's value less the mean; shape (n_units, n_means), 0 where a unit has no
            value, and no column of nothing but 0.
        rng: Source of randomness.
        resamples: Number of draws.
        tails: 2 for a difference either way, 1 for a mean that is higher.
    """
    scaled = deviation / np.sqrt((deviation**2).sum(axis=0))
    factor = np.linalg.qr(scaled, mode="r") if len(scaled) > scaled.shape[1] else scaled
    z = rng.standard_normal((resamples, len(factor))) @ factor
    largest = np.abs(z).max(axis=1) if tails == 2 else z.max(axis=1)
    return np.asarray(tails * (1 - ndtr(largest)))
