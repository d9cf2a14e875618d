"""A step by paired runs: founding figures, known truth, coverage, and what never divides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.paired_step import paired_step, std_dev_interval


def with_moments(mean: float, std_dev: float, n: int) -> np.ndarray:
    """n values with exactly this mean and standard deviation."""
    z = np.random.default_rng(0).normal(size=n)
    z = (z - z.mean()) / z.std(ddof=1)
    return mean + std_dev * z


def one_scenario(deltas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    before = np.full((len(deltas), 1), 3.6)
    return before, before + deltas[:, None]


def test_founding_figures() -> None:
    """-0.66, spread 0.09 over five trials: ratio 7.3 and t 16.4; -0.09 with 0.11: 0.8."""
    step = paired_step(*one_scenario(with_moments(-0.66, 0.09, 5)))
    assert step.suite.delta == pytest.approx(-0.66)
    assert step.suite.std_dev == pytest.approx(0.09)
    assert step.ratio == pytest.approx(7.33, abs=0.005)
    assert step.suite.t == pytest.approx(-16.4, abs=0.05)
    assert step.suite.df == 4
    assert step.suite.p == pytest.approx(8.1e-5, abs=1e-6)
    dip = paired_step(*one_scenario(with_moments(-0.09, 0.11, 5)))
    assert dip.ratio == pytest.approx(0.82, abs=0.005)
    assert dip.suite.p == pytest.approx(0.14, abs=0.005)


def suite(seed: int = 3) -> np.ndarray:
    """5 trials of 40 scenarios over 12 turns: a real drop of .66 at turn 8, none at turn 4."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 1.0, 40)
    effect = -0.02 * np.arange(12)
    effect[7:] -= 0.66
    fall = rng.normal(0, 0.55, 40)
    fall -= fall.mean()
    late = (np.arange(12) >= 7).astype(float)
    trial = rng.normal(0, 0.05, (5, 1, 12))
    shared = 3.2 + difficulty[None, :, None] + effect + late * fall[None, :, None]
    return shared + trial + rng.normal(0, 0.35, (5, 40, 12))


def test_the_right_denominator_tells_the_drop_from_the_dip() -> None:
    """The paired t is far out at turn 8, not at turn 4; scenarios' spread hides the drop."""
    y = suite()
    drop = paired_step(y[:, :, 6], y[:, :, 7])
    dip = paired_step(y[:, :, 2], y[:, :, 3])
    assert drop.suite.t is not None
    assert drop.suite.t < -20
    assert dip.suite.p is not None
    assert dip.suite.p > 0.05
    assert abs(drop.suite.delta) / y[0, :, 7].std(ddof=1) < 1


def test_suite_and_scenarios_are_t_tests() -> None:
    """In a whole table both spreads are one-sample t tests of trial means and of scenario means."""
    y = suite(4)
    d = y[:, :, 7] - y[:, :, 6]
    step = paired_step(y[:, :, 6], y[:, :, 7])
    for spread, means in ((step.suite, d.mean(axis=1)), (step.scenarios, d.mean(axis=0))):
        test = stats.ttest_1samp(means, 0)
        assert spread.t == pytest.approx(test.statistic)
        assert spread.p == pytest.approx(test.pvalue)
        low, high = test.confidence_interval()
        assert (spread.low, spread.high) == pytest.approx((low, high))


