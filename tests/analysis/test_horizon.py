"""Time horizons of agents: what is fitted, what weighs how much, and the published table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from turncurve.analysis.horizon import (
    NO_TIME,
    ZERO_TIME,
    HorizonSettings,
    Weighting,
    horizons,
)
from turncurve.errors import NotEnoughDataError
from turncurve.readers.base import raise_problem
from turncurve.readers.task_scores import (
    TaskScore,
    TaskTime,
    read_task_scores,
    read_task_times,
)
from turncurve.stats.horizon import logistic_fits


def made_up(
    *, n_tasks: int = 60, n_runs: int = 6, hours: float = 1.0, seed: int = 0
) -> list[TaskScore]:
    """Runs of one agent that succeeds half of the time at tasks of so many hours."""
    rng = np.random.default_rng(seed)
    minutes = 2 ** rng.uniform(0, 12, n_tasks)
    chance = 1 / (1 + (minutes / (60 * hours)) ** (0.6 / np.log(2)))
    return [
        TaskScore(
            agent="a",
            task=str(task),
            family=str(task % 20),
            score=float(rng.random() < chance[task]),
            minutes=float(minutes[task]),
        )
        for task in range(n_tasks)
        for _ in range(n_runs)
    ]


def test_finds_the_horizon_that_made_the_data() -> None:
    """300 tasks of 10 runs: 50 % within a tenth of an hour, 80 % at 2 ** (-log2(4) / .87) of it."""
    one = horizons(made_up(n_tasks=300, n_runs=10)).horizons["a"]
    assert one.p50.value == pytest.approx(1.0, rel=0.12)
    assert one.p80.value == pytest.approx(np.exp(-np.log(4) * np.log(2) / 0.6), rel=0.2)
    assert one.p50.low < 1.0 < one.p50.high
    assert one.p50_fit == pytest.approx(one.p50.value, rel=0.03)
    assert one.slope == pytest.approx(-0.6, abs=0.06)


def test_the_interval_covers() -> None:
    """Over 120 benchmarks of 40 tasks the 90 % interval holds the truth in 84 to 99 %."""
    settings = HorizonSettings(resamples=300, level=0.9)
    n_in = 0
    for seed in range(120):
        scores = made_up(n_tasks=40, n_runs=3, seed=seed)
        p50 = horizons(scores, settings=settings).horizons["a"].p50
        n_in += p50.low is not None and p50.low <= 1.0 <= p50.high
    assert 0.84 <= n_in / 120 <= 0.99


def test_a_threshold_is_reached_or_not() -> None:
    """A score of .6 reaches .25 and .6, not .9; without a threshold it is .6 of a success."""
    score = TaskScore(agent="a", task="t", family="t", score=0.6, minutes=None)
    times = [TaskTime(task="t", minutes=m, threshold=t) for m, t in ((1, 0.25), (2, 0.6), (9, 0.9))]
    assert horizons([score], times).horizons["a"].n_succeeded == 2
    whole = [TaskTime(task="t", minutes=5, threshold=None)]
    assert horizons([score], whole).horizons["a"].n_succeeded == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("weighting", "of_many", "of_family"),
    [("rows", 1, 1), ("tasks", 1 / 9, 1), ("families", 1 / 9, 1 / 2)],
)
def test_weights(weighting: Weighting, of_many: float, of_family: float) -> None:
    """A task of 9 runs weighs as one, and each task of a family of 4 by 1 over the root of 4."""
    minutes, outcomes = [1.0, 2.0, 4.0, 16.0], [1, 1, 0, 1]
    many = [TaskScore(agent="a", task="x", family="x", score=0, minutes=8.0)] * 9
    family = [
        TaskScore(agent="a", task=str(m), family="f", score=y, minutes=m)
        for m, y in zip(minutes, outcomes, strict=True)
    ]
    settings = HorizonSettings(weighting=weighting, ridge=0.01, resamples=100)
    one = horizons([*many, *family], settings=settings).horizons["a"]
    weights = np.array([of_many] * 9 + [of_family] * 4, dtype=float)
    weights /= 1 if weighting == "rows" else weights.sum()
    times = np.log2([8.0] * 9 + minutes)
    by_hand = logistic_fits(times, [0] * 9 + outcomes, weights, ridge=0.01)
    assert one.slope == pytest.approx(by_hand.slope[0], rel=1e-9)
    assert one.weight_sum == pytest.approx(weights.sum())


def test_times_of_nothing_and_tasks_without_a_time_are_counted() -> None:
    """Neither is dropped without a word."""
    scores = [TaskScore(agent="a", task=t, family=t, score=1, minutes=None) for t in "xyz"]
    times = [
        TaskTime(task="x", minutes=0, threshold=0.25),
        TaskTime(task="x", minutes=5, threshold=0.5),
        TaskTime(task="y", minutes=7, threshold=0.5),
    ]
    result = horizons(scores, times)
    assert result.excluded == {NO_TIME: 1, ZERO_TIME: 1}
    assert result.horizons["a"].n_rows == 2


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ([1, 1, 1, 1], "every run succeeds"),
        ([0, 0, 0, 0], "no run succeeds"),
        ([1, 1, 0, 0], "one time parts successes from failures"),
        ([0, 0, 1, 0, 1, 1], "does not fall with time"),
    ],
)
def test_no_horizon_has_a_reason(outcomes: list[int], reason: str) -> None:
    """Never 0 or infinity: the value is absent and the reason says why."""
    scores = [
        TaskScore(agent="a", task=str(i), family=str(i), score=y, minutes=2.0**i)
        for i, y in enumerate(outcomes)
    ]
    one = horizons(scores).horizons["a"]
    assert one.p50.value is None
    assert one.p50.low is None
    assert reason in one.p50.reason


def test_one_task_has_no_interval() -> None:
    """Runs of one task at several times give a curve, and no word on other tasks."""
    scores = [TaskScore(agent="a", task="t", family="t", score=s, minutes=None) for s in (0.3, 0.8)]
    times = [
        TaskTime(task="t", minutes=m, threshold=t)
        for m, t in ((1, 0.2), (2, 0.5), (2, 0.2), (8, 0.7), (16, 0.2), (64, 0.9))
    ]
    one = horizons(scores, times).horizons["a"]
    assert one.p50.value == one.p50_fit
    assert one.p50.low is None
    assert "one task" in one.p50.warnings[0]


def test_the_seed_decides_and_agents_do_not_touch_each_other() -> None:
    """The same seed gives the same numbers; another agent after it changes nothing."""
    scores = made_up(n_tasks=20)
    other = [TaskScore(agent="b", task="1", family="1", score=1.0, minutes=3.0)]
    first = horizons(scores).horizons["a"]
    assert horizons([*scores, *other]).horizons["a"] == first
    assert horizons(scores, settings=HorizonSettings(seed=9)).horizons["a"].p50 != first.p50


def test_runs_drawn_too_widen_the_interval() -> None:
    """With two runs a task, drawing them within tasks adds spread."""
    scores = made_up(n_tasks=40, n_runs=2)
    width = {}
    for runs in (False, True):
        p50 = horizons(scores, settings=HorizonSettings(resample_runs=runs)).horizons["a"].p50
        width[runs] = np.log(p50.high / p50.low)
    assert width[True] > 1.1 * width[False]


def test_nothing_to_go_by() -> None:
    """Without a time there is an error."""
    with pytest.raises(NotEnoughDataError, match="scores of tasks with a time"):
        horizons([TaskScore(agent="a", task="t", family="t", score=1, minutes=None)])


@pytest.mark.corpus
@pytest.mark.parametrize("times", ["data__all_estimates.json", "data__all_estimates.csv"])
def test_published_horizons(corpus: Callable[[str], Path], times: str) -> None:
    """Ten published horizons within 3 %, and their intervals within 15 %, from scores and times."""
    folder = corpus("horizon_weirdml")
    published = json.loads((folder / "results_no_cal__summary.json").read_text())
    scores = read_task_scores(folder / "data__weirdml_results.json", raise_problem)
    chosen = [score for score in scores if score.agent in published]
    result = horizons(chosen, list(read_task_times(folder / times, raise_problem)))
    assert len(published) == 10
    for agent, row in published.items():
        one = result.horizons[agent]
        assert (one.n_rows, one.n_succeeded) == (row["n_data"], row["n_success"])
        assert one.p50.value == pytest.approx(row["x50_hours_q50"], rel=0.03)
        assert one.p50.low == pytest.approx(row["x50_hours_q025"], rel=0.15)
        assert one.p50.high == pytest.approx(row["x50_hours_q975"], rel=0.15)
