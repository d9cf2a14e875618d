"""Time to an event that not every run reaches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from stats.first_error_runs import EVENT, TASK, TIME
from turncurve.errors import NotEnoughDataError
from turncurve.stats.survival import kaplan_meier, quantile, quantiles

# The 6-MP arm of Freireich et al. (1963), weeks to relapse, as printed in survival textbooks.
WEEKS = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSE = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]


def test_matches_the_published_leukaemia_table():
    """The 6-MP arm gives the published numbers at risk, survival and Greenwood errors."""
    curve = kaplan_meier(WEEKS, RELAPSE)
    assert_array_equal(curve.time, [6, 7, 10, 13, 16, 22, 23])
    assert_array_equal(curve.n_at_risk, [21, 17, 15, 12, 11, 7, 6])
    assert_allclose(
        curve.survival, [0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482], atol=5e-5
    )
    assert_allclose(
        curve.std_error, [0.0764, 0.0869, 0.0963, 0.1068, 0.1141, 0.1282, 0.1346], atol=5e-5
    )
    assert quantile(curve, 0.5).time == 23


def test_matches_r():
    """Survival at turns 5, 10 and 15 and Greenwood's errors are R's, to the digits R prints."""
    curve = kaplan_meier(TIME, EVENT)
    assert (curve.n_runs, curve.n_events, curve.n_censored) == (24, 20, 4)
    at = np.searchsorted(curve.time, [5, 10, 15], side="right") - 1
    assert_allclose(curve.survival[at], [0.5833333, 0.5, 0.2083333], atol=5e-8)
    assert_allclose(curve.std_error[at], [0.1006346, 0.1020621, 0.089203], atol=5e-8)


def test_quantiles_match_r_under_its_tie_rule():
    """With the midpoint rule the quantiles and their limits are R's: 3, 4.5, 10, 15."""
    found = quantiles(kaplan_meier(TIME, EVENT), (0.1, 0.25, 0.5, 0.75), tie="midpoint")
    assert [q.time for q in found] == [3, 4.5, 10, 15]
    assert [q.high for q in found] == [4, 5, 14, None]
    # R gives 1, the first event, as the lower limit at p = 0.1; 24 runs set none (see `quantile`).
    assert [q.low for q in found] == [None, 1, 5, 12]


def test_quantiles_by_the_first_time_rule():
    """The first turn at which survival is at most 1 - p: 3, 4, 9, 15."""
    found = quantiles(kaplan_meier(TIME, EVENT), (0.1, 0.25, 0.5, 0.75))
    assert [q.time for q in found] == [3, 4, 9, 15]


