"""The spiral mark: more repeats than the run's own actions in any order would give."""

from __future__ import annotations

import numpy as np
import pytest

from signals.hand_made import doing, table_of
from signals.test_repetition import healthy
from turncurve.stats.permutation import window_repeats_null


def stuck(seed: int = 121) -> list[int]:
    """Forty turns as a healthy run, then twenty of the same two actions by turns."""
    return [*np.random.default_rng(seed).integers(0, 25, 40).tolist(), *[7, 8] * 10]


def test_a_stuck_run_is_a_spiral_at_its_end_and_not_before() -> None:
    """The mark comes within the first ten of the twenty stuck turns, and stays."""
    marks = table_of(doing(stuck())).columns["spiral"]
    first = int(np.flatnonzero(marks == 1)[0]) + 1
    assert 41 <= first <= 50
    assert (marks[first - 1 :] == 1).all()
    assert not (marks[9:40] == 1).any()


def test_the_stuck_run_s_p_value() -> None:
    """Its window repeats 8 of 10; so many come by at most one in 400 orders of its actions.

    Four hundred random orders give (1 + 0) / 401 = .0025, as published for this run.
    """
    keys = stuck()
    assert table_of(doing(keys)).columns["repeated_action_window"][-1] == pytest.approx(0.8)
    null = window_repeats_null(np.unique(keys, return_counts=True)[1], 10)
    assert null[8:].sum() < 1 / 401


def test_healthy_runs_are_seldom_spirals() -> None:
    """Of 500 healthy runs of 60 turns at most 2 % are marked at their end, 10 % anywhere.

    The mark is judged at each turn anew, so a longer run has more chances of a false one.
    """
    marks = healthy(seed=7, n_runs=500).columns["spiral"].reshape(500, 60)
    assert (marks[:, -1] == 1).mean() <= 0.02
    assert (marks == 1).any(axis=1).mean() <= 0.10


def test_the_window_s_own_false_alarm() -> None:
    """The last window of a healthy run exceeds its 95 % quantile in 1.7 % of runs, within 1 %.

    The number of repeats is a whole number, so the quantile is passed less often than in 5 %.
    """
    table = healthy(seed=121, n_runs=400)
    passed = 0
    for run in range(table.n_runs):
        keys = table.calls.key[run * 60 : run * 60 + 60]
        null = window_repeats_null(np.unique(keys, return_counts=True)[1], 10)
        repeats = 10 - len(np.unique(keys[-10:]))
        passed += null[repeats:].sum() <= 0.05
    assert passed / table.n_runs == pytest.approx(0.017, abs=0.015)


def test_before_the_tenth_action_there_is_no_mark() -> None:
    """The window has to be full: nine actions give NaN, even if all are one."""
    marks = table_of(doing(["a"] * 9)).columns["spiral"]
    assert np.isnan(marks).all()


def test_a_run_that_does_one_thing_all_along_is_no_spiral_by_this_rule() -> None:
    """No order of its actions repeats less; the consecutive share shows it in place of the mark."""
    columns = table_of(doing(["poll"] * 30)).columns
    assert (columns["spiral"][9:] == 0).all()
    assert (columns["repeated_action_consecutive"][1:] == 1).all()


def test_fewer_repeats_than_half_of_the_window_are_no_spiral() -> None:
    """Four repeats of ten are no spiral, however rare they are in the run; five are."""
    spread = list(range(200))
    four = table_of(doing([*spread, "a", "a", "a", "a", "a", "b", "c", "d", "e", "f"]))
    five = table_of(doing([*spread, "a", "a", "a", "a", "a", "a", "b", "c", "d", "e"]))
    assert (four.columns["spiral"] == 1).sum() == 0
    assert (five.columns["spiral"] == 1).sum() >= 1
