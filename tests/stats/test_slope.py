"""Slopes within units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.regression.linear_model import OLS

from turncurve.stats.mean import mean_with_interval
from turncurve.stats.slope import slopes_within

ANSCOMBE_X = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
ANSCOMBE_Y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]


def test_gives_the_published_slope() -> None:
    """Anscombe (1973), American Statistician 27:17-21, data set 1: slope .5001."""
    slope = slopes_within(np.zeros(11), ANSCOMBE_X, ANSCOMBE_Y, n_units=1)
    assert slope[0] == pytest.approx(0.5001, abs=5e-5)


def test_agrees_with_scipy_for_each_unit() -> None:
    """Each unit's slope is linregress's, whatever the other units do; NaN is left out."""
    rng = np.random.default_rng(1)
    lengths = [5, 12, 30]
    unit = np.repeat([0, 1, 2], lengths)
    x = np.concatenate([np.arange(1.0, n + 1) for n in lengths])
    y = rng.normal(size=47) + unit * x
    y[7] = np.nan
    slopes = slopes_within(unit, x, y, n_units=3)
    for i in range(3):
        mine = (unit == i) & ~np.isnan(y)
        assert slopes[i] == pytest.approx(stats.linregress(x[mine], y[mine]).slope)


def test_segments_share_a_slope() -> None:
    """With segments it is the slope of a regression with an intercept for each."""
    rng = np.random.default_rng(2)
    x = np.arange(1.0, 31)
    segment = np.repeat([4, 5, 9], 10)
    y = 3 * x - 40 * segment + rng.normal(size=30)
    design = np.column_stack([x, *(segment == s for s in (4, 5, 9))])
    wanted = OLS(y, design.astype(float)).fit().params[0]
    slope = slopes_within(np.zeros(30), x, y, n_units=1, segment=segment)
    assert slope[0] == pytest.approx(wanted)
    assert slopes_within(np.zeros(30), x, y, n_units=1)[0] < 0


@given(
    st.lists(st.floats(-100, 100), min_size=3, max_size=30),
    st.floats(-5, 5),
    st.floats(-50, 50),
)
def test_adding_a_line_adds_its_slope(values: list[float], slope: float, level: float) -> None:
    """y + a + b x has slope + b, and reversing time flips the sign."""
    x = np.arange(len(values), dtype=float)
    y = np.array(values)
    zero = np.zeros(len(values))
    plain = slopes_within(zero, x, y, n_units=1)[0]
    assert slopes_within(zero, x, y + level + slope * x, n_units=1)[0] == pytest.approx(
        plain + slope, abs=1e-8
    )
    assert slopes_within(zero, -x, y, n_units=1)[0] == pytest.approx(-plain, abs=1e-8)


def test_too_few_values_have_no_slope() -> None:
    """Below min_values, with one value, with one distinct x, and for an empty unit: NaN."""
    unit = [0, 0, 0, 1, 2, 2]
    slopes = slopes_within(unit, [1, 2, 3, 1, 4, 4], [1, 2, 3, 1, 5, 6], n_units=4)
    assert_allclose(slopes, [1, np.nan, np.nan, np.nan])
    assert np.isnan(slopes_within(unit[:3], [1, 2, 3], [1, 2, 3], n_units=1, min_values=4)).all()
    assert slopes_within([], [], [], n_units=0).shape == (0,)


def rejections(n_sets: int, seed: int) -> tuple[float, float]:
    """How often slope 0 is rejected at .05 where runs' slopes vary about 0: ours, and pooled."""
    rng = np.random.default_rng(seed)
    unit, turn = np.repeat(np.arange(30), 60), np.tile(np.arange(60.0), 30)
    ours = pooled = 0
    for _ in range(n_sets):
        own = rng.normal(0, 0.008, 30)
        y = own[unit] * turn + rng.normal(0, 0.5, 1_800)
        mean = mean_with_interval(slopes_within(unit, turn, y, n_units=30))
        assert mean.low is not None
        assert mean.high is not None
        ours += not mean.low <= 0 <= mean.high
        pooled += stats.linregress(turn, y).pvalue < 0.05
    return ours / n_sets, pooled / n_sets


def test_turns_are_no_replicates() -> None:
    """Runs whose slopes vary about 0: t over runs rejects in 5 %, pooled turns in far more."""
    ours, pooled = rejections(400, seed=3)
    assert ours <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert pooled > 0.3


@pytest.mark.slow
def test_rejection_rate_is_the_stated_one() -> None:
    """Over 5,000 sets of 30 runs, the t interval over runs misses the truth in 5 %."""
    ours, _ = rejections(5_000, seed=4)
    assert ours == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 5_000))
