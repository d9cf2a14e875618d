"""The battery where the truth is known: level, coverage, what it is unmoved by, and its edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.graded_runs import made_up_runs
from table_factory import make_table
from turncurve.analysis.battery import Battery, BatterySettings, battery
from turncurve.analysis.first_error import time_to_first_error
from turncurve.analysis.graded_steps import TIED, TRIED, UNTRIED, graded_steps
from turncurve.analysis.slope import Slope, SlopeSettings
from turncurve.analysis.slope_phase import phase_slopes
from turncurve.analysis.slopes import MODELS, within_cr2
from turncurve.errors import NotEnoughDataError

QUICK = BatterySettings(resamples=19)


def named(result: Battery, name: str) -> Slope:
    return next(one for one in result.slopes if one.name == name)


def by_hand() -> dict[str, dict[str, list[float | None]]]:
    """Two runs of six turns: fails at 2, 5, 6 and at 4; one grade missing, one turn not graded."""
    return {
        "a": {
            "error": [0, 1, 0, 0, 1, 1],
            "grade_missing": [0] * 6,
            "grade_neutral": [1, 0, 0, 1, 0, 0],
            "grade_looping": [0, 0, 0, 1, 1, 1],
            "grade_dependent": [None, 0, None, None, 0, 1],
            "grade_complexity": [0, 1, 2, 0, 1, 2],
        },
        "b": {
            "error": [0, None, 0, 1, 0, None],
            "grade_missing": [0, 1, 0, 0, 0, None],
            "grade_neutral": [1, None, 1, 0, 0, None],
            "grade_looping": [0, None, 1, 0, 0, None],
            "grade_dependent": [None, None, None, 0, None, None],
            "grade_complexity": [0, None, 0, 1, 0, None],
        },
    }


def test_counts_by_hand() -> None:
    """Rates, stretches, first failures and exclusions of ten graded turns."""
    found = battery(make_table(by_hand()), QUICK)
    assert (found.n_runs, found.n_turns, found.unit) == (2, 10, "run")
    assert found.excluded == {TRIED: 1, UNTRIED: 1}
    counted = {r.name: (r.wilson.n_successes, r.wilson.n) for r in found.rates if r.wilson}
    assert counted == {
        "error_rate": (4, 10),
        "neutral_rate": (4, 10),
        "productive_rate": (2, 10),
        "loop_rate": (4, 10),
    }
    error = found.rates[0]
    assert error.pooled.value == pytest.approx(0.4)
    assert error.by_run.value == pytest.approx((3 / 6 + 1 / 4) / 2)
    cascades, failing, loops = found.stretches
    assert (cascades.n, cascades.counts, cascades.n_censored) == (3, {1: 2, 2: 1}, 1)
    assert (failing.n, failing.counts, failing.n_censored) == (3, {1: 2, 2: 1}, 1)
    assert (loops.n, loops.counts, loops.n_censored) == (2, {1: 1, 3: 1}, 1)
    assert loops.mean_length.value == pytest.approx(2.0)
    assert [run.first_error for run in found.runs] == [2, 4]
    assert [run.last_graded for run in found.runs] == [6, 5]
    assert (found.missing.n_missing, found.missing.n_tried) == (1, 11)


def test_a_missing_grade_as_older_tools_count_it() -> None:
    """Neutral and no failure, with a warning; a turn that nobody graded stays out."""
    found = battery(make_table(by_hand()), replace(QUICK, missing="neutral"))
    assert found.n_turns == 11
    assert found.rates[0].wilson is not None
    assert found.rates[0].wilson.n_successes == 4
    assert found.rates[1].pooled.value == pytest.approx(5 / 11)
    assert "counted as neutral" in found.warnings[0]
    assert found.excluded == {UNTRIED: 1}


def test_several_graders_count_by_their_majority() -> None:
    """Two of three make a failure; one of two is a tie, which is missing."""
    table = make_table({"a": {"error": [2 / 3, 1 / 3, 0.5, 0.0]}})
    steps = graded_steps(table)
    np.testing.assert_array_equal(steps.fail, [1, 0, 0])
    assert steps.excluded == {TIED: 1}
    assert steps.warnings[0].startswith("in 3 turns graders disagree")


@pytest.mark.slow
def test_level_where_runs_have_slopes_of_their_own() -> None:
    """30 runs of 60 turns whose slopes vary by .008 about 0: a twentieth reject (trap 1)."""
    rng = np.random.default_rng(11)
    rejected = {"within_cr2": 0, "mean_of_slopes": 0}
    n = 600
    for _ in range(n):
        steps = graded_steps(made_up_runs(rng, slope_sd=0.008))
        for name in rejected:
            p = MODELS[name](steps, SlopeSettings()).p
            assert p is not None
            rejected[name] += p < 0.05
    for count in rejected.values():
        assert count / n == pytest.approx(0.05, abs=0.022)


@pytest.mark.slow
def test_the_interval_holds_the_true_slope() -> None:
    """Tasks with three runs each, whose slopes they share: 95 % of the intervals hold it."""
    rng = np.random.default_rng(12)
    held = 0
    for _ in range(400):
        table = made_up_runs(
            rng, n_runs=30, n_turns=20, slope=0.006, slope_sd=0.006, runs_per_task=3
        )
        slope = within_cr2(graded_steps(table), SlopeSettings()).estimate
        assert slope.low is not None
        assert slope.high is not None
        held += slope.low <= 0.006 <= slope.high
    assert held / 400 == pytest.approx(0.95, abs=0.03)


@pytest.mark.slow
def test_a_slope_that_is_phases_alone_is_explained_by_them() -> None:
    """Acting turns fail more and come late: standardised there is no slope, raw there is."""
    rng = np.random.default_rng(13)
    raw, standardised, share = [], [], []
    for _ in range(60):
        table = made_up_runs(rng, n_runs=40, n_turns=40, phase_drift=0.8, acting=0.4)
        found = phase_slopes(graded_steps(table), SlopeSettings())
        raw.append(found.raw.estimate.value)
        standardised.append(found.standardised.estimate.value)
        share.append(found.share_explained.value or np.nan)
    # The chance of acting rises by .8 over 40 turns, and acting adds .4.
    assert np.mean(raw) == pytest.approx(0.4 * 0.8 / 40, abs=0.0005)
    assert np.mean(standardised) == pytest.approx(0.0, abs=0.0005)
    assert np.nanmean(share) == pytest.approx(1.0, abs=0.07)


def test_slopes_within_phases_are_those_of_their_turns() -> None:
    """Each phase's slope, their difference and the standardised one, as plain least squares."""
    rng = np.random.default_rng(14)
    table = made_up_runs(rng, n_runs=2, n_turns=60, phase_drift=0.5, acting=0.3)
    steps = graded_steps(table)
    both = phase_slopes(steps, SlopeSettings())
    x, y, looks = steps.turn, steps.fail, steps.explore
    dummies = np.stack([steps.run == 0, steps.run == 1], 1).astype(float)
    design = np.column_stack([x * looks, x * (1 - looks), looks, dummies])
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    assert both.explore.estimate.value == pytest.approx(beta[0], rel=1e-8)
    assert both.act.estimate.value == pytest.approx(beta[1], rel=1e-8)
    assert both.difference.estimate.value == pytest.approx(beta[0] - beta[1], rel=1e-8)
    mix = looks.mean()
    wanted = mix * beta[0] + (1 - mix) * beta[1]
    assert both.standardised.estimate.value == pytest.approx(wanted, rel=1e-8)


