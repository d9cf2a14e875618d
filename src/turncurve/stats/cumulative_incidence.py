"""By turn t, which share of runs has had the event, where runs also end in other ways?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.stats.cluster_influence import cluster_variance, incidence_influence
from turncurve.stats.log_log import log_log_limits
from turncurve.stats.quantiles import normal_quantile, t_quantile
from turncurve.stats.risk_counts import Counts, counts, followed

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

CENSORED, EVENT = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidenceCurve:
    """The Aalen-Johansen estimate: one entry a distinct time of an end, shape (n_times,).

    `incidence` is the share that has had the event by `time`. `std_error` is NaN where nothing can
    be said of it; `low` and `high` are NaN there and where the incidence is 0 or 1.
    """

    time: FloatArray
    n_at_risk: IntArray
    n_events_at: IntArray
    n_competing_at: IntArray
    incidence: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    n_runs: int
    n_clusters: int
    n_events: int
    n_competing: int
    n_censored: int
    last_time: float


def cumulative_incidence(
    time: ArrayLike,
    kind: ArrayLike,
    *,
    entry: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> IncidenceCurve:
    """Estimate the share of runs that have had the event by each time, other ends competing.

    A run that ended in another way can no longer have the event, so the share stays below what
    1 - Kaplan-Meier says, which treats such runs as if they would have gone on. Without another end
    the two are the same, the standard error (Greenwood's) too.

    Args:
        time: Turn of the event or of the other end, or the last turn seen; shape (n_runs,).
        kind: 0 censored, 1 the event, 2 and above other ends; shape (n_runs,).
        entry: The run is at risk only after this time. None: from the start.
        cluster: Which cluster the run belongs to; see `kaplan_meier`. None: runs are independent.
        level: Confidence level of the interval, which is on the log(-log) scale.

    Raises:
        NotEnoughDataError: No run.
        ValueError: A time is not after its entry, or not finite.

    References:
        Aalen & Johansen (1978), Scandinavian Journal of Statistics 5:141-150; Marubini & Valsecchi
        (1995), Analysing Survival Data, chapter 10 (variance by the delta method).
    """
    runs = followed(time, kind, entry=entry, cluster=cluster)
    times = runs.end_times
    at = counts(runs, times)
    before = np.cumprod(np.concatenate([[1.0], 1 - at.ends / at.at_risk]))[:-1]
    incidence = np.cumsum(before * at.events / at.at_risk)
    if cluster is None:
        variance, multiplier = _variance(at, before, incidence), normal_quantile(level)
    else:
        variance = cluster_variance(incidence_influence, runs, times)
        multiplier = float(t_quantile(level, runs.n_clusters - 1))
    std_error = np.sqrt(np.maximum(variance, 0.0))
    low, high = log_log_limits(incidence, std_error, multiplier)
    return IncidenceCurve(
        time=times,
        n_at_risk=at.at_risk.astype(np.int64),
        n_events_at=at.events.astype(np.int64),
        n_competing_at=(at.ends - at.events).astype(np.int64),
        incidence=incidence,
        std_error=std_error,
        low=low,
        high=high,
        level=level,
        n_runs=len(runs.time),
        n_clusters=runs.n_clusters,
        n_events=int((runs.kind == EVENT).sum()),
        n_competing=int((runs.kind > EVENT).sum()),
        n_censored=int((runs.kind == CENSORED).sum()),
        last_time=float(runs.time.max()),
    )


def _variance(at: Counts, before: FloatArray, incidence: FloatArray) -> FloatArray:
    """Sum over u <= t of (F(t) - F(u))^2 A(u) - 2 (F(t) - F(u)) B(u) + C(u), by running sums."""
    n, d, k = at.at_risk, at.ends, at.events
    left = np.where(n > d, n - d, np.inf)
    a = d / (n * left)
    b = before * k / n**2
    c = before**2 * k * (n - k) / n**3
    f = incidence
    squares = f**2 * np.cumsum(a) - 2 * f * np.cumsum(f * a) + np.cumsum(f**2 * a)
    return np.asarray(squares - 2 * (f * np.cumsum(b) - np.cumsum(f * b)) + np.cumsum(c))
