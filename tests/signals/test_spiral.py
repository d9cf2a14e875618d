"""The spiral mark: more repeats than the run's own actions in any order would give."""

from __future__ import annotations

import numpy as np
import pytest

from signals.hand_made import calling, doing, result, run_of, table_of
from signals.test_repetition import healthy
from turncurve.model import Run
from turncurve.signals.repetition import retries
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


@pytest.mark.parametrize("distinct", [5, 10, 12, 15, 40])
@pytest.mark.parametrize("circle", [["a"], ["a", "b"]], ids=["one", "two"])
def test_a_run_that_is_stuck_for_most_of_its_length_is_a_spiral(
    distinct: int, circle: list[str]
) -> None:
    """Some distinct actions, then one or two by turns for the next 50: marked from the tenth of
    these at the latest to the end, however much the run's own shuffled actions repeat."""
    keys = [*map(str, range(distinct)), *(circle * 50)[:50]]
    marks = table_of(doing(keys)).columns["spiral"]
    first = int(np.flatnonzero(marks == 1)[0]) + 1
    assert distinct < first <= max(10, distinct + 10)
    assert (marks[first - 1 :] == 1).all()


def test_a_run_that_does_one_thing_all_along_is_a_spiral() -> None:
    """190 times the same: marked from the tenth on, though no order of its actions repeats less."""
    marks = table_of(doing(["poll"] * 190)).columns["spiral"]
    assert np.isnan(marks[:9]).all()
    assert (marks[9:] == 1).all()


def test_three_things_by_turns_all_along_are_no_spiral() -> None:
    """Three distinct actions of ten are more than two, and no more repeats than in any order."""
    assert not (table_of(doing(list("abc") * 20)).columns["spiral"] == 1).any()


def test_two_of_ten_distinct_by_chance_are_rare() -> None:
    """Agents with 5 things to do, at random, are marked for it in under 5 % of runs of 60 turns."""
    rng = np.random.default_rng(12)
    runs = [doing(rng.integers(0, 5, 60).tolist(), f"r{i}") for i in range(300)]
    table = table_of(*runs)
    few = table.columns["repeated_action_window"].reshape(300, 60)[:, 9:] >= 0.8
    # C(5, 2) (2/5)**10 = .001 a turn, over 51 turns that hang together.
    assert few.any(axis=1).mean() < 0.05


def polling(*texts: str | None) -> Run:
    """Forty distinct calls, then one poll for each of these results; None is no result."""
    turns = [calling(i, f"tool {i}", tool_results=(result(failed=False),)) for i in range(1, 41)]
    for i, text in enumerate(texts, 41):
        answers = () if text is None else (result(failed=False, text=text),)
        turns.append(calling(i, "poll", tool_results=answers))
    return run_of(turns)


def test_polling_that_returns_something_new_is_no_spiral() -> None:
    """Twenty polls with a new result each are no spiral; with the same result, or none, they are;
    with three that go round they are too."""
    new = table_of(polling(*map(str, range(20)))).columns["spiral"]
    assert not (new == 1).any()
    for texts in (["same"] * 20, [None] * 20, ["a", "b", "c"] * 7):
        marks = table_of(polling(*texts)).columns["spiral"]
        assert 41 <= int(np.flatnonzero(marks == 1)[0]) + 1 <= 50
        assert marks[-1] == 1


def test_retries_of_a_transient_failure_are_no_spiral() -> None:
    """An action tried again ten times for a timeout is counted as retries, and marks nothing."""
    turns = [calling(i, f"tool {i}") for i in range(1, 21)]
    late = result(failed=True, text="timeout", transient=True)
    turns += [calling(i, "fetch", tool_results=(late,)) for i in range(21, 41)]
    table = table_of(run_of(turns))
    assert retries(table).sum() == 19
    assert not (table.columns["spiral"] == 1).any()


def test_fewer_repeats_than_half_of_the_window_are_no_spiral() -> None:
    """Four repeats of ten are no spiral, however rare they are in the run; five are."""
    spread = list(range(200))
    four = table_of(doing([*spread, "a", "a", "a", "a", "a", "b", "c", "d", "e", "f"]))
    five = table_of(doing([*spread, "a", "a", "a", "a", "a", "a", "b", "c", "d", "e"]))
    assert (four.columns["spiral"] == 1).sum() == 0
    assert (five.columns["spiral"] == 1).sum() >= 1
