"""Ratios of means over the same units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.paired_ratio import ratio_of_means
from turncurve.stats.ratio import ratio_of_sums

positive = st.lists(
    st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=3, max_size=15
).filter(lambda pairs: np.ptp([y / x for y, x in pairs]) > 0.01)


def test_four_terms_by_hand() -> None:
    """Costs 2, 4 for successes 1, .5 against costs 1, 1 for 1, 1: (3 / .75) / 1 is 4."""
    found = ratio_of_means([([2, 4], 1), ([1, 0.5], -1), ([1, 1], -1), ([1, 1], 1)])
    # Each unit's e is 2/3 - 4/3 and 4/3 - 2/3: a standard deviation of .9428, over root 2.
    assert found.value == pytest.approx(4)
    assert found.std_error == pytest.approx(4 * 2 / 3)
    assert found.df == 1
    assert found.high == pytest.approx(4 * np.exp(stats.t.ppf(0.975, 1) * 2 / 3))


@given(positive)
def test_two_terms_are_a_ratio_of_sums(pairs: list[tuple[float, float]]) -> None:
    """With one mean over another it is the linearised ratio of sums, on the log scale."""
    top, bottom = np.array(pairs).T
    found, known = ratio_of_means([(top, 1), (bottom, -1)]), ratio_of_sums(
        top, bottom, scale="log"
    )  # fmt: skip
    assert (found.value, found.std_error) == pytest.approx((known.value, known.std_error))
    assert (found.low, found.high) == pytest.approx((known.low, known.high))


@given(positive)
def test_the_other_way_round(pairs: list[tuple[float, float]]) -> None:
    """The inverse ratio has the inverse limits."""
    top, bottom = np.array(pairs).T
    found = ratio_of_means([(top, 1), (bottom, -1)])
    other = ratio_of_means([(bottom, 1), (top, -1)])
    assert (other.value, other.low, other.high) == pytest.approx(
        (1 / found.value, 1 / found.high, 1 / found.low)
    )


def test_what_has_no_interval() -> None:
    """One unit, and units that all have the same ratio."""
    assert ratio_of_means([([2], 1), ([1], -1)]).low is None
    same = ratio_of_means([([2, 4, 6], 1), ([1, 2, 3], -1)])
    assert (same.value, same.low) == (pytest.approx(2), None)


def test_a_mean_of_0_is_refused() -> None:
    """Nothing can be divided by it, nor has it a logarithm."""
    with pytest.raises(NotEnoughDataError, match="mean above 0"):
        ratio_of_means([([1, 2], 1), ([0, 0], -1)])
    with pytest.raises(NotEnoughDataError):
        ratio_of_means([([], 1)])


def test_coverage() -> None:
    """The interval holds a true ratio of ratios in 95 % of samples (1000: error .007)."""
    rng, held = np.random.default_rng(5), []
    for _ in range(1000):
        level = rng.gamma(8, 1, 25)
        terms = [level * rng.gamma(9, 1 / 9, 25) * c for c in (3.0, 2.0, 1.5, 1.0)]
        found = ratio_of_means(list(zip(terms, (1, -1, -1, 1), strict=True)))
        held.append(found.low <= 1.0 <= found.high)
    assert 0.93 < np.mean(held) < 0.97
