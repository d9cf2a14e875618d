"""The rolling rule and the chance that it fires for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from turncurve.errors import NotEnoughDataError
from turncurve.stats.chains import held
from turncurve.stats.window_rule import false_alarm_chance, rolling_mean, rule_times

NAN = np.nan


def one_run(values, *, window, threshold):
    """The rule on a single run whose turns count from 1."""
    turns = np.arange(1, len(values) + 1)
    return rule_times(
        values, np.zeros(len(values)), turns, n_runs=1, window=window, threshold=threshold
    )


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=25), st.integers(1, 6), st.floats(0, 1)
)
def test_is_the_plain_rule_over_graded_turns(values, window, threshold):
    """A run's alarm is what a plain loop over its graded turns finds."""
    graded = [(turn, v) for turn, v in enumerate(values, start=1) if v is not None]
    expected = None
    for i in range(window - 1, len(graded)):
        mean = sum(v for _, v in graded[i - window + 1 : i + 1]) / window
        if mean < threshold - 1e-12:
            expected = graded[i][0]
            break
    found = one_run(np.array(values, dtype=float), window=window, threshold=threshold)
    assert (int(found.time[0]) if found.event[0] else None) == expected
    assert bool(found.at_risk[0]) == (len(graded) >= window)


def test_a_missing_grade_neither_counts_nor_resets():
    """With a gap, the window spans it; taking the gap for 0 would fire at turn 3."""
    found = one_run([0.9, 0.9, NAN, 0.9, 0.2, 0.2], window=3, threshold=0.7)
    assert found.time[0] == 5
    assert found.entry == 2


def test_runs_do_not_run_into_each_other():
    """A window never holds values of two runs."""
    means = rolling_mean([1, 1, 0, 0], [0, 0, 1, 1], 2)
    assert_array_equal(means, [NAN, 1, NAN, 0])


def test_a_mean_at_the_threshold_is_not_below_it():
    """Constant quality of 0.7 does not fire at 0.7, though (0.7 + 0.7 + 0.7) / 3 rounds below."""
    assert sum([0.7] * 3) / 3 < 0.7
    assert not one_run([0.7] * 10, window=3, threshold=0.7).event[0]
    assert one_run([0.7] * 9 + [0.69], window=3, threshold=0.7).time[0] == 10


def test_delay_on_a_falling_line_is_half_a_window():
    """On a fall of .02 a turn after turn 30 from .95, window 5 fires at turn 45, as 30 + 13 + 2."""
    turns = np.arange(1, 61)
    quality = np.where(turns <= 30, 0.95, 0.95 - 0.02 * (turns - 30))
    assert one_run(quality, window=5, threshold=0.7).time[0] == 45


def test_a_run_without_alarm_ends_at_its_last_graded_turn():
    """A censored run's time is the last turn with a value, not the last turn."""
    found = one_run([0.9, 0.9, 0.9, NAN], window=2, threshold=0.5)
    assert (found.time[0], found.event[0]) == (3, False)


def test_runs_with_too_few_values_are_not_at_risk():
    """A run without values, and one with fewer than the window, can't fire."""
    found = rule_times(
        [0.1, NAN, 0.1, 0.1], [0, 0, 2, 2], [1, 2, 1, 2], n_runs=3, window=2, threshold=0.5
    )
    assert_array_equal(found.at_risk, [False, False, True])
    assert_array_equal(found.n_values, [1, 0, 2])
    assert_array_equal(found.event, [False, False, True])


def test_window_is_at_least_one():
    """A window of no turn is a caller's mistake."""
    with pytest.raises(ValueError, match="window"):
        rolling_mean([1.0], [0], 0)


