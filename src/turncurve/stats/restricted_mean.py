"""How many turns a run goes before the event, on average, of its first so many turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from turncurve.errors import NotEnoughDataError
from turncurve.stats.cluster_influence import cluster_variance, survival_influence
from turncurve.stats.quantiles import normal_quantile, t_quantile
from turncurve.stats.risk_counts import counts, followed


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedMean:
    """The mean of min(time, horizon).

    There is no interval where no run had the event by then, or where there is one cluster.
    """

    horizon: float
    value: float
    std_error: float | None
    low: float | None
    high: float | None
    df: int | None
    level: float
    n_runs: int
    n_clusters: int
    n_events: int
    """Events up to the horizon."""


def restricted_mean(
    time: ArrayLike,
    event: ArrayLike,
    horizon: float,
    *,
    entry: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> RestrictedMean:
    """The restricted mean survival time: the area under Kaplan and Meier's curve to a horizon.

    In whole turns it is the sum of S(t) over t = 0, 1, ..., horizon - 1. It needs no assumption on
    hazards, and is there where the median is not reached.

    Args:
        time: Turn of the event, or the last turn seen; shape (n_runs,).
        event: True where the event was seen, False where the run is censored; shape (n_runs,).
        horizon: Turn to which the mean is restricted, above 0.
        entry: The run is at risk only after this time; survival is 1 up to the earliest.
        cluster: Which cluster the run belongs to; see `kaplan_meier`. None: runs are independent.
        level: Confidence level; the interval is value ± multiplier * std_error, within 0 to
            `horizon`.

    Raises:
        NotEnoughDataError: No run, or none was followed to the horizon while some are still free
            of the event.

    References:
        Irwin (1949), Journal of Hygiene 47:188-189; Klein & Moeschberger (2003), Survival
        Analysis, equation 4.5.2 (variance, from Greenwood's).
    """
    if not 0 < horizon < np.inf:
        raise ValueError(f"horizon: wanted a turn above 0, got {horizon!r}")
    runs = followed(time, np.asarray(event, dtype=np.bool_), entry=entry, cluster=cluster)
    times = runs.end_times
    at = counts(runs, times)
    survival = np.cumprod(1 - at.ends / at.at_risk)
    last = float(runs.time.max())
    if last < horizon and (not len(times) or survival[-1] > 0):
        raise NotEnoughDataError(
            "a mean restricted to a horizon: turns", need=int(horizon), got=int(last)
        )
    inside = np.minimum(times, horizon)
    widths = np.diff(np.append(inside, horizon))
    value = float(inside.min(initial=horizon) + widths @ survival)
    if cluster is None:
        area = np.cumsum((widths * survival)[::-1])[::-1]
        left = np.where(at.at_risk > at.ends, at.at_risk - at.ends, np.inf)
        variance, df = float((area**2 * at.ends / (at.at_risk * left)).sum()), None
        multiplier = normal_quantile(level)
    else:
        variance = float(cluster_variance(survival_influence, runs, times, widths=widths))
        df = runs.n_clusters - 1
        multiplier = float(t_quantile(level, df))
    known = variance > 0
    error = float(np.sqrt(variance)) if known else 0.0
    return RestrictedMean(
        horizon=float(horizon),
        value=value,
        std_error=error if known else None,
        low=max(0.0, value - multiplier * error) if known else None,
        high=min(float(horizon), value + multiplier * error) if known else None,
        df=df,
        level=level,
        n_runs=len(runs.time),
        n_clusters=runs.n_clusters,
        n_events=int(((runs.kind == 1) & (runs.time <= horizon)).sum()),
    )
