"""Does the chance of a first error change along a run, among runs that are alike?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile
from turncurve.stats.ratio import Ratio, ratio_of_sums

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

FEWEST_CLUSTERS = 5
"""Clusters with something to compare, below which there is no interval."""
_STEEPEST = 100.0
"""Change of the log hazard over the whole of `along` beyond which no slope is looked for."""
_MOST_STEPS = 200
_NEAR = 1e-10
_STEPS_OUT = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardTrend:
    """The slope of the log hazard, the same in every stratum.

    Attributes:
        slope: Change of the log hazard where `along` grows by 1; infinite where the steepest slope
            fits best, as where events only come at turns that no other run was at risk before.
        low: Lower limit; minus infinity where the data set none.
        high: Upper limit; plus infinity where the data set none.
        t: Of the test that the slope is 0; its sign is the slope's.
        df: Its degrees of freedom, clusters less one.
        level: Confidence level.
        n_runs: Runs in strata where something can be compared: two runs or more, and an event.
        n_events: Their events.
        n_strata: Such strata.
        n_clusters: Their clusters.
        n_alone: Runs in strata of one run, which say nothing.
    """

    slope: float
    low: float
    high: float
    t: float
    df: int
    level: float
    n_runs: int
    n_events: int
    n_strata: int
    n_clusters: int
    n_alone: int


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of the strata that can be compared; arrays of shape (n_runs,)."""

    last: IntArray
    event: FloatArray
    first: IntArray
    """Turns before the run's first at risk."""
    stratum: IntArray
    cluster: IntArray
    cell: IntArray
    """Runs of the same stratum and cluster."""
    weight: FloatArray
    """1 / (runs of the stratum - 1): an event counts once, however large its stratum."""


def hazard_trend(
    time: ArrayLike,
    event: ArrayLike,
    along: ArrayLike,
    *,
    stratum: ArrayLike,
    cluster: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    level: float = 0.95,
) -> HazardTrend:
    """Estimate how the hazard changes along a run, with a level of its own in every stratum.

    The model is h(t) = h_s exp(slope * x(t)) for a run of stratum s at turn t. Every event of one
    run is set against the turns at risk of *other* runs of the stratum. With i and j two of its
    runs, the estimate solves

        sum over i != j of sum over t, u of
            (x(t) - x(u)) exp(-slope x(t) / 2) dN_i(t) exp(slope x(u) / 2) Y_j(u) = 0

    where dN_i(t) is 1 at the run's event and Y_j(u) is 1 while the run is at risk. As i and j are
    independent, the sum's mean is 0 at the true slope in strata of any size from two runs. An
    effect for each stratum in a regression does not have that: in a stratum of one run the event is
    always the last turn, which looks like a rise, and some of that is left in small strata. The sum
    falls in the slope, so it has one root at most.

    The test is a t test of the clusters' shares in the sum at slope 0, and the limits are the
    slopes that such a test does not reject.

    Args:
        time: Turn of the event, or the last turn seen; whole, from 1; shape (n_runs,).
        event: True where the event was seen, False where the run is censored; shape (n_runs,).
        along: x at turns 1, 2, 3, ... up to the last of `time` at least; log2 of the turn makes
            the slope that of a doubling. Shape (n_turns,), finite.
        stratum: Which stratum, any labels: runs that would have the same hazard.
        cluster: The independent units, any labels; runs of a stratum may be of several. None: the
            strata.
        entry: Turns before the run's first at risk, whole. None: 0.
        level: Confidence level.

    Raises:
        NotEnoughDataError: Too few clusters with something to compare, or no event came at another
            turn than those at which other runs of its stratum were at risk.
        ValueError: A time is not a whole turn after its entry, or `along` is too short.

    References:
        Mantel & Haenszel (1959), JNCI 22:719-748, for the sum over pairs; Allison & Christakis
        (2006), Sociological Methodology 36:157-172, for what effects of strata do to trends.
    """
    x = np.asarray(along, dtype=np.float64)
    runs, n_alone = _comparable(time, event, stratum, cluster, entry)
    if len(runs.last) and runs.last.max() > len(x):
        raise ValueError(f"along: wanted values up to turn {runs.last.max()}, got {len(x)}")
    n_clusters = len(np.unique(runs.cluster))
    if n_clusters < FEWEST_CLUSTERS:
        what = "a trend within strata: scenarios or other units with two runs alike and an event"
        raise NotEnoughDataError(what, need=FEWEST_CLUSTERS, got=n_clusters)

    def statistic(slope: float) -> float:
        found = _shares(runs, x, slope)
        error = found.std(ddof=1) * np.sqrt(n_clusters)
        return float(found.sum() / error) if error > 0 else float(np.sign(found.sum())) * np.inf

    x = x[: runs.last.max()]
    reach = _STEEPEST / max(float(np.ptp(x)), 1e-12)
    if not _shares(runs, x, 0.0).any():
        what = "a trend within strata: events at other turns than runs alike were at risk at"
        raise NotEnoughDataError(what, need=1, got=0)
    slope = _crossing(lambda at: float(_shares(runs, x, at).sum()), 0.0, 0.0, reach)
    t = float(t_quantile(level, n_clusters - 1))
    start = slope if np.isfinite(slope) else 0.0
    low, high = (_crossing(statistic, start, at, reach) for at in (t, -t))
    return HazardTrend(
        slope=slope,
        low=-np.inf if slope == -np.inf else low,
        high=np.inf if slope == np.inf else high,
        t=statistic(0.0),
        df=n_clusters - 1,
        level=level,
        n_runs=len(runs.last),
        n_events=int(runs.event.sum()),
        n_strata=len(np.unique(runs.stratum)),
        n_clusters=n_clusters,
        n_alone=n_alone,
    )


