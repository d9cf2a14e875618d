"""Lower limits of shares with few breaches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from turncurve.stats.share_limit import lower_limits

TURNS = 60


def flat(rng, *, n_runs, n_turns, p, correlation):
    """Turns that keep a rule with chance p on average, run levels from a beta distribution that
    gives turns of a run this correlation; shape (n_runs, n_turns)."""
    level = np.full((n_runs, 1), p)
    if correlation:
        strength = 1 / correlation - 1
        level = rng.beta(p * strength, (1 - p) * strength, (n_runs, 1))
    return (rng.random((n_runs, n_turns)) < level).astype(float)


def limits_of(values, width, **given_options):
    """Limits on [0, 1] of runs in rows, by buckets of turns."""
    n_runs, n_turns = values.shape
    return lower_limits(
        values.reshape(-1),
        np.repeat(np.arange(n_runs), n_turns),
        np.tile(np.arange(n_turns) // width, n_runs),
        **{"low": 0.0, "high": 1.0, **given_options},
    )


def too_high(n_sets, *, n_runs, n_buckets, width, p, correlation, seed=1):
    """Share of data sets in which some limit lies above the truth."""
    rng = np.random.default_rng(seed)
    over = 0
    for _ in range(n_sets):
        values = flat(rng, n_runs=n_runs, n_turns=n_buckets * width, p=p, correlation=correlation)
        over += bool((limits_of(values, width).low > p).any())
    return over / n_sets


SCENES = [
    (40, 12, 5, 0.95),
    (20, 12, 5, 0.95),
    (40, 12, 5, 0.90),
    (80, 12, 5, 0.97),
    (200, 12, 5, 0.95),
    (30, 20, 10, 0.98),
    (6, 6, 10, 0.80),
    (8, 6, 10, 0.90),
    (10, 6, 10, 0.80),
    (10, 2, 30, 0.90),
    (6, 1, 60, 0.90),
    (40, 60, 1, 0.95),
]
CORRELATIONS = [0.0, 0.2, 0.5]


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize(("n_runs", "n_buckets", "width", "p"), SCENES)
def test_limits_hold(n_runs, n_buckets, width, p, correlation):
    """In 5 % of data sets at most some limit is above the truth, with runs that differ or not."""
    n_sets = 200
    found = too_high(
        n_sets, n_runs=n_runs, n_buckets=n_buckets, width=width, p=p, correlation=correlation
    )
    assert found <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_sets)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [*CORRELATIONS, 0.05])
@pytest.mark.parametrize(("n_runs", "n_buckets", "width", "p"), SCENES)
def test_limits_hold_in_many_data_sets(n_runs, n_buckets, width, p, correlation):
    """The same over 4,000 data sets."""
    n_sets = 4_000
    found = too_high(
        n_sets, n_runs=n_runs, n_buckets=n_buckets, width=width, p=p, correlation=correlation
    )
    assert found <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_sets)


@pytest.mark.parametrize(
    ("n_runs", "width", "p", "least"),
    [(40, 5, 0.99, 0.95), (20, 10, 0.99, 0.9), (40, 5, 0.98, 0.6)],
)
def test_knows_something(n_runs, width, p, least):
    """Where a rule is kept in 99 % of turns, 40 runs show .9 in all 12 buckets nearly always."""
    rng = np.random.default_rng(2)
    reached = [
        (limits_of(flat(rng, n_runs=n_runs, n_turns=TURNS, p=p, correlation=0), width).low >= 0.9)
        for _ in range(200)
    ]
    assert np.mean([all(one) for one in reached]) >= least


@pytest.mark.slow
def test_scores_hold_too():
    """Scores that are beta-distributed about run levels: limits above the truth in 5 % at most."""
    rng = np.random.default_rng(3)
    n_sets, over = 2_000, 0
    for _ in range(n_sets):
        level = rng.beta(18, 2, (30, 1))
        values = rng.beta(8 * level, 8 * (1 - level), (30, TURNS))
        over += bool((limits_of(values, 5).low > 0.9).any())
    assert over / n_sets <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_sets)


@given(st.integers(2, 60), st.data())
def test_one_turn_a_run_is_clopper_and_pearsons(n, data):
    """With one turn a run in one bucket the limit is statsmodels' exact one for n runs."""
    kept = data.draw(st.integers(0, n))
    values = np.r_[np.ones(kept), np.zeros(n - kept)][:, None]
    found = limits_of(values, 1)
    wanted, _ = proportion_confint(kept, n, alpha=0.1, method="beta")
    # Where all agree, on 1 as on 0, the limit is that of n trials as well.
    assert_allclose(found.low, [wanted], atol=1e-9)


