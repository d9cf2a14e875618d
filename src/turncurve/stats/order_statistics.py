"""A quantile of a sample, with a distribution-free interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from turncurve.errors import NotEnoughDataError


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuantile:
    """A quantile. A side of the interval is None where no value of the sample is far enough out."""

    p: float
    value: float
    low: float | None
    high: float | None
    n: int


def sample_quantile(values: ArrayLike, p: float, *, level: float = 0.95) -> SampleQuantile:
    """The quantile p of a sample and its interval from order statistics.

    The interval's ends are values of the sample: with X(1) <= ... <= X(n), the end X(i) below the
    quantile with probability P(Binomial(n, p) >= i), which holds for any distribution. Each side
    spends (1 - level) / 2, so the coverage is at least `level`.

    Args:
        values: The sample; shape (n,); NaN is left out, infinity is a value.
        p: Which quantile, in (0, 1). The estimate is the smallest value with at least a share p of
            the sample at or below it; at p = .5 of an even sample the mean of the middle two.
        level: Confidence level.

    Returns:
        The quantile and its interval.

    Raises:
        NotEnoughDataError: There is no value.

    References:
        Conover (1999), Practical Nonparametric Statistics, 3rd ed., section 3.2.
    """
    if not 0 < p < 1:
        raise ValueError(f"sample_quantile: wanted p between 0 and 1, got {p!r}")
    sample = np.asarray(values, dtype=np.float64)
    ordered = np.sort(sample[~np.isnan(sample)])
    n = len(ordered)
    if n == 0:
        raise NotEnoughDataError("sample_quantile: values", need=1, got=0)
    tail = (1 - level) / 2
    below = bdtr(np.arange(n), n, p)
    lower = int(np.searchsorted(below, tail, side="right"))
    upper = int(np.searchsorted(below, 1 - tail, side="left"))
    return SampleQuantile(
        p=p,
        value=_quantile(ordered, p),
        low=float(ordered[lower - 1]) if lower >= 1 else None,
        high=float(ordered[upper]) if upper < n else None,
        n=n,
    )


def _quantile(ordered: NDArray[np.float64], p: float) -> float:
    n = len(ordered)
    if p == 0.5 and n % 2 == 0:
        return float(ordered[n // 2 - 1] + ordered[n // 2]) / 2
    return float(ordered[max(0, int(np.ceil(n * p - 1e-9)) - 1)])
