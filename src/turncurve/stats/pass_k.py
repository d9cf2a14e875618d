"""Chances that all of k trials succeed, or at least one of them does, without bias."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def pass_hat_k(n_succeeded: ArrayLike, n_trials: ArrayLike, k: int) -> FloatArray:
    """Chance that all of k new trials of a scenario succeed: pass^k, C(c, k) / C(n, k).

    Of all ways to choose k of the n trials that were run, it is the share in which each succeeded,
    which is unbiased for p**k. The plug-in (c / n)**k is biased upwards.

    Args:
        n_succeeded: Trials c of each scenario that succeeded, 0 to n; shape (n_scenarios,).
        n_trials: Trials n of each scenario whose outcome is known; same shape.
        k: How many trials must all succeed, at least 1.

    Returns:
        One chance a scenario, 0 to 1; NaN where a scenario has fewer than k trials.

    References:
        Yao et al. (2024), arXiv 2406.12045, section 3.3.
    """
    return _share_of_choices(n_succeeded, n_trials, k)


def pass_at_k(n_succeeded: ArrayLike, n_trials: ArrayLike, k: int) -> FloatArray:
    """Chance that at least one of k new trials succeeds: pass@k, 1 - C(n - c, k) / C(n, k).

    Args:
        n_succeeded: As for `pass_hat_k`.
        n_trials: As for `pass_hat_k`.
        k: Of how many trials one must succeed, at least 1.

    Returns:
        One chance a scenario, 0 to 1; NaN where a scenario has fewer than k trials.

    References:
        Chen et al. (2021), arXiv 2107.03374, equation 1.
    """
    c, n = np.asarray(n_succeeded, dtype=np.int64), np.asarray(n_trials, dtype=np.int64)
    return 1 - _share_of_choices(n - c, n, k)


def _share_of_choices(marked: ArrayLike, of: ArrayLike, k: int) -> FloatArray:
    """C(marked, k) / C(of, k) as a product of k ratios, which no large number overflows."""
    m, n = np.asarray(marked, dtype=np.int64), np.asarray(of, dtype=np.int64)
    if k < 1:
        raise ValueError(f"k: wanted at least 1, got {k!r}")
    if ((m < 0) | (m > n)).any():
        raise ValueError("wanted counts of successes from 0 to the number of trials")
    drawn = np.arange(k)
    left, known = np.maximum(m[:, None] - drawn, 0), n >= k
    share = np.full(len(n), np.nan)
    share[known] = np.prod(left[known] / (n[known, None] - drawn), axis=1)
    return share
