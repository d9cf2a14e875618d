"""The mean of independent values, with a t interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile

NO_SPREAD = "one run, or runs that do not differ, give no interval"
"""Why a mean or a ratio over runs may have no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean. `std_error`, `low`, `high` and `df` are None for a single value."""

    value: float
    std_error: float | None
    low: float | None
    high: float | None
    df: int | None
    n: int


def mean_with_interval(values: ArrayLike, *, level: float = 0.95) -> Mean:
    """The mean of independent values and its t interval with n - 1 degrees of freedom.

    Args:
        values: One value an independent unit; shape (n,); NaN is left out.
        level: Confidence level.

    Returns:
        The mean; its interval is None where the values are fewer than two or all equal.

    Raises:
        NotEnoughDataError: There is no value.

    References:
        Student (1908), Biometrika 6:1-25.
    """
    sample = np.asarray(values, dtype=np.float64)
    sample = sample[~np.isnan(sample)]
    n = len(sample)
    if n == 0:
        raise NotEnoughDataError("mean_with_interval: values", need=1, got=0)
    value = float(sample.mean())
    if n < 2 or np.ptp(sample) == 0:
        return Mean(value=value, std_error=None, low=None, high=None, df=None, n=n)
    std_error = float(sample.std(ddof=1) / np.sqrt(n))
    half = float(t_quantile(level, n - 1)) * std_error
    return Mean(
        value=value,
        std_error=std_error,
        low=value - half,
        high=value + half,
        df=n - 1,
        n=n,
    )
