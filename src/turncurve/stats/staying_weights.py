"""Weights that make up for runs that were cut short: inverse probability of staying."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

LAGS = 3
"""Turns in the recent mean that staying is modelled on."""
TRUNCATED_AT = 0.99
"""Quantile above which weights are cut to it."""
_RIDGE = 1e-6
_MOST_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class StayingWeights:
    """Weights by run and turn; arrays of shape (n_runs, n_turns), 0 where a run has ended."""

    weights: FloatArray
    truncated: FloatArray
    """Cut at the 99th percentile of each turn's: less noise, and not all of the bias undone."""
    n_cut_short: int
    """Runs that were cut short within these turns."""

    @property
    def effective_n(self) -> FloatArray:
        """Runs that the weighted mean of each turn is worth, (sum w)**2 / sum w**2; (n_turns,)."""
        square = (self.weights**2).sum(axis=0)
        return np.asarray(self.weights.sum(axis=0) ** 2 / np.where(square > 0, square, np.nan))


def staying_weights(values: ArrayLike, n_turns: ArrayLike, cut_short: ArrayLike) -> StayingWeights:
    """Weigh each run by one over the chance that a run with its history would still be there.

    The chance of going on after each turn comes from a logistic regression, pooled over turns, on
    the turn and its square, the last value and the mean of the last three. The weights are
    stabilised by the chance that the turn alone gives. They make up for leaving that depends on
    what was seen of a run; not for leaving that depends on what was not.

    Args:
        values: The signal; shape (n_runs, n_turns), NaN where a turn has no value. A missing value
            is taken to be the last one seen (the first of all runs, before any).
        n_turns: Last turn of each run; shape (n_runs,).
        cut_short: Whether a run was cut short there (a crash, a budget) rather than done; shape
            (n_runs,). A run that is done leaves the risk set without having left.

    References:
        Robins & Rotnitzky (1992), in AIDS Epidemiology, 297-331; Cole & Hernan (2008), American
        Journal of Epidemiology 168:656-664 (stabilised, truncated weights).
    """
    y = np.atleast_2d(np.asarray(values, dtype=np.float64))
    last = np.asarray(n_turns, dtype=np.int64)
    turns = np.arange(1, y.shape[1] + 1)
    active = turns <= last[:, None]
    ended = (turns == last[:, None]) & np.asarray(cut_short, dtype=np.bool_)[:, None]
    at_risk = active & ((turns < last[:, None]) | ended)
    at_risk[:, -1] = False
    seen = _carried(y, active)
    recent = np.mean(
        [np.take(seen, np.maximum(turns - 1 - lag, 0), axis=1) for lag in range(LAGS)], axis=0
    )
    time = np.broadcast_to((turns - turns.mean()) / max(turns.std(), 1.0), y.shape)
    base = np.stack([np.ones(y.shape), time, time**2], axis=2)
    full = np.concatenate([base, _standard(seen, at_risk), _standard(recent, at_risk)], axis=2)
    stays = ~ended
    ratio = _chance(base, stays, at_risk) / _chance(full, stays, at_risk)
    ratio[~at_risk] = 1.0
    weights = np.ones(y.shape)
    weights[:, 1:] = np.cumprod(ratio, axis=1)[:, :-1]
    weights[~active] = 0.0
    return StayingWeights(
        weights=weights,
        truncated=_truncated(weights, active),
        n_cut_short=int((ended & at_risk).sum()),
    )


def _carried(y: FloatArray, active: BoolArray) -> FloatArray:
    """Each value, or the last one seen before it; 0 everywhere where nothing was seen."""
    known = ~np.isnan(y)
    if not known.any():
        return np.zeros(y.shape)
    first = float(np.nanmean(y[:, :1])) if known[:, 0].any() else float(np.nanmean(y))
    at = np.maximum.accumulate(np.where(known, np.arange(y.shape[1]), -1), axis=1)
    carried = np.take_along_axis(y, np.maximum(at, 0), axis=1)
    return np.where(active & (at >= 0), carried, first)


def _standard(values: FloatArray, used: BoolArray) -> FloatArray:
    chosen = values[used]
    if not len(chosen):
        return np.zeros((*values.shape, 1))
    spread = float(chosen.std())
    return np.asarray((values - chosen.mean()) / (spread if spread > 0 else 1.0))[:, :, None]


def _chance(x: FloatArray, stays: BoolArray, used: BoolArray) -> FloatArray:
    """Chance of staying by a logistic regression over the used cells, at every cell."""
    rows, y = x[used], stays[used].astype(np.float64)
    coefficients = np.zeros(x.shape[2])
    if len(y) and 0 < y.mean() < 1:
        coefficients[0] = np.log(y.mean() / (1 - y.mean()))
        for _ in range(_MOST_STEPS):
            p = 1 / (1 + np.exp(-np.clip(rows @ coefficients, -30, 30)))
            curve = (rows * (p * (1 - p))[:, None]).T @ rows + _RIDGE * len(y) * np.eye(len(rows.T))
            slope = rows.T @ (y - p) - _RIDGE * len(y) * coefficients
            step = np.linalg.solve(curve, slope)
            coefficients += step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-300))
            if np.abs(step).max() < 1e-8:
                break
    elif len(y) and y.mean() == 1:
        return np.ones(x.shape[:2])
    return np.asarray(1 / (1 + np.exp(-np.clip(x @ coefficients, -30, 30))))


def _truncated(weights: FloatArray, active: BoolArray) -> FloatArray:
    inside = np.where(active, weights, np.nan)
    with_any = active.any(axis=0)
    most = np.full(weights.shape[1], np.inf)
    most[with_any] = np.nanquantile(inside[:, with_any], TRUNCATED_AT, axis=0)
    return np.asarray(np.minimum(weights, most))