def test_the_default_slope_is_that_with_a_dummy_a_run() -> None:
    """Turn alone, and with complexity and phase, as plain least squares gives it."""
    steps = graded_steps(made_up_runs(np.random.default_rng(15), n_runs=8, n_turns=15))
    dummies = (steps.run[:, None] == np.arange(8)).astype(float)
    for model, controls in (
        ("within_cr2", []),
        ("within_cr2_controlled", [steps.complexity, steps.explore]),
    ):
        design = np.column_stack([steps.turn, *controls, dummies])
        beta = np.linalg.lstsq(design, steps.fail, rcond=None)[0]
        found = MODELS[model](steps, SlopeSettings())
        assert found.estimate.value == pytest.approx(beta[0], rel=1e-9)
        assert len(found.controls) == len(controls)


def test_between_and_within_add_up() -> None:
    """The slope between runs less that within is the coefficient of the run's mean turn."""
    rng = np.random.default_rng(16)
    tables = {
        f"r{i}": {"error": (rng.random(n) < 0.1 + 0.01 * n).astype(float)}
        for i, n in enumerate(rng.integers(5, 40, 20))
    }
    found = battery(make_table(tables), QUICK).length
    between, within = found.between.estimate.value, found.within.estimate.value
    assert between is not None
    assert within is not None
    assert found.difference.estimate.value == pytest.approx(between - within, rel=1e-8)
    assert between == pytest.approx(0.02, abs=0.012)  # a run 1 longer has its middle .5 later
    assert abs(within) < 0.01


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000))
def test_order_and_names_of_runs_do_not_matter(seed: int) -> None:
    """Runs in another order, under other names, give the same slopes."""
    table = made_up_runs(np.random.default_rng(seed), n_runs=8, n_turns=12, slope_sd=0.01)
    other = table.take_runs(np.random.default_rng(seed + 1).permutation(8))
    for name in ("within_cr2", "within_cr2_controlled", "mean_of_slopes"):
        one, two = (MODELS[name](graded_steps(t), SlopeSettings()).estimate for t in (table, other))
        assert one.value == pytest.approx(two.value, rel=1e-9, abs=1e-12)
        assert one.std_error == pytest.approx(two.std_error, rel=1e-9, abs=1e-12)


