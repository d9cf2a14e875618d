"""Simulated sequences whose neighbours resemble each other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from turncurve.stats.chains import held, held_chains


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.8])
def test_values_keep_their_distribution_and_correlate(correlation: float) -> None:
    """From the first turn on the shares are those of the given values, and neighbours correlate as
    asked, those two apart by the square."""
    rng = np.random.default_rng(1)
    given = np.array([0.0, 0.0, 1.0, 3.0])
    chains = held_chains(given, correlation, shape=(40_000, 5), rng=rng)
    # 40,000 sequences: a standard error of .0025 of a share, .005 of a correlation.
    for value, share in ((0.0, 0.5), (1.0, 0.25), (3.0, 0.25)):
        assert_allclose((chains == value).mean(axis=0), share, atol=0.01)
    found = np.corrcoef(chains.T)
    assert_allclose(np.diag(found, k=1), correlation, atol=0.02)
    assert_allclose(np.diag(found, k=2), correlation**2, atol=0.02)


def test_below_zero_nothing_is_held() -> None:
    """A negative correlation leaves the fresh values as they are; 1 holds the first for good."""
    fresh = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    rng = np.random.default_rng(3)
    assert_array_equal(np.stack(list(held(fresh, -0.5, rng=rng))), np.stack(fresh))
    assert_array_equal(np.stack(list(held(fresh, 1.0, rng=rng))), [[1, 2]] * 3)
