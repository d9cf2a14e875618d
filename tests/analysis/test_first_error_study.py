"""First errors by rule and condition, and whether they get likelier along a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stats.first_error_runs import EVENT, MODEL, TASK, TIME
from table_factory import make_table
from turncurve.analysis.first_error_settings import FirstErrorSettings
from turncurve.analysis.first_error_study import first_error_study
from turncurve.analysis.settings import Settings
from turncurve.errors import NotEnoughDataError, UnknownNameError
from turncurve.report.plain import dump, plain

GRADES = FirstErrorSettings(rules=("failing_grade",))


def table_of(time, event, *, after=0, **columns):
    """Runs that pass to their last turn, or fail there and in `after` turns after it."""
    runs = {
        f"r{i}": {"error": [0] * (int(t) - 1) + ([1] * (1 + after) if e else [0])}
        for i, (t, e) in enumerate(zip(time, event, strict=True))
    }
    given = {
        name: {f"r{i}": value for i, value in enumerate(values)} for name, values in columns.items()
    }
    return make_table(runs, **given)


def fixture():
    return table_of(TIME, EVENT, condition=MODEL.tolist(), scenario=[f"task {t}" for t in TASK])


def suite(seed, hazards, *, trials, slope=0.0, longest=32):
    """Trials of scenarios with these hazards at turn 1, which change as turn ** slope."""
    rng = np.random.default_rng(seed)
    level = np.repeat(hazards, trials)
    hazard = np.minimum(level[:, None] * np.arange(1, longest + 1) ** slope, 1)
    hit = rng.random(hazard.shape) < hazard
    first = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, 999)
    length = rng.integers(8, longest + 1, len(level))
    time, event = np.minimum(first, length), first <= length
    scenario = np.repeat([f"s{i}" for i in range(len(hazards))], trials).tolist()
    return table_of(time, event, scenario=scenario)


def test_the_oracles_through_a_table():
    """From grades to R's log-rank test and, in one condition, R's mean up to turn 20."""
    found = first_error_study(fixture(), GRADES).rules[0]
    assert found.tests.by_turn.statistic == pytest.approx(1.490915, abs=5e-7)
    assert found.tests.by_turn.p == pytest.approx(0.2220745, abs=5e-8)
    assert found.tests.by_turn.groups == ("A", "B")
    assert found.tests.within_scenarios.n_strata == 8
    ratio = found.tests.ratios[0]
    assert (ratio.condition, ratio.control, ratio.within_scenarios) == ("B", "A", True)
    assert ratio.ratio.df == 7
    assert [group.condition for group in found.groups] == ["A", "B"]
    assert [group.times.n_runs for group in found.groups] == [12, 12]
    one = FirstErrorSettings(rules=("failing_grade",), horizon=20)
    whole = first_error_study(table_of(TIME, EVENT), one).rules[0]
    mean = whole.groups[0].mean_turns
    assert (mean.value, mean.std_error) == pytest.approx((9.725694, 1.172121), abs=5e-7)
    assert (whole.tests, whole.groups[0].condition) == (None, None)
    assert "two are needed" in whole.no_tests


def test_spans_by_hand():
    """Turn 1: one error in 24 runs. Turns 3 and 4: four errors in 22 + 21 turns at risk. All spans:
    20 errors in 227 turns. Turns 9 to 16: 9 of 70 are in error; 17 to 23, of one run, none."""
    spans = first_error_study(table_of(TIME, EVENT), GRADES).rules[0].hazard.spans
    assert [(span.start, span.end) for span in spans] == [
        *((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 23)),
    ]
    assert (spans[0].n_events, spans[0].n_turns, spans[0].hazard) == (1, 24, 1 / 24)
    assert (spans[2].n_events, spans[2].n_turns) == (4, 22 + 21)
    assert sum(span.n_turns for span in spans) == 227
    assert sum(span.n_events for span in spans) == 20
    assert (spans[4].n_values, spans[4].accuracy) == (70, pytest.approx(61 / 70))
    assert (spans[5].n_values, spans[5].accuracy, spans[5].n_events) == (7, 1, 0)


def test_trap_5_as_a_user_meets_it():
    """Two kinds of run with hazards of .01 and .20 that never change: accuracy falls, the pooled
    hazard falls, and the verdict, from within the kinds, is flat. Errors stay once there."""
    rng = np.random.default_rng(41)
    n = 4_000
    hazard = rng.choice([0.01, 0.20], n)
    first, length = rng.geometric(hazard), rng.integers(8, 33, n)
    runs = {
        f"r{i}": {"error": (np.arange(1, length[i] + 1) >= first[i]).astype(float)}
        for i in range(n)
    }
    table = make_table(runs, model={f"r{i}": str(hazard[i]) for i in range(n)})
    by_model = FirstErrorSettings(rules=("failing_grade",), alike="model")
    found = first_error_study(table, by_model).rules[0]
    spans = found.hazard.spans
    assert spans[0].accuracy - spans[-1].accuracy > 0.4
    assert spans[0].hazard > 5 * spans[-1].hazard
    assert found.hazard.pooled.high < 0.75
    assert found.hazard.verdict == "flat"
    assert found.hazard.within.low < 1 < found.hazard.within.high
    assert found.recurrence.recover.value == 0
    # Nothing says which runs are alike: then nothing can be told, least of all from all runs.
    unknown = first_error_study(table, GRADES).rules[0].hazard
    assert unknown.verdict == "cannot tell"
    assert "run each scenario several times" in unknown.why
    assert unknown.n_alone == n


def test_flat_by_scenario():
    """150 scenarios whose constant hazards lie between .01 and .3, five trials each."""
    table = suite(1, np.geomspace(0.01, 0.3, 150), trials=5)
    hazard = first_error_study(table, GRADES).rules[0].hazard
    assert hazard.verdict == "flat"
    assert hazard.pooled.high < 1
    assert (hazard.within.n_clusters, hazard.n_alone) == (hazard.n_strata, 0)
    assert hazard.without_first.value == pytest.approx(hazard.within.value, abs=0.15)


@pytest.mark.parametrize(("slope", "verdict"), [(0.8, "rises"), (-0.8, "falls")])
def test_change_by_scenario(slope, verdict):
    """A hazard that grows, or falls, as turn to the .8: 1.74 times at each doubling, or .57."""
    table = suite(2, np.geomspace(0.01, 0.1, 60), trials=5, slope=slope)
    hazard = first_error_study(table, GRADES).rules[0].hazard
    assert hazard.verdict == verdict
    assert hazard.within.low < 2**slope < hazard.within.high


def test_few_runs_leave_it_open_and_say_how_many_would_do():
    """Eight scenarios of three trials: the verdict is open, with a number."""
    hazard = first_error_study(suite(3, [0.05] * 8, trials=3), GRADES).rules[0].hazard
    assert hazard.verdict == "cannot tell"
    assert "times as many runs" in hazard.why or "no limit" in hazard.why


def test_flat_is_as_narrow_as_asked():
    """With a factor of 1.01 nothing so small is flat."""
    table = suite(1, np.geomspace(0.01, 0.3, 150), trials=5)
    narrow = FirstErrorSettings(rules=("failing_grade",), flat=1.01)
    assert first_error_study(table, narrow).rules[0].hazard.verdict == "cannot tell"


def test_bad_ends_compete():
    """Of four runs one errs at turn 2, one crashes at 1, one fails at 3 without, one is stopped by
    a limit at 4 (censored): as runs end a third of three, had all gone on another share."""
    table = table_of(
        [2, 1, 3, 4],
        [True, False, False, False],
        exit_type=["success_finish", "crash", "unknown", "budget"],
        success=[True, None, False, None],
    )
    curve = first_error_study(table, GRADES).rules[0].groups[0].incidence
    assert (curve.turn, curve.n_events, curve.n_competing) == ((1, 2, 3), 1, 2)
    assert curve.incidence == pytest.approx((0, 0.25, 0.25))
    assert curve.ends == {"crash": 1, "unknown": 1}
    erred = table_of([2, 3], [True, False], exit_type=["crash", "crash"])
    assert first_error_study(erred, GRADES).rules[0].groups[0].incidence.ends == {"crash": 1}
    free = first_error_study(table, GRADES).rules[0].groups[0].times.survival
    assert free.survival == pytest.approx((2 / 3,))
    also = FirstErrorSettings(rules=("failing_grade",), competing=("budget",))
    assert first_error_study(table, also).rules[0].groups[0].incidence.ends == {"budget": 1}


def test_other_scenarios_have_limits_of_their_own():
    """Where scenarios repeat the median has two sets of limits; where they do not, one."""
    group = (
        first_error_study(table_of(TIME, EVENT, scenario=TASK.tolist()), GRADES).rules[0].groups[0]
    )
    assert [q.turn for q in group.other_scenarios] == [q.turn for q in group.times.quantiles]
    assert group.incidence.n_clusters == 8
    assert len(group.incidence.low_other_scenarios) == len(group.incidence.turn)
    assert group.mean_turns.n_clusters == 8
    alone = first_error_study(table_of(TIME, EVENT), GRADES).rules[0].groups[0]
    assert (alone.other_scenarios, alone.incidence.low_other_scenarios) == ((), ())


def test_all_runs_are_accounted_for():
    """Over conditions, runs that count and runs left out are all runs; a sub-agent's run counts as
    left out and not under a condition of its own."""
    table = make_table(
        {
            "a": {"error": [0, 1]},
            "b": {"error": [0, 0]},
            "c": {},
            "d": {"quality": [1]},
            "e": {"error": [1]},
        },
        condition={"a": "x", "b": "y", "c": "y", "d": "x", "e": "only sub-agents"},
        parent={"e": "a"},
    )
    found = first_error_study(table, GRADES)
    groups = found.rules[0].groups
    assert [group.condition for group in groups] == ["x", "y"]
    counted = [group.times.n_runs + sum(group.times.n_excluded.values()) for group in groups]
    assert sum(counted) == found.n_runs == 5
    assert groups[0].times.n_excluded == {
        "run of a sub-agent": 1,
        "run without a value for the rule": 1,
    }


def test_rolling_rule_has_onset_and_starts_late():
    """Under a window of 5 the trend starts at turn 9, an alarm comes two turns after a step of 1 to
    0, and overlapping windows make no chain."""
    runs = {f"r{i}": {"quality": [1.0] * (10 + i) + [0.0] * 6} for i in range(6)}
    settings = FirstErrorSettings(rules=("rolling_quality",), reading=Settings(resamples=50))
    found = first_error_study(make_table(runs), settings).rules[0]
    delay = found.groups[0].delay
    assert (delay.median, delay.largest, delay.n_runs, delay.onset) == (1, 1, 6, None)
    assert found.hazard.from_turn == 9
    assert found.hazard.spans[0].start == 5
    assert found.recurrence is None
    assert "overlap" in found.no_recurrence
    one = first_error_study(make_table({"r": runs["r0"]}), settings).rules[0].groups[0]
    assert (one.times.first_turn, one.delay.onset) == (12, 11)


def test_alarms_of_noise_are_no_trend():
    """Quality that stays as it is alarms most at the first full window. Over 20 suites of 40
    scenarios by 5 the trend, which starts after that, is sure of a fall in at most two."""
    rng, falls = np.random.default_rng(1), 0
    settings = FirstErrorSettings(
        rules=("rolling_quality",), reading=Settings(threshold=0.7, resamples=10)
    )
    for _ in range(20):
        runs, scenario = {}, {}
        for i in range(200):
            noise = rng.normal(size=60)
            for t in range(1, 60):
                noise[t] = 0.5 * noise[t - 1] + 0.866 * noise[t]
            runs[f"r{i}"], scenario[f"r{i}"] = {"quality": 1 + 0.3 * noise}, f"s{i // 5}"
        table = make_table(runs, scenario=scenario)
        falls += first_error_study(table, settings).rules[0].hazard.verdict == "falls"
    assert falls <= 2


def test_horizon_is_as_far_as_five_runs_of_each_condition():
    """Six runs of x to turn 20, six of y to turns 5 to 10: five of y reach 6."""
    table = table_of([20] * 6 + [5, 6, 7, 8, 9, 10], [False] * 12, condition=["x"] * 6 + ["y"] * 6)
    groups = first_error_study(table, GRADES).rules[0].groups
    assert [group.mean_turns.value for group in groups] == [6, 6]
    assert groups[0].mean_turns.low is None
    far = FirstErrorSettings(rules=("failing_grade",), horizon=50)
    absent = first_error_study(table, far).rules[0].groups[0].mean_turns
    assert absent.value is None
    assert "got 20" in absent.reason


def test_every_rule_that_applies():
    """Without a name all rules apply that some run has values for; none is an error."""
    table = make_table({"a": {"error": [0, 1], "tool_error": [0, 0]}})
    names = [rule.rule for rule in first_error_study(table).rules]
    assert names == ["rolling_quality", "failing_grade", "tool_error"]
    with pytest.raises(NotEnoughDataError, match="scores, grades"):
        first_error_study(make_table({"a": {"output_tokens": [1]}}))
    with pytest.raises(UnknownNameError, match="failing_grade"):
        first_error_study(table, FirstErrorSettings(rules=("oops",)))


def test_a_rule_without_values_is_absent_with_a_reason():
    """Asked for by name, a rule that no run has values for counts all runs out."""
    found = first_error_study(make_table({"a": {"output_tokens": [1, 2]}}), GRADES).rules[0]
    assert found.groups[0].times.n_runs == 0
    assert found.groups[0].incidence is None
    assert found.groups[0].mean_turns.value is None
    assert (found.hazard.verdict, found.hazard.spans) == ("cannot tell", ())
    assert found.recurrence is None


@pytest.mark.parametrize(
    "runs", [{"a": {"error": [0]}}, {"a": {"error": [1]}}, {"a": {"error": [0]}, "b": {}}]
)
def test_smallest_inputs(runs):
    """One turn of one run gives a result that JSON can hold."""
    found = first_error_study(make_table(runs), GRADES)
    assert json.loads(dump(plain(found)))["rules"][0]["hazard"]["verdict"] == "cannot tell"


def test_settings_are_checked():
    """A factor for flat is above 1, a horizon is a turn."""
    with pytest.raises(ValueError, match="above 1"):
        FirstErrorSettings(flat=1.0)
    with pytest.raises(ValueError, match="from 1"):
        FirstErrorSettings(horizon=0)


@pytest.mark.corpus
def test_tau_bench_airline_errors_rise_within_tasks(corpus):
    """200 runs of 50 tasks, 36 with a tool error: pooled, a doubling of the turn makes one 2.9
    times as likely, within tasks far more, since each task errs at turns of its own."""
    import turncurve  # noqa: PLC0415

    table = turncurve.read([corpus("tau_bench")])
    found = first_error_study(table, FirstErrorSettings(rules=("tool_error",))).rules[0]
    assert (found.groups[0].times.n_runs, found.groups[0].times.n_events) == (200, 36)
    assert found.groups[0].incidence.n_competing == 86
    assert found.hazard.verdict == "rises"
    assert found.hazard.pooled.value == pytest.approx(2.88, abs=0.01)
    assert found.hazard.within.low > found.hazard.pooled.high