def test_turned_round_the_slope_changes_its_sign() -> None:
    """And nothing else changes."""
    table = made_up_runs(np.random.default_rng(17), n_runs=10, n_turns=20)
    back = replace(table, columns={**table.columns})
    fail = table.columns["error"].reshape(10, 20)[:, ::-1].ravel()
    back = back.with_columns({"error": fail}, {})
    one = within_cr2(graded_steps(table), SlopeSettings())
    two = within_cr2(graded_steps(back), SlopeSettings())
    assert one.estimate.value == pytest.approx(-(two.estimate.value or 0))
    assert one.estimate.std_error == pytest.approx(two.estimate.std_error)


def test_large_turns_end_in_no_other_slope() -> None:
    """Turns from a million on: the same slopes, to five digits of their errors."""
    table = made_up_runs(np.random.default_rng(18), n_runs=10, n_turns=20, slope_sd=0.02)
    late = replace(table, turn=table.turn + 1_000_000)
    for a, b in zip(battery(table, QUICK).slopes, battery(late, QUICK).slopes, strict=True):
        assert a.estimate.value is not None
        assert a.estimate.std_error is not None
        within = 1e-5 * a.estimate.std_error
        assert b.estimate.value == pytest.approx(a.estimate.value, abs=within)
        assert b.estimate.std_error == pytest.approx(a.estimate.std_error, rel=1e-5)


def test_who_owns_the_slope() -> None:
    """Nine runs of 4 turns and one of 100 named: it has almost all of the weight."""
    rng = np.random.default_rng(19)
    runs = {f"r{i}": {"error": (rng.random(4) < 0.5).astype(float)} for i in range(9)}
    runs["long"] = {"error": (rng.random(100) < 0.5).astype(float)}
    weight = battery(make_table(runs), QUICK).slopes[0].weight
    assert weight is not None
    assert weight.largest_run == "long"
    squares = np.array([5.0] * 9 + [100 * (100**2 - 1) / 12])
    assert weight.largest_share == pytest.approx(squares[-1] / squares.sum())
    assert weight.effective_runs == pytest.approx(squares.sum() ** 2 / (squares**2).sum())
    assert weight.n_own_half == 1


def test_no_p_where_few_own_the_slope() -> None:
    """Value and interval stand, p is absent, and the reason says how many degrees there are."""
    rng = np.random.default_rng(20)
    runs = {f"r{i}": {"error": (rng.random(4) < 0.5).astype(float)} for i in range(9)}
    runs |= {f"l{i}": {"error": (rng.random(100) < 0.5).astype(float)} for i in range(2)}
    slope = battery(make_table(runs), QUICK).slopes[0]
    assert slope.p is None
    assert slope.no_p is not None
    assert "4 degrees of freedom" in slope.no_p
    assert slope.estimate.low is not None
    assert slope.estimate.df is not None
    assert slope.estimate.df < 4


def test_all_alike_is_no_change_and_no_p() -> None:
    """No turn fails: slope 0, no interval, no p; stretches say that there is none."""
    found = battery(make_table({f"r{i}": {"error": [0, 0, 0, 0]} for i in range(5)}), QUICK)
    slope = found.slopes[0]
    assert slope.estimate.value == 0
    assert (slope.p, slope.estimate.low, slope.estimate.std_error) == (None, None, None)
    assert found.stretches[0].why == "no turn fails"
    assert found.dependence[0].found is None
    assert found.first_error.n_events == 0


