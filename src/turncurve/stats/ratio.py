"""A ratio of sums over independent units, with a delta-method interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile

IntervalScale: TypeAlias = Literal["linear", "log"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio of sums. `std_error`, `low` and `high` are None where no interval can be given."""

    value: float
    std_error: float | None
    low: float | None
    high: float | None
    df: int | None
    n: int
    """Independent units."""


def ratio_of_sums(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    level: float = 0.95,
    scale: IntervalScale = "linear",
) -> Ratio:
    """Sum of `numerator` over sum of `denominator`, linearised over the units.

    With residuals e = numerator - value * denominator, the variance of the ratio is
    n / (n - 1) * sum(e²) / sum(denominator)², and t has n - 1 degrees of freedom. One unit gives no
    interval; nor do units that all have the same ratio, since a width of 0 would claim certainty.

    Args:
        numerator: One number a unit; shape (n,), no NaN.
        denominator: One number a unit; shape (n,), no NaN; its sum is not 0.
        level: Confidence level.
        scale: "log" keeps a positive ratio's interval positive: its ends are the value times and
            over exp(t * std_error / value).

    Returns:
        The ratio and its interval.

    Raises:
        NotEnoughDataError: There is no unit, or the denominators sum to 0.

    References:
        Cochran (1977), Sampling Techniques, 3rd ed., section 2.11 (infinite population).
    """
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    n, total = len(top), float(bottom.sum())
    if n == 0 or total == 0:
        raise NotEnoughDataError("ratio_of_sums: units with a denominator", need=1, got=0)
    value = float(top.sum()) / total
    residual = top - value * bottom
    if n < 2 or np.allclose(residual, 0.0, rtol=0.0, atol=1e-12 * max(1.0, np.abs(top).max())):
        return Ratio(value=value, std_error=None, low=None, high=None, df=None, n=n)
    std_error = float(np.sqrt(n / (n - 1) * (residual**2).sum()) / abs(total))
    t = float(t_quantile(level, n - 1))
    if scale == "log" and value > 0:
        factor = float(np.exp(t * std_error / value))
        low, high = value / factor, value * factor
    else:
        low, high = value - t * std_error, value + t * std_error
    return Ratio(value=value, std_error=std_error, low=low, high=high, df=n - 1, n=n)