def _comparable(
    time: ArrayLike,
    event: ArrayLike,
    stratum: ArrayLike,
    cluster: ArrayLike | None,
    entry: ArrayLike | None,
) -> tuple[_Runs, int]:
    """The runs of strata with two runs or more and an event, and how many are alone in theirs."""
    given = np.asarray(time, dtype=np.float64)
    last = given.astype(np.int64)
    first = np.zeros(len(last), dtype=np.int64) if entry is None else np.asarray(entry, np.int64)
    if (last != given).any() or (first < 0).any() or (last <= first).any():
        raise ValueError("wanted whole turns from 1, each after its entry")
    had = np.asarray(event, dtype=np.float64)
    code = np.unique(np.asarray(stratum), return_inverse=True)[1].reshape(-1)
    size = np.bincount(code)
    used = (size > 1)[code] & (np.bincount(code, weights=had) > 0)[code]
    unit = code if cluster is None else np.asarray(cluster)
    unit = np.unique(unit[used], return_inverse=True)[1].reshape(-1)
    cell = code[used] * (int(unit.max(initial=0)) + 1) + unit
    return _Runs(
        last=last[used],
        event=had[used],
        first=first[used],
        stratum=np.unique(code[used], return_inverse=True)[1].reshape(-1),
        cluster=unit,
        cell=np.unique(cell, return_inverse=True)[1].reshape(-1),
        weight=1 / (size[code[used]] - 1),
    ), int((size == 1).sum())


def _shares(runs: _Runs, x: FloatArray, slope: float) -> FloatArray:
    """Each cluster's share in the sum over pairs; see `_paired`."""
    grows = np.exp(slope * x / 2)
    at_risk, at_risk_x = (_between(values, runs) for values in (grows, x * grows))
    had = runs.event / grows[runs.last - 1]
    had_x = had * x[runs.last - 1]

    return _paired(runs, had_x, at_risk) - _paired(runs, had, at_risk_x)


def _between(values: FloatArray, runs: _Runs) -> FloatArray:
    """Sum of the values over each run's turns at risk."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[runs.last] - total[runs.first], dtype=np.float64)


def _root(falling: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a function goes from above 0 to below, by false position; None if it does not.

    References:
        Dowell & Jarratt (1971), BIT 11:168-174 (the Illinois method).
    """
    above, below = falling(low), falling(high)
    if not (above > 0 > below):
        return None
    kept = 0
    for _ in range(_MOST_STEPS):
        middle = (low * below - high * above) / (below - above)
        if not low < middle < high:
            middle = (low + high) / 2
        value = falling(middle)
        if value == 0 or high - low < _NEAR:
            return middle
        if value > 0:
            low, above = middle, value
            below, kept = (below / 2 if kept > 0 else below), 1
        else:
            high, below = middle, value
            above, kept = (above / 2 if kept < 0 else above), -1
    return (low + high) / 2


