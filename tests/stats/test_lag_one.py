"""Correlation of neighbouring values around a line."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.tsa.arima_process import ArmaProcess
from statsmodels.tsa.stattools import acf

from turncurve.stats.lag_one import lag_one_correlation


def sequences(correlation: float, n_units: int, n: int, seed: int) -> NDArray[np.float64]:
    process = ArmaProcess([1, -correlation], [1])
    rng = np.random.default_rng(seed)
    return process.generate_sample((n_units, n), axis=1, burnin=50, distrvs=rng.standard_normal)


def estimate(values: NDArray[np.float64]) -> float | None:
    n_units, n = values.shape
    unit, turn = np.repeat(np.arange(n_units), n), np.tile(np.arange(n), n_units)
    return lag_one_correlation(unit, turn, values.ravel(), n_units=n_units)


@pytest.mark.parametrize("truth", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("n", [16, 60])
def test_finds_the_truth(truth: float, n: int) -> None:
    """The correction for short runs brings it to the truth, at 16 values a run as at 60."""
    assert estimate(sequences(truth, 1_000, n, seed=1)) == pytest.approx(truth, abs=0.03)


def test_a_trend_is_no_correlation() -> None:
    """Runs that fall along lines of their own give the same as the noise around them."""
    noise = sequences(0.2, 50, 40, seed=2)
    slopes = np.linspace(-1, 1, 50)[:, None]
    assert estimate(noise + slopes * np.arange(40) + 7) == pytest.approx(estimate(noise), abs=1e-9)


def test_agrees_with_statsmodels() -> None:
    """For one run it is statsmodels' lag-one autocorrelation of the residuals, corrected."""
    values = sequences(0.3, 1, 80, seed=3)[0]
    turn = np.arange(80)
    r = acf(values - np.polyval(np.polyfit(turn, values, 1), turn), nlags=1, fft=False)[1]
    assert estimate(values[None]) == pytest.approx((80 * r + 2) / 76)


def test_runs_are_no_neighbours_of_each_other() -> None:
    """The last value of a run and the first of the next make no pair."""
    values = sequences(0.0, 2, 16, seed=4)
    values[0, -1] = values[1, 0] = 30.0
    turn = np.arange(16)
    residuals = [v - np.polyval(np.polyfit(turn, v, 1), turn) for v in values]
    products = sum((e[1:] * e[:-1]).sum() for e in residuals)
    r = products / sum((e**2).sum() for e in residuals)
    assert estimate(values) == pytest.approx((16 * r + 2) / 12)


def test_absent_without_long_runs_or_spread() -> None:
    """Short runs, runs on a line and no runs at all give none."""
    assert estimate(np.zeros((3, 10))) is None
    assert estimate(np.tile(np.arange(20.0), (3, 1))) is None
    assert lag_one_correlation([], [], [], n_units=0) is None
