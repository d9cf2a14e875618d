"""Steps of a suite: the paired spread, the price of looking at every turn, three states."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.suites import suite_table
from turncurve.analysis.drop_report import drop_report
from turncurve.analysis.steps import steps_of
from turncurve.analysis.suite import Suite, suite_of
from turncurve.errors import InvariantError, NotEnoughDataError


def with_deltas(delta: float, spread: float, *, n: int = 5, turn: int = 8) -> np.ndarray:
    """One scenario, n trials whose change at a turn has exactly this mean and SD."""
    shape = np.linspace(-1, 1, n)
    changes = delta + spread * (shape - shape.mean()) / shape.std(ddof=1)
    scores = np.full((n, 1, 12), 3.6)
    scores[:, 0, turn - 1 :] += changes[:, None]
    return scores


def founding(seed: int = 3) -> np.ndarray:
    """5 trials of 40 scenarios and 12 turns: a drop of .66 at turn 8 that scenarios disagree on."""
    rng = np.random.default_rng(seed)
    effect = -0.02 * np.arange(12)
    effect[7:] -= 0.66
    disagree = rng.normal(0, 0.55, 40)
    own = (np.arange(12) >= 7)[None, :] * (disagree - disagree.mean())[:, None]
    shared = rng.normal(0, 0.05, (5, 1, 12))
    level = rng.normal(0, 1.0, (1, 40, 1))
    return 3.2 + level + effect + own + shared + rng.normal(0, 0.35, (5, 40, 12))


def judged(scores: np.ndarray, **options):
    suite = suite_of(suite_table(scores), "quality")
    steps = steps_of(suite, rng=np.random.default_rng(0), **{"n_flips": 999, **options})
    return {step.turn: step for step in steps.steps}, steps


@pytest.mark.parametrize(
    ("delta", "spread", "ratio", "t"), [(-0.66, 0.09, 7.33, 16.4), (-0.09, 0.11, 0.82, 1.83)]
)
def test_founding_figures(delta: float, spread: float, ratio: float, t: float) -> None:
    """Ratio 7.3 and t 16.4 with 4 df; .8 and 1.8: from plain scores and from a table."""
    scores = with_deltas(delta, spread)
    report = drop_report(scores, 8)
    assert report["delta"] == pytest.approx(delta)
    assert report["sd_of_paired_delta"] == pytest.approx(spread)
    assert report["ratio"] == pytest.approx(ratio, abs=0.01)
    assert report["t"] == pytest.approx(-t, abs=0.05)
    assert report["df"] == 4
    step = judged(scores)[0][8]
    assert (step.delta, step.paired_sd) == pytest.approx((delta, spread))
    assert (step.ratio, step.t, step.df) == pytest.approx((report["ratio"], report["t"], 4))
    assert step.p == pytest.approx(report["p"])


def test_the_spread_has_an_interval_of_its_own() -> None:
    """A standard deviation of five values is known to a factor of .60 to 2.87."""
    report = drop_report(with_deltas(-0.66, 0.09), 8)
    assert report["sd_interval"] == pytest.approx((0.09 * 0.599, 0.09 * 2.874), rel=1e-3)
    step = judged(with_deltas(-0.66, 0.09))[0][8]
    assert (step.paired_sd_low, step.paired_sd_high) == pytest.approx(report["sd_interval"])


def test_the_drop_at_turn_8_is_a_finding_and_the_dip_at_turn_4_is_not() -> None:
    """Scenarios differ by more than the drop, which hides nothing: they are paired."""
    by_turn, steps = judged(founding())
    drop, dip = by_turn[8], by_turn[4]
    assert drop.state == "finding"
    assert drop.ratio > 4
    assert drop.p < 0.001
    assert drop.p_adjusted <= 0.005
    assert 0 < dip.p_adjusted_error < 0.02
    assert abs(drop.delta) / drop.between_scenario_sd < 1
    assert (drop.n_trials, drop.n_agree, drop.n_pairs) == (5, 5, 200)
    assert dip.state == "noise"
    assert dip.p > 0.05
    assert steps.units == "scenarios"
    assert any("5 trials flipped whole cannot give a p below 0.0625" in n for n in steps.notes)


def test_suite_and_population_are_two_errors() -> None:
    """Scenarios that disagree widen the error for other scenarios, not that of the suite."""
    step = judged(founding())[0][8]
    assert step.population_std_error > 2 * step.std_error
    assert step.population_low < step.low < step.high < step.population_high
    assert step.population_delta == pytest.approx(step.delta)


def test_false_alarms_over_all_turns() -> None:
    """150 suites of 10 trials and 20 scenarios without a step: a p below .05 in about 5 %."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(150):
        scores = rng.normal(0, 1, (1, 20, 1)) + rng.normal(0, 0.4, (10, 20, 12))
        by_turn, _ = judged(scores, n_flips=199)
        alarms += min(step.p_adjusted for step in by_turn.values()) <= 0.05
    assert alarms <= 150 * 0.05 + 3 * np.sqrt(150 * 0.05 * 0.95)


def test_states() -> None:
    """Real but small is watched, so is large but not settled; a stated size replaces the bar."""
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 0.2, (20, 30, 8))
    scores[:, :, 4:] += rng.normal(-0.15, 0.12, (20, 1, 1))
    small, _ = judged(scores)
    assert small[5].state == "watch"
    assert "real but small" in small[5].why
    assert judged(scores, size=0.1)[0][5].state == "finding"
    large, _ = judged(with_deltas(-0.66, 0.09))
    assert large[8].state == "watch"
    assert "not settled" in large[8].why


