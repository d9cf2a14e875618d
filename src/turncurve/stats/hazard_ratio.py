"""How many times as often one of two groups has its first event, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from turncurve.stats.quantiles import normal_quantile
from turncurve.stats.ratio import ratio_of_sums
from turncurve.stats.stratum_cells import StratumCells, stratum_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardRatio:
    """A ratio of hazards, treated over control.

    Attributes:
        value: Above 1 where the treated group has its first event more often; None where the
            control group had no event that could be compared, infinity being no estimate.
        std_error: Of log(value); None, as are the limits, where a group had no event that could be
            compared, and where there are too few strata.
        low: Lower limit, of the ratio.
        high: Upper limit.
        df: Degrees of freedom of t; None where the limits are normal.
        level: Confidence level.
        n_runs: Runs in all.
        n_compared: Strata in which a turn with an event had runs of both groups at risk.
        n_events: Events at such turns, of the treated group and of the control group.
    """

    value: float | None
    std_error: float | None
    low: float | None
    high: float | None
    df: int | None
    level: float
    n_runs: int
    n_compared: int
    n_events: tuple[int, int]


def hazard_ratio(
    time: ArrayLike,
    event: ArrayLike,
    treated: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    level: float = 0.95,
) -> HazardRatio:
    """Mantel and Haenszel's ratio of the chances of a first event at a turn.

    Runs are compared with the runs of the same stratum (scenario) at the same turn, which asks for
    no more than that the ratio be the same throughout: strata may differ as they like and may be
    as small as one run of each group. With strata these are the independent units: the interval is
    that of other scenarios of the kind, by t over strata on the log scale. Without, runs are.

    Args:
        time: Turn of the event, or the last turn seen; shape (n_runs,).
        event: True where the event was seen, False where the run is censored; shape (n_runs,).
        treated: True for one group, False for the control group; shape (n_runs,).
        stratum: Which stratum, any labels. None: all runs are of one.
        entry: The run is at risk only after this time. None: from the start.
        level: Confidence level.

    Raises:
        NotEnoughDataError: A group has no run.
        ValueError: A time is not after its entry, or not finite.

    References:
        Mantel & Haenszel (1959), JNCI 22:719-748; Greenland & Robins (1985), Biometrics 41:55-68
        (equation 13, variance without strata).
    """
    side = np.asarray(treated, dtype=np.bool_)
    cells = stratum_cells(time, event, side, stratum=stratum, entry=entry)
    (n0, n1), (d0, d1) = cells.at_risk, cells.events
    both = (n0 > 0) & (n1 > 0)
    n = n0 + n1
    top, bottom = (d1 * n0 / n)[both], (d0 * n1 / n)[both]
    strata, place = np.unique(cells.stratum[both], return_inverse=True)
    if not (top.sum() > 0 and bottom.sum() > 0):
        found = _Found(value=0.0 if bottom.sum() > 0 else None)
    elif stratum is None:
        found = _greenland_robins(cells, level)
    else:
        ratio = ratio_of_sums(
            np.bincount(place, weights=top),
            np.bincount(place, weights=bottom),
            level=level,
            scale="log",
        )
        error = None if ratio.std_error is None else ratio.std_error / ratio.value
        found = _Found(ratio.value, error, ratio.low, ratio.high, ratio.df)
    return HazardRatio(
        value=found.value,
        std_error=found.std_error,
        low=found.low,
        high=found.high,
        df=found.df,
        level=level,
        n_runs=cells.n_runs,
        n_compared=len(strata),
        n_events=(int(d1[both].sum()), int(d0[both].sum())),
    )


class _Found(NamedTuple):
    value: float | None
    std_error: float | None = None
    low: float | None = None
    high: float | None = None
    df: int | None = None


def _greenland_robins(cells: StratumCells, level: float) -> _Found:
    (n0, n1), (d0, d1) = cells.at_risk, cells.events
    n, d = n0 + n1, d0 + d1
    top, bottom = (d1 * n0 / n).sum(), (d0 * n1 / n).sum()
    variance = ((d * n1 * n0 - d1 * d0 * n) / n**2).sum() / (top * bottom)
    value, error = float(top / bottom), float(np.sqrt(variance))
    factor = float(np.exp(normal_quantile(level) * error))
    return _Found(value, error, value / factor, value * factor)
