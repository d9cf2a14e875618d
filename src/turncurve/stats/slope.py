"""Least-squares slopes within units, all units at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def slopes_within(
    unit: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    *,
    n_units: int,
    segment: ArrayLike | None = None,
    min_values: int = 2,
) -> NDArray[np.float64]:
    """The least-squares slope of y on x within each unit.

    With `segment`, a unit's segments share one slope and have an intercept each, so a jump between
    segments is no part of the slope.

    Args:
        unit: Unit of each value, 0 to n_units - 1; shape (n_values,).
        x: Position, a turn say; shape (n_values,).
        y: Value; shape (n_values,). NaN is left out.
        n_units: Number of units.
        segment: Segment of each value; a segment lies within one unit; shape (n_values,).
        min_values: A unit with fewer values than this has no slope.

    Returns:
        Shape (n_units,); NaN where the unit has too few values or no spread of x.
    """
    values = np.asarray(y, dtype=np.float64)
    known = ~np.isnan(values)
    units = np.asarray(unit, dtype=np.int64)[known]
    positions = np.asarray(x, dtype=np.float64)[known]
    values = values[known]
    groups = (
        units if segment is None else np.unique(np.asarray(segment)[known], return_inverse=True)[1]
    )
    dx, dy = _centred(groups, positions), _centred(groups, values)
    n = np.bincount(units, minlength=n_units)
    spread = np.bincount(units, weights=dx * dx, minlength=n_units)
    product = np.bincount(units, weights=dx * dy, minlength=n_units)
    usable = (n >= min_values) & (spread > 0)
    slopes = np.full(n_units, np.nan)
    np.divide(product, spread, out=slopes, where=usable)
    return slopes


def _centred(group: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) == 0:
        return values
    n = np.bincount(group)
    mean = np.divide(np.bincount(group, weights=values), n, where=n > 0, out=np.zeros(len(n)))
    return np.asarray(values - mean[group], dtype=np.float64)
