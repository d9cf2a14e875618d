"""Where an alarm window turns bad, and chains of errors that come and go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from turncurve.errors import NotEnoughDataError
from turncurve.stats.onset import window_onset
from turncurve.stats.two_state import two_state
from turncurve.stats.window_rule import rule_times


def onset(values, window=5, threshold=0.7):
    n = len(values)
    times = rule_times(
        values, np.zeros(n), np.arange(1, n + 1), n_runs=1, window=window, threshold=threshold
    )
    alarm = np.where(times.event, times.time, np.nan)
    found = window_onset(
        values, np.zeros(n), np.arange(1, n + 1), alarm, window=window, threshold=threshold
    )
    return alarm[0], found[0]


def test_a_step_is_found_where_it_is():
    """1, 1, 1, then 0: the window of five alarms two turns on, at 5 of 7; the onset is turn 4."""
    assert onset([1, 1, 1, 0, 0, 0]) == (5, 4)
    assert onset([1] * 10 + [0] * 10) == (12, 11)


def test_a_slow_decline_alarms_late():
    """Falling by .01 from .98 at turn 3 with a threshold of .7, the mean of five is below after 33
    turns, and the values themselves two turns before."""
    values = [0.98] * 2 + [0.98 - 0.01 * k for k in range(60)]
    alarm, found = onset(values)
    below = next(turn for turn, value in enumerate(values, 1) if value < 0.7 - 1e-9)
    assert alarm == below + 2
    assert found in (below, below - 1)


def test_missing_values_and_no_alarm():
    """Turns without a value are passed over; without an alarm there is no onset."""
    assert onset([1, np.nan, 1, 1, np.nan, 0, 0, 0]) == (7, 6)
    assert np.isnan(onset([1] * 8)[1])
    assert onset([1, 0], window=1) == (2, 2)
    assert len(window_onset([], [], [], [], window=5, threshold=0.7)) == 0
    early = window_onset(
        [1, 1, 0, 0], [0, 0, 1, 1], [1, 2, 1, 2], [np.nan, 2], window=3, threshold=0.7
    )
    assert np.isnan(early).all()


@given(st.integers(0, 2**32 - 1))
def test_onset_lies_within_the_window(seed):
    """It is one of the last five graded turns up to the alarm, and its value is bad."""
    values = np.random.default_rng(seed).uniform(0, 1, 40)
    alarm, found = onset(values)
    if not np.isnan(alarm):
        assert alarm - 4 <= found <= alarm
        assert values[int(found) - 1] < 0.7


def test_several_runs_keep_apart():
    """A run's window never reaches into the run before."""
    values = [0, 0, 0, 0, 1, 0, 0]
    found = window_onset(
        values, [0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 1, 2, 3], [2, 3], window=2, threshold=0.7
    )
    assert_array_equal(found, [1, 2])


def test_chain_by_hand():
    """0 0 1 1 0 | 1 0 0: an error begins in 1 of 3 pairs, and ends in 2 of 3; in the end a third of
    turns are in error."""
    found = two_state([0, 0, 1, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1], [0] * 5 + [1] * 3)
    assert found.start.value == pytest.approx(1 / 3)
    assert found.recover.value == pytest.approx(2 / 3)
    assert found.share.value == pytest.approx(1 / 3)
    assert (found.n_turns, found.n_clusters) == (6, 2)


def test_unknown_turns_are_passed_over():
    """A turn of unknown state leaves its neighbours next to each other."""
    plain = two_state([0, 1, 1, 0, 0], [0] * 5, [0] * 5)
    gaps = two_state([0, np.nan, 1, 1, np.nan, 0, 0], [0] * 7, [0] * 7)
    assert (gaps.start, gaps.recover) == (plain.start, plain.recover)


def test_chain_without_recovery_or_start():
    """Errors that stay: no recovery and a share of 1; no error at all: no recovery is known."""
    stay = two_state([0, 0, 1, 1, 1], [0] * 5, [0] * 5)
    assert (stay.recover.value, stay.share.value, stay.share.low) == (0, 1, None)
    clean = two_state([0, 0, 0], [0] * 3, [0] * 3)
    assert (clean.start.value, clean.recover, clean.share) == (0, None, None)
    for bad in ([1, 1], [], [0]):
        with pytest.raises(NotEnoughDataError, match="turns after one without"):
            two_state(bad, [0] * len(bad), [0] * len(bad))


def test_error_of_the_share_is_the_jackknifes():
    """Units that err often and stay so make start and recovery go together; leaving each of 80 out
    in turn gives the share's error."""
    rng = np.random.default_rng(2)
    often = np.repeat(rng.random(80) < 0.5, 40).reshape(80, 40)
    state = np.zeros((80, 40))
    for t in range(1, 40):
        stays = np.where(often[:, t], 0.9, 0.3)
        begins = np.where(often[:, t], 0.4, 0.05)
        state[:, t] = rng.random(80) < np.where(state[:, t - 1] > 0, stays, begins)
    run = np.repeat(np.arange(80), 40)
    whole = two_state(state.ravel(), run, run).share
    without = [
        two_state(np.delete(state, k, axis=0).ravel(), run[:-40], run[:-40]).share.value
        for k in range(80)
    ]
    jackknife = np.sqrt(79 / 80 * ((without - np.mean(without)) ** 2).sum())
    assert whole.std_error == pytest.approx(jackknife, rel=0.05)


@pytest.mark.slow
def test_chain_limits_cover():
    """Over 1,000 sets of 30 runs of 40 turns, with chances .1 and .4, all three limits hold the
    truth; three Monte-Carlo errors are .021."""
    rng, held, n_sets = np.random.default_rng(1), np.zeros(3), 1_000
    for _ in range(n_sets):
        state = np.zeros((30, 40))
        state[:, 0] = rng.random(30) < 0.2
        for t in range(1, 40):
            chance = np.where(state[:, t - 1] > 0, 1 - 0.4, 0.1)
            state[:, t] = rng.random(30) < chance
        run = np.repeat(np.arange(30), 40)
        found = two_state(state.ravel(), run, run)
        for k, (ratio, truth) in enumerate(
            ((found.start, 0.1), (found.recover, 0.4), (found.share, 0.2))
        ):
            held[k] += ratio.low <= truth <= ratio.high
    assert (held / n_sets > 0.925).all()