def test_one_run_has_no_slope_over_runs_and_says_so() -> None:
    """Two are needed; the run's own slope stands in its row."""
    found = battery(make_table({"a": {"error": [0, 0, 1, 1]}}), QUICK)
    assert found.slopes[0].estimate.value is None
    assert found.slopes[0].estimate.reason == "1 run has turns to compare: two are needed"
    assert found.runs[0].slope == pytest.approx(0.4)
    assert found.verdict.verdict == "error"


def test_one_turn_a_run_has_no_slope() -> None:
    """Nothing to compare within any run."""
    found = battery(make_table({f"r{i}": {"error": [i % 2]} for i in range(4)}), QUICK)
    assert found.slopes[0].estimate.reason == "no run has two turns to compare"
    assert found.rates[0].pooled.value == 0.5


def test_one_task_alone_tells_no_difference() -> None:
    """A configuration of one run beside one of many: no error that knows of others like it."""
    rng = np.random.default_rng(21)
    runs = {f"r{i}": {"error": (rng.random(10) < 0.5).astype(float)} for i in range(6)}
    model = {f"r{i}": "m1" if i else "m0" for i in range(6)}
    groups = battery(make_table(runs, model=model), QUICK).groups
    assert groups.by == "model"
    second = groups.each[1]
    assert second.difference is not None
    assert "alone tells it" in (second.difference.estimate.reason or "")


def test_configurations_are_adjusted_as_a_family() -> None:
    """q is Benjamini and Hochberg's over the configurations that were tested."""
    rng = np.random.default_rng(22)
    table = made_up_runs(rng, n_runs=24, n_turns=20, slope=0.01)
    names = np.array([f"m{i % 3}" for i in range(24)], dtype=object)
    table = replace(table, runs=replace(table.runs, model=names))
    groups = battery(table, QUICK).groups
    p = sorted(one.slope.p or 1 for one in groups.each)
    q = sorted(one.q or 1 for one in groups.each)
    assert groups.n_tested == 3
    assert q[-1] == pytest.approx(p[-1])
    assert q[0] == pytest.approx(min(3 * p[0], 1.5 * p[1], p[2]))


def test_missing_late_grades_are_found_and_bounded() -> None:
    """Grades that lack only late: the test sees it, and the bounds hold the slope of all grades."""
    rng = np.random.default_rng(23)
    whole = made_up_runs(rng, n_runs=20, n_turns=20, slope=0.01)
    lacking = (whole.turn > 12) & (rng.random(400) < 0.5)
    error = np.where(lacking, np.nan, whole.columns["error"])
    table = whole.with_columns({"error": error, "grade_missing": lacking.astype(float)}, {})
    found = battery(table, QUICK).missing
    truth = within_cr2(graded_steps(whole), SlopeSettings()).estimate.value
    assert found.verdict == "finding"
    assert found.lowest_slope.value is not None
    assert found.highest_slope.value is not None
    assert found.lowest_slope.value < (truth or 0) < found.highest_slope.value


def test_the_three_signatures_are_told_apart() -> None:
    """Loops that get likelier, failures that do not: stuck is the finding."""
    rng = np.random.default_rng(24)
    table = made_up_runs(rng, n_runs=30, n_turns=30)
    looping = (rng.random(900) < table.turn / 60).astype(float)
    found = battery(table.with_columns({"grade_looping": looping}, {}), QUICK).signatures
    errors, _, stuck = found.each
    assert (stuck.verdict, stuck.way) == ("finding", "rises")
    assert stuck.slope.estimate.value == pytest.approx(1 / 60, rel=0.25)
    assert stuck.change.value == pytest.approx(20 / 60, abs=0.08)
    assert errors.verdict != "finding"


def test_a_constant_hazard_is_read_with_censoring() -> None:
    """At a hazard of .02, half of the runs cut off early: median 35 by Kaplan-Meier (trap 5)."""
    rng = np.random.default_rng(25)
    runs = {}
    for i in range(3000):
        first, length = int(rng.geometric(0.02)), int(rng.integers(5, 90))
        runs[f"r{i}"] = {"error": (np.arange(1, length + 1) >= first).astype(float)}
    table = graded_steps(make_table(runs)).table
    found = time_to_first_error(table, "failing_grade")
    assert 0.4 < found.n_events / found.n_runs < 0.65
    assert {q.p: q.turn for q in found.quantiles}[0.5] == pytest.approx(35, abs=2)


def test_nothing_graded_is_an_error() -> None:
    """What is wanted."""
    with pytest.raises(NotEnoughDataError, match="turns with a grade"):
        battery(make_table({"a": {"quality": [1, 2]}}))