# fmt: off
BY_HAND = [
    # Runs of one bucket of 8 turns: one-sided .05, t on 5 df and the chi-square's lower .025.
    ([2, 4, 6, 6, 8, 8], 1),
    # Two buckets: each at .025, or both at .05.
    ([7, 8, 6, 8, 7, 8, 8, 8, 5, 8, 8, 7], 2),
]
# fmt: on


@pytest.mark.parametrize(("kept", "n_buckets"), BY_HAND)
def test_is_korn_and_graubards_worked_by_hand(kept, n_buckets):
    """Runs that keep so many of 8 turns, the same in each bucket, step by step."""
    n, share = len(kept), np.array(kept) / 8
    values = np.array([([1] * k + [0] * (8 - k)) * n_buckets for k in kept], dtype=float)
    p = share.mean()
    effect = share.var(ddof=1) / (p * (1 - p))
    squares = (share - p) ** 2
    df = min(n - 1, 2 * squares.sum() ** 2 / (n * squares.var(ddof=1)))
    tail = 0.05 / n_buckets
    apart = n / effect * (stats.norm.ppf(tail) / stats.t.ppf(tail, df)) ** 2
    together = n / (effect * df / stats.chi2.ppf(0.025, df))
    sizes = [(max(n, apart), tail), (max(n, together), 0.05)]
    wanted = min(stats.beta.ppf(t, p * size, size * (1 - p) + 1) for size, t in sizes)
    assert_allclose(limits_of(values, 8).low, wanted)


def test_all_at_the_top_is_worth_the_number_of_runs():
    """Runs without any breach: tail ** (1 / n) in each of 3 buckets, on whatever scale."""
    found = limits_of(np.full((25, 6), 5.0), 2, low=1.0, high=5.0)
    assert_allclose(found.low, 1 + 4 * (0.05 / 3) ** (1 / 25))


def test_runs_that_agree_below_the_top_are_held_to_what_they_reach():
    """Twenty runs at .8: were the mean below .8 * .05 ** (1 / 20), a rule that gives .8 or 0 would
    put all at .8 in fewer than 5 % of data sets."""
    assert_allclose(limits_of(np.full((20, 3), 0.8), 3).low, 0.8 * 0.05 ** (1 / 20))


def test_runs_that_break_all_together_are_worth_one_trial_each():
    """Two runs of 40 that break every rule leave 40 trials, not 400, in all buckets alike."""
    values = np.ones((40, 30))
    values[:2] = 0
    wanted = stats.beta.ppf(0.05 / 3, 38, 3)
    assert_allclose(limits_of(values, 10).low, wanted)


def test_a_breach_elsewhere_says_how_breaches_cluster():
    """A bucket at the top is worth more than its runs where the breaches of others are scattered,
    and no more where they are one run's."""
    scattered, one_run = np.ones((40, 20)), np.ones((40, 20))
    scattered[np.arange(20), 10 + np.arange(20) % 10] = 0
    one_run[:2, 10:] = 0
    top = 0.025 ** (1 / 40)
    assert limits_of(scattered, 10).low[0] > top + 0.05
    assert limits_of(one_run, 10).low[0] == pytest.approx(top)


def test_a_turn_of_pass_or_fail_is_one_trial_at_most():
    """Breaches spread over runs more evenly than chance would, one in each of 40 runs of 60, are
    worth no more than the turns."""
    values = np.ones((60, 10))
    values[np.arange(40), np.arange(40) % 10] = 0
    kept, t_59 = values.mean(), stats.t.ppf(0.05, 59)
    trials = 600 * (stats.norm.ppf(0.05) / t_59) ** 2
    apart = stats.beta.ppf(0.05, trials * kept, trials * (1 - kept) + 1)
    assert limits_of(values, 10).low[0] <= apart + 1e-9


def test_a_bucket_whose_breaches_cluster_more_than_others_goes_by_its_own():
    """Where a bucket's breaches are three runs' and those of the many others scattered, its own
    spread decides, and is no worse than one trial a run."""
    values = (np.random.default_rng(8).random((40, 200)) < 0.8).astype(float)
    values[:, :10] = 1
    values[:3, :10] = 0
    assert limits_of(values, 10).low[0] == pytest.approx(stats.beta.ppf(0.05 / 20, 37, 4))


