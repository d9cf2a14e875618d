"""How long a task may be for success to have a given chance: a logistic curve over log time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_BLOCK = 500_000
"""Points times fits that are worked on at once."""
_MOST_STEPS = 100
_TOLERANCE = 1e-10
_LEAST_DOUBT = 1e-9
"""Mean of p (1 - p) below which a curve leaves no outcome in doubt: it steepens without end, as
some time parts successes from failures without an exception."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticFits:
    """Curves P(success) = 1 / (1 + exp(-(intercept + slope x))); arrays of shape (n_fits,).

    Both are NaN where there is no best curve: all succeed, all fail, or a time parts the two.
    """

    intercept: FloatArray
    slope: FloatArray

    def where(self, chance: float) -> FloatArray:
        """The x at which success has a chance, 0 to 1; NaN where success does not fall with x."""
        falling = np.where(self.slope < 0, self.slope, np.nan)
        return np.asarray((np.log(chance / (1 - chance)) - self.intercept) / falling)


def logistic_fits(
    x: ArrayLike, y: ArrayLike, weights: ArrayLike, *, ridge: float = 0.0
) -> LogisticFits:
    """Weighted logistic regressions of the same points, one for each set of weights.

    Each maximises sum(w * log-likelihood) - ridge / 2 * slope**2, the intercept being free, by
    Newton's method. A ridge draws the slope to 0 by an amount that depends on the sum of the
    weights: the two are to be told together.

    Args:
        x: Shape (n,), finite.
        y: Success, 0 to 1 (a fraction counts as so much of a success); shape (n,).
        weights: At least 0; shape (n_fits, n) or (n,).
        ridge: At least 0.

    References:
        le Cessie & van Houwelingen (1992), Applied Statistics 41:191-201 (ridge logistic
        regression).
    """
    times, success = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    at_once = max(1, _BLOCK // max(len(times), 1))
    parts = [
        _fitted(times, success, w[start : start + at_once], ridge)
        for start in range(0, len(w), at_once)
    ]
    return LogisticFits(
        intercept=np.concatenate([part.intercept for part in parts]),
        slope=np.concatenate([part.slope for part in parts]),
    )


def _fitted(x: FloatArray, y: FloatArray, w: FloatArray, ridge: float) -> LogisticFits:
    total = np.where(w.sum(axis=1) > 0, w.sum(axis=1), 1.0)
    middle, share = w @ x / total, w @ y / total
    possible = (share > 0) & (share < 1)
    safe = np.where(possible, share, 0.5)
    level, slope = np.log(safe / (1 - safe)), np.zeros(len(w))
    # Centred, the two coefficients hardly depend on each other, and Newton's steps are safe.
    centred = x - middle[:, None]
    unfinished = possible.copy()
    for _ in range(_MOST_STEPS):
        rows = np.flatnonzero(unfinished)
        if not len(rows):
            break
        up, steeper, doubt = _newton(centred[rows], y, w[rows], (level[rows], slope[rows]), ridge)
        level[rows] += up
        slope[rows] += steeper
        possible[rows] = doubt > _LEAST_DOUBT
        unfinished[rows] = (np.abs(up) + np.abs(steeper) > _TOLERANCE) & possible[rows]
    found = possible & ~unfinished
    return LogisticFits(
        intercept=np.where(found, level - slope * middle, np.nan),
        slope=np.where(found, slope, np.nan),
    )


def _newton(
    x: FloatArray, y: FloatArray, w: FloatArray, at: tuple[FloatArray, FloatArray], ridge: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One step of each fit, no longer than 2 in the log odds of a typical point; mean p (1 - p)."""
    level, slope = at
    chance = 1 / (1 + np.exp(-np.clip(level[:, None] + slope[:, None] * x, -700, 700)))
    rest, spread = w * (y - chance), w * chance * (1 - chance)
    g0, g1 = rest.sum(axis=1), (rest * x).sum(axis=1) - ridge * slope
    h00, h01 = spread.sum(axis=1), (spread * x).sum(axis=1)
    h11 = (spread * x * x).sum(axis=1) + ridge
    det = np.maximum(h00 * h11 - h01 * h01, np.finfo(np.float64).tiny)
    d0, d1 = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
    total = w.sum(axis=1)
    width = np.sqrt((w * x * x).sum(axis=1) / total)
    shrink = np.minimum(1, 2 / np.maximum(np.abs(d0) + np.abs(d1) * width, 1e-300))
    return shrink * d0, shrink * d1, h00 / total


def hierarchical_counts(
    family: ArrayLike, task: ArrayLike, *, rng: np.random.Generator, resamples: int
) -> IntArray:
    """How often each unit is drawn when families, tasks within them and units within those are.

    Each level is drawn with replacement, as many as there are. Where tasks are the smallest units,
    each is a unit of its own and the last draw changes nothing.

    Args:
        family: Which family each unit's task belongs to; integers, shape (n_units,).
        task: Which task each unit belongs to; integers, shape (n_units,). A task belongs to one
            family.
        rng: Source of randomness.
        resamples: Number of draws.

    Returns:
        Shape (resamples, n_units).
    """
    families, of_family = np.unique(np.asarray(family), return_inverse=True)
    _, first, of_task = np.unique(np.asarray(task), return_index=True, return_inverse=True)
    counts = np.zeros((resamples, len(of_task.ravel())), dtype=np.int64)
    n_family = _drawn(np.full(resamples, len(families)), len(families), rng)
    for number in range(len(families)):
        tasks = np.flatnonzero(of_family.ravel()[first] == number)
        n_task = _drawn(n_family[:, number] * len(tasks), len(tasks), rng)
        for position, which in enumerate(tasks):
            units = np.flatnonzero(of_task.ravel() == which)
            counts[:, units] = _drawn(n_task[:, position] * len(units), len(units), rng)
    return counts


def _drawn(n_draws: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """How often each of n equal things is drawn; shape (len(n_draws), n)."""
    return np.asarray(rng.multinomial(n_draws, np.full(n, 1 / n)), dtype=np.int64)
