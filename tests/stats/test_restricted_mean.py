"""The mean of the time to an event, restricted to a horizon."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.first_error_runs import EVENT, TASK, TIME
from turncurve.errors import NotEnoughDataError
from turncurve.stats.restricted_mean import restricted_mean
from turncurve.stats.survival import kaplan_meier


def test_matches_r():
    """R's `summary(survfit(...), rmean=20)` prints 9.725694 with error 1.172121."""
    found = restricted_mean(TIME, EVENT, 20)
    assert found.value == pytest.approx(9.725694, abs=5e-7)
    assert found.std_error == pytest.approx(1.172121, abs=5e-7)
    assert (found.n_events, found.n_runs, found.df) == (20, 24, None)


def test_it_is_the_sum_of_survival():
    """The sum of S(t) over t = 0 to 19."""
    curve = kaplan_meier(TIME, EVENT)
    steps = [curve.survival[curve.time <= t][-1] if t >= 1 else 1.0 for t in range(20)]
    assert restricted_mean(TIME, EVENT, 20).value == pytest.approx(sum(steps))


def test_value_is_lifelines():
    """lifelines' mean is ours (its variance is that of min(time, 20), not of the mean)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import KaplanMeierFitter  # noqa: PLC0415 - slow to load
        from lifelines.utils import restricted_mean_survival_time  # noqa: PLC0415

        theirs = restricted_mean_survival_time(KaplanMeierFitter().fit(TIME, EVENT), t=20)
    assert restricted_mean(TIME, EVENT, 20).value == pytest.approx(theirs, rel=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_without_censoring_it_is_a_mean(seed, horizon):
    """With every event seen it is the mean of min(time, horizon), with the error of a mean."""
    time = np.random.default_rng(seed).integers(1, 15, size=20)
    cut = np.minimum(time, horizon)
    found = restricted_mean(time, np.ones(20, dtype=bool), horizon)
    assert found.value == pytest.approx(cut.mean())
    error = cut.std() / np.sqrt(20)
    assert (found.std_error or 0.0) == pytest.approx(error, abs=1e-9)
    clustered = restricted_mean(time, np.ones(20, dtype=bool), horizon, cluster=np.arange(20))
    assert (clustered.std_error or 0.0) == pytest.approx(error * np.sqrt(20 / 19), abs=1e-9)


def test_over_tasks():
    """Over 8 tasks t has 7 degrees of freedom, and copies of runs in their task add nothing."""
    found = restricted_mean(TIME, EVENT, 20, cluster=TASK)
    twice = restricted_mean(TIME * 2, np.tile(EVENT, 2), 20, cluster=np.tile(TASK, 2))
    assert (found.df, found.n_clusters) == (7, 8)
    assert twice.std_error == pytest.approx(found.std_error)
    assert found.high - found.value == pytest.approx(2.364624 * found.std_error, rel=1e-6)


def test_edges():
    """A horizon that nobody reached is an error; without an event there is no interval; one cluster
    has none; the horizon is a turn."""
    with pytest.raises(NotEnoughDataError, match="needs at least 30; got 23"):
        restricted_mean(TIME, EVENT, 30)
    assert restricted_mean([3, 4], [True, True], 30).value == 3.5
    still = restricted_mean([9, 9], [False, False], 5)
    assert (still.value, still.std_error, still.low, still.high) == (5, None, None, None)
    assert restricted_mean(TIME, EVENT, 20, cluster=np.zeros(24)).std_error is None
    with pytest.raises(ValueError, match="above 0"):
        restricted_mean(TIME, EVENT, 0)
