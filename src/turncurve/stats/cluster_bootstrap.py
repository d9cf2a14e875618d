"""Intervals for anything made of sums over independent clusters: resampling whole clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]
Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""From sums of shape (..., *cells) to values of shape (...), NaN where there is none."""
Draw: TypeAlias = Callable[[int], Iterable[FloatArray]]
"""From a number of clusters to blocks of draws, as `draws` gives them."""

FEWEST = 20
"""Clusters below which resampling says too little, and the jackknife's t interval is given: with 10
to 19 of them it covers 92 % where quantiles of resamples cover 88 % (kappa, 600 studies)."""
MOST = 1_000
"""Clusters above which the jackknife's t interval is given too: resampling says the same, and takes
long."""
MOST_LOST = 0.1
"""Share of resamples without a value above which there is no interval."""
AT_ONCE = 2_000_000
"""Weights held at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSums:
    """Sums over all clusters, over resamples of them, and without each of them in turn.

    Attributes:
        total: Shape (*cells,).
        drawn: Shape (n_resamples, *cells).
        without: Shape (n_clusters, *cells).
    """

    total: FloatArray
    drawn: FloatArray
    without: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInterval:
    """A value with its interval over clusters.

    Attributes:
        value: None where the statistic is undefined.
        std_error: Of the resamples, or of the jackknife where there are few clusters.
        low: Lower limit; None where there is no interval, which `reason` explains.
        high: Upper limit.
        method: How the limits were found.
        df: Degrees of freedom of a t interval.
        n_clusters: Clusters that the statistic has anything of.
        n_lost: Resamples in which it is undefined, and which are left out.
        reason: Why there is no interval.
    """

    value: float | None
    std_error: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    df: float | None = None
    n_clusters: int = 0
    n_lost: int = 0
    reason: str | None = None


def draws(n: int, *, rng: np.random.Generator, resamples: int) -> Iterator[FloatArray]:
    """How often each of n clusters is drawn, with replacement and n times; block by block.

    Args:
        n: Number of clusters.
        rng: Source of randomness.
        resamples: Number of draws.

    Yields:
        Shape (size, n); the sizes sum to `resamples`.
    """
    step = max(1, AT_ONCE // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        yield rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64)


def resampled_sums(sums: ArrayLike, draw: Draw) -> ClusterSums:
    """What clusters hold: all together, in each draw of them, and without each in turn.

    Args:
        sums: What each cluster adds; shape (n_clusters, *cells). Clusters of nothing but 0 are left
            out before drawing.
        draw: `draws` for a number of clusters; asked for `FEWEST` to `MOST` of them.
    """
    given = np.asarray(sums, dtype=np.float64)
    cells = given.shape[1:]
    flat = given.reshape(len(given), math.prod(cells))
    flat = flat[(flat != 0).any(axis=1)]
    total = flat.sum(axis=0)
    blocks = [weights @ flat for weights in draw(len(flat))] if FEWEST <= len(flat) <= MOST else []
    drawn = np.concatenate(blocks) if blocks else np.empty((0, flat.shape[1]))
    return ClusterSums(
        total=total.reshape(cells),
        drawn=drawn.reshape(-1, *cells),
        without=(total - flat).reshape(-1, *cells),
    )


def cluster_interval(
    sums: ClusterSums, statistic: Statistic, *, level: float = 0.95, unit: str = "run"
) -> ClusterInterval:
    """The statistic of all clusters and its interval.

    With 20 to 1,000 clusters the interval is the bootstrap's, corrected for bias and skewness
    (BCa); with fewer, and with more, a t interval with the jackknife's standard error.
    A statistic that is the same in every resample has no interval: a width of 0 would claim
    certainty.

    Args:
        sums: Sums of the clusters that the statistic can have anything of.
        statistic: From sums to values.
        level: Confidence level.
        unit: What a cluster is called.

    References:
        Davison & Hinkley (1997), Bootstrap Methods and their Application, section 3.8 (clusters);
        Efron (1987), JASA 82:171-185 (BCa); Efron & Tibshirani (1993), An Introduction to the
        Bootstrap, section 11.5 (jackknife).
    """
    value, n = float(statistic(sums.total)), len(sums.without)
    if np.isnan(value):
        return ClusterInterval(value=None, n_clusters=n)
    if n < 2:
        return ClusterInterval(value=value, n_clusters=n, reason=f"there is one {unit}")
    without = statistic(sums.without)
    if not FEWEST <= n <= MOST:
        return _jackknife(value, without, level, unit)
    drawn = statistic(sums.drawn)
    known = drawn[~np.isnan(drawn)]
    n_lost = len(drawn) - len(known)
    if n_lost > MOST_LOST * len(drawn):
        lost = n_lost / len(drawn)
        why = f"in {lost:.0%} of the resamples it is undefined"
        return ClusterInterval(value=value, n_clusters=n, n_lost=n_lost, reason=why)
    std_error = float(known.std(ddof=1))
    if std_error < 1e-12:
        why = "it is the same in every resample"
        return ClusterInterval(value=value, n_clusters=n, n_lost=n_lost, reason=why)
    tails, method = _tails(value, known, without, level)
    low, high = (float(each) for each in np.quantile(known, tails))
    return ClusterInterval(
        value=value,
        std_error=std_error,
        low=low,
        high=high,
        method=f"{method} of {len(drawn):,} resamples of {n:,} {unit}s",
        n_clusters=n,
        n_lost=n_lost,
    )


def _jackknife(value: float, without: FloatArray, level: float, unit: str) -> ClusterInterval:
    n = len(without)
    if np.isnan(without).any():
        return ClusterInterval(
            value=value, n_clusters=n, reason=f"without one of the {unit}s it is undefined"
        )
    std_error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if std_error < 1e-12:
        return ClusterInterval(value=value, n_clusters=n, reason=f"no {unit} changes it")
    half = float(t_quantile(level, n - 1)) * std_error
    return ClusterInterval(
        value=value,
        std_error=std_error,
        low=value - half,
        high=value + half,
        method=f"t, standard error by leaving out each of {n:,} {unit}s",
        df=n - 1,
        n_clusters=n,
    )


def _tails(
    value: float, drawn: FloatArray, without: FloatArray, level: float
) -> tuple[tuple[float, float], str]:
    """At which shares of the resamples the limits lie, and what that is called."""
    tail = (1 - level) / 2
    plain = (tail, 1 - tail), "percentiles"
    if np.isnan(without).any():
        return plain
    at_or_below = (drawn < value).mean() + 0.5 * (np.abs(drawn - value) < 1e-12).mean()
    pull = without.mean() - without
    size = (pull**2).sum()
    if not 0 < at_or_below < 1 or size < 1e-24:
        return plain
    bias, skew = float(ndtri(at_or_below)), float((pull**3).sum() / (6 * size**1.5))
    ends = bias + ndtri(np.array([tail, 1 - tail]))
    if (1 - skew * ends <= 0).any():
        return plain
    low, high = ndtr(bias + ends / (1 - skew * ends))
    return (float(low), float(high)), "BCa"
