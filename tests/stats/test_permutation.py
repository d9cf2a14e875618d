"""The exact distribution of repeats in a window of a shuffled sequence."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from turncurve.errors import NotEnoughDataError
from turncurve.stats.permutation import (
    AT_ONCE,
    quantile_of,
    quantiles_of_repeats,
    window_repeats_null,
)


def test_two_pairs_by_hand() -> None:
    """Of the six ways to draw two of a, a, b, b, two give a pair: one repeat in 1/3 of them."""
    assert_allclose(window_repeats_null([2, 2], 2), [2 / 3, 1 / 3], rtol=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(1, 5))
def test_it_agrees_with_counting_every_draw(counts: list[int], window: int) -> None:
    """Listing all draws of the window from the sequence gives the same probabilities."""
    items = np.repeat(np.arange(len(counts)), counts)
    window = min(window, len(items))
    repeats = [window - len(set(draw)) for draw in combinations(items.tolist(), window)]
    counted = np.bincount(repeats, minlength=window) / len(repeats)
    assert_allclose(window_repeats_null(counts, window), counted, rtol=1e-9, atol=1e-12)


def test_it_agrees_with_random_orders() -> None:
    """Twenty thousand random orders give the same probabilities, within four standard errors."""
    counts = [12, 5, 5, 3, *[1] * 15]
    items = np.repeat(np.arange(len(counts)), counts)
    rng = np.random.default_rng(3)
    n = 20_000
    draws = rng.permuted(np.tile(items, (n, 1)), axis=1)[:, :10]
    ordered = np.sort(draws, axis=1)
    repeats = (ordered[:, 1:] == ordered[:, :-1]).sum(axis=1)
    expected = window_repeats_null(counts, 10)
    share = np.bincount(repeats, minlength=10) / n
    assert (np.abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / n) + 1e-4).all()


def test_long_runs_stay_within_floating_point() -> None:
    """A hundred thousand actions of one kind and as many of another still give a distribution."""
    null = window_repeats_null([100_000, 100_000, *[1] * 500], 10)
    assert np.isfinite(null).all()
    assert null.sum() == pytest.approx(1)


def test_one_kind_of_action_always_repeats() -> None:
    """A sequence of one item repeats in every place of the window but the first."""
    assert_allclose(window_repeats_null([20], 10), [*[0] * 9, 1])


def test_a_sequence_shorter_than_the_window_has_no_distribution() -> None:
    """It raises, with what was needed and what came."""
    with pytest.raises(NotEnoughDataError, match="at least 10; got 3"):
        window_repeats_null([2, 1], 10)


def test_the_quantile_is_the_smallest_outcome_that_reaches_the_level() -> None:
    """With probabilities .9, .05, .05 the 90 % quantile is 0, the 95 % one 1, the 96 % one 2."""
    null = [0.9, 0.05, 0.05]
    assert [quantile_of(null, level) for level in (0.9, 0.95, 0.96)] == [0, 1, 2]


sequences = st.lists(
    st.lists(st.integers(1, 40), min_size=1, max_size=30).filter(lambda times: sum(times) >= 10),
    max_size=6,
)


@settings(deadline=None)
@given(sequences, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_many_sequences_at_once_have_the_quantiles_of_each(
    several: list[list[int]], level: float
) -> None:
    """Worked out together, each quantile is that of the sequence's own distribution."""
    owner = [7 * i for i, times in enumerate(several) for _ in times]
    times = [n for each in several for n in each]
    found = quantiles_of_repeats(owner, times, window=10, level=level)
    assert found.tolist() == [quantile_of(window_repeats_null(t, 10), level) for t in several]


def test_more_sequences_than_are_worked_on_at_once() -> None:
    """Several thousand sequences, in two rounds, keep their order."""
    rng = np.random.default_rng(4)
    several = [rng.integers(1, 9, 12) for _ in range(AT_ONCE + 3)]
    owner = np.repeat(np.arange(len(several)), 12)
    found = quantiles_of_repeats(owner, np.concatenate(several), window=10, level=0.95)
    for i in (0, AT_ONCE - 1, AT_ONCE, AT_ONCE + 2):
        assert found[i] == quantile_of(window_repeats_null(several[i], 10), 0.95)


def test_the_quantiles_of_long_sequences_stay_within_floating_point() -> None:
    """A hundred thousand actions of each of two kinds beside 500 others: the same quantile."""
    times = [100_000, 100_000, *[1] * 500]
    found = quantiles_of_repeats([0] * len(times), times, window=10, level=0.95)
    assert found.tolist() == [quantile_of(window_repeats_null(times, 10), 0.95)]
