"""Parts of the battery one by one: what each holds fixed, counts, and says of its runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.graded_runs import made_up_runs
from table_factory import make_table
from turncurve.analysis.battery import BatterySettings, battery
from turncurve.analysis.battery_dependence import dependence, serial_dependence
from turncurve.analysis.battery_signatures import signatures
from turncurve.analysis.battery_stretches import stretch_lengths
from turncurve.analysis.battery_verdict import verdict_of
from turncurve.analysis.graded_steps import TRIED, GradedSteps, graded_steps
from turncurve.analysis.mean_of_runs import mean_of_runs
from turncurve.analysis.slope import Slope, SlopeSettings
from turncurve.analysis.slope_groups import group_slopes, outcome_slopes
from turncurve.analysis.slope_models import published_s4
from turncurve.analysis.slope_phase import phase_slopes
from turncurve.analysis.slopes import slopes, slopes_on_axes, within_cr2
from turncurve.stats.cluster_ols import cluster_ols
from turncurve.stats.estimate import Estimate
from turncurve.stats.gee import gee
from turncurve.stats.logistic_mixed import logistic_mixed

DEFAULT = SlopeSettings()


def steps_of(seed: int, **how: float | int) -> GradedSteps:
    return graded_steps(made_up_runs(np.random.default_rng(seed), **how))  # type: ignore[arg-type]


def test_tasks_are_the_units_where_they_repeat() -> None:
    """Of runs that share tasks the tasks are independent; without repeats, or with one, runs."""
    three = steps_of(1, n_runs=12, n_turns=8, runs_per_task=3)
    assert (three.unit, three.n_clusters) == ("task", 4)
    assert within_cr2(three, DEFAULT).estimate.n_clusters == 4
    assert (steps_of(1, n_runs=12, n_turns=8).unit) == "run"
    alone = steps_of(1, n_runs=6, n_turns=8, runs_per_task=6)
    assert (alone.unit, alone.n_clusters) == ("run", 6)


def test_the_mean_of_runs_has_its_error_over_tasks() -> None:
    """Runs of one task that are copies of each other tell as much as one of them."""
    values = np.repeat([0.1, 0.3, 0.2, 0.6], 3)
    copies = mean_of_runs("m", values, np.repeat(np.arange(4), 3), "task", level=0.95)
    once = mean_of_runs("m", values[::3], np.arange(4), "run", level=0.95)
    assert copies.estimate.value == pytest.approx(once.estimate.value)
    assert copies.estimate.std_error == pytest.approx(once.estimate.std_error)
    assert copies.estimate.df == pytest.approx(3)


def test_lengths_of_stretches_by_hand() -> None:
    """Loops of 1, 3 and, cut off by the end, 1: median 3 by Kaplan-Meier, half sure to go on."""
    looping = [1, 0, 1, 1, 1, 0, 0, 1]
    table = make_table({"a": {"error": [0] * 8, "grade_looping": looping}})
    loops = stretch_lengths(graded_steps(table), level=0.95)[2]
    assert (loops.n, loops.n_censored, loops.longest) == (3, 1, 3)
    assert loops.mean_length.value == pytest.approx(5 / 3)
    assert loops.share_longer.value == pytest.approx(1 / 2)
    # At risk 3, one ends at 1 (survival 2/3), one is cut off, the last ends at 3.
    assert (loops.median, loops.long) == (3, 3)


def test_failures_of_a_phase_are_not_read_as_failures_that_bring_each_other() -> None:
    """Acting comes in blocks and fails: by the run they come together, within phases they don't."""
    rng = np.random.default_rng(2)
    runs = {}
    for r in range(20):
        acts = np.tile(np.repeat([1.0, 0.0], 5), 3)
        fail = (rng.random(30) < np.where(acts == 1, 0.6, 0.05)).astype(float)
        runs[f"r{r}"] = {"error": fail, "phase_explore": 1 - acts}
    whole, within = dependence(graded_steps(make_table(runs)), level=0.95, seed=1, resamples=499)
    assert whole.found is not None
    assert within.found is not None
    assert whole.found.p < 0.01
    assert within.found.p > 0.05


def test_a_drift_is_taken_out_of_ljung_box() -> None:
    """Failing that only gets likelier correlates as it is, and hardly net of each run's line."""
    steps = steps_of(3, n_runs=40, n_turns=60, slope=0.016, level=0.5)
    raw, _, net, _ = serial_dependence(steps, level=0.95)
    assert raw.rejected.value is not None
    assert net.rejected.value is not None
    assert raw.rejected.value > 0.3
    assert net.rejected.value < 0.2


def test_a_turn_that_loops_is_stuck_and_not_flailing() -> None:
    """Neutral turns that loop late count once: as stuck."""
    n = 12
    late = (np.arange(n) >= 8).astype(float)
    one = {"error": np.zeros(n), "grade_neutral": np.ones(n), "grade_looping": late}
    two = {**one, "grade_looping": np.where(np.arange(n) == 7, 1.0, late)}
    steps = graded_steps(make_table({"a": one, "b": two, "c": one}))
    errors, flailing, stuck = signatures(steps, margin=0.1, level=0.95).each
    assert flailing.change.value == pytest.approx(-1)
    assert stuck.change.value == pytest.approx(1)
    assert errors.change.value == 0


