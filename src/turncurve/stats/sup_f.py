"""The largest Chow test of one series: where its line would break, were its errors independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

_K = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SupF:
    """The largest F over break points.

    Attributes:
        value: (RSS of one line - RSS of two) over the residual variance of two lines; not divided
            by the number of coefficients.
        after: Position in the series (from 1) of the last value before the break.
        f: F at every break point that was tried.
        tried: Those break points.
    """

    value: float
    after: int
    f: NDArray[np.float64]
    tried: NDArray[np.int64]


def sup_f(x: ArrayLike, y: ArrayLike, *, trim: float = 0.15) -> SupF:
    """Compare one line through a series with two lines, at every break point.

    It takes the values for independent and of equal variance. Means of runs over turns are neither,
    so it serves for screening and for comparison with other software, not as a test of an agent:
    `shape_of` is that.

    Args:
        x: Position, shape (n,).
        y: Value, shape (n,); no NaN.
        trim: Share of the series at either end in which no break is tried.

    Raises:
        NotEnoughDataError: A part would have no more values than a line has coefficients.

    References:
        Andrews (1993), Econometrica 61:821-856; Zeileis et al. (2002), Journal of Statistical
        Software 7(2):1-38 (`strucchange::Fstats`, whose numbers these are).
    """
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = len(values)
    first, last = int(trim * n), int((1 - trim) * n)
    tried = np.arange(max(first, _K + 1), min(last, n - _K - 1) + 1)
    if not len(tried):
        raise NotEnoughDataError("sup_f: values", need=2 * (_K + 1), got=n)
    design = np.column_stack([np.ones(n), at])
    whole = _rss(design, values)
    parts = np.array([_rss(design[:k], values[:k]) + _rss(design[k:], values[k:]) for k in tried])
    with np.errstate(divide="ignore", invalid="ignore"):
        f = (whole - parts) / (parts / (n - 2 * _K))
    best = int(np.nanargmax(f))
    return SupF(value=float(f[best]), after=int(tried[best]), f=f, tried=tried)


def _rss(design: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(residual @ residual)
