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


AT_ONCE = 2048
"""Sequences worked on at once, which bounds the memory."""


def quantiles_of_repeats(
    sequence: ArrayLike, times: ArrayLike, *, window: int, level: float
) -> NDArray[np.int64]:
    """`quantile_of` the distribution of `window_repeats_null`, for many sequences at once.

    The k items of a sequence that occur c times each have the generating function
    (1 + y ((1 + x)^c - 1))^k, whose coefficient at x^n y^d is C(k, d) times that at x^n of
    ((1 + x)^c - 1)^d. So the work grows with the different c of a sequence, not with its items.

    Args:
        sequence: Which sequence each item is of, as a whole number; shape (n_items,).
        times: How often the item occurs in it, >= 1; shape (n_items,).
        window: Neighbours looked at, >= 1; no sequence may be shorter.
        level: In (0, 1).

    Returns:
        One quantile for each distinct sequence, in rising order; shape (n_sequences,).
    """
    _, position = np.unique(np.asarray(sequence), return_inverse=True)
    sizes, size = np.unique(np.asarray(times, dtype=np.int64), return_inverse=True)
    pair, n_items = np.unique(position * len(sizes) + size, return_counts=True)
    owner, size = np.divmod(pair, max(1, len(sizes)))
    powers = _powers(sizes, window)
    n_sequences = int(owner[-1]) + 1 if len(owner) else 0
    found = np.zeros(n_sequences, dtype=np.int64)
    for start in range(0, n_sequences, AT_ONCE):
        own = slice(*np.searchsorted(owner, [start, start + AT_ONCE]))
        ways = _ways(owner[own] - start, n_items[own], size[own], powers)
        cumulative = np.cumsum(ways[:, window, window:0:-1], axis=1)
        reached = cumulative >= level * cumulative[:, -1:] * (1 - 1e-12)
        found[start : start + AT_ONCE] = reached.argmax(axis=1)
    return found


def _ways(
    owner: NDArray[np.int64],
    n_items: NDArray[np.int64],
    size: NDArray[np.int64],
    powers: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Draws of n items of which d are distinct: shape (n_sequences, window + 1, window + 1).

    One entry for each kind of item of a sequence: how many items it has, and their row in `powers`.
    """
    window = powers.shape[1] - 1
    firsts = np.flatnonzero(np.diff(owner, prepend=-1))
    rank = np.arange(len(owner)) - firsts[owner]
    ways = np.zeros((len(firsts), window + 1, window + 1))
    ways[:, 0, 0] = 1.0
    for turn in range(int(rank.max()) + 1):
        entry = np.flatnonzero(rank == turn)
        of_kind = _choose(n_items[entry], window)[:, None, :] * powers[size[entry]]
        before = ways[owner[entry]]
        grown = before.copy()
        for distinct in range(1, min(window, int(n_items[entry].max())) + 1):
            for taken in range(distinct, window + 1):
                factor = of_kind[:, taken, distinct, None, None]
                if not factor.any():  # as for items that occur once, which are most
                    continue
                rest = before[:, : window + 1 - taken, : window + 1 - distinct]
                grown[:, taken:, distinct:] += factor * rest
        ways[owner[entry]] = grown
    return ways


def _choose(n: NDArray[np.int64], most: int) -> NDArray[np.float64]:
    """C(n, 0), ..., C(n, most); shape (len(n), most + 1)."""
    chosen = np.ones((len(n), most + 1))
    for k in range(1, most + 1):
        chosen[:, k] = chosen[:, k - 1] * np.maximum(n - k + 1, 0) / k
    return chosen


def _powers(times: NDArray[np.int64], window: int) -> NDArray[np.float64]:
    """Coefficient at x^n of ((1 + x)^c - 1)^d for each c; shape (n_c, window + 1, window + 1)."""
    drawn = _choose(times, window)
    powers = np.zeros((len(times), window + 1, window + 1))
    powers[:, 0, 0] = 1.0
    for distinct in range(1, window + 1):
        for taken in range(1, window + 1):
            powers[:, taken:, distinct] += (
                drawn[:, taken, None] * powers[:, : window + 1 - taken, distinct - 1]
            )
    return powers
