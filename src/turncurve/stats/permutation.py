"""Permutation distributions that can be had exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError


def window_repeats_null(counts: ArrayLike, window: int) -> NDArray[np.float64]:
    """Distribution of the number of repeats in a window of a shuffled sequence.

    In a random order of a sequence, any `window` neighbours are a random draw without replacement.
    The repeats among them are `window` less the number of distinct items, so their distribution
    follows from how often each item occurs: the generating function of draws,
    prod_k (1 + y * sum_{j>=1} C(c_k, j) x^j), holds the number of draws of n items of which d are
    distinct at x^n y^d. No random number is needed.

    Args:
        counts: How often each distinct item occurs, >= 1; shape (n_items,).
        window: Neighbours looked at, >= 1.

    Returns:
        Probability of 0, 1, ..., window - 1 repeats; shape (window,), sums to 1.

    Raises:
        NotEnoughDataError: The sequence is shorter than the window.
    """
    times = np.asarray(counts, dtype=np.int64)
    total = int(times.sum())
    if total < window:
        raise NotEnoughDataError(
            "window_repeats_null: items in the sequence", need=window, got=total
        )
    # ways[n, d]: the number of draws of n items of which d are distinct, built up item by item.
    ways = np.zeros((window + 1, window + 1))
    ways[0, 0] = 1.0
    for times_seen in times.tolist():
        ways = _with_item(ways, times_seen, window)
    draws = ways[window, window:0:-1]
    return np.asarray(draws / draws.sum())


def _with_item(ways: NDArray[np.float64], times: int, window: int) -> NDArray[np.float64]:
    grown = ways.copy()
    for taken in range(1, min(times, window) + 1):
        grown[taken:, 1:] += math.comb(times, taken) * ways[: window + 1 - taken, :-1]
    return grown


def quantile_of(probability: ArrayLike, level: float) -> int:
    """The smallest outcome 0, 1, ... whose cumulative probability reaches `level`, in (0, 1)."""
    cumulative = np.cumsum(np.asarray(probability, dtype=np.float64))
    return int(np.searchsorted(cumulative, level * cumulative[-1] * (1 - 1e-12)))
