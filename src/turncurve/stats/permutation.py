"""Permutation distributions that can be had exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import binom

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


def quantiles_of_repeats(
    sequence: ArrayLike, counts: ArrayLike, *, window: int, level: float
) -> NDArray[np.int64]:
    """`quantile_of` each of several sequences' `window_repeats_null`, all worked out together.

    Args:
        sequence: Which sequence an item belongs to; integers, shape (n_items,), in any order.
        counts: How often the item occurs in it, >= 1; shape (n_items,).
        window: Neighbours looked at, >= 1; no sequence is shorter.
        level: Cumulative probability to reach, in (0, 1).

    Returns:
        One number of repeats a sequence, in rising order of `sequence`; shape (n_sequences,).
    """
    times = np.asarray(counts, dtype=np.int64)
    names, at = np.unique(np.asarray(sequence), return_inverse=True)
    once = np.bincount(at[times == 1], minlength=len(names))
    # All items that occur once are one factor, (1 + x y) to the power of their number.
    taken = np.arange(window + 1)
    ways = np.zeros((len(names), window + 1, window + 1))
    ways[:, taken, taken] = binom(once[:, None], taken)
    several = np.flatnonzero(times > 1)
    several = several[np.argsort(at[several], kind="stable")]
    first = np.searchsorted(at[several], np.arange(len(names)))
    rank = np.arange(len(several)) - first[at[several]]
    by_rank = several[np.argsort(rank, kind="stable")]
    for items in np.split(by_rank, np.cumsum(np.bincount(rank))[:-1]):
        ways[at[items]] = _with_items(ways[at[items]], times[items], window)
    cumulative = np.cumsum(ways[:, window, window:0:-1], axis=1)
    reached = cumulative >= level * cumulative[:, -1:] * (1 - 1e-12)
    return np.asarray(np.argmax(reached, axis=1), dtype=np.int64)


def _with_items(
    ways: NDArray[np.float64], times: NDArray[np.int64], window: int
) -> NDArray[np.float64]:
    """Each sequence's ways with one more item of its own."""
    grown = ways.copy()
    for taken in range(1, min(int(times.max(initial=0)), window) + 1):
        chosen = binom(times, taken)[:, None, None]
        grown[:, taken:, 1:] += chosen * ways[:, : window + 1 - taken, :-1]
    return grown