def test_five_turn_window_on_flat_noise_nearly_always_fires():
    """Flat quality of mean .78 and SD .18 clipped to [0, 1], 60 turns, window 5, threshold .7: the
    rule fires in 98 % of runs, and the estimate from 200 such runs says so."""
    rng = np.random.default_rng(141)
    quality = np.clip(rng.normal(0.78, 0.18, (4_000, 60)), 0, 1)
    run, turn = np.repeat(np.arange(4_000), 60), np.tile(np.arange(1, 61), 4_000)
    fired = rule_times(quality.reshape(-1), run, turn, n_runs=4_000, window=5, threshold=0.7).event
    # The Monte-Carlo standard error from 4,000 runs is .002.
    assert_allclose(fired.mean(), 0.98, atol=0.01)
    rows = run < 200
    found = false_alarm_chance(
        quality.reshape(-1)[rows], run[rows], window=5, threshold=0.7, rng=rng
    )
    assert_allclose(found.chance, 0.98, atol=0.015)
    assert (found.n_draws, found.n_runs, found.n_turns) == (2_000, 200, 12_000)


def flat(rng, *, level, sd, correlation, level_sd, n_runs):
    """Runs of 60 turns whose quality never changes; shape (n_runs, 60)."""
    noise = rng.normal(size=(n_runs, 60))
    for t in range(1, 60):
        noise[:, t] = correlation * noise[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return level + level_sd * rng.normal(size=(n_runs, 1)) + sd * noise


SCENES = [
    {"level": 0.9, "sd": 0.18, "correlation": 0.0, "level_sd": 0.0},
    {"level": 0.9, "sd": 0.18, "correlation": 0.5, "level_sd": 0.0},
    {"level": 0.9, "sd": 0.18, "correlation": 0.8, "level_sd": 0.0},
    {"level": 0.95, "sd": 0.20, "correlation": 0.0, "level_sd": 0.05},
]


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES, ids=str)
@pytest.mark.parametrize("fall", [0.0, 0.01])
def test_estimated_chance_is_near_the_true_one(scene, fall):
    """From 50 runs the chance comes out within .06 of the truth on average over 20 sets, with
    correlated noise, with levels that differ, and where the runs really fall after turn 15."""
    rng = np.random.default_rng(21)
    truth = flat(rng, **scene, n_runs=20_000)
    run, turn = np.repeat(np.arange(20_000), 60), np.tile(np.arange(1, 61), 20_000)
    true = rule_times(
        truth.reshape(-1), run, turn, n_runs=20_000, window=5, threshold=0.7
    ).event.mean()
    decline = -fall * np.maximum(np.arange(60) - 15, 0)
    found = [
        false_alarm_chance(
            (flat(rng, **scene, n_runs=50) + decline).reshape(-1),
            np.repeat(np.arange(50), 60),
            window=5,
            threshold=0.7,
            rng=rng,
            n_draws=1_000,
        ).chance
        for _ in range(20)
    ]
    # One set's estimate has an SD of about .06, so the mean of 20 one of about .013.
    assert_allclose(np.mean(found), true, atol=0.06)


PASS_RATES = {
    "alike": (lambda _, n: np.full(n, 0.9), 0.0),
    "alike and persistent": (lambda _, n: np.full(n, 0.9), 0.5),
    "different": (lambda rng, n: rng.beta(9, 1, n), 0.0),
    "different and persistent": (lambda rng, n: rng.beta(9, 1, n), 0.4),
    "two kinds of run": (lambda rng, n: np.where(rng.random(n) < 0.3, 0.6, 0.98), 0.0),
}


def passes(rng, scene, n_runs):
    """Runs of 60 turns that pass or fail, at a rate that never changes; shape (n_runs, 60)."""
    rates, correlation = PASS_RATES[scene]
    rate = rates(rng, n_runs)
    fresh = ((rng.random(n_runs) < rate).astype(float) for _ in range(60))
    return np.stack(list(held(fresh, correlation, rng=rng)), axis=1)


def chance_and_truth(scene, *, n_sets, n_runs):
    """The estimated chance, averaged over data sets, and the true one."""
    rng = np.random.default_rng(31)
    truth = passes(rng, scene, 20_000).reshape(-1)
    run, turn = np.repeat(np.arange(20_000), 60), np.tile(np.arange(1, 61), 20_000)
    true = rule_times(truth, run, turn, n_runs=20_000, window=5, threshold=0.7).event.mean()
    found = [
        false_alarm_chance(
            passes(rng, scene, n_runs).reshape(-1),
            np.repeat(np.arange(n_runs), 60),
            window=5,
            threshold=0.7,
            rng=rng,
            n_draws=1_000,
        )
        for _ in range(n_sets)
    ]
    assert all(one.two_valued for one in found)
    return np.mean([one.chance for one in found]), true


