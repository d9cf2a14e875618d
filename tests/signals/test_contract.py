"""What every signal, built in or installed, must keep to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from signals.hand_made import calling, result, run_of, table_of, turn
from turncurve.analysis.degradation import degradation_curve
from turncurve.analysis.settings import Settings
from turncurve.model import Event, Grade, Message, ToolCall, Turn, Usage
from turncurve.signals import SIGNALS

OBSERVED = [name for name in SIGNALS if SIGNALS[name].observe]
DERIVED = [name for name in SIGNALS if SIGNALS[name].derive]

FULL = run_of(
    [
        turn(
            1,
            before=(Message(role="user", text="do it"),),
            tool_calls=(
                ToolCall(id="a", name="bash", arguments={"command": "ls"}),
                ToolCall(id="b", name="read", arguments={"path": "x"}),
            ),
            tool_results=(
                result(failed=False, call_id="a"),
                result(failed=True, call_id="b", detector="text", text="no such file"),
            ),
            usage=Usage(input_uncached=10, cache_read=90, cache_write=5, output=7, reasoning=2),
            cost_usd=0.25,
            started_at=1000.0,
            seconds=1.5,
            format_error=False,
            values={"quality": 0.9, "adherence": 0.5, "n_rules_applicable": 2, "schema_valid": 1},
            grades=(
                Grade(
                    grader="g",
                    validity="fail",
                    complexity="high",
                    dependency="dependent",
                    looping=True,
                ),
            ),
        ),
        turn(
            2,
            tool_calls=(ToolCall(id="c", name="bash", arguments={"command": "ls"}),),
            tool_results=(result(failed=None, call_id="c"),),
            format_error=True,
            grades=(Grade(grader="g", validity=None, missing_reason="no JSON"),),
        ),
        turn(3, grades=(Grade(grader="g", validity="neutral"),)),
    ],
    "full",
    events=(Event(kind="compaction", turn=2), Event(kind="compaction", turn=4)),
    quality_scale=(0.0, 1.0),
)
BARE = run_of([Turn(index=1), Turn(index=2)], "bare", absent={"compaction": "not recorded"})
EMPTY = run_of([], "empty")
NAN = float("nan")
EXPECTED = {
    "quality": [0.9, NAN, NAN],
    "error": [1, NAN, 0],
    "grade_missing": [0, 1, 0],
    "grade_neutral": [0, NAN, 1],
    "grade_looping": [1, NAN, NAN],
    "grade_complexity": [2, NAN, NAN],
    "grade_dependent": [1, NAN, NAN],
    "adherence": [0.5, NAN, NAN],
    "n_rules_applicable": [2, NAN, NAN],
    "schema_valid": [1, NAN, NAN],
    "n_tool_calls": [2, 1, 0],
    "n_tool_results": [2, 1, 0],
    "n_tool_results_known": [2, 0, 0],
    "n_tool_errors": [1, NAN, 0],
    "n_tool_errors_flag": [0, NAN, 0],
    "n_tool_errors_return_code": [0, NAN, 0],
    "n_tool_errors_status": [0, NAN, 0],
    "n_tool_errors_text": [1, NAN, 0],
    "format_error": [0, 1, NAN],
    "context_tokens": [105, NAN, NAN],
    "cached_input_tokens": [90, NAN, NAN],
    "output_tokens": [7, NAN, NAN],
    "reasoning_tokens": [2, NAN, NAN],
    "cost_usd": [0.25, NAN, NAN],
    "cost_estimated": [0, NAN, NAN],
    "phase_explore": [1, 1, NAN],
    "phase_known": [1, 1, NAN],
    "compaction": [0, 1, 0],
    "seconds": [1.5, NAN, NAN],
    "started_at": [1000, NAN, NAN],
    "tool_error": [1, NAN, NAN],
    "tool_error_rate": [0.5, NAN, NAN],
    "tool_success": [0.5, NAN, NAN],
    "n_actions": [2, 1, NAN],
    "n_actions_counted": [2, 1, NAN],
    "n_actions_with_result": [2, 1, NAN],
    "repeated_action": [0, 1, NAN],
    "repeated_action_window": [0, 1 / 3, NAN],
    "repeated_action_consecutive": [0, 0, NAN],
    "repeated_result": [0, 1, NAN],
    "retry": [0, 0, NAN],
    "spiral": [NAN, NAN, NAN],
}


@pytest.mark.parametrize("name", list(SIGNALS))
def test_a_signal_is_known_by_the_name_of_its_column(name: str) -> None:
    """The name in the registry, in the description and of the column are one."""
    assert SIGNALS[name].info.name == name
    assert SIGNALS[name].info.title
    assert SIGNALS[name].info.denominator


@pytest.mark.parametrize("name", list(EXPECTED))
def test_a_hand_made_run_gives_the_values_worked_out_by_hand(name: str) -> None:
    """Each built-in signal has the value that its definition gives, and NaN where it says so."""
    assert_array_equal(table_of(FULL).columns[name], EXPECTED[name])


def test_every_built_in_signal_has_values_worked_out_by_hand() -> None:
    """No built-in signal is left out of the hand-made run."""
    assert set(EXPECTED) == set(SIGNALS)


@pytest.mark.parametrize("name", OBSERVED)
@pytest.mark.parametrize("run", [FULL, BARE, EMPTY], ids=lambda run: run.id)
def test_an_observed_signal_gives_one_number_a_turn(name: str, run: object) -> None:
    """Its shape is (n_turns,), for a run without turns too."""
    observe = SIGNALS[name].observe
    assert observe is not None
    values = observe(run)
    assert values.shape == (len(run.turns),)
    assert values.dtype == np.float64


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_signal_gives_one_number_a_row(name: str) -> None:
    """Its shape is (n_turns,) on a table of several runs, one of them without turns."""
    table = table_of(FULL, EMPTY, BARE)
    values = SIGNALS[name].derive(table)
    assert values.shape == (5,)


@pytest.mark.parametrize("name", list(SIGNALS))
def test_what_a_bare_turn_does_not_say_is_unknown(name: str) -> None:
    """Turns without content, usage or grades have NaN everywhere, never 0."""
    assert np.isnan(table_of(BARE).columns[name]).all()


@pytest.mark.parametrize("name", list(SIGNALS))
def test_values_lie_in_the_stated_range(name: str) -> None:
    """No value lies outside the range that the signal's description states."""
    info = SIGNALS[name].info
    values = table_of(FULL, BARE, EMPTY).columns[name]
    known = values[~np.isnan(values)]
    assert info.low is None or (known >= info.low).all()
    assert info.high is None or (known <= info.high).all()


