"""Whether the hazard of a first error changes along a run, within strata."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from stats.first_error_runs import EVENT, MODEL, TASK, TIME
from turncurve.errors import NotEnoughDataError
from turncurve.stats.cloglog_hazard import cloglog_hazard
from turncurve.stats.hazard_trend import hazard_trend, hazards_by_span

LOG2 = np.log2(np.arange(1, 65))


def suite(seed, *, n_strata, n_runs, slope=0.0, levels=(0.01, 0.05, 0.2)):
    """Runs of 8 to 32 turns whose hazard, at turn t, is a level of the stratum times t ** slope."""
    rng = np.random.default_rng(seed)
    stratum = np.repeat(np.arange(n_strata), n_runs)
    level = rng.choice(levels, n_strata)[stratum]
    hazard = np.minimum(level[:, None] * np.arange(1, 33) ** (slope / np.log(2)), 1)
    hit = rng.random(hazard.shape) < hazard
    first = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, 99)
    length = rng.integers(8, 33, len(stratum))
    return np.minimum(first, length), first <= length, stratum


def plain_sum(time, event, stratum, x, slope):
    """The estimating sum, one pair of runs and one pair of turns at a time."""
    total = 0.0
    for i in range(len(time)):
        size = (stratum == stratum[i]).sum()
        for j in range(len(time)):
            if i != j and stratum[i] == stratum[j] and event[i]:
                at = x[time[i] - 1]
                total += sum(
                    (at - x[u]) * np.exp(slope * (x[u] - at) / 2) for u in range(time[j])
                ) / (size - 1)
    return total


def test_solves_the_sum_over_pairs():
    """At the slope found, the sum over all pairs of runs and turns, written out, is 0, in strata of
    two to five runs."""
    time, event, stratum = suite(1, n_strata=12, n_runs=6)
    kept = np.arange(len(time)) % 6 < 2 + stratum % 4
    time, event, stratum = time[kept], event[kept], stratum[kept]
    found = hazard_trend(time, event, LOG2, stratum=stratum)
    assert plain_sum(time, event, stratum, LOG2, found.slope) == pytest.approx(0, abs=1e-6)
    assert plain_sum(time, event, stratum, LOG2, found.slope - 0.1) > 1e-3


def test_test_and_interval_agree():
    """The t of the test is over its quantile just where the limits leave 0 out."""
    outside = 0
    for seed in range(40):
        time, event, stratum = suite(seed, n_strata=10, n_runs=4, slope=0.3)
        found = hazard_trend(time, event, LOG2, stratum=stratum, level=0.9)
        assert (found.low > 0 or found.high < 0) == (abs(found.t) > stdtrit(found.df, 0.95))
        assert found.low <= found.slope <= found.high
        assert found.df == found.n_clusters - 1
        outside += found.low > 0
    assert 0 < outside < 40


def test_constant_hazards_that_differ_are_flat_within_and_fall_when_pooled():
    """Hazards .01 and .20, each constant: pooled, the hazard falls by a third at every doubling;
    within the two kinds it does not change (trap 5)."""
    rng = np.random.default_rng(41)
    n = 4_000
    hazard = rng.choice([0.01, 0.20], n)
    first, length = rng.geometric(hazard), rng.integers(8, 33, n)
    time, event = np.minimum(first, length), first <= length
    at_risk = np.array([(time >= t).sum() for t in range(1, 33)])
    pooled = np.array([((time == t) & event).sum() for t in range(1, 33)]) / at_risk
    assert pooled[:2].mean() == pytest.approx(0.100, abs=0.005)
    assert pooled[8:16].mean() == pytest.approx(0.029, abs=0.005)
    assert cloglog_hazard(time, event, LOG2).high < -0.3
    within = hazard_trend(time, event, LOG2, stratum=hazard, cluster=np.arange(n))
    assert within.low < 0 < within.high
    assert max(abs(within.low), abs(within.high)) < np.log(1.25)
    effects = cloglog_hazard(time, event, LOG2, stratum=hazard)
    assert within.slope == pytest.approx(effects.slope, abs=0.05)
    ratios = hazards_by_span(
        time, event, [1, 2, 4, 8, 16, 32], stratum=hazard, cluster=np.arange(n)
    )
    assert all(ratio.value == pytest.approx(1, abs=0.15) for ratio in ratios)


def test_effects_of_tiny_strata_look_like_a_rise_and_pairs_do_not():
    """Over 40 suites of 100 strata of two runs with constant hazards, a model with an effect for
    each stratum finds a rise on average, and mostly a sure one; pairs of runs find none."""
    effects, pairs, sure = [], [], 0
    for seed in range(40):
        time, event, stratum = suite(seed, n_strata=100, n_runs=2)
        model = cloglog_hazard(time, event, LOG2, stratum=stratum, cluster=stratum)
        effects.append(model.slope)
        sure += model.low > 0
        pairs.append(hazard_trend(time, event, LOG2, stratum=stratum).slope)
    assert np.mean(effects) > 0.3
    assert sure > 20
    assert abs(np.mean(pairs)) < 3 * np.std(pairs) / np.sqrt(40)


@given(st.integers(0, 2**32 - 1))
def test_order_and_names_do_not_matter(seed):
    """Runs in another order, and strata under other names, give the same."""
    time, event, stratum = suite(7, n_strata=8, n_runs=4)
    order = np.random.default_rng(seed).permutation(len(time))
    names = np.array([f"s{999 - s}" for s in stratum])
    one = hazard_trend(time, event, LOG2, stratum=stratum)
    other = hazard_trend(time[order], event[order], LOG2, stratum=names[order])
    assert other.slope == pytest.approx(one.slope, rel=1e-9)
    assert other.t == pytest.approx(one.t, rel=1e-9)


def test_strata_that_say_nothing_change_nothing():
    """Lone runs, and strata without an event, are counted and leave the estimate as it is."""
    time, event, stratum = suite(7, n_strata=10, n_runs=4)
    more = hazard_trend(
        [*time, 5, 6, 7],
        [*event, True, False, False],
        LOG2,
        stratum=[*stratum, 90, 91, 91],
    )
    plain = hazard_trend(time, event, LOG2, stratum=stratum)
    assert (more.slope, more.low, more.df) == (plain.slope, plain.low, plain.df)
    assert (plain.n_alone, more.n_alone) == (0, 1)


def test_clusters_of_several_strata_widen_the_interval():
    """Every stratum twice under one cluster: the same slope, the same t."""
    time, event, stratum = suite(7, n_strata=10, n_runs=4)
    plain = hazard_trend(time, event, LOG2, stratum=stratum)
    twice = hazard_trend(
        np.tile(time, 2),
        np.tile(event, 2),
        LOG2,
        stratum=np.concatenate([stratum, stratum + 100]),
        cluster=np.tile(stratum, 2),
    )
    assert twice.slope == pytest.approx(plain.slope)
    assert twice.t == pytest.approx(plain.t)


def test_entry_leaves_earlier_turns_out():
    """Turns before entry are no turns at risk: events at the first turn at risk of all are lowest
    on the scale, though runs went through turns before."""
    time, event, stratum = suite(9, n_strata=30, n_runs=5, levels=(0.05, 0.1))
    late = time > 4
    entry = np.full(int(late.sum()), 4)
    found = hazard_trend(time[late], event[late], LOG2, stratum=stratum[late], entry=entry)
    blind = hazard_trend(time[late], event[late], LOG2, stratum=stratum[late])
    assert found.low < 0 < found.high
    assert blind.low > 0.3


def test_events_all_at_one_end():
    """Where each stratum's events come after all other runs' turns at risk the slope is infinite
    and still has a lower limit; where there is no other turn there is none."""
    time = np.tile([4, 9], 8)
    found = hazard_trend(time, np.tile([False, True], 8), LOG2, stratum=np.repeat(np.arange(8), 2))
    assert found.slope == found.high == np.inf
    assert found.low > 0
    mirrored = hazard_trend(
        np.tile([1, 9], 8), np.tile([True, False], 8), LOG2, stratum=np.repeat(np.arange(8), 2)
    )
    assert mirrored.slope == mirrored.low == -np.inf
    assert mirrored.high < 0
    with pytest.raises(NotEnoughDataError, match="other turns"):
        hazard_trend(np.ones(16), np.ones(16), LOG2, stratum=np.repeat(np.arange(8), 2))


def test_too_little_and_wrong():
    """Fewer than five strata, a turn between turns, a scale that is too short."""
    with pytest.raises(NotEnoughDataError, match="at least 5; got 2"):
        hazard_trend([3, 4, 5, 6], [True] * 4, LOG2, stratum=[0, 0, 1, 1])
    with pytest.raises(NotEnoughDataError):
        hazard_trend([], [], LOG2, stratum=[])
    with pytest.raises(ValueError, match="whole turns"):
        hazard_trend([3.5], [True], LOG2, stratum=[0])
    with pytest.raises(ValueError, match="up to turn 23, got 5"):
        hazard_trend(TIME, EVENT, LOG2[:5], stratum=TASK)


def test_spans_by_hand():
    """Two runs alike: an event at turn 1, and at turn 3; spans 1 and 2 to 3.

    Span 1: event of the first over 3 turns of the other, against (event of the first * 1 turn of
    the other + event of the other * 1 turn of the first): 3 / 2. Span 2: 1 / 2.
    """
    early, late = hazards_by_span([1, 3], [True, True], [1, 3], stratum=[0, 0])
    assert early.value == pytest.approx(3 / 2)
    assert late.value == pytest.approx(1 / 2)
    assert early.low is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_strata", "n_runs", "slope"),
    [(10, 2, 0), (8, 3, 0), (20, 3, 0), (40, 5, 0), (20, 5, 0.25), (40, 5, -0.3)],
)
def test_limits_cover_in_strata_as_small_as_two(n_strata, n_runs, slope):
    """Over 400 suites the limits hold the true slope, and the slope found is near it, in strata of
    2 to 5 runs; three Monte-Carlo errors are .033."""
    held, slopes, n_sets = 0, [], 0
    for seed in range(400):
        time, event, stratum = suite(seed, n_strata=n_strata, n_runs=n_runs, slope=slope)
        try:
            found = hazard_trend(time, event, LOG2, stratum=stratum)
        except NotEnoughDataError:
            continue
        n_sets += 1
        held += found.low <= slope <= found.high
        slopes.append(found.slope)
    assert n_sets > 350
    assert held / n_sets > 0.917
    assert np.median(slopes) == pytest.approx(slope, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [60, 400])
def test_limits_cover_in_two_large_strata_of_independent_runs(n_runs):
    """Over 400 sets of two kinds of run with constant hazards, each run a cluster, the limits of
    the trend and of the first span hold no change; three Monte-Carlo errors are .033."""
    rng, held, n_sets = np.random.default_rng(2), np.zeros(2), 400
    for _ in range(n_sets):
        hazard = rng.choice([0.03, 0.2], n_runs)
        first, length = rng.geometric(hazard), rng.integers(8, 33, n_runs)
        time, event, own = np.minimum(first, length), first <= length, np.arange(n_runs)
        found = hazard_trend(time, event, LOG2, stratum=hazard, cluster=own)
        early, _ = hazards_by_span(time, event, [4, 32], stratum=hazard, cluster=own)
        held += found.low <= 0 <= found.high, early.low <= 1 <= early.high
    assert (np.abs(held / n_sets - 0.95) < 0.033).all()


def steps_of(time, event):
    """Every turn at risk: run, turn, whether the event came."""
    return [
        (run, turn, bool(event[run]) and turn == last)
        for run, last in enumerate(time)
        for turn in range(1, last + 1)
    ]


def test_cloglog_matches_r():
    """R's `glm(err ~ log(turn) + model, binomial(cloglog))` on the turns up to the first error:
    -3.46455, .4816543, .5157037; error of the slope .3140399; 227 turns."""
    found = cloglog_hazard(TIME, EVENT, np.log(np.arange(1, 24)), stratum=MODEL)
    assert found.slope == pytest.approx(0.4816543, abs=5e-7)
    assert found.model_std_error == pytest.approx(0.3140399, abs=5e-7)
    assert found.levels["A"] == pytest.approx(-3.46455, abs=5e-6)
    assert found.levels["B"] - found.levels["A"] == pytest.approx(0.5157037, abs=5e-7)
    assert (found.n_turns, found.n_events, found.n_clusters) == (227, 20, 24)


def test_cloglog_agrees_with_statsmodels():
    """Slope and levels are statsmodels' GLM's, and the error over tasks is the sandwich of its
    scores with its expected information, times 8/7."""
    import statsmodels.api as sm  # noqa: PLC0415 - slow to load

    rows = steps_of(TIME, EVENT)
    run = np.array([r for r, _, _ in rows])
    design = np.array([[m == "A", m == "B", np.log(t)] for (r, t, _) in rows for m in [MODEL[r]]])
    design, y = design.astype(float), np.array([float(e) for _, _, e in rows])
    family = sm.families.Binomial(sm.families.links.CLogLog())
    fit = sm.GLM(y, design, family=family).fit(tol=1e-12)
    found = cloglog_hazard(TIME, EVENT, np.log(np.arange(1, 24)), stratum=MODEL, cluster=TASK)
    assert found.slope == pytest.approx(fit.params[2], rel=1e-7)
    assert list(found.levels.values()) == pytest.approx(fit.params[:2], rel=1e-7)
    scores = fit.model.score_obs(fit.params)
    summed = np.array([scores[TASK[run] == task].sum(axis=0) for task in range(8)])
    bread = np.linalg.inv(-fit.model.hessian(fit.params, observed=False))
    variance = (bread @ summed.T @ summed @ bread)[2, 2] * 8 / 7
    assert found.std_error == pytest.approx(np.sqrt(variance), rel=1e-5)
    assert (found.df, found.n_clusters) == (7, 8)


def test_cloglog_leaves_out_what_tells_nothing():
    """Strata without an event, or with one at every turn at risk, are not in the fit."""
    time, event, stratum = suite(2, n_strata=4, n_runs=30, levels=(0.05, 0.1))
    plain = cloglog_hazard(time, event, LOG2, stratum=stratum)
    more = cloglog_hazard(
        [*time, 5, 6, 1, 1],
        [*event, False, False, True, True],
        LOG2,
        stratum=[*stratum, 90, 90, 91, 91],
    )
    assert (more.slope, more.std_error) == pytest.approx((plain.slope, plain.std_error))
    assert set(more.levels) == {0, 1, 2, 3}
    with pytest.raises(NotEnoughDataError, match="strata with an event"):
        cloglog_hazard([3, 4], [False, False], LOG2)
    with pytest.raises(NotEnoughDataError):
        cloglog_hazard([], [], LOG2)
    with pytest.raises(NotEnoughDataError, match="hazard model"):
        cloglog_hazard([1, 1, 9, 9], [True, True, False, False], LOG2)
    with pytest.raises(ValueError, match="up to turn 4, got 2"):
        cloglog_hazard([3, 4], [True, False], LOG2[:2])


def test_cloglog_with_entry():
    """Left out, the turns before entry are as if they had never been."""
    time, event, _ = suite(2, n_strata=1, n_runs=200, levels=(0.08,))
    late = time > 3
    entered = cloglog_hazard(time[late], event[late], LOG2, entry=np.full(int(late.sum()), 3))
    shifted = cloglog_hazard(time[late] - 3, event[late], LOG2[3:])
    assert (entered.slope, entered.std_error) == pytest.approx((shifted.slope, shifted.std_error))
