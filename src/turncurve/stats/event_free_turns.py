"""Turns before a first event up to a horizon, of two sets of runs of the same units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.bootstrap import MIN_UNITS, percentile_interval, resampled_counts

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTimes:
    """Runs by turn and unit: those at risk at a turn, and those that have the event there.

    Arrays of shape (n_units, n_turns), for turns 1 to n_turns; each run weighs one over the runs of
    its unit, so that units weigh the same.
    """

    at_risk: FloatArray
    events: FloatArray
    followed: NDArray[np.bool_]
    """Whether some run of the unit has had the event by the turn, or is still followed there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRatio:
    """Restricted means of two sets of runs and their ratio; no limits with too few units."""

    old: float
    new: float
    ratio: float
    low: float | None
    high: float | None
    horizon: int
    n_units: int
    n_resamples: int | None
    old_survival: FloatArray
    """Share still free of the event just after turns 1 to `horizon`; shape (horizon,)."""
    new_survival: FloatArray


def unit_times(
    time: ArrayLike, event: ArrayLike, unit: ArrayLike, *, n_units: int, n_turns: int, entry: float
) -> UnitTimes:
    """Right-censored times as what Kaplan and Meier's estimate needs of each unit.

    Args:
        time: Turn of the event, or last turn seen; shape (n_runs,).
        event: True where it was seen; shape (n_runs,).
        unit: Which unit a run is of, 0 to n_units - 1; shape (n_runs,).
        n_units: Number of units, those without a run included.
        n_turns: Turns to look at.
        entry: Runs are at risk only after this turn.
    """
    t, seen = np.asarray(time, dtype=np.float64), np.asarray(event, dtype=np.bool_)
    of = np.asarray(unit, dtype=np.int64)
    turn = np.arange(1, n_turns + 1)
    weight = 1 / np.maximum(np.bincount(of, minlength=n_units), 1)[of]
    at_risk, events = np.zeros((n_units, n_turns)), np.zeros((n_units, n_turns))
    followed = np.zeros((n_units, n_turns), dtype=np.bool_)
    for time_of_run, had_it, u, w in zip(t, seen, of, weight, strict=True):
        at_risk[u] += w * ((turn > entry) & (turn <= time_of_run))
        events[u] += w * (had_it & (turn == time_of_run))
        followed[u] |= had_it | (turn <= time_of_run)
    return UnitTimes(at_risk=at_risk, events=events, followed=followed)


def common_horizon(old: UnitTimes, new: UnitTimes, *, min_units: int) -> int:
    """The last turn up to which enough units of either set are followed; 0 if there is none."""
    followed = np.minimum(old.followed.sum(axis=0), new.followed.sum(axis=0))
    short = np.flatnonzero(followed < min_units)
    return int(short[0]) if len(short) else len(followed)


def mean_ratio(
    old: UnitTimes,
    new: UnitTimes,
    *,
    horizon: int,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2_000,
) -> MeanRatio:
    """The ratio of two restricted means, with an interval over units.

    A restricted mean is the area under Kaplan and Meier's curve from 0 to the horizon: the mean of
    the turn of the first event, a run without one by then counting as the horizon. The interval is
    the bootstrap's over whole units, the same units for both sets: it keeps what pairs
    share, and the inverse ratio has the inverse limits. With fewer than 10 units there is none.

    Args:
        old: Runs that the ratio is over.
        new: Runs of the same units, in the same order.
        horizon: Last turn, at least 1.
        rng: Source of randomness.
        level: Confidence level.
        resamples: Number of resamples.

    Raises:
        NotEnoughDataError: There is no unit, or no run has the event by the horizon.

    References:
        Royston & Parmar (2013), BMC Medical Research Methodology 13:152 (restricted means).
    """
    n_units = len(old.at_risk)
    n_events = float(old.events[:, :horizon].sum() + new.events[:, :horizon].sum())
    if n_units == 0 or n_events == 0:
        raise NotEnoughDataError("mean_ratio: runs with the event", need=1, got=0)
    ones = np.ones((1, n_units))
    curves = [_survival(times, ones, horizon)[0] for times in (old, new)]
    means = [_area(curve[None, :])[0] for curve in curves]
    limits: tuple[float | None, float | None] = (None, None)
    if n_units >= MIN_UNITS:
        counts = resampled_counts(n_units, resamples, rng)
        drawn = [_area(_survival(times, counts, horizon)) for times in (old, new)]
        low, high = percentile_interval(np.log(drawn[1]) - np.log(drawn[0]), level, n_units=n_units)
        limits = float(np.exp(low)), float(np.exp(high))
    return MeanRatio(
        old=float(means[0]),
        new=float(means[1]),
        ratio=float(means[1] / means[0]),
        low=limits[0],
        high=limits[1],
        horizon=horizon,
        n_units=n_units,
        n_resamples=resamples if limits[0] is not None else None,
        old_survival=curves[0],
        new_survival=curves[1],
    )


def _survival(times: UnitTimes, counts: FloatArray, horizon: int) -> FloatArray:
    """The share still free of the event just after each turn; shape (n_draws, horizon)."""
    at_risk = counts @ times.at_risk[:, :horizon]
    events = counts @ times.events[:, :horizon]
    hazard = np.where(at_risk > 0, events / np.where(at_risk > 0, at_risk, 1), 0.0)
    # Rounding can leave a hazard of 1 a little above it.
    return np.cumprod(np.maximum(1 - hazard, 0.0), axis=1)


def _area(survival: FloatArray) -> FloatArray:
    """The area from 0 to the horizon: survival is 1 up to turn 1."""
    return np.asarray(1.0 + survival[:, :-1].sum(axis=1))
