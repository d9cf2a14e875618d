"""Time to first error."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from table_factory import make_table
from turncurve.analysis.first_error import available_rules, first_bad_turn, time_to_first_error
from turncurve.analysis.settings import Settings
from turncurve.errors import UnknownNameError

# Turn of the first failing grade, or of the last turn; the last of each pair says which (24 runs).
TIME = [13, 5, 4, 9, 11, 15, 23, 4, 16, 12, 15, 5, 16, 5, 13, 14, 5, 12, 12, 1, 3, 8, 2, 4]
CENSORED = {5, 6, 17, 18}


def graded_runs():
    """24 runs of grades: all pass but the last of those that fail."""
    runs = {}
    for i, time in enumerate(TIME):
        runs[f"r{i}"] = {"error": [0] * (time - 1) + [0 if i in CENSORED else 1]}
    return make_table(runs)


def test_failing_grade_is_kaplan_meier_of_the_runs():
    """From grades to the quantiles and survival that R gives for these times."""
    found = time_to_first_error(graded_runs(), "failing_grade")
    assert (found.n_runs, found.n_events, found.n_censored) == (24, 20, 4)
    assert [(q.p, q.turn) for q in found.quantiles] == [(0.1, 3), (0.25, 4), (0.5, 9), (0.75, 15)]
    assert [(q.low, q.high) for q in found.quantiles] == [(1, 4), (1, 5), (5, 14), (12, None)]
    at = dict(zip(found.survival.turn, found.survival.survival, strict=True))
    assert_allclose([at[5], at[9], at[15]], [0.5833333, 0.5, 0.2083333], atol=5e-8)
    assert found.survival.n_at_risk[0] == 24


def test_midpoint_rule_gives_rs_median():
    """With ties at the midpoint the median is R's 10, and not a whole turn at the quarter."""
    found = time_to_first_error(graded_runs(), "failing_grade", tie="midpoint")
    assert [q.turn for q in found.quantiles] == [3, 4.5, 10, 15]


