"""Made-up runs: their truth is found in the mean of many, and each spread comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.stats.simulate import (
    NO_EVENT,
    RECIPES,
    Recipe,
    Simulated,
    Spreads,
    simulate,
    truth_of,
)

STILL = Spreads(scenario=0, trial=0, run=0, turn=0)
TURNS = np.arange(1, 13)


def draw(recipe: Recipe, *shape: int, seed: int = 5) -> Simulated:
    n_trials, n_scenarios, n_turns = shape
    return simulate(
        recipe,
        n_trials=n_trials,
        n_scenarios=n_scenarios,
        n_turns=n_turns,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("name", RECIPES)
def test_the_truth_is_the_mean_of_many_runs(name: str) -> None:
    """Over 3,000 scenarios the mean of every turn, had nobody stopped, is the expected curve."""
    recipe = RECIPES[name]
    runs = draw(recipe, 2, 3_000, 12)
    truth = truth_of(recipe, n_scenarios=3_000, n_turns=12)
    of_scenario = runs.quality.mean(axis=0)
    error = of_scenario.std(axis=0, ddof=1) / np.sqrt(3_000) + recipe.spreads.trial
    assert runs.n_off_scale < 1e-3 * runs.quality.size
    assert (np.abs(of_scenario.mean(axis=0) - truth.expected) < 4 * error).all()
    change = np.diff(of_scenario, axis=1)
    error = change.std(axis=0, ddof=1) / np.sqrt(3_000)
    assert (np.abs(change.mean(axis=0) - np.diff(truth.expected)) < 4 * error).all()


@pytest.mark.parametrize(
    ("name", "curve", "changepoint", "step"),
    [
        ("flat", 6 + 0 * TURNS, None, 0.0),
        ("slope", 6 - 0.06 * (TURNS - 1), None, 0.0),
        ("knee", 6 - 0.25 * np.maximum(TURNS - 7, 0), 8, 0.0),
        ("cliff", 6 - 0.66 * (TURNS >= 8), 8, -0.66),
        ("cliff_on_slope", 6 - 0.06 * (TURNS - 1) - 0.5 * (TURNS >= 8), 8, -0.5),
        ("composition", 6 + 0 * TURNS, None, 0.0),
        ("crash", 6 - 0.12 * (TURNS - 1), None, 0.0),
        ("difficulty_mix", 6 - 0.4 * 1.5 - 0.4 * 0.66 * (TURNS >= 8), 8, -0.264),
        ("lone_bad_turn", 6 - 0.66 * (TURNS == 8), None, 0.0),
    ],
)
def test_truth_by_hand(name: str, curve: np.ndarray, changepoint: int | None, step: float) -> None:
    """Curve, changepoint and step of each recipe, worked out by hand for 10 scenarios."""
    truth = truth_of(RECIPES[name], n_scenarios=10, n_turns=12)
    assert truth.expected == pytest.approx(curve)
    assert truth.changepoint == changepoint
    assert truth.step == pytest.approx(step)
    assert truth.lone_turn == (8 if name == "lone_bad_turn" else None)


def test_slopes_before_and_after() -> None:
    """A knee's slope differs before and after; a cliff's on a slope does not."""
    knee = truth_of(replace(RECIPES["knee"], slope=-0.1), n_scenarios=3, n_turns=12)
    assert (knee.slope, knee.slope_after) == pytest.approx((-0.1, -0.35))
    both = truth_of(RECIPES["cliff_on_slope"], n_scenarios=3, n_turns=12)
    assert both.slope == both.slope_after == -0.06


def test_a_changepoint_after_the_last_turn_is_none() -> None:
    """What no run lives to see is no changepoint."""
    assert truth_of(RECIPES["cliff"], n_scenarios=3, n_turns=7).changepoint is None


def test_an_event_smears_the_step() -> None:
    """By turn the step is spread over four; from the event it is whole, and 10 % have none."""
    recipe = RECIPES["event_cliff"]
    truth = truth_of(recipe, n_scenarios=10, n_turns=14)
    assert truth.changepoint is None
    assert np.diff(truth.expected).min() == pytest.approx(-0.02 - 0.54 * 0.81)
    runs = draw(recipe, 1, 4_000, 14)
    event = runs.event_turn[0]
    assert (event == NO_EVENT).mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 4_000))
    assert truth.event_reached[-1] == pytest.approx(0.9)
    had = np.flatnonzero(event != NO_EVENT)
    jump = runs.quality[0, had, event[had] - 1] - runs.quality[0, had, event[had] - 2]
    assert jump.mean() == pytest.approx(-0.83, abs=4 * jump.std() / np.sqrt(len(had)))


@pytest.mark.parametrize(
    ("spread", "size"),
    [
        ("scenario", 0.5),
        ("trial", 0.4),
        ("run", 0.3),
        ("turn", 0.6),
        ("slope", 0.05),
        ("scenario_step", 0.3),
        ("trial_turn", 0.4),
    ],
)
def test_each_spread_comes_out_alone(spread: str, size: float) -> None:
    """With one spread only, its standard deviation is found in the units that it belongs to."""
    recipe = replace(RECIPES["cliff"], spreads=replace(STILL, **{spread: size}))
    y = draw(recipe, 60, 60, 12).quality - truth_of(recipe, n_scenarios=60, n_turns=12).expected
    units = {
        "scenario": y[0, :, 0],
        "trial": y[:, 0, 0],
        "run": y[:, :, 0],
        "turn": y,
        "slope": (y[:, :, -1] - y[:, :, 0]) / 11,
        "scenario_step": y[0, :, -1],
        "trial_turn": y[:, 0, :],
    }[spread]
    assert units.std() == pytest.approx(size, abs=4 * size / np.sqrt(2 * units.size))
    assert y.std() > 0
    shared = {"scenario": 0, "scenario_step": 0, "trial": 1, "trial_turn": 1}
    if spread in shared:
        assert np.ptp(y, axis=shared[spread]).max() == pytest.approx(0, abs=1e-12)


def test_changes_have_the_variance_that_is_promised() -> None:
    """The two-way variance of the changes is made of the spreads as the docstring says."""
    spreads = Spreads(
        turn=0.4, autocorrelation=0.5, slope=0.1, scenario_step=0.3, trial_turn=0.2, scenario=1.0
    )
    d = np.diff(draw(replace(RECIPES["cliff"], spreads=spreads), 150, 150, 8).quality)[:, :, 6]
    rest = d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean()
    within = (rest**2).sum() / (149 * 149)
    assert within == pytest.approx(0.01 + 2 * 0.16 * 0.5, rel=0.04)
    assert d.mean(axis=1).var(ddof=1) - within / 150 == pytest.approx(2 * 0.04, rel=0.35)
    assert d.mean(axis=0).var(ddof=1) - within / 150 == pytest.approx(0.09, rel=0.35)


def test_neighbouring_turns_correlate() -> None:
    """The turn noise has the stated correlation, and the same spread at each turn."""
    recipe = Recipe(spreads=replace(STILL, turn=0.5, autocorrelation=0.7))
    y = draw(recipe, 1, 20_000, 6).quality[0] - 6
    assert y.std(axis=0) == pytest.approx(np.full(6, 0.5), rel=0.02)
    assert np.corrcoef(y[:, 3], y[:, 4])[0, 1] == pytest.approx(0.7, abs=0.015)
    assert np.corrcoef(y[:, 1], y[:, 4])[0, 1] == pytest.approx(0.7**3, abs=0.03)


def curves(runs: Simulated) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the runs that are there, and mean of those that last to the end."""
    n_turns = runs.quality.shape[2]
    there = np.arange(1, n_turns + 1) <= runs.n_turns[..., None]
    naive = np.where(there, runs.quality, 0).sum(axis=(0, 1)) / there.sum(axis=(0, 1))
    return naive, runs.quality[runs.n_turns == n_turns].mean(axis=0)


