"""Quantiles with distribution-free intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.order_statistics import sample_quantile


@pytest.mark.parametrize(
    ("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (50, (18, 33)), (100, (40, 61))]
)
def test_ranks_of_the_median_are_the_published_ones(n: int, ranks: tuple[int, int]) -> None:
    """Ranks of the 95 % interval of a median, as tabulated (Conover 1999, table A3)."""
    found = sample_quantile(np.arange(1.0, n + 1), 0.5)
    assert (found.low, found.high) == ranks


@pytest.mark.parametrize(("n", "p"), [(40, 0.9), (200, 0.9), (30, 0.25), (60, 0.5)])
def test_exact_coverage(n: int, p: float) -> None:
    """By the binomial law the interval covers at least 95 %, and no narrower one would."""
    found = sample_quantile(np.arange(1.0, n + 1), p)
    counts = stats.binom(n, p)
    low = 0 if found.low is None else int(found.low)
    high = n + 1 if found.high is None else int(found.high)
    assert counts.cdf(low - 1) <= 0.025
    assert counts.sf(high - 1) <= 0.025
    assert counts.cdf(low) > 0.025
    assert counts.sf(high - 2) > 0.025


def test_interval_covers_the_truth() -> None:
    """80 skewed values: the interval of the 90th percentile holds the truth in 95 % or more."""
    rng = np.random.default_rng(1)
    truth = stats.expon.ppf(0.9)
    inside = 0
    for sample in rng.exponential(size=(2_000, 80)):
        found = sample_quantile(sample, 0.9)
        assert found.low is not None
        inside += found.low <= truth <= (np.inf if found.high is None else found.high)
    assert inside / 2_000 >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 2_000)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.floats(0.05, 0.95))
def test_quantile_is_where_the_share_is_reached(values: list[int], p: float) -> None:
    """At least a share p lies at or below the value, and less than p below it."""
    value = sample_quantile(values, p).value
    sample = np.array(values)
    assert (sample <= value).mean() >= p - 1e-9
    assert (sample < value).mean() <= p + 1e-9


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40))
def test_median_is_numpys(values: list[float]) -> None:
    """The median of an even sample is the mean of its middle two, as everywhere."""
    assert sample_quantile(values, 0.5).value == pytest.approx(np.median(values))


def test_small_samples_leave_sides_open() -> None:
    """Five values are too few for a 95 % interval of a median: both sides are open."""
    found = sample_quantile([3.0, 1.0, 2.0, 5.0, 4.0], 0.5)
    assert (found.value, found.low, found.high) == (3.0, None, None)


def test_nan_is_left_out_and_nothing_raises() -> None:
    """NaN is no value; without any value there is no quantile."""
    assert sample_quantile([np.nan, 7.0], 0.9).n == 1
    with pytest.raises(NotEnoughDataError, match="values"):
        sample_quantile([np.nan], 0.5)


def test_share_must_lie_inside() -> None:
    """A share of 0 or 1 is refused."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        sample_quantile([1.0], 1.0)
