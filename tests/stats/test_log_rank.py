"""The log-rank test and Mantel and Haenszel's ratio of hazards."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from stats.first_error_runs import EVENT, MODEL, TASK, TIME
from turncurve.errors import NotEnoughDataError
from turncurve.stats.hazard_ratio import hazard_ratio
from turncurve.stats.log_rank import log_rank


def drawn(seed, n=80):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(1, 12, n),
        rng.random(n) < 0.6,
        rng.integers(0, 3, n),
        rng.integers(0, 5, n),
    )


def test_matches_r():
    """R's `survdiff` prints chi-squared 1.490915 and p .2220745."""
    found = log_rank(TIME, EVENT, MODEL)
    assert found.statistic == pytest.approx(1.490915, abs=5e-7)
    assert found.p == pytest.approx(0.2220745, abs=5e-8)
    assert (found.groups, found.observed, found.df) == (("A", "B"), (10, 10), 1)
    assert sum(found.expected) == pytest.approx(20)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_statsmodels_and_lifelines(seed):
    """Three groups, with and without strata, have statsmodels' statistic; without, lifelines'."""
    from statsmodels.duration.survfunc import survdiff  # noqa: PLC0415 - slow to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines.statistics import multivariate_logrank_test  # noqa: PLC0415
    time, event, group, stratum = drawn(seed)
    plain, within = log_rank(time, event, group), log_rank(time, event, group, stratum=stratum)
    assert (plain.statistic, plain.p) == pytest.approx(survdiff(time, event, group), rel=1e-9)
    theirs = survdiff(time, event, group, strata=stratum)
    assert (within.statistic, within.p) == pytest.approx(theirs, rel=1e-9)
    assert (within.df, within.n_strata) == (2, 5)
    assert plain.statistic == pytest.approx(
        multivariate_logrank_test(time, group, event).test_statistic, rel=1e-9
    )


@given(st.integers(0, 2**32 - 1))
def test_entry_that_all_share_changes_nothing_and_a_late_one_does_not_count(seed):
    """Late entry: as if the run were no run of the turns before."""
    time, event, group, _ = drawn(seed)
    time = time + 3
    entered = log_rank(time, event, group, entry=np.full(80, 3))
    assert entered.statistic == pytest.approx(log_rank(time, event, group).statistic)
    late = log_rank([1, 5, 5], [True, True, False], ["a", "a", "b"], entry=[0, 0, 4])
    assert late.expected == pytest.approx((1.5, 0.5))


def test_nothing_to_compare():
    """Groups that are never at risk together, or an only group, give no statistic."""
    found = log_rank([1, 2], [True, True], ["a", "b"], stratum=[0, 1])
    assert (found.statistic, found.p, found.n_strata) == (None, None, 0)
    assert log_rank([3, 4], [False, False], ["a", "b"]).statistic is None
    with pytest.raises(NotEnoughDataError, match="at least 2; got 1"):
        log_rank([1, 2], [True, True], ["a", "a"])
    with pytest.raises(ValueError, match="after its entry"):
        log_rank([1, 2], [True, True], ["a", "b"], entry=[1, 1])


@pytest.mark.slow
def test_rejects_as_often_as_it_says():
    """Where nothing differs p is below .05 in 5 % of 2,000 sets; within scenarios too, though these
    are shared out unevenly, which the plain test takes for a difference."""
    rng, n_sets = np.random.default_rng(6), 2_000
    plain = within = 0
    for _ in range(n_sets):
        scenario = np.repeat(np.arange(15), 8)
        hazard = np.repeat(np.linspace(0.02, 0.3, 15), 8)
        group = rng.random(120) < np.repeat(np.linspace(0.2, 0.8, 15), 8)
        first = rng.geometric(hazard)
        time, event = np.minimum(first, 20), first <= 20
        plain += (log_rank(time, event, group).p or 1) < 0.05
        within += (log_rank(time, event, group, stratum=scenario).p or 1) < 0.05
    assert within / n_sets == pytest.approx(0.05, abs=0.015)
    assert plain / n_sets > 0.5