def test_what_phases_explain_has_its_error_by_leaving_out_runs() -> None:
    """Raw less standardised, run by run left out, is the jackknife's error."""
    steps = steps_of(4, n_runs=12, n_turns=20, phase_drift=0.8, acting=0.4)
    phases = phase_slopes(steps, DEFAULT)
    found, raw = phases.explained, phases.raw.estimate.value or 0
    assert found.value == pytest.approx(raw - (phases.standardised.estimate.value or 0))
    mix, middle = steps.explore.mean(), steps.turn.mean()
    parts = []
    for r in range(12):
        kept = steps.run != r
        t, looks, y = steps.turn[kept], steps.explore[kept], steps.fail[kept]
        crossed = (t - middle) * (looks - mix)
        alone = cluster_ols(y, t, steps.run[kept], absorb=steps.run[kept]).value[0]
        columns = np.column_stack([t, looks, crossed])
        held = cluster_ols(y, columns, steps.run[kept], absorb=steps.run[kept]).value[0]
        parts.append(alone - held)
    wanted = np.sqrt(11 / 12 * ((parts - np.mean(parts)) ** 2).sum())
    assert found.std_error == pytest.approx(wanted, rel=1e-8)


def test_a_difference_between_configurations_is_the_second_less_the_first() -> None:
    """Slopes of .02 and 0: the second differs from the first by about -.02."""
    rng = np.random.default_rng(5)
    steep = made_up_runs(rng, n_runs=15, n_turns=25, slope=0.02)
    flat = made_up_runs(rng, n_runs=15, n_turns=25)
    runs = {
        f"{name}{r}": {"error": table.columns["error"].reshape(15, 25)[r]}
        for name, table in (("steep", steep), ("flat", flat))
        for r in range(15)
    }
    condition = {run: run.rstrip("0123456789") for run in runs}
    groups = group_slopes(graded_steps(make_table(runs, condition=condition)), DEFAULT)
    first, second = groups.each
    assert groups.by == "condition"
    assert (first.name, second.name, first.difference) == ("steep", "flat", None)
    assert second.difference is not None
    gap = (second.slope.estimate.value or 0) - (first.slope.estimate.value or 0)
    assert second.difference.estimate.value == pytest.approx(gap, rel=1e-8)
    assert gap == pytest.approx(-0.02, abs=0.007)


def test_outcomes_are_told_apart_and_warned_of() -> None:
    """The slope of runs that succeeded is that of these runs alone; one unknown is counted."""
    table = made_up_runs(np.random.default_rng(6), n_runs=13, n_turns=15, slope_sd=0.02)
    success = np.array([1.0, 0.0] * 6 + [np.nan])
    steps = graded_steps(replace(table, runs=replace(table.runs, success=success)))
    found = outcome_slopes(steps, DEFAULT)
    alone = within_cr2(steps.of_runs(success == 1), DEFAULT)
    other = within_cr2(steps.of_runs(success == 0), DEFAULT)
    assert found.succeeded.estimate.value == alone.estimate.value
    assert found.failed.estimate.value == other.estimate.value
    gap = (alone.estimate.value or 0) - (other.estimate.value or 0)
    assert found.difference.estimate.value == pytest.approx(gap, rel=1e-8)
    assert found.n_unknown == 1
    assert "no control" in found.warning


def test_other_axes() -> None:
    """With 1,000 context tokens a turn, 100 turns are 100k tokens; 20 turns are a run."""
    table = made_up_runs(np.random.default_rng(7), n_runs=10, n_turns=20, slope=0.01)
    table = table.with_columns({"context_tokens": np.full(200, 1000.0)}, {})
    steps = graded_steps(table)
    by_turn = within_cr2(steps, DEFAULT).estimate.value or 0
    tokens, progress = slopes_on_axes(steps, DEFAULT)
    assert tokens.per == "100k tokens"
    assert tokens.estimate.value == pytest.approx(100 * by_turn)
    assert progress.estimate.value == pytest.approx(20 * by_turn)
    unknown = slopes_on_axes(steps_of(7, n_runs=4, n_turns=6), DEFAULT)[0].estimate
    assert unknown.reason == "context tokens of the first turn are not known"


def test_short_runs_are_said_to_weigh_as_much() -> None:
    """Two runs of 5 graded turns among long ones; below three turns a run has no slope."""
    rng = np.random.default_rng(8)
    sizes = [2, 5, 5, 20, 20, 20]
    table = make_table(
        {f"r{i}": {"error": (rng.random(n) < 0.5).astype(float)} for i, n in enumerate(sizes)}
    )
    mean = slopes(graded_steps(table), DEFAULT)[2].estimate
    assert any(said.startswith("2 runs of fewer than 8") for said in mean.warnings)
    assert mean.excluded == {"run with fewer than 3 graded turns": 1}
    assert (mean.n_runs, mean.n_turns) == (5, 70)


