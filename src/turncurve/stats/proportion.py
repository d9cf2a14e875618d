"""Intervals for a share of independent successes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import betaincinv

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import normal_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """A share with its interval; `low` and `high` lie in [0, 1] and are never equal."""

    value: float
    low: float
    high: float
    level: float
    n_successes: int
    n: int


def wilson(n_successes: int, n: int, *, level: float = 0.95) -> Proportion:
    """The share of successes with Wilson's score interval: the one to show.

    Args:
        n_successes: Number of successes, 0 to n.
        n: Number of independent units (runs, not turns).
        level: Confidence level.

    Raises:
        NotEnoughDataError: n is 0.

    References:
        Wilson (1927), JASA 22:209-212.
    """
    share = _share(n_successes, n)
    z = normal_quantile(level)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Proportion(
        value=share,
        low=0.0 if n_successes == 0 else middle - half,
        high=1.0 if n_successes == n else middle + half,
        level=level,
        n_successes=n_successes,
        n=n,
    )


def clopper_pearson(n_successes: int, n: int, *, level: float = 0.95) -> Proportion:
    """The share of successes with Clopper and Pearson's interval: the one to decide by.

    It covers at least `level` at every true share, at the price of being wide.

    Args:
        n_successes: Number of successes, 0 to n.
        n: Number of independent units (runs, not turns).
        level: Confidence level.

    Raises:
        NotEnoughDataError: n is 0.

    References:
        Clopper & Pearson (1934), Biometrika 26:404-413.
    """
    share = _share(n_successes, n)
    tail = (1 - level) / 2
    k, m = n_successes, n - n_successes
    return Proportion(
        value=share,
        low=0.0 if k == 0 else float(betaincinv(k, m + 1, tail)),
        high=1.0 if m == 0 else float(betaincinv(k + 1, m, 1 - tail)),
        level=level,
        n_successes=n_successes,
        n=n,
    )


def _share(n_successes: int, n: int) -> float:
    if n < 1:
        raise NotEnoughDataError("a share: independent units", need=1, got=n)
    if not 0 <= n_successes <= n:
        raise ValueError(f"wanted a number of successes from 0 to {n}, got {n_successes!r}")
    return n_successes / n