def test_ratio_by_hand():
    """Turn 1: 1 of 2 treated, 1 of 4 controls; turn 2: 1 of 1, 0 of 3.

    Above: 1 * 4/6 + 1 * 3/4; below: 1 * 2/6.
    """
    time, event = [1, 2, 1, 3, 3, 3], [True, True, True, False, False, False]
    found = hazard_ratio(time, event, [True, True, False, False, False, False])
    assert found.value == pytest.approx((4 / 6 + 3 / 4) / (2 / 6))
    assert (found.n_events, found.n_compared, found.df) == ((2, 1), 1, None)
    above, below = 4 / 6 + 3 / 4, 2 / 6
    variance = ((2 * 2 * 4 - 1 * 1 * 6) / 36 + (1 * 1 * 3 - 0) / 16) / (above * below)
    assert found.std_error == pytest.approx(np.sqrt(variance))


def test_ratio_turns_over():
    """Swapping the groups turns the ratio and its limits over."""
    for stratum in (None, TASK):
        one = hazard_ratio(TIME, EVENT, MODEL == "B", stratum=stratum)
        other = hazard_ratio(TIME, EVENT, MODEL == "A", stratum=stratum)
        assert_allclose(
            [other.value, other.low, other.high], 1 / np.array([one.value, one.high, one.low])
        )
        assert other.std_error == pytest.approx(one.std_error)


def test_ratio_without_strata_is_mantel_and_haenszels():
    """With turns as strata it is the textbook's ratio of two sums."""
    time, event, group, _ = drawn(3)
    treated = group == 1
    tables = [
        np.array(
            [
                [(event & (time == t) & side).sum(), ((time >= t) & side).sum()]
                for side in (treated, ~treated)
            ]
        )
        for t in np.unique(time[event])
    ]
    n = [table[:, 1].sum() for table in tables]
    top = sum(t[0, 0] * t[1, 1] / m for t, m in zip(tables, n, strict=True))
    bottom = sum(t[1, 0] * t[0, 1] / m for t, m in zip(tables, n, strict=True))
    found = hazard_ratio(time, event, treated)
    assert found.value == pytest.approx(top / bottom, rel=1e-12)


def test_ratio_edges():
    """No event on a side: 0 or nothing, and never an interval; a group without runs is an error."""
    nothing = hazard_ratio([1, 3], [True, False], [True, False])
    assert (nothing.value, nothing.low) == (None, None)
    none = hazard_ratio([1, 3], [True, False], [False, True])
    assert (none.value, none.std_error, none.high) == (0.0, None, None)
    with pytest.raises(NotEnoughDataError):
        hazard_ratio([1, 3], [True, False], [True, True])
    one = hazard_ratio([1, 1, 2, 2], [True] * 4, [True, False] * 2, stratum=[0, 0, 0, 0])
    assert one.low is None


@pytest.mark.slow
@pytest.mark.parametrize("n_trials", [1, 3])
def test_ratio_within_scenarios_holds_the_truth(n_trials):
    """Hazards of .02 to .15 by scenario, doubled in the treated runs: over 2,000 suites of 30
    scenarios with as few as one trial a side the limits hold 2 as often as they say, or a little
    more often with a single trial."""
    rng, held, n_sets = np.random.default_rng(7), 0, 2_000
    logs = []
    for _ in range(n_sets):
        n = 30 * n_trials * 2
        stratum, treated = np.arange(n) % 30, np.arange(n) // 30 % 2 == 1
        hazard = rng.uniform(0.02, 0.15, 30)[stratum] * np.where(treated, 2.0, 1.0)
        first = rng.geometric(hazard)
        found = hazard_ratio(np.minimum(first, 25), first <= 25, treated, stratum=stratum)
        held += found.low is not None and found.low <= 2 <= found.high
        logs.append(np.log(found.value))
    assert 0.93 < held / n_sets < 0.98
    assert np.median(logs) == pytest.approx(np.log(2), abs=0.06)
