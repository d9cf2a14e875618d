"""What would settle a step: the number of runs is that of the test that judges it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.test_steps import judged
from turncurve.analysis.settling import AdjustedTest, settled_by_runs


def of(t: float, n_units: int, critical: float = 3.0) -> AdjustedTest:
    return AdjustedTest(t=t, n_units=n_units, critical=critical, alpha=0.05, n_positions=11)


def test_the_number_of_runs_by_hand() -> None:
    """t = 2 over 20 runs of 10 scenarios, 3 to pass: the first whole trial with a chance of 80 %.

    The noncentral t passes 3 with a chance of .8 from 75 runs on; whole trials have 10 runs.
    """
    found = settled_by_runs(of(2.0, 20), n_trials=2, n_scenarios=10, by_scenario=False)
    assert found.more_runs is not None
    size = 2 / math.sqrt(20)

    def power(n: int) -> float:
        return float(stats.nct.sf(3, n - 1, size * math.sqrt(n)))

    n = 20 + found.more_runs
    assert power(n) >= 0.8 > power(n - 10)
    assert f"{found.more_runs} runs more ({found.more_runs // 10} trials)" in found.words


def test_scenarios_are_added_where_they_are_the_units() -> None:
    """Three trials of each new scenario."""
    found = settled_by_runs(of(2.0, 20), n_trials=3, n_scenarios=20, by_scenario=True)
    assert found.more_runs is not None
    assert found.more_runs % 3 == 0
    assert "scenarios)" in found.words


def test_units_too_few_for_any_critical_value_go_by_bonferroni() -> None:
    """Five runs cannot reach p < .05 by flips; the number of runs is one that can."""
    found = settled_by_runs(of(2.5, 5, math.inf), n_trials=1, n_scenarios=5, by_scenario=False)
    assert found.more_runs is not None
    assert found.more_runs >= 5


def test_next_to_nothing_is_not_worth_runs() -> None:
    """A t of .01 would take millions of runs, and no number is said."""
    found = settled_by_runs(of(0.01, 20), n_trials=2, n_scenarios=10, by_scenario=False)
    assert found.more_runs is None
    assert "no number" in found.words


@pytest.mark.slow
def test_the_runs_that_are_asked_for_settle_it_as_often_as_said() -> None:
    """A step as large as it looked passes with a chance of 80 %, within the simulation's error."""
    rng = np.random.default_rng(5)
    found = settled_by_runs(of(2.0, 40, 2.9), n_trials=4, n_scenarios=10, by_scenario=False)
    assert found.more_runs is not None
    n = 40 + found.more_runs
    x = rng.normal(2 / math.sqrt(40), 1, (20_000, n))
    t = x.mean(axis=1) / (x.std(axis=1, ddof=1) / math.sqrt(n))
    assert 0.79 < (np.abs(t) > 2.9).mean() < 0.87


def test_a_large_step_that_is_not_settled_says_how_many_runs_would() -> None:
    """Trials agree on a drop that half of the scenarios have: large, and open."""
    rng = np.random.default_rng(8)
    scores = rng.normal(3, 0.05, (2, 6, 6))
    scores[:, ::2, 3:] -= 1.0
    step = judged(scores)[0][4]
    assert step.state == "watch"
    assert "not settled" in step.why
    assert step.to_settle is not None
    assert step.to_settle.more_runs is not None
    assert step.to_settle.more_runs % 6 == 0


def test_a_real_but_small_step_is_settled_by_a_size() -> None:
    """More runs are no answer to how large a step is that matters."""
    rng = np.random.default_rng(2)
    scores = rng.normal(3, 0.2, (3, 100, 8))
    scores[:, :, 4:] -= np.array([0.05, 0.25, 0.45])[:, None, None]
    steps, _ = judged(scores)
    step = steps[5]
    assert step.state == "watch"
    assert "real but small" in step.why
    assert step.to_settle is not None
    assert step.to_settle.more_runs is None
    assert "state the size" in step.to_settle.words


def test_one_trial_asks_for_a_second() -> None:
    """The same scenarios once more, 30 runs."""
    rng = np.random.default_rng(2)
    scores = rng.normal(3, 0.1, (1, 30, 6))
    scores[:, :, 3:] -= 1.0
    step = judged(scores)[0][4]
    assert step.state == "watch"
    assert step.to_settle is not None
    assert step.to_settle.more_runs == 30


def test_findings_and_noise_have_nothing_to_settle() -> None:
    """Only a step that is to be watched says what would settle it."""
    rng = np.random.default_rng(2)
    scores = rng.normal(3, 0.1, (5, 30, 6))
    scores[:, :, 3:] -= 1.0
    steps, _ = judged(scores)
    assert {step.to_settle for step in steps.values() if step.state != "watch"} == {None}
    assert steps[4].state == "finding"
