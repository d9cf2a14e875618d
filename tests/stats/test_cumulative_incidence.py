"""The share of runs that have had an event by a turn, other ends competing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from stats.first_error_runs import EVENT, TASK, TIME
from turncurve.errors import NotEnoughDataError
from turncurve.stats.cumulative_incidence import cumulative_incidence
from turncurve.stats.survival import kaplan_meier


def test_by_hand():
    """Five runs: an event at 1, another end at 2, an event at 3, a censoring at 3, an end at 4.

    F(1) = 1/5; free of any end after 2 are 3/5, of which a third have it at 3: F(3) = 2/5.
    """
    curve = cumulative_incidence([1, 2, 3, 3, 4], [1, 2, 1, 0, 2])
    assert_array_equal(curve.time, [1, 2, 3, 4])
    assert_array_equal(curve.n_at_risk, [5, 4, 3, 1])
    assert_allclose(curve.incidence, [0.2, 0.2, 0.4, 0.4])
    assert_array_equal(curve.n_competing_at, [0, 1, 0, 1])
    assert (curve.n_events, curve.n_competing, curve.n_censored) == (2, 2, 1)


def test_without_another_end_it_is_one_less_survival():
    """Incidence and error are Kaplan and Meier's, and the limits those of 1 - F on F's scale."""
    curve, free = cumulative_incidence(TIME, EVENT), kaplan_meier(TIME, EVENT)
    assert_allclose(curve.incidence, 1 - free.survival, rtol=1e-12)
    assert_allclose(curve.std_error, free.std_error, rtol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_without_censoring_it_is_a_share_of_all_runs(seed):
    """With every run's end seen, F(t) is the share with the event by t, with its binomial error."""
    rng = np.random.default_rng(seed)
    time, kind = rng.integers(1, 9, size=40), rng.integers(1, 4, size=40)
    curve = cumulative_incidence(time, kind)
    share = np.array([((time <= t) & (kind == 1)).mean() for t in curve.time])
    assert_allclose(curve.incidence, share, atol=1e-12)
    assert_allclose(curve.std_error**2, share * (1 - share) / 40, atol=1e-12)
    alone = cumulative_incidence(time, kind, cluster=np.arange(40))
    assert_allclose(alone.std_error**2, share * (1 - share) / 39, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_all_ends_share_out_what_is_not_free(seed):
    """The incidences of the event and of the other ends add up to 1 - Kaplan-Meier of any end."""
    rng = np.random.default_rng(seed)
    time, kind = rng.integers(1, 12, size=30), rng.integers(0, 3, size=30)
    swapped = np.where(kind > 0, 3 - kind, 0)
    both = cumulative_incidence(time, kind), cumulative_incidence(time, swapped)
    free = kaplan_meier(time, kind > 0)
    assert_allclose(both[0].incidence + both[1].incidence, 1 - free.survival, atol=1e-12)


def test_agrees_with_lifelines():
    """Incidence, error and limits are lifelines' (which breaks ties at random: there are none)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import AalenJohansenFitter  # noqa: PLC0415 - slow to load
    rng = np.random.default_rng(1)
    time, kind = rng.permutation(80) + 1.0, rng.choice([0, 1, 2], 80, p=[0.3, 0.4, 0.3])
    ours = cumulative_incidence(time, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = AalenJohansenFitter(calculate_variance=True).fit(time, kind, event_of_interest=1)
    assert_allclose(ours.incidence, theirs.cumulative_density_.loc[ours.time].iloc[:, 0])
    # lifelines gives no error at the last time of all.
    inner = (ours.incidence > 0) & (ours.time < time.max())
    variance = np.ravel(theirs.variance_.loc[ours.time])
    assert_allclose(ours.std_error[inner] ** 2, variance[inner], rtol=1e-9)
    limits = theirs.confidence_interval_.loc[ours.time].to_numpy()
    assert_allclose(np.stack([ours.low, ours.high], axis=1)[inner], limits[inner], rtol=1e-9)


def test_agrees_with_statsmodels():
    """Incidence at ties, too, is statsmodels'."""
    from statsmodels.duration.survfunc import CumIncidenceRight  # noqa: PLC0415 - slow to load

    rng = np.random.default_rng(2)
    time, kind = rng.integers(1, 15, 100), rng.choice([0, 1, 2], 100)
    ours, theirs = cumulative_incidence(time, kind), CumIncidenceRight(time, kind)
    at = np.searchsorted(theirs.times, ours.time)
    assert_allclose(ours.incidence, theirs.cinc[0][at], rtol=1e-12)


def test_it_is_what_happens_where_kaplan_meier_is_what_would():
    """Hazard .05 of an error and .05 of a crash at every turn: by turn 30 half have erred, though
    nearly four fifths would have, had no run crashed."""
    rng = np.random.default_rng(3)
    error, crash = rng.geometric(0.05, 20_000), rng.geometric(0.05, 20_000)
    time = np.minimum(np.minimum(error, crash), 30)
    kind = np.where(time == error, 1, np.where(time == crash, 2, 0))
    curve, free = cumulative_incidence(time, kind), kaplan_meier(time, kind == 1)
    end = 0.0975
    truth = 0.05 / end * (1 - (1 - end) ** 30)
    assert curve.incidence[-1] == pytest.approx(truth, abs=3 * curve.std_error[-1])
    assert free.survival[-1] == pytest.approx(0.95**30, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_limits_cover(clustered):
    """Over 2,000 sets of 60 runs (of 20 scenarios) the limits at turn 10 hold the truth as often as
    they say, to three Monte-Carlo errors (.015)."""
    rng, held, n_sets = np.random.default_rng(5), 0, 2_000
    rates = np.array([0.01, 0.15]) if clustered else np.array([0.05])
    end = 1 - (1 - rates) * 0.95
    truth = float((rates / end * (1 - (1 - end) ** 10)).mean())
    for _ in range(n_sets):
        rate = np.repeat(rng.choice(rates, 20), 3)
        error, crash = rng.geometric(rate), rng.geometric(0.05, 60)
        length = rng.integers(8, 20, 60)
        time = np.minimum(np.minimum(error, crash), length)
        kind = np.where(time == error, 1, np.where(time == crash, 2, 0))
        cluster = np.repeat(np.arange(20), 3) if clustered else None
        curve = cumulative_incidence(time, kind, cluster=cluster)
        at = np.searchsorted(curve.time, 10, side="right") - 1
        held += bool(curve.low[at] <= truth <= curve.high[at])
    assert held / n_sets == pytest.approx(0.95, abs=0.02)


def test_entry_and_edges():
    """Nobody is at risk before entry; no run is an error; no end gives an empty curve."""
    late = cumulative_incidence([4, 5, 9], [1, 2, 0], entry=[0, 4, 4])
    assert_array_equal(late.n_at_risk, [1, 2])
    assert len(cumulative_incidence([4, 5], [0, 0]).time) == 0
    assert np.isnan(cumulative_incidence(TIME, EVENT, cluster=np.zeros(24)).std_error).all()
    assert cumulative_incidence(TIME, EVENT, cluster=TASK).n_clusters == 8
    with pytest.raises(NotEnoughDataError):
        cumulative_incidence([], [])
    with pytest.raises(ValueError, match="after its entry"):
        cumulative_incidence([4], [1], entry=[4])
