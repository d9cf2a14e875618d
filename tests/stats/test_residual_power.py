"""Trials for a residual: published numbers, and the power that they have by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from turncurve.stats.residual_power import (
    ResidualDesign,
    best_trials,
    equal_trials,
    residual_error,
    tasks_needed,
    visible_residual,
)
from turncurve.stats.residual_trials import simulated_power, trials_by_simulation
from turncurve.stats.step_power import Rule

FOUR = (0.8,) * 4


@pytest.mark.parametrize(("observed", "n"), [(0.10, 22), (0.25, 110), (0.33, 482)])
def test_four_stages_at_80_percent(observed: float, n: int) -> None:
    """.41 against .10, .25, .33 with a chance of 80 %: 22, 110, 482 trials each."""
    assert equal_trials(ResidualDesign(rates=FOUR, observed=observed), Rule()) == n


def test_the_formula_promises_a_little_too_much() -> None:
    """With 22 trials each the posterior of one task sees it in 66 to 76 %, not in 80 %."""
    design = ResidualDesign(rates=FOUR, observed=0.10)
    found = simulated_power(design, [22] * 5, rng=np.random.default_rng(1))
    assert 0.66 <= found.power <= 0.76
    assert found.std_error < 0.016


@pytest.mark.parametrize(("n_tasks", "observed"), [(1, 0.10), (6, 0.3)])
def test_simulation_finds_the_trials_that_do(n_tasks: int, observed: float) -> None:
    """The number found has a power of 77 to 86 % on other studies; the formula's is no larger."""
    design = ResidualDesign(rates=FOUR, observed=observed, n_tasks=n_tasks)
    start = equal_trials(design, Rule())
    found = trials_by_simulation(design, [start] * 5, rng=np.random.default_rng(2))
    again = simulated_power(design, found.trials, rng=np.random.default_rng(3))
    assert 0.77 <= again.power <= 0.86
    assert start <= found.trials[0] <= 1.6 * start


def test_without_a_residual_alarms_are_rare() -> None:
    """Where whole tasks do as the stages predict, 3 to 7 % of studies see a residual."""
    for n_tasks in (1, 6):
        design = ResidualDesign(rates=FOUR, observed=0.8**4, n_tasks=n_tasks)
        found = simulated_power(design, [30] * 5, rng=np.random.default_rng(4))
        assert 0.03 <= found.power <= 0.07


@given(st.lists(st.floats(0.3, 0.99), min_size=1, max_size=6), st.floats(0.02, 0.9))
@settings(deadline=None, max_examples=40)
def test_the_best_split_needs_no_more(rates: list[float], share: float) -> None:
    """It takes at most as many trials in all, but for rounding, and sees as much."""
    design = ResidualDesign(rates=tuple(rates), observed=share * float(np.prod(rates)))
    equal, best = equal_trials(design, Rule()), best_trials(design, Rule())
    if equal is None or best is None:
        return
    assert sum(best) <= equal * len(best) + 3 * len(best)
    assert residual_error(design, best) <= residual_error(design, [equal] * len(best)) * 1.05


def test_the_best_split_follows_the_errors() -> None:
    """Stages of .95 and .5: trials in proportion to sqrt((1 - q) / q)."""
    design = ResidualDesign(rates=(0.95, 0.5), observed=0.4)
    first, second, _ = best_trials(design, Rule())
    assert second / first == pytest.approx(np.sqrt(0.5 / 0.5) / np.sqrt(0.05 / 0.95), rel=0.02)


def test_tasks_share_the_trials() -> None:
    """Four tasks of these rates have half the error of one, so need a quarter of the trials."""
    one = ResidualDesign(rates=FOUR, observed=0.25)
    four = ResidualDesign(rates=FOUR, observed=0.25, n_tasks=4)
    assert residual_error(four, [10] * 5) == pytest.approx(residual_error(one, [10] * 5) / 2)
    assert equal_trials(four, Rule()) == pytest.approx(110 / 4, abs=1)


def test_tasks_that_differ_need_more_tasks() -> None:
    """A spread of true residuals of .2 adds to the trials' own, whatever their number."""
    design = ResidualDesign(rates=FOUR, observed=0.3)
    alike = tasks_needed(design, Rule(), n_trials=10)
    differing = tasks_needed(design, Rule(), n_trials=10, task_sd=0.2)
    endless = tasks_needed(design, Rule(), n_trials=100_000, task_sd=0.2)
    assert alike < differing
    assert alike < endless < differing


def test_tasks_are_counted_by_a_t_test() -> None:
    """One task fewer has a power below 80 % by the noncentral t, and this number has it."""
    design = ResidualDesign(rates=FOUR, observed=0.2)
    n = tasks_needed(design, Rule(), n_trials=10, task_sd=0.1)
    each = np.hypot(residual_error(design, [10] * 5), 0.1)
    power = [
        stats.nct.sf(stats.t.ppf(0.975, k - 1), k - 1, design.residual / each * np.sqrt(k))
        for k in (n - 1, n)
    ]
    assert power[0] < 0.8 <= power[1]


def test_visible_is_the_inverse() -> None:
    """22 trials see a deficit of .31 of .41, and 5 see none at all."""
    assert visible_residual(FOUR, Rule(), n_trials=22) == pytest.approx(0.3096, abs=0.008)
    assert visible_residual(FOUR, Rule(), n_trials=2) is None


def test_stages_that_never_fail() -> None:
    """Rates of 1 have no error; against a run that never succeeds two trials do."""
    certain = ResidualDesign(rates=(1.0, 1.0), observed=0.0)
    assert residual_error(certain, [2, 2, 2]) == 0
    assert equal_trials(certain, Rule()) == 2
    assert best_trials(certain, Rule()) == (2, 2, 2)
    nothing = ResidualDesign(rates=(1.0,), observed=1.0)
    assert best_trials(nothing, Rule()) is None


@pytest.mark.parametrize(
    ("rates", "observed", "n_tasks"),
    [((), 0.5, 1), ((0.0,), 0.5, 1), ((1.1,), 0.5, 1), ((0.5,), -0.1, 1), ((0.5,), 0.5, 0)],
)
def test_refuses_what_cannot_be(rates: tuple[float, ...], observed: float, n_tasks: int) -> None:
    """Rates outside 0 to 1, no stage, no task."""
    with pytest.raises(ValueError, match="wanted"):
        ResidualDesign(rates=rates, observed=observed, n_tasks=n_tasks)
