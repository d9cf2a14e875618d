"""Limits of a share on the log(-log) scale, which keeps them between 0 and 1."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
_ROUNDING = 1e-12


def log_log_limits(
    share: ArrayLike, std_error: ArrayLike, multiplier: float
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits share ** exp(± multiplier * std_error / (share * log(share))).

    Args:
        share: Shares; NaN, and 0 and 1 up to rounding, have no limits.
        std_error: Their standard errors, same shape.
        multiplier: Normal or t quantile.

    Returns:
        Two arrays of that shape, NaN where there are no limits.

    References:
        Kalbfleisch & Prentice (2002), The Statistical Analysis of Failure Time Data, equation 1.16.
    """
    p, error = np.asarray(share, dtype=np.float64), np.asarray(std_error, dtype=np.float64)
    inside = np.where((p > _ROUNDING) & (p < 1 - _ROUNDING), p, np.nan)
    spread = multiplier * error / (inside * -np.log(inside))
    return inside ** np.exp(spread), inside ** np.exp(-spread)
