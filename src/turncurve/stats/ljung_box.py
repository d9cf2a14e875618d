"""Do neighbouring values of a sequence resemble each other? Ljung and Box's test, many at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LjungBox:
    """The test of each unit; NaN for one of no more values than lags, or whose values are equal.

    Attributes:
        statistic: Q; shape (n_units,).
        p: Of no correlation at any lag, by chi-square; shape (n_units,).
        correlation: Autocorrelation at lags 1, 2, ...; shape (n_units, lags).
    """

    statistic: FloatArray
    p: FloatArray
    correlation: FloatArray


def ljung_box(unit: ArrayLike, values: ArrayLike, *, n_units: int, lags: int) -> LjungBox:
    """Test each unit's sequence for autocorrelation.

    For long sequences chi-square is near; for the short ones that runs are, it is a description.

    Args:
        unit: Unit of each value, 0 to n_units - 1, never falling; shape (n_values,).
        values: In order within a unit, no NaN; shape (n_values,).
        n_units: Number of units.
        lags: Number of lags, >= 1.

    References:
        Ljung & Box (1978), Biometrika 65:297-303.
    """
    units, raw = np.asarray(unit, dtype=np.int64), np.asarray(values, dtype=np.float64)
    n = np.bincount(units, minlength=n_units)
    mean = np.bincount(units, weights=raw, minlength=n_units) / np.maximum(n, 1)
    x = raw - mean[units]
    squares = np.bincount(units, weights=x * x, minlength=n_units)
    usable = (n > lags) & (squares > 1e-20 * np.bincount(units, raw * raw, minlength=n_units))
    correlation = np.full((n_units, lags), np.nan)
    for lag in range(1, lags + 1):
        together = units[lag:] == units[:-lag]
        products = np.bincount(
            units[lag:][together], weights=(x[lag:] * x[:-lag])[together], minlength=n_units
        )
        np.divide(products, squares, out=correlation[:, lag - 1], where=usable)
    left = n[:, None] - np.arange(1, lags + 1)
    terms = np.divide(correlation**2, left, out=np.full(left.shape, np.nan), where=left > 0)
    statistic = n * (n + 2) * terms.sum(axis=1)
    p = np.asarray(chdtrc(float(lags), statistic), dtype=np.float64)
    return LjungBox(statistic=statistic, p=p, correlation=correlation)
