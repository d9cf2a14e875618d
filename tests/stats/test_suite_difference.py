"""The difference of two suites, with trials as the units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.suite_difference import suite_difference


def test_it_is_welchs_test_of_trial_means() -> None:
    """Value, df and limits are scipy's for the means of trials over scenarios."""
    rng = np.random.default_rng(1)
    level = rng.normal(3, 1, 20)
    a, b = (level + rng.normal(0, 0.3, (n, 20)) + rng.normal(0, 0.1, (n, 1)) for n in (4, 6))
    found = suite_difference(a, b)
    known = stats.ttest_ind(b.mean(axis=1), a.mean(axis=1), equal_var=False)
    limits = known.confidence_interval(0.95)
    assert found.df == pytest.approx(known.df)
    assert (found.low, found.high) == pytest.approx((limits.low, limits.high))
    assert (found.n_trials_a, found.n_trials_b, found.n_scenarios) == (4, 6, 20)


def test_levels_of_scenarios_are_no_part_of_it() -> None:
    """However far scenarios lie apart, the error stays."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 5, 10))
    far = 100 * np.arange(10)
    near, wide = suite_difference(a, b), suite_difference(a + far, b + far)
    assert wide.std_error == pytest.approx(near.std_error)
    assert wide.value == pytest.approx(near.value)


def test_only_scenarios_that_all_trials_have() -> None:
    """A scenario with a gap is left out on both sides; a trial with few scenarios too."""
    a, b = np.ones((3, 8)), np.full((3, 8), 2.0)
    a[0, 0] = np.nan
    b[2, 1:] = np.nan
    found = suite_difference(a, b)
    assert (found.n_scenarios, found.n_trials_a, found.n_trials_b) == (7, 3, 2)
    assert (found.value, found.std_error, found.low) == (1, 0, None)
    b[1, 5] = np.nan
    assert suite_difference(a, b).n_scenarios == 6


def test_one_trial_is_not_enough() -> None:
    """Whether it would agree again is then not estimable, never 0."""
    with pytest.raises(NotEnoughDataError, match="trials of each needs at least 2; got 1"):
        suite_difference(np.ones((1, 6)), np.ones((4, 6)))
    with pytest.raises(NotEnoughDataError, match="scenarios that every trial has"):
        suite_difference(np.array([[1, np.nan], [np.nan, 1.0]]), np.ones((2, 2)))