def _crossing(
    statistic: Callable[[float], float], start: float, target: float, reach: float
) -> float:
    """Where a statistic, which falls near `start`, first passes the target; infinite if nowhere.

    Far out a t need not fall any more, as few runs are left to weigh; so it is followed from the
    start on.
    """
    upwards = statistic(start) > target
    sign = 1.0 if upwards else -1.0
    near = start
    for step in np.geomspace(reach / 1_000, 2 * reach, _STEPS_OUT):
        far = start + sign * float(step)
        if abs(far) > reach:
            break
        if (statistic(far) > target) != upwards:
            inner, outer = min(near, far), max(near, far)
            return _root(lambda at: statistic(at) - target, inner, outer) or far
        near = far
    return sign * np.inf


def hazards_by_span(
    time: ArrayLike,
    event: ArrayLike,
    ends: Sequence[int],
    *,
    stratum: ArrayLike,
    cluster: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Ratio | None, ...]:
    """The hazard in spans of turns over that of all their turns, among runs that are alike.

    As in `hazard_trend` an event of one run is set against the turns at risk of other runs of its
    stratum: with d events and Y turns at risk, the ratio of span k is the sum of d_i(k) Y_j over
    the sum of d_i Y_j(k), over all pairs i != j of all strata. Where no hazard changes it is 1.

    Args:
        time: As for `hazard_trend`, as are event, stratum, cluster, entry and level.
        event: True where the event was seen; shape (n_runs,).
        ends: Last turn of each span, rising, the last not before any of `time`; the first span
            starts at turn 1.
        stratum: Which stratum, any labels.
        cluster: The independent units, any labels. None: the strata.
        entry: Turns before the run's first at risk. None: 0.
        level: Confidence level, of t on the log scale.

    Returns:
        Each span's ratio; None where no run at risk in it can be compared. Without an event in it
        the ratio is 0 and has no limits.
    """
    runs, _ = _comparable(time, event, stratum, cluster, entry)
    if not len(runs.last):
        return (None,) * len(ends)
    stops = np.asarray(ends, dtype=np.int64)
    starts = np.concatenate([[0], stops[:-1]])
    whole = (runs.last - runs.first).astype(np.float64)
    found: list[Ratio | None] = []
    for start, stop in zip(starts, stops, strict=True):
        had = runs.event * ((runs.last > start) & (runs.last <= stop))
        passed = np.minimum(runs.last, stop) - np.maximum(runs.first, start)
        at_risk = np.maximum(passed, 0).astype(np.float64)
        top, bottom = _paired(runs, had, whole), _paired(runs, runs.event, at_risk)
        some = bottom.sum() > 0
        found.append(ratio_of_sums(top, bottom, level=level, scale="log") if some else None)
    return tuple(found)


def _paired(runs: _Runs, events: FloatArray, at_risk: FloatArray) -> FloatArray:
    """Each cluster's share in the weighted sum of events_i at_risk_j over pairs i != j.

    The shares add up to the sum, and vary as its variance asks: a pair within a cluster is the
    cluster's own, and a pair of two clusters would go with either of them, so it counts in full
    with both (the projection of a U statistic); what is then too much is taken from all alike.

    References:
        Hoeffding (1948), Annals of Mathematical Statistics 19:293-325.
    """

    def halves(group: IntArray) -> FloatArray:
        """Half of each pair within the groups, to either run; shape (n_runs,)."""
        others = (np.bincount(group, weights=at_risk)[group] - at_risk) * events
        others += (np.bincount(group, weights=events)[group] - events) * at_risk
        return np.asarray(runs.weight * others / 2, dtype=np.float64)

    every, own = halves(runs.stratum), halves(runs.cell)
    shares = np.bincount(runs.cluster, weights=2 * every - own)
    return np.asarray(shares + (every.sum() - shares.sum()) / len(shares), dtype=np.float64)
