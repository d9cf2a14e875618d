"""Time to an event that not every run reaches: Kaplan-Meier, its interval and its quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.stats.cluster_influence import cluster_variance, survival_influence
from turncurve.stats.log_log import log_log_limits
from turncurve.stats.quantiles import normal_quantile, t_quantile
from turncurve.stats.risk_counts import Followed, counts, followed

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Tie: TypeAlias = Literal["first", "midpoint"]
"""What a quantile is where the curve runs flat at exactly 1 - p: the first such time, or the middle
of the flat stretch (R's survfit)."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalCurve:
    """The Kaplan-Meier estimate: one entry a distinct event time, arrays of shape (n_times,).

    `survival` is the share still free of the event just after `time`; it is 1 before the first
    time. `std_error`, `low` and `high` are NaN where survival is 0.
    """

    time: FloatArray
    n_at_risk: IntArray
    n_events_at: IntArray
    survival: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    n_runs: int
    n_clusters: int
    """Independent units: the runs, or clusters where they were given."""
    n_events: int
    n_censored: int
    last_time: float
    """The longest time that any run was followed."""
    sure_time: FloatArray
    """Last times of the units at risk before the first event, rising; see `quantile`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalQuantile:
    """The time by which a share `p` of runs has had the event.

    `time` is None where fewer than `p` are known to have had it. `low` and `high` are None where
    the data set no such limit.
    """

    p: float
    time: float | None
    low: float | None
    high: float | None


def kaplan_meier(
    time: ArrayLike,
    event: ArrayLike,
    *,
    entry: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> SurvivalCurve:
    """Estimate the share of runs still free of an event, from right-censored times.

    At a tie, events come before censorings: a run last seen at turn 9 was at risk at turn 9. A run
    that ends for a reason that has to do with the event breaks the assumption behind the estimate,
    which is that censored runs would have gone on like the others.

    Args:
        time: Turn of the event, or the last turn seen; shape (n_runs,).
        event: True where the event was seen, False where the run is censored; shape (n_runs,).
        entry: The run is at risk only after this time (left truncation), as in R's
            `Surv(entry, time, event)`; below `time`. None: at risk from the start.
        cluster: Which cluster, of runs that may resemble each other, the run belongs to; shape
            (n_runs,). The standard error is then the infinitesimal jackknife's over clusters, the
            limits go by t with n_clusters - 1 degrees of freedom, and one cluster has neither.
            None: runs are independent, and the standard error is Greenwood's.
        level: Confidence level of the interval, which is on the log(-log) scale.

    Raises:
        NotEnoughDataError: No run.
        ValueError: A time is not after its entry, or not finite.

    References:
        Kaplan & Meier (1958), JASA 53:457-481; Greenwood (1926); Kalbfleisch & Prentice (2002),
        equation 1.16 (log-log interval).
    """
    runs = followed(time, np.asarray(event, dtype=np.bool_), entry=entry, cluster=cluster)
    times = runs.end_times
    at = counts(runs, times)
    survival = np.asarray(np.cumprod(1 - at.ends / at.at_risk), dtype=np.float64)
    if cluster is None:
        std_error, multiplier = _greenwood(survival, at.ends, at.at_risk), normal_quantile(level)
    else:
        variance = cluster_variance(survival_influence, runs, times)
        std_error = np.where(survival > 0, np.sqrt(variance), np.nan)
        multiplier = float(t_quantile(level, runs.n_clusters - 1))
    low, high = log_log_limits(survival, std_error, multiplier)
    had = runs.kind == 1
    return SurvivalCurve(
        time=times,
        n_at_risk=at.at_risk.astype(np.int64),
        n_events_at=at.ends.astype(np.int64),
        survival=survival,
        std_error=std_error,
        low=low,
        high=high,
        level=level,
        n_runs=len(runs.time),
        n_clusters=runs.n_clusters,
        n_events=int(had.sum()),
        n_censored=int((~had).sum()),
        last_time=float(runs.time.max()),
        sure_time=_sure_times(runs, times.min(initial=np.inf)),
    )


def quantile(curve: SurvivalCurve, p: float, *, tie: Tie = "first") -> SurvivalQuantile:
    """The time by which a share `p` of runs has had the event, with its interval.

    The smallest time at which survival is at most 1 - p. The limits invert the survival curve's
    pointwise limits in the same way, with one correction: before the first event the curve has no
    variance to estimate, which would make any first event a lower limit, were there only one run.
    So there is a lower limit only with enough runs (clusters, where they were given) that, had a
    share `p` had the event, seeing it in none of them would be as rare as the level says: 6 runs
    for the median at 0.95, 36 for p = 0.1. Where the lower curve never comes down to 1 - p, the
    limit is the last time to which so many runs were followed, or the last event if that is later.

    Args:
        curve: From `kaplan_meier`.
        p: Share, above 0 and below 1; 0.5 is the median.
        tie: Where survival is exactly 1 - p over a stretch: its first time, or the midpoint
            between that and the next event, which is what R's survfit gives.

    References:
        Brookmeyer & Crowley (1982), Biometrics 38:29-41.
    """
    if not 0 < p < 1:
        raise ValueError(f"p: wanted a share between 0 and 1, got {p!r}")
    return SurvivalQuantile(
        p=p,
        time=_crossing(curve.time, curve.survival, p, tie),
        low=_lower_limit(curve, p, tie),
        high=_crossing(curve.time, curve.high, p, tie),
    )


def quantiles(
    curve: SurvivalCurve, p: Sequence[float], *, tie: Tie = "first"
) -> tuple[SurvivalQuantile, ...]:
    """`quantile` for several shares."""
    return tuple(quantile(curve, share, tie=tie) for share in p)


def _greenwood(survival: FloatArray, events: FloatArray, at_risk: FloatArray) -> FloatArray:
    """Standard errors; NaN where survival is 0."""
    left = at_risk - events
    left[left == 0] = np.nan
    relative = np.sqrt(np.cumsum(events / (at_risk * left)))
    return np.asarray(np.where(survival > 0, survival, np.nan) * relative, dtype=np.float64)


def _sure_times(runs: Followed, first_event: float) -> FloatArray:
    """The longest time of each cluster that was at risk before the first event, rising."""
    longest = np.full(runs.n_clusters, -np.inf)
    early = runs.entry < first_event
    np.maximum.at(longest, runs.cluster[early], runs.time[early])
    return np.sort(longest[np.isfinite(longest)])


def _crossing(time: FloatArray, survival: FloatArray, p: float, tie: Tie) -> float | None:
    """The first time at which a falling curve is at most 1 - p; None if it never is."""
    below = np.flatnonzero(survival <= 1 - p + _ROUNDING)
    if not len(below):
        return None
    first = below[0]
    flat = abs(survival[first] - (1 - p)) <= _ROUNDING
    if tie == "midpoint" and flat and first + 1 < len(time):
        return float(time[first] + time[first + 1]) / 2
    return float(time[first])


def _lower_limit(curve: SurvivalCurve, p: float, tie: Tie) -> float | None:
    needed = math.ceil(math.log((1 - curve.level) / 2) / math.log(1 - p) - _ROUNDING)
    if needed > len(curve.sure_time):
        return None
    crossing = _crossing(curve.time, curve.low, p, tie)
    if crossing is not None:
        return crossing
    return float(max(curve.sure_time[-needed], curve.time.max(initial=-np.inf)))