def test_composition_looks_like_a_fall_and_is_none() -> None:
    """As easy scenarios end, the mean of those left falls by over .4; nobody gets worse."""
    runs = draw(RECIPES["composition"], 2, 2_000, 12)
    naive, balanced = curves(runs)
    assert naive[-1] - naive[0] < -0.4
    assert balanced[-1] - balanced[0] == pytest.approx(0, abs=0.05)
    assert runs.cut.any()
    assert (runs.n_turns[runs.cut] == 12).all()
    assert not runs.crashed.any()


def test_crashes_hide_a_fall() -> None:
    """Low quality crashes: what is left looks better than the truth, and so do its survivors."""
    runs = draw(RECIPES["crash"], 2, 4_000, 12)
    true = truth_of(RECIPES["crash"], n_scenarios=1, n_turns=12).expected
    naive, balanced = curves(runs)
    assert naive[-1] - true[-1] > 0.2
    assert (balanced[-1] - balanced[0]) - (true[-1] - true[0]) > 0.2
    assert 0.2 < runs.crashed.mean() < 0.9
    assert (runs.n_turns[~runs.crashed] == 12).all()
    assert (runs.n_turns[runs.crashed] < 12).all()


def test_low_quality_is_what_crashes() -> None:
    """The odds of a crash rise by e to the gain for each point that quality lies lower."""
    recipe = replace(
        RECIPES["crash"], slope=0, crash_odds=0.2, spreads=replace(STILL, scenario=0.8)
    )
    runs = draw(recipe, 1, 40_000, 2)
    low = 6 - runs.quality[0, :, 0]
    for x in (-1.0, 0.0, 1.0):
        near = np.abs(low - x) < 0.1
        odds = 0.2 * np.exp(1.5 * x)
        share = runs.crashed[0, near].mean()
        assert share == pytest.approx(odds / (1 + odds), abs=4 * 0.5 / np.sqrt(near.sum()) + 0.01)


