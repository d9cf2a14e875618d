"""Ratios of sums."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from turncurve.errors import NotEnoughDataError
from turncurve.stats.ratio import IntervalScale, ratio_of_sums

positive = st.lists(
    st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=3, max_size=20
).filter(lambda pairs: np.ptp([y / x for y, x in pairs]) > 0.01)


def test_small_example_by_hand() -> None:
    """Costs 1, 2, 6 over successes 1, 1, 1: ratio 3, residuals -2, -1, 3, variance 14 / 6."""
    ratio = ratio_of_sums([1, 2, 6], [1, 1, 1])
    assert ratio.value == 3
    assert ratio.std_error == pytest.approx(np.sqrt(14 / 6))
    assert ratio.df == 2
    assert (ratio.low, ratio.high) == pytest.approx((3 - 4.302653 * 1.527525, 9.572411), abs=1e-5)


def test_agrees_with_weighted_regression() -> None:
    """It is the HC1 sandwich of a regression of y / x on a constant with weights x."""
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 5, 30)
    y = 2 * x + rng.normal(size=30)
    fit = sm.WLS(y / x, np.ones(30), weights=x).fit(cov_type="HC1", use_t=True)
    ratio = ratio_of_sums(y, x)
    assert ratio.value == pytest.approx(fit.params[0])
    assert ratio.std_error == pytest.approx(fit.bse[0])
    assert_allclose([[ratio.low, ratio.high]], fit.conf_int(), rtol=1e-9)


def test_with_equal_denominators_it_is_the_mean() -> None:
    """Denominators of 1 give the mean of the numerators and its standard error."""
    y = np.array([3.0, 5.0, 4.0, 8.0])
    ratio = ratio_of_sums(y, np.ones(4))
    assert ratio.value == y.mean()
    assert ratio.std_error == pytest.approx(y.std(ddof=1) / 2)


def covered(scale: IntervalScale, n_sets: int, seed: int) -> tuple[float, float]:
    """Shares of intervals of cost per success that hold the truth, and that lie below it."""
    rng = np.random.default_rng(seed)
    truth = np.exp(0.245) * (1.5 - 0.7 * 0.3) / 0.3
    inside = below = used = 0
    for _ in range(n_sets):
        success = (rng.random(30) < 0.3).astype(float)
        cost = rng.lognormal(0, 0.7, 30) * (1.5 - 0.7 * success)
        if success.sum() == 0:
            continue
        ratio = ratio_of_sums(cost, success, scale=scale)
        if ratio.low is None or ratio.high is None:
            continue
        used += 1
        inside += ratio.low <= truth <= ratio.high
        below += ratio.high < truth
    return inside / used, below / used


def test_interval_covers_the_truth() -> None:
    """30 runs with 30 % success: the log-scale interval holds the truth in about 95 %."""
    inside, _ = covered("log", 1_500, seed=2)
    assert 0.935 <= inside <= 0.975


@pytest.mark.slow
def test_log_scale_is_better_than_linear() -> None:
    """The linear interval lies below the truth far more often than its 2.5 %; the log one less."""
    inside, below = covered("log", 10_000, seed=3)
    linear_inside, linear_below = covered("linear", 10_000, seed=3)
    assert 0.945 <= inside <= 0.970
    assert linear_inside < 0.935
    assert below < 0.045
    assert linear_below > 0.06


@given(positive, st.floats(0.1, 10))
def test_unit_of_the_numerator_scales_everything(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    """In cents, value and limits are a hundred times those in dollars, on either scale."""
    y, x = np.array(pairs).T
    for scale in ("linear", "log"):
        one, other = ratio_of_sums(y, x, scale=scale), ratio_of_sums(y * factor, x, scale=scale)
        for name in ("value", "std_error", "low", "high"):
            assert getattr(other, name) == pytest.approx(factor * getattr(one, name), rel=1e-6)


@given(positive)
def test_order_of_units_does_not_matter(pairs: list[tuple[float, float]]) -> None:
    """Units in reverse order give the same interval."""
    y, x = np.array(pairs).T
    one, other = ratio_of_sums(y, x), ratio_of_sums(y[::-1], x[::-1])
    assert (one.value, one.std_error) == pytest.approx((other.value, other.std_error), rel=1e-9)


@given(positive)
def test_log_limits_are_positive(pairs: list[tuple[float, float]]) -> None:
    """On the log scale the limits lie on both sides of the value, and above 0."""
    y, x = np.array(pairs).T
    ratio = ratio_of_sums(y, x, scale="log")
    assert ratio.low is not None
    assert ratio.high is not None
    assert 0 <= ratio.low < ratio.value < ratio.high


def test_one_unit_has_no_interval() -> None:
    """One run gives a ratio and no interval."""
    ratio = ratio_of_sums([4.0], [2.0])
    assert (ratio.value, ratio.std_error, ratio.low, ratio.high) == (2.0, None, None, None)


def test_units_that_agree_have_no_interval() -> None:
    """Runs with the same ratio give no interval of width 0."""
    ratio = ratio_of_sums([0.3, 0.6, 0.9], [0.1, 0.2, 0.3])
    assert ratio.value == pytest.approx(3)
    assert ratio.low is None


@pytest.mark.parametrize(("y", "x"), [([], []), ([1.0, 2.0], [0.0, 0.0])])
def test_without_a_denominator_there_is_no_ratio(y: list[float], x: list[float]) -> None:
    """No unit, or denominators of 0, raise."""
    with pytest.raises(NotEnoughDataError, match="denominator"):
        ratio_of_sums(y, x)