RULES = {
    "rolling_quality": {"quality": [1, 1, 1, 1, 0, 0.4, 1]},
    "low_quality": {"quality": [1, 1, 0.69, 0, 1]},
    "failing_grade": {"error": [0, None, 0, 1, 1]},
    "schema_violation": {"schema_valid": [1, None, 0, 1]},
    "rule_breach": {"adherence": [1, 1, None, 0.75]},
    "tool_error": {"tool_error": [None, 0, 0, 0, 1]},
}
FIRST = {
    "rolling_quality": 6,
    "low_quality": 3,
    "failing_grade": 4,
    "schema_violation": 3,
    "rule_breach": 4,
    "tool_error": 5,
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_its_first_turn(rule):
    """Each rule fires at the first turn that breaks it; a missing value breaks nothing."""
    table = make_table({"a": RULES[rule]})
    assert rule in available_rules(table)
    assert time_to_first_error(table, rule).first_turn == FIRST[rule]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_without_values_says_so(rule):
    """Where no run has what a rule goes by, all are excluded, nothing is estimated, and it says
    why."""
    table = make_table({"a": {"output_tokens": [1, 2]}, "b": {}})
    found = time_to_first_error(table, rule)
    assert rule not in available_rules(table)
    assert (found.n_runs, found.quantiles, found.first_turn) == (0, (), None)
    assert found.n_excluded == {"run without a turn": 1, "run without a value for the rule": 1}
    assert found.why


def test_rolling_rule_comes_first():
    """The rules that apply are listed with the rolling rule first."""
    table = make_table({"a": {"error": [0, 1], "tool_error": [0, 0]}})
    assert available_rules(table) == ("rolling_quality", "failing_grade", "tool_error")


def test_grades_roll_as_one_less_error():
    """On grades the rolling rule takes the share of turns that did not fail."""
    table = make_table({"a": {"error": [0, 0, 0, 1, 0, 1, 1]}})
    found = time_to_first_error(table, "rolling_quality", settings=Settings(window=5))
    assert (found.signal, found.threshold, found.first_turn) == ("error", 0.7, 6)


def test_left_out_runs_add_up():
    """Runs at risk and runs left out, by reason, are all runs."""
    table = make_table(
        {
            "a": {"quality": [1] * 6},
            "b": {"quality": [0.9, 0.9]},
            "c": {"quality": [None] * 6},
            "d": {},
            "e": {"quality": [0] * 6},
        },
        parent={"e": "a"},
    )
    found = time_to_first_error(table, "rolling_quality")
    assert found.n_excluded == {
        "run of a sub-agent": 1,
        "run without a turn": 1,
        "run without a value for the rule": 1,
        "run with fewer than 5 turns that have a value": 1,
    }
    assert found.n_runs + sum(found.n_excluded.values()) == table.n_runs
    assert found.n_events + found.n_censored == found.n_runs


@pytest.mark.parametrize("window", [1, 5])
def test_a_late_first_value_does_not_shrink_the_risk_set(window):
    """Of ten runs of 30 turns one is bad from turn 1 and nine, with values from turn 2 on, never:
    a tenth had the event by the turn of the window's width, and the median is not reached."""
    runs = {f"r{i}": {"quality": [None] + [1.0] * 29} for i in range(1, 10)}
    runs = {"r0": {"quality": [0.0] * 30}, **runs}
    found = time_to_first_error(
        make_table(runs), "rolling_quality", settings=Settings(window=window)
    )
    assert (found.survival.turn, found.survival.survival) == ((window,), (0.9,))
    assert found.survival.n_at_risk == (10,)
    assert {q.p: q.turn for q in found.quantiles} == {
        0.1: window,
        0.25: None,
        0.5: None,
        0.75: None,
    }


@pytest.mark.parametrize("window", [1, 3])
def test_grades_that_start_at_random_turns_leave_survival_true(window):
    """Where runs are bad from turn 1 with chance .2 and grades start at a random turn, late in
    most, a fifth has had the event in the end; entering at the first grade would say far more."""
    rng = np.random.default_rng(3)
    runs = {}
    for i in range(4_000):
        start = int(rng.geometric(0.3))
        quality = np.full(30, 0.0 if rng.random() < 0.2 else 1.0)
        quality[: start - 1] = np.nan
        runs[f"r{i}"] = {"quality": quality}
    settings = Settings(window=window, threshold=0.5, resamples=50)
    found = time_to_first_error(make_table(runs), "rolling_quality", settings=settings)
    # 4,000 runs: a standard error of .006.
    assert found.survival.survival[-1] == pytest.approx(0.8, abs=0.025)


def tool_runs(runs, **given):
    """Runs of turns written E (a failed call), W (one that worked), U (of unknown outcome), ? (a
    call without a result) and - (no call), with the columns that a reader's runs have."""
    known, failed, called = "EW", "E", "EWU?"
    columns = {}
    for name, turns in runs.items():
        tells = not set(turns) & set("U?") or set(turns) & set(known)
        columns[name] = {
            "n_tool_calls": [float(t in called) for t in turns],
            "n_tool_results": [float(t in "EWU") for t in turns],
            "n_tool_results_known": [float(t in known) for t in turns],
            "n_tool_errors": [float(t in failed) if tells else None for t in turns],
            "tool_error": [float(t in failed) if t in known else None for t in turns],
        }
    return make_table(columns, **given)


def test_a_turn_without_a_tool_call_has_no_tool_error():
    """Ten runs: one fails at turn 1, nine call their first tool at turn 2, or never, and none fails
    again: a tenth by turn 1, and all ten at risk then."""
    runs = {"r0": "E" + "-" * 29}
    runs |= {f"r{i}": "-" + "W" * 29 for i in range(1, 6)} | {f"n{i}": "-" * 30 for i in range(4)}
    found = time_to_first_error(tool_runs(runs), "tool_error")
    assert (found.survival.survival, found.survival.n_at_risk) == ((0.9,), (10,))
    assert (found.n_runs, found.n_censored, found.n_excluded) == (10, 9, {})
    assert {q.p: q.turn for q in found.quantiles}[0.5] is None


def test_a_failure_that_the_file_states_counts_without_a_call():
    """Where a file says that a turn's tool call failed and shows none, the turn has failed."""
    table = tool_runs({"a": "W--"})
    stated = table.with_columns({"tool_error": np.array([0.0, 1.0, np.nan])}, {})
    assert time_to_first_error(table, "tool_error").first_turn is None
    assert time_to_first_error(stated, "tool_error").first_turn == 2


def test_a_run_is_followed_to_its_last_turn_without_a_call():
    """A run that stops calling tools is at risk to its last turn: with an event at turn 5 in one of
    two, the other, silent from turn 3 on, still counts."""
    found = time_to_first_error(tool_runs({"a": "WWWWE", "b": "WW-----"}), "tool_error")
    assert (found.survival.turn, found.survival.survival) == ((5,), (0.5,))


def test_runs_whose_format_can_not_tell_of_tool_errors_stay_out():
    """Unknown outcomes are no successes: a run of them is left out, silent turns and all, in
    whatever format; so is a run without calls of a format that never tells. A call at the end
    without a result is unknown."""
    runs = {"told": "WWE", "unknown": "-UU-", "unanswered": "-??-", "mute": "---", "cut": "W-?"}
    runs |= {"unanswered elsewhere": "-??-"}
    table = tool_runs(runs, format={"unknown": "deaf", "unanswered": "deaf", "mute": "deaf"})
    found = time_to_first_error(table, "tool_error")
    assert (found.n_runs, found.n_events) == (2, 1)
    assert found.n_excluded == {"run without a value for the rule": 4}
    assert found.survival.n_at_risk == (1,)
    assert "tool_error" not in available_rules(tool_runs({"mute": "---"}))


def test_one_run_has_its_own_turn():
    """For one run the first bad turn is its own, and its limits say nothing but what must be so."""
    table = make_table({"a": {"quality": [1] * 10 + [0] * 10}})
    found = time_to_first_error(table, "rolling_quality")
    assert first_bad_turn(table) == found.first_turn == 12
    assert {(q.turn, q.low, q.high) for q in found.quantiles} == {(12, 5, None)}


def test_one_run_without_alarm_has_no_bad_turn():
    """A run that never goes bad has no first bad turn, and counts as censored."""
    table = make_table({"a": {"quality": [1] * 10}})
    assert first_bad_turn(table) is None
    assert time_to_first_error(table, "rolling_quality").n_censored == 1


def test_several_runs_have_the_median():
    """For several runs it is the Kaplan-Meier median, and None if fewer than half alarm."""
    bad = {f"b{i}": {"quality": [1] * (10 + i) + [0] * 10} for i in range(3)}
    good = {f"g{i}": {"quality": [1] * 30} for i in range(4)}
    assert first_bad_turn(make_table(bad)) == 13
    assert first_bad_turn(make_table(bad | good)) is None
    assert time_to_first_error(make_table(bad), "rolling_quality").first_turn is None


def test_given_threshold_and_window_are_used():
    """Window and threshold of the settings decide, and are said."""
    table = make_table({"a": {"quality": [0.9, 0.6, 0.9, 0.9]}})
    found = time_to_first_error(
        table, "rolling_quality", settings=Settings(window=2, threshold=0.8)
    )
    assert (found.first_turn, found.window, found.threshold) == (2, 2, 0.8)
    assert "0.8 was given" in found.why


def test_scale_sets_the_default_threshold():
    """On a rubric from 1 to 5 the default threshold is 3.8."""
    table = make_table({"a": {"quality": [5, 4, 3.7, 5]}}, quality_scale=(1, 5))
    found = time_to_first_error(table, "low_quality")
    assert found.threshold == pytest.approx(3.8)
    assert found.first_turn == 3


def test_no_threshold_no_result():
    """Scores on an unknown scale give no threshold: runs are counted out and it says so;
    with a threshold given they count."""
    table = make_table({"a": {"quality": [7] * 6}, "b": {}})
    found = time_to_first_error(table, "rolling_quality")
    assert found.n_excluded == {"run without a turn": 1, "no threshold to go by": 1}
    assert (found.n_runs, found.quantiles, first_bad_turn(table)) == (0, (), None)
    assert "(--threshold X) or the scale (--scale LOW HIGH)" in found.why
    given = time_to_first_error(table, "rolling_quality", settings=Settings(threshold=8))
    assert given.first_turn == 5


@pytest.mark.parametrize("rule", RULES)
def test_no_runs(rule):
    """Without any run there is no result and no rule to offer."""
    found = time_to_first_error(make_table({}), rule)
    assert (found.n_runs, found.quantiles, found.n_excluded) == (0, (), {})
    assert available_rules(make_table({})) == ()


def test_window_is_at_least_one():
    """A window of no turn is a caller's mistake."""
    with pytest.raises(ValueError, match="window"):
        time_to_first_error(
            make_table({"a": {"quality": [1]}}), "rolling_quality", settings=Settings(window=0)
        )


def test_false_alarm_chance_is_an_estimate_with_seed_and_draws():
    """Flat noise of SD .18 around .78 makes the rule fire in nearly every run, and the chance comes
    with its interval, seed, draws and n."""
    rng = np.random.default_rng(7)
    runs = {f"r{i}": {"quality": np.clip(rng.normal(0.78, 0.18, 60), 0, 1)} for i in range(100)}
    table = make_table(runs)
    alarm = time_to_first_error(table, "rolling_quality", settings=Settings(seed=5)).false_alarm
    assert alarm.value == pytest.approx(0.98, abs=0.02)
    assert alarm.low < alarm.value < alarm.high
    assert (alarm.seed, alarm.n_resamples, alarm.n_runs, alarm.n_turns) == (5, 2_000, 100, 6_000)


def test_false_alarm_chance_is_absent_where_noise_can_not_be_seen():
    """Runs of three graded turns show no noise; the chance is absent and says why."""
    table = make_table({"a": {"quality": [1, 0.9, 0.8]}})
    found = time_to_first_error(table, "rolling_quality", settings=Settings(window=2))
    assert found.false_alarm.value is None
    assert "at least 4; got 3" in found.false_alarm.reason


def test_only_the_rolling_rule_has_a_false_alarm_chance():
    """The other rules fire on what happened, so there is no noise to be fooled by."""
    assert time_to_first_error(graded_runs(), "failing_grade").false_alarm is None


def test_repeated_scenarios_are_said():
    """Where trials share scenarios, the result says what its limits stand for."""
    runs = {f"r{i}": {"error": [0, 1]} for i in range(4)}
    table = make_table(runs, scenario=dict.fromkeys(runs, "s"))
    assert any(
        "Scenarios repeat" in w for w in time_to_first_error(table, "failing_grade").warnings
    )
    apart = make_table(runs, scenario={name: name for name in runs})
    assert time_to_first_error(apart, "failing_grade").warnings == ()


def test_state_is_not_hazard():
    """With constant hazards of .01 and .20 in two kinds of run, errors that stay make accuracy by
    turn fall by more than .1, while Kaplan-Meier within each kind is exponential (trap 5)."""
    rng = np.random.default_rng(41)
    n, longest = 1_000, 32
    hazard = rng.choice([0.01, 0.20], n)
    first = rng.geometric(hazard)
    length = rng.integers(8, longest + 1, n)
    runs = {}
    for i in range(n):
        turns = np.arange(1, length[i] + 1)
        runs[f"r{i}"] = {"error": (turns >= first[i]).astype(float)}
    table = make_table(runs)
    state = np.array([(first > t).mean() for t in range(1, longest + 1)])
    assert state[:10].mean() - state[-10:].mean() > 0.1
    for kind in (0.01, 0.20):
        found = time_to_first_error(table.select(hazard == kind), "failing_grade").survival
        at = dict(zip(found.turn, found.survival, strict=True))
        # About 500 runs a kind: the standard error of survival is at most .022.
        assert at[8] == pytest.approx((1 - kind) ** 8, abs=0.07)


def test_unknown_rule():
    """A rule that is not there names those that are."""
    with pytest.raises(UnknownNameError, match="'first_oops'; known: failing_grade, low_quality"):
        time_to_first_error(make_table({}), "first_oops")
