"""Draws for resampling."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from turncurve.errors import NotEnoughDataError
from turncurve.stats.resampling import cluster_weights, sign_flips


def test_bootstrap_of_the_mean_has_its_known_spread():
    """Weighted means spread by SD / sqrt(n), which is known exactly for the bootstrap."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=25)
    weights = cluster_weights(25, resamples=40_000, rng=rng)
    assert_array_equal(weights.sum(axis=1), 25)
    draws = weights @ y / 25
    # An SD from 40,000 draws has a relative error of 0.35 %.
    assert_allclose(draws.std(), y.std() / 5, rtol=0.015)
    assert_allclose(draws.mean(), y.mean(), atol=4 * y.std() / 5 / 200)


def test_few_units_are_enumerated():
    """With n <= 15 units all 2**n patterns come, each once, the first being no flip at all."""
    flips = sign_flips(5, resamples=10, rng=np.random.default_rng(0))
    assert flips.shape == (32, 5)
    assert len({tuple(row) for row in flips}) == 32
    assert_array_equal(flips[0], np.ones(5))


def test_five_runs_cannot_reach_one_in_twenty():
    """The smallest two-sided sign-flip p of five runs is 2/32 = .0625."""
    difference = np.array([1.0, 1.1, 0.9, 1.2, 1.3])
    flips = sign_flips(5, resamples=10, rng=np.random.default_rng(0))
    means = np.abs(flips @ difference)
    assert (means >= means[0] - 1e-12).mean() == 0.0625


def test_many_units_are_drawn():
    """Above 15 units as many patterns come as asked for, half of the signs each way."""
    flips = sign_flips(20, resamples=5_000, rng=np.random.default_rng(2))
    assert flips.shape == (5_000, 20)
    assert set(np.unique(flips)) == {-1.0, 1.0}
    # 100,000 signs: the standard error of their mean is .0032.
    assert abs(flips.mean()) < 0.0128


def test_too_few_units():
    """One cluster cannot be resampled, and no unit cannot be flipped."""
    with pytest.raises(NotEnoughDataError):
        cluster_weights(1, resamples=10, rng=np.random.default_rng(0))
    with pytest.raises(NotEnoughDataError):
        sign_flips(0, resamples=10, rng=np.random.default_rng(0))
