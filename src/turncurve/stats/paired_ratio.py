"""Products and ratios of means over the same units, with a delta-method interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile
from turncurve.stats.ratio import Ratio

Term: TypeAlias = tuple[ArrayLike, int]
"""One number a unit, and the power (1 or -1) that their mean has in the product."""

_ROUNDING = 1e-12


def ratio_of_means(terms: Sequence[Term], *, level: float = 0.95) -> Ratio:
    """A product of means and of inverse means over the same units, linearised on the log scale.

    The mean of x over that of y is the terms (x, 1), (y, -1); cost for each success of a new
    version over that of an old one has four. With e the sum of power * value / mean over the terms,
    the standard error of the logarithm is SD(e) / sqrt(n), and t has n - 1 degrees of freedom. The
    limits are the value times and over exp(t * that error), so that the inverse ratio has the
    inverse limits. `std_error` is that of the ratio itself. One unit gives no interval; nor do
    units of which each has the same ratio.

    Args:
        terms: Each of shape (n,), no NaN, units in the same order.
        level: Confidence level.

    Raises:
        NotEnoughDataError: There is no unit, or a mean is not above 0.

    References:
        Cochran (1977), Sampling Techniques, 3rd ed., sections 2.11 and 6.9 (comparing ratios).
    """
    arrays = [(np.asarray(values, dtype=np.float64), power) for values, power in terms]
    n = len(arrays[0][0]) if arrays else 0
    means = [(float(values.mean()) if n else 0.0, power) for values, power in arrays]
    if n == 0 or min(mean for mean, _ in means) <= 0:
        raise NotEnoughDataError("ratio_of_means: units with a mean above 0", need=1, got=0)
    log = sum(power * float(np.log(mean)) for mean, power in means)
    value = float(np.exp(log))
    shares = [
        power * values / mean for (values, power), (mean, _) in zip(arrays, means, strict=True)
    ]
    relative = np.sum(shares, axis=0)
    size = max(float(np.abs(share).max()) for share in shares)
    if n < 2 or np.ptp(relative) <= _ROUNDING * size:
        return Ratio(value=value, std_error=None, low=None, high=None, df=None, n=n)
    error = float(relative.std(ddof=1) / np.sqrt(n))
    factor = float(np.exp(t_quantile(level, n - 1) * error))
    return Ratio(
        value=value,
        std_error=value * error,
        low=value / factor,
        high=value * factor,
        df=n - 1,
        n=n,
    )
