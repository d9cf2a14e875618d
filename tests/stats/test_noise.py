"""Noise of a signal that may drift."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from turncurve.stats.noise import Noise, estimate_noise


def autoregressive(
    rng: np.random.Generator, n_runs: int, n_turns: int, correlation: float
) -> NDArray[np.float64]:
    """Unit-variance noise; shape (n_runs, n_turns)."""
    news = rng.normal(size=(n_runs, n_turns))
    noise = news.copy()
    for t in range(1, n_turns):
        noise[:, t] = correlation * noise[:, t - 1] + np.sqrt(1 - correlation**2) * news[:, t]
    return noise


@pytest.mark.parametrize("correlation", [-0.3, 0.0, 0.5, 0.8])
@pytest.mark.parametrize("n_turns", [12, 45, 100])
def test_recovers_what_was_put_in(correlation, n_turns):
    """Correlation and SD come back from short stretches, though taking out their lines shrinks
    both; the lines themselves, and levels that differ by run, do not matter."""
    rng = np.random.default_rng(1)
    n_runs = 3_000 // n_turns * 8
    noise = 0.2 * autoregressive(rng, n_runs, n_turns, correlation)
    drift = rng.normal(0, 0.02, size=(n_runs, 1)) * np.arange(n_turns) + rng.normal(
        size=(n_runs, 1)
    )
    if n_turns > 40:
        drift[:] = rng.normal(size=(n_runs, 1))
    found = estimate_noise(list(noise + drift), stretch=30)
    # About 24,000 values: standard errors near .01 (correlation) and .002 (SD), more where
    # stretches are short and correlation is high.
    assert_allclose(found.correlation, correlation, atol=0.05)
    assert_allclose(found.std_dev, 0.2, rtol=0.08)


def test_drawn_noise_is_like_the_estimate():
    """Drawn noise has the stated SD and correlation, from its first turn on."""
    rng = np.random.default_rng(2)
    found = estimate_noise(list(autoregressive(rng, 100, 60, 0.6)), stretch=30)
    drawn = np.array(list(found.draw(20_000, 8, rng)))
    assert_allclose(drawn.std(axis=1), found.std_dev, rtol=0.03)
    lag = [np.corrcoef(drawn[i], drawn[i + 1])[0, 1] for i in range(7)]
    assert_allclose(lag, found.correlation, atol=0.03)


def test_variance_of_a_mean():
    """The mean of n neighbours has variance sd**2 / n without correlation; 1 turn has sd**2."""
    news = np.zeros(1)
    white = Noise(correlation=0.0, std_dev=0.3, news=news)
    tied = Noise(correlation=0.5, std_dev=0.3, news=news)
    assert_allclose(white.variance_of_mean(5), 0.09 / 5)
    assert_allclose(tied.variance_of_mean(1), 0.09)
    assert_allclose(tied.variance_of_mean(2), 0.09 * (2 + 2 * 0.5) / 4)


def test_a_straight_line_has_no_noise():
    """Runs that are exactly straight lines have SD 0, and drawing from them gives zeros."""
    found = estimate_noise([np.full(10, 0.8)], stretch=30)
    assert found.std_dev == 0
    assert not np.array(list(found.draw(3, 4, np.random.default_rng(0)))).any()