def test_hard_scenarios_lie_lower_and_fall_alone() -> None:
    """The share that is hard starts lower; only it takes the step."""
    runs = draw(replace(RECIPES["difficulty_mix"], spreads=STILL), 1, 10, 12)
    assert runs.hard.sum() == 4
    assert runs.quality[0, runs.hard, 0] == pytest.approx(np.full(4, 4.5))
    assert runs.quality[0, runs.hard, 7] == pytest.approx(np.full(4, 4.5 - 0.66))
    assert runs.quality[0, ~runs.hard] == pytest.approx(np.full((6, 12), 6.0))


def test_success_follows_the_last_turn() -> None:
    """Half of the runs succeed at the stated quality, nearly none well below it."""
    assert draw(Recipe(level=5, spreads=STILL), 1, 4_000, 3).succeeded.mean() == pytest.approx(
        0.5, abs=0.035
    )
    assert draw(Recipe(level=2, spreads=STILL), 1, 4_000, 3).succeeded.mean() < 0.01


def test_values_outside_the_scale_are_moved_and_counted() -> None:
    """Nothing lies off the scale, and it is told how often the truth was bent."""
    runs = draw(replace(RECIPES["flat"], level=9.5), 2, 100, 12)
    assert runs.quality.max() == 10
    assert runs.n_off_scale == (runs.quality == 10).sum() > 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(RECIPES)), st.integers(1, 9))
@settings(deadline=None, max_examples=40)
def test_the_same_seed_gives_the_same_runs(seed: int, name: str, n_turns: int) -> None:
    """All arrays are equal, every run has 1 to n_turns turns, and a suite of one run will do."""
    one, two = (draw(RECIPES[name], 1, 1, n_turns, seed=seed) for _ in range(2))
    assert np.array_equal(one.quality, two.quality)
    assert np.array_equal(one.n_turns, two.n_turns)
    assert np.array_equal(one.event_turn, two.event_turn)
    assert np.array_equal(one.succeeded, two.succeeded)
    assert 1 <= one.n_turns.min() <= one.n_turns.max() <= n_turns


def test_what_makes_no_sense_is_refused() -> None:
    """Sizes below 1, chances that sum to more than 1, a correlation of 1."""
    with pytest.raises(ValueError, match="at least 1 trial"):
        draw(RECIPES["flat"], 0, 3, 3)
    with pytest.raises(ValueError, match="event_chances"):
        Recipe(event_turns=(3, 4), event_chances=(0.7, 0.7))
    with pytest.raises(ValueError, match="event_chances"):
        Recipe(event_turns=(3, 4), event_chances=(0.7,))
    with pytest.raises(ValueError, match="autocorrelation"):
        Recipe(spreads=Spreads(autocorrelation=1.0))


@pytest.mark.parametrize("name", RECIPES)
def test_runs_of_one_turn(name: str) -> None:
    """A single turn is the last one: nobody crashes after it."""
    made = simulate(
        RECIPES[name], n_trials=2, n_scenarios=3, n_turns=1, rng=np.random.default_rng(1)
    )
    assert made.quality.shape == (2, 3, 1)
    assert (made.n_turns == 1).all()
    assert not made.crashed.any()
