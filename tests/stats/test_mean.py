"""The mean and its t interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.mean import mean_with_interval

SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_gives_the_published_interval() -> None:
    """Student's (1908) sleep data: 1.58, and R's t.test gives .7001142 to 2.4598858."""
    mean = mean_with_interval(SLEEP)
    assert mean.value == pytest.approx(1.58)
    assert (mean.low, mean.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)
    assert mean.df == 9


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30).filter(lambda v: np.std(v) > 1e-3))
def test_agrees_with_scipy(values: list[float]) -> None:
    """The interval is scipy's, at another level too."""
    wanted = stats.ttest_1samp(values, 0).confidence_interval(0.8)
    mean = mean_with_interval(values, level=0.8)
    assert (mean.low, mean.high) == pytest.approx((wanted.low, wanted.high), rel=1e-6, abs=1e-6)


def test_interval_covers_the_truth() -> None:
    """Five normal values: the interval holds the mean in 95 %."""
    rng = np.random.default_rng(1)
    means = [mean_with_interval(row) for row in rng.normal(size=(2_000, 5))]
    inside = np.mean([m.low <= 0 <= m.high for m in means])  # type: ignore[operator]
    assert inside == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / 2_000))


def test_nan_is_left_out() -> None:
    """NaN is no value and does not count."""
    mean = mean_with_interval([1.0, np.nan, 3.0])
    assert (mean.value, mean.n) == (2.0, 2)


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0]])
def test_no_spread_gives_no_interval(values: list[float]) -> None:
    """One value, or equal values, give a mean and no interval."""
    mean = mean_with_interval(values)
    assert mean.value == 3
    assert (mean.std_error, mean.low, mean.high, mean.df) == (None, None, None, None)


@pytest.mark.parametrize("values", [[], [np.nan]])
def test_no_value_raises(values: list[float]) -> None:
    """Without a value there is no mean."""
    with pytest.raises(NotEnoughDataError, match="at least 1; got 0"):
        mean_with_interval(values)