@given(st.integers(0, 10_000), st.floats(0.1, 100), st.floats(-100, 100), st.integers(2, 12))
def test_unit_order_and_names_do_not_matter(seed, unit, origin, n_runs):
    """Another unit of the scale carries the limits along, and runs in another order change none."""
    rng = np.random.default_rng(seed)
    values = flat(rng, n_runs=n_runs, n_turns=12, p=0.8, correlation=0.1)
    plain = limits_of(values, 4)
    other = limits_of(origin + unit * rng.permutation(values), 4, low=origin, high=origin + unit)
    assert_allclose(other.low, origin + unit * plain.low, atol=1e-7 * max(1, unit, abs(origin)))


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_limits_lie_between_the_scale_s_end_and_the_mean(seed, n_runs):
    """No limit is above its bucket's mean or below what one trial a run gives."""
    values = flat(np.random.default_rng(seed), n_runs=n_runs, n_turns=12, p=0.7, correlation=0.3)
    found = limits_of(values, 4)
    mean = values.reshape(n_runs, 3, 4).mean(axis=(0, 2))
    assert (found.low <= mean + 1e-12).all()
    hits = np.maximum(n_runs * mean, 1e-9)
    assert (found.low >= stats.beta.ppf(0.05 / 3, hits, n_runs - hits + 1) - 1e-9).all()


def test_more_buckets_cost_something():
    """The limits of the same turns are lower where more buckets are looked at besides."""
    values = flat(np.random.default_rng(4), n_runs=30, n_turns=20, p=0.9, correlation=0)
    few = limits_of(values[:, :10], 5).low[0]
    twice = np.concatenate([values[:, :10]] * 4, axis=1)
    assert limits_of(twice, 5).low[0] < few - 0.005


def test_a_bucket_with_one_run_has_no_limit():
    """It takes no part, and neither do turns without a value."""
    values, run, bucket = [1, 0, 1, 1, np.nan, 1], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]
    found = lower_limits(values, run, bucket, low=0, high=1)
    assert np.isnan(found.low).tolist() == [False, False, True]
    alone = lower_limits(values[:4], run[:4], bucket[:4], low=0, high=1)
    assert_allclose(found.low[:2], alone.low)


def test_edges():
    """No value gives no bucket; a scale without width is a caller's mistake."""
    assert len(lower_limits([np.nan], [0], [0], low=0, high=1).low) == 0
    with pytest.raises(ValueError, match="low below high"):
        lower_limits([1.0], [0], [0], low=1, high=1)


def test_weights_of_turns():
    """Equal weights change nothing, and a turn of weight 0 or NaN is none."""
    rng = np.random.default_rng(8)
    run, bucket = np.repeat(np.arange(30), 4), np.tile([0, 0, 1, 1], 30)
    values = (rng.random(120) < 0.9).astype(float)
    plain = lower_limits(values, run, bucket, low=0, high=1).low
    same = lower_limits(values, run, bucket, low=0, high=1, weights=np.full(120, 3.0)).low
    assert_allclose(same, plain, rtol=1e-12)
    padded = lower_limits(
        np.append(values, [0.0, 0.0]),
        np.append(run, [0, 0]),
        np.append(bucket, [0, 1]),
        low=0,
        high=1,
        weights=np.append(np.ones(120), [0.0, np.nan]),
    ).low
    assert_allclose(padded, plain, rtol=1e-12)


def test_uneven_weights_are_worth_fewer_turns():
    """Where one turn of a run has nearly all of its weight, the run is worth that turn alone."""
    rng = np.random.default_rng(9)
    run, bucket = np.repeat(np.arange(40), 5), np.zeros(200, dtype=int)
    values = (rng.random(200) < 0.9).astype(float)
    heavy = np.tile([1e9, 1.0, 1.0, 1.0, 1.0], 40)
    uneven = lower_limits(values, run, bucket, low=0, high=1, weights=heavy)
    alone = lower_limits(values[::5], run[::5], bucket[::5], low=0, high=1)
    assert_allclose(uneven.low, alone.low, rtol=1e-6)


def test_weighted_turns_worked_by_hand():
    """400 runs that keep .8 or .9 of their weight in turns of 8, 1 and 1: of single turns the
    variance is p (1 - p), and a run is worth 100 / 66 of them."""
    n, p = 400, 0.85
    values = np.array([[1, 0, 0], [1, 1, 0]] * 200, dtype=float)
    effect = 66 / 100
    assert effect > 0.05**2 * n / (n - 1) / (p * (1 - p))
    df = n - 1
    apart = n / effect * (stats.norm.ppf(0.05) / stats.t.ppf(0.05, df)) ** 2
    together = n / (effect * df / stats.chi2.ppf(0.025, df))
    sizes = (max(n, apart), max(n, together))
    wanted = min(stats.beta.ppf(0.05, p * size, size * (1 - p) + 1) for size in sizes)
    assert_allclose(limits_of(values, 3, weights=np.tile([8.0, 1, 1], n)).low, wanted)
