"""A discrete-time hazard model: cloglog of the chance of the event, a level for each stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile
from turncurve.stats.risk_counts import counts_by_cluster, followed

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_MOST_STEPS = 200
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class CloglogHazard:
    """A fitted model log(-log(1 - h_s(t))) = level_s + slope * x(t).

    Attributes:
        slope: Change of the log cumulative hazard of a turn where x grows by 1.
        std_error: Robust over clusters.
        low: Lower limit, by t over clusters.
        high: Upper limit.
        df: Clusters less one.
        level: Confidence level.
        model_std_error: Of the slope, if the model were all there is to it.
        levels: Of the strata that are in the fit, by label.
        n_turns: Turns at risk in the fit.
        n_events: Events in the fit.
        n_clusters: Clusters in the fit.
    """

    slope: float
    std_error: float
    low: float
    high: float
    df: int
    level: float
    model_std_error: float
    levels: dict[object, float]
    n_turns: int
    n_events: int
    n_clusters: int


def cloglog_hazard(
    time: ArrayLike,
    event: ArrayLike,
    along: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    entry: ArrayLike | None = None,
    level: float = 0.95,
) -> CloglogHazard:
    """Fit the grouped proportional-hazards model with a level for each stratum.

    With one stratum it describes the pooled hazard, which falls where runs differ though none of
    their hazards does. With many small strata the slope is too high (see `hazard_trend`, which
    stands in then): use it for strata of many runs. A stratum without an event, or in which every
    turn at risk has one, has no finite level, tells nothing of the slope, and is left out.

    Args:
        time: Turn of the event, or the last turn seen; whole, from 1; shape (n_runs,).
        event: True where the event was seen; shape (n_runs,).
        along: x at turns 1, 2, 3, ...; shape (n_turns,), finite.
        stratum: Which stratum, any labels. None: one for all.
        cluster: The independent units, any labels. None: the runs.
        entry: The run is at risk only after this turn. None: from turn 1.
        level: Confidence level.

    Raises:
        NotEnoughDataError: Fewer than two clusters, fewer than two turns with different x, or no
            finite slope fits.
        ValueError: A time is not after its entry, or `along` is too short.

    References:
        Prentice & Gloeckler (1978), Biometrics 34:57-67; Liang & Zeger (1986), Biometrika 73:13-22
        (variance over clusters).
    """
    last = np.asarray(time, dtype=np.int64)
    had = np.asarray(event, dtype=np.bool_)
    first = np.zeros(len(last), dtype=np.int64) if entry is None else np.asarray(entry, np.int64)
    strata = np.zeros(len(last)) if stratum is None else np.asarray(stratum)
    labels, code = np.unique(strata, return_inverse=True)
    turns = np.arange(1.0, last.max(initial=0) + 1)
    x = np.asarray(along, dtype=np.float64)[: len(turns)]
    if len(x) < len(turns):
        raise ValueError(f"along: wanted values up to turn {len(turns)}, got {len(x)}")
    parts = list(counts_by_cluster(followed(last, had, entry=first, cluster=strata), turns))
    at_risk = np.concatenate([part.at_risk for part in parts])
    events = np.concatenate([part.events for part in parts])
    told = (events.sum(axis=1) > 0) & (events.sum(axis=1) < at_risk.sum(axis=1))
    fit = _fitted(at_risk[told], events[told], x)
    used = told[code.reshape(-1)]
    place = (np.cumsum(told) - 1)[code.reshape(-1)[used]]
    scores = _scores(fit, x, (last[used], first[used], had[used]), place)
    unit = np.arange(len(last)) if cluster is None else np.asarray(cluster)
    summed = np.bincount(np.unique(unit[used], return_inverse=True)[1].reshape(-1), weights=scores)
    n = len(summed)
    if n < 2:
        raise NotEnoughDataError("a hazard model: clusters", need=2, got=n)
    std_error = float(np.sqrt((summed**2).sum() * n / (n - 1)) / fit.information)
    half = float(t_quantile(level, n - 1)) * std_error
    return CloglogHazard(
        slope=fit.slope,
        std_error=std_error,
        low=fit.slope - half,
        high=fit.slope + half,
        df=n - 1,
        level=level,
        model_std_error=float(1 / np.sqrt(fit.information)),
        levels=dict(zip(labels[told].tolist(), fit.levels.tolist(), strict=True)),
        n_turns=int(at_risk[told].sum()),
        n_events=int(events[told].sum()),
        n_clusters=n,
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    slope: float
    levels: FloatArray
    information: float
    """Of the slope, the levels being fitted too."""
    middle: FloatArray
    """Mean x of each stratum by weight of information."""


def _fitted(at_risk: FloatArray, events: FloatArray, x: FloatArray) -> _Fit:
    """Fisher scoring; arrays of shape (n_strata, n_turns)."""
    if not len(at_risk):
        raise NotEnoughDataError("a hazard model: strata with an event", need=1, got=0)
    share = events.sum(axis=1) / at_risk.sum(axis=1)
    levels, slope = np.log(-np.log1p(-share)), 0.0
    for _ in range(_MOST_STEPS):
        cumulative = np.exp(np.clip(levels[:, None] + slope * x, -50, 4))
        chance = -np.expm1(-cumulative)
        odd = cumulative * (1 - chance) / chance
        weight = at_risk * cumulative * odd
        score = events * odd - (at_risk - events) * cumulative
        total = np.maximum(weight.sum(axis=1), 1e-300)
        middle = weight @ x / total
        away = x - middle[:, None]
        information = float((weight * away**2).sum())
        if information <= 1e-9:
            raise NotEnoughDataError("a hazard model: turns that tell of a slope", need=2, got=1)
        steeper = float(np.clip((score * away).sum() / information, -1, 1))
        up = np.clip(score.sum(axis=1) / total - steeper * middle, -2, 2)
        slope, levels = slope + steeper, levels + up
        if abs(steeper) + float(np.abs(up).max()) < _TOLERANCE:
            return _Fit(slope, levels, information, middle)
    raise NotEnoughDataError("a hazard model: events that give a finite slope", need=1, got=0)


def _scores(
    fit: _Fit, x: FloatArray, runs: tuple[IntArray, IntArray, NDArray[np.bool_]], stratum: IntArray
) -> FloatArray:
    """Each run's part of the slope's score, the levels being fitted too; shape (n_runs,)."""
    last, first, had = runs
    cumulative = np.exp(np.clip(fit.levels[:, None] + fit.slope * x, -50, 4))
    away = x - fit.middle[:, None]
    passed = np.cumsum(cumulative * away, axis=1)
    passed = np.concatenate([np.zeros((len(passed), 1)), passed], axis=1)
    at_event = cumulative * away / -np.expm1(-cumulative)
    return np.asarray(
        had * at_event[stratum, last - 1] - (passed[stratum, last] - passed[stratum, first]),
        dtype=np.float64,
    )