@pytest.mark.parametrize("scene", PASS_RATES)
def test_passes_fire_as_often_as_they_do(scene):
    """From 400 runs that pass or fail, alike or not, persistent or not, the chance is within .1;
    one noise for all runs would be .15 off and more."""
    found, true = chance_and_truth(scene, n_sets=1, n_runs=400)
    assert_allclose(found, true, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("scene", PASS_RATES)
def test_passes_fire_as_often_as_they_do_in_many_data_sets(scene):
    """From 50 runs, over 40 data sets, it is within .08 on average, and about .1 too high for runs
    of two kinds, whose levels no shrinking keeps apart."""
    found, true = chance_and_truth(scene, n_sets=40, n_runs=50)
    # One set's estimate has an SD of about .09, so the mean of 40 one of about .014.
    assert_allclose(found, true, atol=0.13 if scene == "two kinds of run" else 0.08)


def test_two_values_on_another_scale_are_two_valued_too():
    """Scores of 1 and 5 under a threshold of 3.8 are passes under .7."""
    values, run = (
        passes(np.random.default_rng(6), "different", 30).reshape(-1),
        np.arange(1800) // 60,
    )

    def chance(scores, threshold):
        rng = np.random.default_rng(1)
        return false_alarm_chance(scores, run, window=5, threshold=threshold, rng=rng).chance

    assert chance(values, 0.7) == chance(1 + 4 * values, 3.8)


def test_longer_runs_fire_more_often():
    """With the length given, the chance grows with it; and below a full window it is 0."""
    rng = np.random.default_rng(3)
    values = rng.normal(0.9, 0.2, size=600)
    run = np.repeat(np.arange(10), 60)

    def chance(n_turns):
        return false_alarm_chance(
            values,
            run,
            window=5,
            threshold=0.7,
            rng=np.random.default_rng(1),
            n_turns=n_turns,
        ).chance

    assert chance(4) == 0
    assert chance(20) < chance(60) < chance(200)


def test_each_run_is_simulated_at_its_own_length():
    """Runs shorter than 60 turns, with one longer run among them, fire less often than if all were
    60 turns long."""
    rng = np.random.default_rng(9)
    lengths = [*[8] * 30, 60]
    values, run = rng.normal(0.9, 0.2, sum(lengths)), np.repeat(np.arange(31), lengths)

    def chance(n_turns):
        return false_alarm_chance(
            values,
            run,
            window=5,
            threshold=0.7,
            rng=np.random.default_rng(1),
            n_turns=n_turns,
        ).chance

    wanted = (30 * chance(8) + chance(60)) / 31
    # Two chances from 2,000 draws each: a standard error of about .01.
    assert_allclose(chance(None), wanted, atol=0.03)


def test_seed_decides():
    """The same seed gives the same chance, another seed one within its Monte-Carlo error."""
    values, run = np.random.default_rng(4).normal(0.85, 0.2, size=300), np.repeat(np.arange(5), 60)

    def found(seed):
        return false_alarm_chance(
            values, run, window=5, threshold=0.7, rng=np.random.default_rng(seed)
        )

    assert found(1) == found(1)
    difference = found(1).chance - found(2).chance
    assert 0 < abs(difference) < 4 * np.hypot(found(1).std_error, found(2).std_error)


def test_too_short_runs_show_no_noise():
    """Runs with fewer values than the window give an error, not a chance of 0."""
    with pytest.raises(NotEnoughDataError, match="at least 5; got 3"):
        false_alarm_chance(
            [0.5, 0.6, 0.7], [0, 0, 0], window=5, threshold=0.7, rng=np.random.default_rng(0)
        )