@pytest.mark.parametrize("name", list(SIGNALS))
def test_another_run_in_the_table_changes_nothing(name: str) -> None:
    """A run's values are the same alone and between others that did the same."""
    other = run_of([calling(i, "bash", "read") for i in range(1, 20)], "other")
    alone = table_of(FULL).columns[name]
    between = table_of(other, FULL, other).columns[name]
    assert_array_equal(between[19:22], alone)


def test_a_rate_names_the_column_of_its_denominator() -> None:
    """Each rate of what a turn may have several of weighs turns by how many it has."""
    weights = {name: SIGNALS[name].info.weight for name in EXPECTED}
    assert {name: weight for name, weight in weights.items() if weight} == {
        "adherence": "n_rules_applicable",
        "tool_error_rate": "n_tool_results_known",
        "tool_success": "n_tool_results_known",
        "repeated_action": "n_actions_counted",
        "repeated_action_consecutive": "n_actions_counted",
        "repeated_result": "n_actions_with_result",
        "retry": "n_actions",
    }


def test_within_a_run_rates_are_over_what_they_count() -> None:
    """In one bucket of turns with one, two and no call, each rate is a ratio of sums."""
    curves = {
        name: degradation_curve(table_of(FULL), name, settings=Settings(bucket=3)).points[0].value
        for name in ("adherence", "tool_error_rate", "repeated_action", "repeated_result")
    }
    # One of two rules; one of two results that tell; `ls` again, of three actions with a result.
    assert curves == {
        "adherence": 0.5,
        "tool_error_rate": 0.5,
        "repeated_action": 1 / 3,
        "repeated_result": 1 / 3,
    }