def test_agrees_with_lifelines():
    """Survival, limits and numbers at risk are lifelines', with and without delayed entry."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import KaplanMeierFitter  # noqa: PLC0415 - slow to load
    rng = np.random.default_rng(3)
    for delayed in (False, True):
        entry = rng.integers(0, 4, size=200) if delayed else np.zeros(200)
        time = entry + rng.integers(1, 30, size=200)
        event = rng.random(200) < 0.6
        ours = kaplan_meier(time, event, entry=entry if delayed else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = KaplanMeierFitter().fit(time, event, entry=entry if delayed else None)
        table = theirs.event_table.loc[ours.time]
        assert_array_equal(ours.n_events_at, table["observed"])
        if not delayed:
            assert_array_equal(ours.n_at_risk, table["at_risk"])
        assert_allclose(
            ours.survival, theirs.survival_function_at_times(ours.time), rtol=1e-9, atol=1e-12
        )
        limits = theirs.confidence_interval_.loc[ours.time].to_numpy()
        inside = ours.survival > 0
        assert_allclose(ours.low[inside], limits[inside, 0], rtol=1e-9)
        assert_allclose(ours.high[inside], limits[inside, 1], rtol=1e-9)


def test_censored_runs_make_it_later_than_the_mean_of_what_was_seen():
    """Hazard .02 with 46 % censored: Kaplan-Meier finds median 35 and first tenth 6; the median of
    the observed events, and of all last turns, lie far too early."""
    rng = np.random.default_rng(41)
    n = 4_000
    rng.integers(8, 33, rng.geometric(rng.choice([0.01, 0.20], n)).size)
    first = rng.geometric(0.02, n)
    length = rng.integers(20, 61, n)
    time, event = np.minimum(first, length), first <= length
    curve = kaplan_meier(time, event)
    found = [quantile(curve, p) for p in (0.1, 0.5)]
    assert [q.time for q in found] == [6, 35]
    assert found[1].low <= 35 <= found[1].high
    assert np.median(time[event]) < 20
    assert np.median(time) < 28


def test_a_run_last_seen_at_an_events_turn_was_at_risk_there():
    """Events come before censorings at the same turn."""
    curve = kaplan_meier([5, 5, 9], [True, False, True])
    assert_array_equal(curve.n_at_risk, [3, 1])


def test_late_entries_are_not_at_risk_before():
    """A run that enters after turn 4 does not count at turn 4, and does at turn 5."""
    curve = kaplan_meier([4, 5, 9], [True, True, False], entry=[0, 4, 4])
    assert_array_equal(curve.n_at_risk, [1, 2])


def test_entry_that_all_share_changes_nothing():
    """Where no event can come before a common entry, truncating there leaves the curve as it is."""
    rng = np.random.default_rng(5)
    time, event = rng.integers(5, 40, size=50), rng.random(50) < 0.5
    plain, entered = kaplan_meier(time, event), kaplan_meier(time, event, entry=np.full(50, 4))
    assert_array_equal(plain.survival, entered.survival)
    assert quantiles(plain, (0.1, 0.5)) == quantiles(entered, (0.1, 0.5))


def test_unreached_quantile_is_none_with_its_lower_limit():
    """Where half of the runs never fail, the median is None and later than its lower limit."""
    time = np.concatenate([np.arange(1, 6), np.full(25, 50)])
    event = np.concatenate([np.ones(5, dtype=bool), np.zeros(25, dtype=bool)])
    median = quantile(kaplan_meier(time, event), 0.5)
    assert median.time is None
    assert median.high is None
    assert median.low == 50


def test_no_event_in_enough_runs_bounds_the_median():
    """Ten runs without an event: the median is later than the turn that six of them reached; three
    runs bound nothing."""
    followed = np.arange(10, 110, 10)
    median = quantile(kaplan_meier(followed, np.zeros(10, dtype=bool)), 0.5)
    assert (median.time, median.low, median.high) == (None, 50, None)
    assert quantile(kaplan_meier([90, 95, 99], [False] * 3), 0.5).low is None


def test_one_run_sets_no_limits():
    """One run's event at turn 45 says nothing about when other runs have theirs."""
    found = quantile(kaplan_meier([45], [True]), 0.5)
    assert (found.time, found.low, found.high) == (45, None, None)


def test_error_over_clusters_of_one_is_the_binomial_one():
    """Without censoring, and with every run a cluster, the influences give S (1 - S) / (n - 1)."""
    time = np.random.default_rng(2).integers(1, 9, size=30)
    curve = kaplan_meier(time, np.ones(30, dtype=bool), cluster=np.arange(30))
    inside = curve.survival > 0
    expected = curve.survival * (1 - curve.survival) / 29
    assert_allclose(curve.std_error[inside] ** 2, expected[inside], rtol=1e-9)


