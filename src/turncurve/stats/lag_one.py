"""How much neighbouring values of a unit resemble each other around its line."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from turncurve.stats.slope import slopes_within


def lag_one_correlation(
    unit: ArrayLike, x: ArrayLike, y: ArrayLike, *, n_units: int, min_values: int = 16
) -> float | None:
    """Correlation of neighbouring values around each unit's least-squares line, over all units.

    The sum of products of neighbouring residuals over the sum of their squares, r, is too low by
    about (2 + 4 rho) / n after a line is taken out of n values; (n r + 2) / (n - 4), with n the
    mean number of values, corrects for that.

    Args:
        unit: Unit of each value, 0 to n_units - 1, rising; shape (n_values,).
        x: Position, rising within a unit; shape (n_values,).
        y: Value, no NaN; shape (n_values,).
        n_units: Number of units.
        min_values: Units with fewer values are left out.

    Returns:
        The correlation in [-1, 1]; None if no unit is long enough or none varies around its line.

    References:
        Kendall (1954), Biometrika 41:403-404, for the bias after a mean.
    """
    units, turns = np.asarray(unit, dtype=np.int64), np.asarray(x, dtype=np.float64)
    values = np.asarray(y, dtype=np.float64)
    n = np.bincount(units, minlength=n_units)
    slope = slopes_within(units, turns, values, n_units=n_units, min_values=min_values)
    used = ~np.isnan(slope[units])
    units, turns, values = units[used], turns[used], values[used]
    if len(units) == 0:
        return None
    size = np.maximum(n, 1)
    middle = np.bincount(units, weights=turns, minlength=n_units) / size
    mean = np.bincount(units, weights=values, minlength=n_units) / size
    residual = values - mean[units] - slope[units] * (turns - middle[units])
    squares = float((residual**2).sum())
    if squares <= 1e-20 * float((values**2).sum()):
        return None
    same = np.diff(units) == 0
    r = float((residual[1:] * residual[:-1])[same].sum()) / squares
    mean_n = float(n[np.unique(units)].mean())
    return float(np.clip((mean_n * r + 2) / (mean_n - 4), -1.0, 1.0))
