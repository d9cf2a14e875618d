"""Paired differences at many positions: each by itself, and all together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from turncurve.stats.paired_curve import paired_curve


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def correlated(draw: np.random.Generator, n_units: int, n_positions: int) -> np.ndarray:
    """Differences whose neighbours resemble each other, with mean 0."""
    own = draw.normal(0, 0.3, (n_units, 1))
    drift = np.cumsum(draw.normal(0, 0.05, (n_units, n_positions)), axis=1)
    return own + drift + draw.normal(0, 0.5, (n_units, n_positions))


def test_each_position_is_a_paired_t_test() -> None:
    """Value, error, limits and p of a position by itself are scipy's, missing pairs left out."""
    d = correlated(rng(), 12, 4)
    d[:5, 2] = np.nan
    found = paired_curve(d, rng=rng())
    for i in range(4):
        known = d[~np.isnan(d[:, i]), i]
        test = stats.ttest_1samp(known, 0)
        limits = test.confidence_interval(0.95)
        assert found.n[i] == len(known)
        assert found.p[i] == pytest.approx(test.pvalue)
        assert (found.low[i], found.high[i]) == pytest.approx((limits.low, limits.high))
        assert found.std_error[i] == pytest.approx(stats.sem(known))


def test_one_position_needs_no_correction() -> None:
    """With one position the band is the interval, to the error of the draws."""
    found = paired_curve(rng().normal(size=(30, 1)), rng=rng(), resamples=40_000)
    assert_allclose(found.band_low, found.low, rtol=0.03)
    assert_allclose(found.p_adjusted, found.p, atol=0.01)


def test_few_units_have_bonferronis_band() -> None:
    """Below 10 units nothing is drawn, and p is times the number of positions."""
    d = correlated(rng(), 9, 6)
    found = paired_curve(d, rng=rng())
    assert found.n_resamples is None
    assert_allclose(found.p_adjusted, np.minimum(found.p * 6, 1))
    half = stats.t.ppf(1 - 0.05 / 12, 8) * found.std_error
    assert_allclose(found.band_high - found.value, half)


def test_independent_positions_come_near_bonferroni() -> None:
    """Positions that have nothing in common pay Sidak's price: 1 - (1 - p)**n."""
    d = rng().normal(size=(400, 10))
    found = paired_curve(d, rng=rng(), resamples=40_000)
    assert_allclose(found.p_adjusted, 1 - (1 - found.p) ** 10, atol=0.05)


def test_the_same_position_twice_costs_nothing() -> None:
    """Positions that are copies of each other pay for one."""
    d = np.repeat(rng().normal(0.3, 1, (40, 1)), 8, axis=1)
    found = paired_curve(d, rng=rng(), resamples=40_000)
    assert_allclose(found.p_adjusted, found.p, atol=0.01)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 25), st.integers(1, 8), st.floats(-3, 3))
def test_the_band_leaves_0_out_where_p_says_so(
    seed: int, n_units: int, n_positions: int, shift: float
) -> None:
    """The band and the adjusted p never say different things."""
    d = correlated(rng(seed), n_units, n_positions) + shift
    found = paired_curve(d, rng=rng(), resamples=999)
    outside = (found.band_low > 0) | (found.band_high < 0)
    assert (outside == (found.p_adjusted <= 0.05)).all()
    assert (found.band_low <= found.low + 1e-12).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 100))
def test_turned_and_scaled(seed: int, factor: float) -> None:
    """Differences the other way round have everything the other way round; a factor scales."""
    d = correlated(rng(seed), 15, 5)
    d[rng(seed).random(d.shape) < 0.1] = np.nan
    found = paired_curve(d, rng=rng(), resamples=499)
    other = paired_curve(-factor * d, rng=rng(), resamples=499)
    assert_allclose(other.value, -factor * found.value, rtol=1e-9)
    assert_allclose(other.band_low, -factor * found.band_high, rtol=1e-9)
    assert_allclose(other.p_adjusted, found.p_adjusted, rtol=1e-9)


def test_too_few_pairs_are_absent() -> None:
    """A position with 4 pairs has no value, and is no member of the family."""
    d = rng().normal(size=(20, 3))
    d[4:, 1] = np.nan
    found = paired_curve(d, rng=rng())
    assert found.n.tolist() == [20, 4, 20]
    assert found.n_tested == 2
    for part in (found.value, found.low, found.band_low, found.p, found.p_adjusted):
        assert np.isnan(part[1])
        assert not np.isnan(part[[0, 2]]).any()
    assert paired_curve(np.full((0, 2), np.nan), rng=rng()).n_tested == 0


def test_what_rounding_leaves_is_no_difference() -> None:
    """Differences that cancel out have a mean of 0, not of 1e-17."""
    found = paired_curve(np.array([[0.1], [0.2], [-0.3], [0.7], [-0.7]]), rng=rng())
    assert found.value[0] == 0


def test_pairs_that_agree_have_no_limits() -> None:
    """All differences the same: no interval, and the p of their signs; all 0: p is 1."""
    d = np.column_stack([np.full(8, -0.5), np.zeros(8), rng().normal(size=8)])
    found = paired_curve(d, rng=rng())
    assert found.value[:2].tolist() == [-0.5, 0]
    assert np.isnan(found.band_low[:2]).all()
    assert found.p[:2].tolist() == [2 / 2**8, 1]
    assert found.p_adjusted[0] == pytest.approx(2 * 2 / 2**8)
    assert found.n_tested == 2


@pytest.mark.parametrize(("n_units", "n_positions"), [(6, 12), (12, 30), (24, 30)])
def test_false_alarms(n_units: int, n_positions: int) -> None:
    """Where nothing differs, some position stands out in 5 % of suites (300: error .013)."""
    draw = rng(8)
    alarms = [
        (
            paired_curve(correlated(draw, n_units, n_positions), rng=draw, resamples=999).p_adjusted
            <= 0.05
        ).any()
        for _ in range(300)
    ]
    assert np.mean(alarms) < 0.05 + 3 * 0.013


def test_the_naive_limits_alarm_far_more_often() -> None:
    """The limits of each position by itself leave 0 out somewhere in far more than 5 %."""
    draw = rng(9)
    naive = []
    for _ in range(200):
        found = paired_curve(correlated(draw, 24, 30), rng=draw, resamples=99)
        naive.append(((found.low > 0) | (found.high < 0)).any())
    assert np.mean(naive) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("n_units", [10, 20, 40])
def test_the_band_holds_the_truth_everywhere(n_units: int) -> None:
    """It holds a curved truth at all positions at once in 95 % of suites (1500: error .006)."""
    draw, truth = rng(10), np.linspace(0, -1, 20)
    held = []
    for _ in range(1500):
        found = paired_curve(truth + correlated(draw, n_units, 20), rng=draw, resamples=999)
        held.append(((found.band_low <= truth) & (truth <= found.band_high)).all())
    assert 0.92 < np.mean(held) < 0.975
