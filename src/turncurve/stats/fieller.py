"""A ratio of two estimates that are known with error, and when there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from turncurve.stats.quantiles import t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class FiellerRatio:
    """A ratio; `low` and `high` are None where the denominator may be 0."""

    value: float
    low: float | None
    high: float | None


def fieller_ratio(
    top: float, bottom: float, covariance: ArrayLike, *, df: float, level: float = 0.95
) -> FiellerRatio:
    """The ratio with Fieller's limits: all ratios r for which top - r * bottom may be 0.

    Args:
        top: Estimate above the line.
        bottom: Estimate below the line, not 0.
        covariance: Of (top, bottom); shape (2, 2).
        df: Degrees of freedom of the covariance.
        level: Confidence level.

    Returns:
        The limits, or None for both where the interval of `bottom` holds 0: then ratios of any size
        cannot be told from it.

    References:
        Fieller (1954), Journal of the Royal Statistical Society B 16:175-185.
    """
    cov = np.asarray(covariance, dtype=np.float64)
    q = float(t_quantile(level, df)) ** 2
    a = bottom**2 - q * cov[1, 1]
    if not a > 0:
        return FiellerRatio(value=top / bottom, low=None, high=None)
    half_b = top * bottom - q * cov[0, 1]
    c = top**2 - q * cov[0, 0]
    root = math.sqrt(max(half_b**2 - a * c, 0.0))
    return FiellerRatio(value=top / bottom, low=(half_b - root) / a, high=(half_b + root) / a)
