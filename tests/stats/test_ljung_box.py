"""Ljung-Box: statsmodels' numbers, known truth, edges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.stats.ljung_box import ljung_box


def theirs(values: np.ndarray, lags: int) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.stats.diagnostic import acorr_ljungbox  # noqa: PLC0415 - slow to load
    row = acorr_ljungbox(values, lags=[lags])
    return float(row["lb_stat"].iloc[0]), float(row["lb_pvalue"].iloc[0])


@pytest.mark.parametrize("lags", [1, 3, 5])
def test_many_at_once_are_statsmodels_one_by_one(lags: int) -> None:
    """Statistic and p of several units of different lengths."""
    rng = np.random.default_rng(1)
    sizes = [6, 11, 40, 200]
    unit = np.repeat(np.arange(4), sizes)
    values = (rng.random(len(unit)) < 0.4).astype(float)
    values[:2] = [0, 1]  # no unit is constant
    found = ljung_box(unit, values, n_units=4, lags=lags)
    for i in range(4):
        q, p = theirs(values[unit == i], lags)
        assert found.statistic[i] == pytest.approx(q, rel=1e-9)
        assert found.p[i] == pytest.approx(p, rel=1e-9)


def test_what_cannot_be_tested_is_nan() -> None:
    """No more values than lags, all equal, or none at all."""
    unit = [0, 0, 0, 1, 1, 1, 1, 3, 3, 3, 3]
    found = ljung_box(unit, [0, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0], n_units=4, lags=3)
    np.testing.assert_array_equal(np.isnan(found.p), [True, True, True, False])
    np.testing.assert_array_equal(np.isnan(found.statistic), [True, True, True, False])
    np.testing.assert_array_equal(np.isnan(found.correlation[:, 0]), [True, True, True, False])


@pytest.mark.slow
def test_level_on_independent_values() -> None:
    """Of 4,000 sequences of 200 independent values about 5 % are rejected (+-1 %)."""
    rng = np.random.default_rng(2)
    found = ljung_box(np.repeat(np.arange(4000), 200), rng.random(800_000), n_units=4000, lags=5)
    assert (found.p < 0.05).mean() == pytest.approx(0.05, abs=0.012)


@settings(deadline=None)
@given(st.integers(0, 50), st.floats(0.1, 10), st.floats(-5, 5))
def test_scale_and_level_do_not_matter(seed: int, scale: float, shift: float) -> None:
    """An affine change of the values changes nothing."""
    values = np.random.default_rng(seed).random(30)
    unit = np.zeros(30, dtype=int)
    one = ljung_box(unit, values, n_units=1, lags=3)
    other = ljung_box(unit, scale * values + shift, n_units=1, lags=3)
    assert other.statistic[0] == pytest.approx(one.statistic[0], rel=1e-6)
