"""Quantiles of the normal and t distributions, from scipy.special (scipy.stats is slow to load)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit


def normal_quantile(level: float) -> float:
    """The two-sided normal multiplier of a confidence level: 1.96 for 0.95.

    Args:
        level: Confidence level, above 0 and below 1.
    """
    return float(ndtri(0.5 + _checked(level) / 2))


def t_quantile(level: float, df: ArrayLike) -> NDArray[np.float64]:
    """The two-sided t multiplier of a confidence level, for each number of degrees of freedom.

    Args:
        level: Confidence level, above 0 and below 1.
        df: Degrees of freedom, > 0; NaN, 0 and below give NaN.
    """
    degrees = np.asarray(df, dtype=np.float64)
    known = np.where(degrees > 0, degrees, np.nan)
    return np.asarray(stdtrit(known, 0.5 + _checked(level) / 2), dtype=np.float64)


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level: wanted a number between 0 and 1, got {level!r}")
    return level