def test_what_is_no_step_is_among_what_a_slope_leaves_out() -> None:
    """Missing grades are counted with every slope of the list."""
    table = make_table(
        {f"r{i}": {"error": [0, 1, None, i % 2], "grade_missing": [0, 0, 1, 0]} for i in range(4)}
    )
    for slope in slopes(graded_steps(table), DEFAULT):
        assert slope.estimate.excluded[TRIED] == 4


def test_a_run_that_never_fails_has_no_first_failure() -> None:
    """None, and the last graded turn says how far it was seen."""
    found = battery(
        make_table({"a": {"error": [0, 0, 0]}, "b": {"error": [0, 1, 0]}}),
        BatterySettings(resamples=19),
    )
    assert [(run.first_error, run.last_graded) for run in found.runs] == [(None, 3), (2, 3)]


def slope(name: str, value: float, half: float, p: float | None) -> Slope:
    estimate = Estimate(
        estimand="", value=value, std_error=half / 2, low=value - half, high=value + half, df=20
    )
    return Slope(name=name, title=name, estimate=estimate, p=p, controls=("phase",))


@pytest.mark.parametrize(
    ("alone", "held", "wanted"),
    [
        ((0.01, 0.005, 0.001), (0.008, 0.005, 0.01), "finding"),
        ((0.01, 0.005, 0.001), (-0.008, 0.005, 0.01), "inconclusive"),
        ((0.01, 0.005, 0.001), (0.002, 0.005, 0.5), "inconclusive"),
        ((0.001, 0.002, 0.4), (0.0, 0.002, 0.9), "clean"),
        ((0.001, 0.004, 0.6), (0.0, 0.002, 0.9), "inconclusive"),
    ],
)
def test_verdicts(
    alone: tuple[float, float, float], held: tuple[float, float, float], wanted: str
) -> None:
    """A finding is told from 0 twice and goes one way; clean is within .1 over 30 turns."""
    pair = [slope("within_cr2", *alone), slope("within_cr2_controlled", *held)]
    assert verdict_of(pair, span=30, margin=0.1).verdict == wanted


def test_what_would_settle_it_grows_with_the_square_of_the_width() -> None:
    """An interval twice as wide as the margin allows needs four times as many runs."""
    pair = [slope("within_cr2", 0.001, 0.2 / 30, 0.7), slope("within_cr2_controlled", 0, 1, 0.9)]
    found = verdict_of(pair, span=30, margin=0.1)
    assert found.settle is not None
    assert found.settle.startswith("about 4.0 times as many runs")


def test_models_that_compare_runs_have_the_terms_of_the_published_one() -> None:
    """GEE and the logistic effect are those of turn, complexity and phase, built by hand."""
    steps = steps_of(9, n_runs=15, n_turns=16, slope=0.02, runs_per_task=3)
    design = np.column_stack([np.ones(240), steps.turn, steps.complexity, steps.explore])
    found = {one.name: one for one in slopes(steps, DEFAULT)}
    assert list(found)[3:] == ["random_slope", "gee", "glmm_ame", "published_s4"]
    equations = gee(steps.fail, design, steps.cluster)
    assert found["gee"].estimate.value == pytest.approx(equations.value[1], rel=1e-6)
    assert found["gee"].p == pytest.approx(equations.p[1], rel=1e-4)
    logistic = logistic_mixed(steps.fail, design, steps.run)
    assert found["glmm_ame"].estimate.value == pytest.approx(logistic.effect[1], rel=1e-4)
    assert found["glmm_ame"].estimate.df is None
    assert found["published_s4"].estimate.n_clusters == 5
    assert found["random_slope"].estimate.n_clusters == 15
    assert found["random_slope"].estimate.df == 14
    for name in ("random_slope", "gee", "glmm_ame", "published_s4"):
        assert found[name].controls == ("complexity", "phase")
        estimate = found[name].estimate
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < (estimate.value or 0) < estimate.high


def test_a_separated_outcome_has_no_logistic_effect_and_says_why() -> None:
    """Every turn from the fifth on fails, none before: the other models stand."""
    rng = np.random.default_rng(10)
    fail = (np.arange(10) >= 4).astype(float)
    table = make_table({f"r{i}": {"error": fail, "x": rng.random(10)} for i in range(8)})
    found = {one.name: one for one in slopes(graded_steps(table), DEFAULT)}
    assert found["glmm_ame"].estimate.value is None
    assert "separated" in (found["glmm_ame"].estimate.reason or "")
    assert found["within_cr2"].estimate.value == pytest.approx(12 / 82.5)


def test_a_complexity_that_is_not_known_counts_as_low_in_the_published_model() -> None:
    """As in the study: the same fit as with 0 in its place."""
    table = made_up_runs(np.random.default_rng(11), n_runs=10, n_turns=12)
    values = []
    for fill in (np.nan, 0.0):
        complexity = table.columns["grade_complexity"].copy()
        complexity[::7] = fill
        steps = graded_steps(table.with_columns({"grade_complexity": complexity}, {}))
        values.append(published_s4(steps, DEFAULT).estimate.value)
    assert values[0] is not None
    assert values[0] == pytest.approx(values[1], rel=1e-9)