def test_each_claim_is_covered_by_its_own_error() -> None:
    """Of 1,500 suites the suite's and the population's intervals cover 95 %; swapped, 63 %."""
    rng = np.random.default_rng(9)
    n = 1_500
    covered = dict.fromkeys(("suite", "population", "swapped"), 0)
    for _ in range(n):
        s = rng.normal(0, 0.6, 36)
        d = -0.1 + s + rng.normal(0, 0.06, (5, 1)) + rng.normal(0, 0.4, (5, 36))
        step = paired_step(np.zeros((5, 36)), d)
        population, own = step.population, step.suite
        assert population is not None
        assert own.low is not None
        assert own.high is not None
        assert population.low is not None
        assert population.high is not None
        covered["suite"] += own.low < -0.1 + s.mean() < own.high
        covered["population"] += population.low < -0.1 < population.high
        covered["swapped"] += own.low < -0.1 < own.high
    assert covered["suite"] / n == pytest.approx(0.95, abs=0.02)
    assert covered["population"] / n == pytest.approx(0.95, abs=0.02)
    assert covered["swapped"] / n == pytest.approx(0.63, abs=0.05)


def test_one_trial_leaves_only_the_scenarios() -> None:
    """A single trial has no suite error and no ratio; scenarios and population are one t test."""
    y = suite()[:1]
    step = paired_step(y[:, :, 6], y[:, :, 7])
    assert step.suite.std_error is None
    assert step.suite.p is None
    assert step.ratio is None
    assert step.population is not None
    assert step.population.std_error == step.scenarios.std_error
    assert step.scenarios.n == 40


def test_pairs_lost_are_counted() -> None:
    """Runs with one turn only are counted by side; a scenario with gaps leaves the population."""
    y = suite()
    before, after = y[:, :, 6].copy(), y[:, :, 7].copy()
    after[0, 0] = after[1, 0] = before[2, 5] = np.nan
    step = paired_step(before, after)
    assert (step.n_pairs, step.n_before_only, step.n_after_only) == (197, 2, 1)
    assert step.n_incomplete == 3 + 4
    assert step.suite.delta == pytest.approx(
        np.mean([np.nanmean(a - b) for a, b in zip(after, before, strict=True)])
    )
    rest = [i for i in range(40) if i not in (0, 5)]
    whole = paired_step(y[:, rest, 6], y[:, rest, 7])
    assert step.population == whole.population


def test_trials_that_agree_have_no_test() -> None:
    """Deterministic replays give an infinite ratio, no p and no interval; no change gives none."""
    step = paired_step(*one_scenario(np.full(5, -0.5)))
    assert step.ratio == math.inf
    assert step.suite.std_dev == 0
    assert step.suite.p is None
    assert step.suite.low is None
    assert paired_step(*one_scenario(np.zeros(5))).ratio is None


def test_no_pair_is_refused() -> None:
    """Without a run that has both turns there is no step."""
    with pytest.raises(NotEnoughDataError, match="both turns"):
        paired_step(np.full((3, 2), np.nan), np.ones((3, 2)))


@given(st.integers(0, 2**32 - 1), st.floats(-50, 50), st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=40)
def test_invariant_under_shift_and_scale(seed: int, shift: float, scale: float) -> None:
    """Adding a constant to all scores changes no step; multiplying leaves every t and p."""
    rng = np.random.default_rng(seed)
    before, after = rng.normal(size=(2, 4, 6))
    one = paired_step(before, after)
    moved = paired_step(before + shift, after + shift)
    assert moved.suite.delta == pytest.approx(one.suite.delta, abs=1e-9)
    scaled = paired_step(before * scale, after * scale)
    for name in ("suite", "scenarios", "population"):
        own, others = getattr(one, name), getattr(scaled, name)
        assert others.t == pytest.approx(own.t)
        assert others.p == pytest.approx(own.p)
        assert others.df == pytest.approx(own.df)


def test_interval_of_a_standard_deviation() -> None:
    """From 5 values the interval is .60 to 2.87 times the deviation, from 10 .69 to 1.83."""
    assert std_dev_interval(1.0, 5) == pytest.approx((0.599, 2.874), abs=5e-4)
    assert std_dev_interval(1.0, 10) == pytest.approx((0.688, 1.826), abs=5e-4)
    assert std_dev_interval(2.0, 15) == pytest.approx((2 * 0.732, 2 * 1.577), abs=1e-3)