def test_one_trial() -> None:
    """The error of the suite is not estimable; scenarios are tested all the same."""
    by_turn, steps = judged(founding()[:1])
    drop = by_turn[8]
    assert (drop.paired_sd, drop.ratio, drop.t, drop.p, drop.low) == (None,) * 5
    assert drop.p_adjusted < 0.01
    assert drop.state == "watch"
    assert "not estimable" in steps.notes[0]
    assert judged(founding()[:1], size=0.5)[0][8].state == "finding"


def test_trials_that_agree_have_no_test() -> None:
    """Deterministic replays: the ratio is infinite, there is no p, and nothing is a finding."""
    scores = np.repeat(np.linspace(3, 2, 8)[None, None, :], 4, axis=0).repeat(25, axis=1)
    by_turn, _ = judged(scores)
    assert by_turn[5].ratio == np.inf
    assert by_turn[5].p is None
    assert by_turn[5].p_adjusted is None


def test_pairs_that_are_lost_are_counted() -> None:
    """A run that ends has its last turn before alone; one with a gap has a turn after alone."""
    scores = np.random.default_rng(0).normal(size=(3, 25, 6))
    scores[0, 0, 3:] = np.nan
    scores[1, 4, 2] = np.nan
    by_turn, _ = judged(scores)
    assert (by_turn[4].n_pairs, by_turn[4].n_before_only, by_turn[4].n_after_only) == (73, 1, 1)
    assert (by_turn[3].n_pairs, by_turn[3].n_before_only) == (74, 1)


@pytest.mark.parametrize("factor", [0.25, 25.0])
def test_invariance(factor: float) -> None:
    """A constant changes no step; a factor scales steps and leaves every t, p and state."""
    plain, _ = judged(founding())
    moved, _ = judged(factor * (founding() + 7))
    for turn, step in plain.items():
        assert moved[turn].delta == pytest.approx(factor * step.delta)
        assert (moved[turn].t, moved[turn].p) == pytest.approx((step.t, step.p))
        assert moved[turn].p_adjusted == pytest.approx(step.p_adjusted)
        assert moved[turn].state == step.state


def test_drop_report_takes_plain_scores() -> None:
    """Mappings by scenario, lists in order and an array give the same."""
    scores = founding()
    listed = [[list(curve) for curve in trial] for trial in scores]
    named = [{f"s{i}": curve for i, curve in enumerate(trial)} for trial in listed]
    shuffled = [dict(sorted(trial.items(), reverse=True)) for trial in named]
    wanted = drop_report(scores, 8)
    for form in (listed, named, [named[0], *shuffled[1:]]):
        given = drop_report(form, 8)
        assert given["delta"] == pytest.approx(wanted["delta"])
        assert given["sd_of_paired_delta"] == pytest.approx(wanted["sd_of_paired_delta"])
    assert wanted["scenario_delta_mean"] == pytest.approx(wanted["delta"])
    assert wanted["scenario_se"] == pytest.approx(
        np.diff(scores.mean(axis=0)[:, 6:8]).std(ddof=1) / 40**0.5
    )


def test_drop_report_pairs_what_is_there() -> None:
    """A scenario that ends early, or that a trial lacks, is no pair."""
    runs = [{"a": [3, 2], "b": [3, 1], "c": [4]}, {"a": [3, 3], "b": [2, None]}]
    report = drop_report(runs, 2)
    assert report["n_pairs"] == 3
    assert report["n_before_only"] == 2
    assert report["delta"] == pytest.approx(((-1 - 2) / 2 + 0) / 2)
    assert drop_report(runs[:1], 2)["ratio"] is None


def test_drop_report_refuses_what_is_not_there() -> None:
    """A turn that no run has, and runs without a score."""
    with pytest.raises(ValueError, match="turn: wanted 2 to 2, got 3"):
        drop_report([{"a": [3, 2]}], 3)
    with pytest.raises(ValueError, match="turn"):
        drop_report([{"a": [3, 2]}], 1)
    with pytest.raises(NotEnoughDataError):
        drop_report([{}], 2)
    with pytest.raises(NotEnoughDataError):
        drop_report([{"a": [3], "b": [None, 4]}], 2)


def a_suite(scores: np.ndarray, **options) -> Suite:
    return suite_of(suite_table(scores), "quality", **options)


def test_a_suite_is_the_scores() -> None:
    """What goes in by trial, scenario and turn comes out; buckets are means over their turns."""
    scores = founding()
    scores[2, 3, 5:] = np.nan
    suite = a_suite(scores)
    np.testing.assert_allclose(suite.values, scores)
    assert suite.n_turns[2, 3] == 5
    assert suite.is_repeated
    wide = a_suite(scores, bucket=5)
    assert wide.values.shape == (5, 40, 3)
    assert wide.starts.tolist() == [1, 6, 11]
    assert wide.values[0, 0, 1] == pytest.approx(scores[0, 0, 5:10].mean())
    assert np.isnan(wide.values[2, 3, 1])


def test_runs_without_a_scenario_stand_alone() -> None:
    """Each is a scenario of its own, in one trial."""
    table = suite_table(founding()[:1, :3])
    table.runs.scenario[:] = None
    suite = suite_of(table, "quality")
    assert suite.values.shape == (1, 3, 12)
    assert not suite.is_repeated


def test_the_same_trial_twice_is_an_error() -> None:
    """It would be two values in one place."""
    table = suite_table(founding()[:2, :2])
    table.runs.trial[:] = 1
    with pytest.raises(InvariantError, match="same trial twice"):
        suite_of(table, "quality")
