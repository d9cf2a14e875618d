"""Which of several findings stand, if a stated share of them may be false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseDiscovery:
    """Adjusted p by Benjamini and Hochberg, and by Benjamini and Yekutieli; shape (n,)."""

    q: FloatArray
    """A family member stands at level alpha where this is at most alpha. Valid where the tests are
    independent, or lean the same way; NaN where there was no test."""
    q_any: FloatArray
    """The same, valid however the tests hang together: larger by 1 + 1/2 + ... + 1/n_tested."""
    n_tested: int


def benjamini_hochberg(p: ArrayLike) -> FalseDiscovery:
    """Adjust p values so that, of those at most alpha, no more than a share alpha is false.

    Args:
        p: One p value a test; shape (n,), NaN for what was not tested and is not in the family.

    References:
        Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300;
        Benjamini & Yekutieli (2001), Annals of Statistics 29:1165-1188.
    """
    values = np.asarray(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    n = len(tested)
    q = np.full(values.shape, np.nan)
    rank = np.arange(1, n + 1)
    order = tested[np.argsort(values[tested], kind="stable")]
    q[order] = np.minimum.accumulate((values[order] * n / rank)[::-1])[::-1]
    harmonic = float((1 / rank).sum())
    return FalseDiscovery(
        q=np.minimum(q, 1.0), q_any=np.minimum(q * max(harmonic, 1.0), 1.0), n_tested=n
    )