def test_error_over_clusters_is_the_jackknifes_in_the_limit():
    """Leaving one of 200 clusters of 3 runs out in turn gives nearly the same error, and so the
    influences are derivatives of the curve."""
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(200), 3)
    time = np.minimum(rng.geometric(np.repeat(rng.uniform(0.02, 0.3, 200), 3)), 20)
    event = (time < 20) & (rng.random(600) < 0.8)
    curve = kaplan_meier(time, event, cluster=cluster)
    without = np.array(
        [
            np.interp(
                curve.time,
                (one := kaplan_meier(time[cluster != c], event[cluster != c])).time,
                one.survival,
            )
            for c in range(200)
        ]
    )
    jackknife = np.sqrt(199 / 200 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    assert_allclose(curve.std_error, jackknife, rtol=0.02)
    assert (curve.std_error > 1.1 * kaplan_meier(time, event).std_error)[3:].all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_copies_in_the_same_cluster_add_nothing(seed, k):
    """Every run k times in its own cluster leaves the error over clusters as it is."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 15, size=12), rng.random(12) < 0.7
    cluster = np.arange(12) // 2
    once = kaplan_meier(time, event, cluster=cluster)
    more = kaplan_meier(np.repeat(time, k), np.repeat(event, k), cluster=np.repeat(cluster, k))
    assert_allclose(more.std_error, once.std_error, rtol=1e-9, atol=1e-12)
    assert more.sure_time.tolist() == once.sure_time.tolist()


def test_one_cluster_has_no_error():
    """Runs of a single scenario say nothing of other scenarios."""
    curve = kaplan_meier(TIME, EVENT, cluster=np.zeros(24))
    assert np.isnan([curve.std_error, curve.low, curve.high]).all()
    assert (curve.n_clusters, kaplan_meier(TIME, EVENT).n_clusters) == (1, 24)
    assert quantile(curve, 0.5).low is None


def test_limits_over_clusters_are_t_limits():
    """With 8 tasks of 3 runs the limits are those of t with 7 degrees of freedom, and the median
    has a lower one as it needs 6 tasks; a quarter needs 13."""
    curve = kaplan_meier(TIME, EVENT, cluster=TASK)
    assert (curve.n_runs, curve.n_clusters, len(curve.sure_time)) == (24, 8, 8)
    at = int(np.searchsorted(curve.time, 9))
    spread = np.exp(2.364624 * curve.std_error[at] / (0.5 * np.log(2)))
    assert_allclose([curve.low[at], curve.high[at]], [0.5**spread, 0.5 ** (1 / spread)], rtol=1e-6)
    assert quantile(curve, 0.5).low is not None
    assert quantile(curve, 0.25).low is None


@pytest.mark.slow
def test_limits_over_clusters_cover_where_runs_of_a_scenario_resemble():
    """Of 2,000 suites of 20 scenarios with 5 trials each and hazards of .01 or .3, the limits over
    scenarios at turn 5 hold the survival of all such scenarios; those over runs do not."""
    rng, held, n_sets = np.random.default_rng(9), np.zeros(2), 2_000
    truth = (0.99**5 + 0.7**5) / 2
    cluster = np.repeat(np.arange(20), 5)
    for _ in range(n_sets):
        first = rng.geometric(np.repeat(rng.choice([0.01, 0.3], 20), 5))
        time, event = np.minimum(first, 30), first <= 30
        for which, unit in enumerate((cluster, None)):
            curve = kaplan_meier(time, event, cluster=unit)
            at = np.searchsorted(curve.time, 5, side="right") - 1
            held[which] += curve.low[at] <= truth <= curve.high[at]
    assert held[0] / n_sets == pytest.approx(0.95, abs=0.02)
    assert held[1] / n_sets < 0.8


def test_where_survival_is_zero_there_is_no_error():
    """The standard error and limits at survival 0 are NaN, not 0."""
    curve = kaplan_meier([3, 4], [True, True])
    assert curve.survival[-1] == 0
    assert np.isnan([curve.std_error[-1], curve.low[-1], curve.high[-1]]).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_every_run_k_times_divides_greenwoods_variance_by_k(seed, k):
    """Replication leaves survival as it is and shrinks its variance as much."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 15, size=12), rng.random(12) < 0.7
    once, more = kaplan_meier(time, event), kaplan_meier(np.repeat(time, k), np.repeat(event, k))
    assert_allclose(more.survival, once.survival, rtol=1e-9, atol=1e-12)
    assert_allclose(more.std_error**2 * k, once.std_error**2, rtol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_without_censoring_it_is_the_empirical_distribution(seed):
    """With every event seen, survival is the share of runs still to come."""
    time = np.random.default_rng(seed).integers(1, 15, size=20)
    curve = kaplan_meier(time, np.ones(20, dtype=bool))
    assert_allclose(curve.survival, [(time > t).mean() for t in curve.time], atol=1e-12)


def test_no_run():
    """Survival of no run is an error, not 1."""
    with pytest.raises(NotEnoughDataError):
        kaplan_meier([], [])


def test_time_must_be_after_entry():
    """A run that ends before it is at risk is a caller's mistake."""
    with pytest.raises(ValueError, match="after its entry"):
        kaplan_meier([4], [True], entry=[4])


@pytest.mark.parametrize("p", [0, 1, 50])
def test_p_is_a_share(p):
    """A quantile's p is a share, not a percentage."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(kaplan_meier([4], [True]), p)


@pytest.mark.slow
@pytest.mark.parametrize(("n_runs", "p", "true"), [(12, 0.5, 35), (40, 0.5, 35), (60, 0.1, 6)])
def test_quantile_limits_cover_as_often_as_they_say(n_runs, p, true):
    """Over 2,000 sets of runs with hazard .02 the limits hold the true turn at least about at their
    level (turns are whole numbers, so they may hold it more often)."""
    rng = np.random.default_rng(8)
    n_sets, held = 2_000, 0
    for _ in range(n_sets):
        first, length = rng.geometric(0.02, n_runs), rng.integers(20, 61, n_runs)
        found = quantile(kaplan_meier(np.minimum(first, length), first <= length), p)
        low = -np.inf if found.low is None else found.low
        high = np.inf if found.high is None else found.high
        held += low <= true <= high
    # Three Monte-Carlo standard errors are .015.
    assert held / n_sets > 0.93
