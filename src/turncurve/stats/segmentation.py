"""Screening of one series for change points: where to look, without a claim that one is there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]

LEAST_VALUES = 8
_LEAST_SEGMENT = 2
_MOST_CORRELATION = 0.9
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """Where an exact segmentation cuts a series that was detrended and standardised.

    Attributes:
        starts: Position (from 1) of the first value of each segment but the first.
        noise: Standard deviation of a value, from the differences of neighbours.
        correlation: Of neighbours, once the line is taken off; between 0 and .9.
        penalty: What each further segment has to gain, in squared standard deviations.
    """

    starts: tuple[int, ...]
    noise: float
    correlation: float
    penalty: float


def screen(y: ArrayLike) -> Screening:
    """Cut a series where its mean changes, net of its line.

    The line is taken off, as a slope would be chopped into steps; values are divided by their
    noise, as a penalty in the series' own unit finds anything from nothing to everything as the
    unit changes; and the penalty 2 log(n) (1 + r) / (1 - r) grows with the correlation r of
    neighbours. The cut is the best of all (what PELT finds). No chance of error goes with it.

    Args:
        y: Value at each position, shape (n,); no NaN.

    Raises:
        NotEnoughDataError: There are fewer than 8 values.

    References:
        Killick, Fearnhead & Eckley (2012), Journal of the American Statistical Association
        107:1590-1598.
    """
    values = np.asarray(y, dtype=np.float64)
    n = len(values)
    if n < LEAST_VALUES:
        raise NotEnoughDataError("screen: values", need=LEAST_VALUES, got=n)
    at = np.arange(n) - (n - 1) / 2
    rest = values - values.mean() - at * (at @ values) / (at @ at)
    steps = np.diff(rest)
    noise = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
    if noise <= _ROUNDING * np.abs(values).max():
        noise = float(steps.std()) / math.sqrt(2)
    if noise <= _ROUNDING * np.abs(values).max():
        return Screening(starts=(), noise=0.0, correlation=0.0, penalty=2 * math.log(n))
    correlation = min(max(float(rest[1:] @ rest[:-1] / (rest @ rest)), 0.0), _MOST_CORRELATION)
    penalty = 2 * math.log(n) * (1 + correlation) / (1 - correlation)
    return Screening(
        starts=tuple(cut + 1 for cut in best_cuts(rest / noise, penalty)),
        noise=noise,
        correlation=correlation,
        penalty=penalty,
    )


def best_cuts(y: FloatArray, penalty: float, *, least: int = _LEAST_SEGMENT) -> tuple[int, ...]:
    """The cuts with the least sum of squares within segments plus `penalty` a cut.

    Args:
        y: Series, shape (n,).
        penalty: In squared units of y.
        least: Values in the shortest segment.

    Returns:
        Rising indices of the first value of each segment but the first. Takes n**2 steps.

    References:
        Jackson et al. (2005), IEEE Signal Processing Letters 12:105-108 (optimal partitioning).
    """
    n = len(y)
    sums = np.concatenate([[0.0], np.cumsum(y)])
    squares = np.concatenate([[0.0], np.cumsum(y**2)])
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    came_from = np.zeros(n + 1, dtype=np.int64)
    for end in range(least, n + 1):
        starts = np.arange(0, end - least + 1)
        within = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        whole = best[starts] + within + penalty
        came_from[end] = int(np.argmin(whole))
        best[end] = whole[came_from[end]]
    cuts = list[int]()
    end = n
    while came_from[end] > 0:
        end = int(came_from[end])
        cuts.append(end)
    return tuple(reversed(cuts))
