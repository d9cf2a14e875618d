"""What was read: counts and sums."""

from __future__ import annotations

import warnings
from dataclasses import asdict

from table_factory import make_table
from turncurve.analysis.summary import summarise


def test_counts_and_sums():
    """Every key is counted from the runs and turns it is about."""
    table = make_table(
        {
            "a": {
                "context_tokens": [100, 300],
                "cached_input_tokens": [0, 90],
                "output_tokens": [5, 6],
                "cost_usd": [0.5, 0.25],
                "n_tool_calls": [2, 1],
                "n_tool_results": [2, 0],
                "n_tool_errors": [1, 0],
                "format_error": [0, 1],
                "error": [1, None],
                "grade_missing": [0, 1],
            },
            "b": {"error": [0, 0, 0, None]},
            "c": {},
        },
        success={"a": True, "b": False},
        scenario={"a": "s1", "b": "s1", "c": "s2"},
        compaction_turns={"a": [2]},
        exit_text={"a": "Submitted", "b": "Submitted", "c": "Timeout"},
        exit_type={"a": "success_finish", "b": "fail_finish", "c": "crash"},
    )
    assert asdict(summarise(table)) == {
        "n_runs": 3,
        "n_subagent_runs": 0,
        "n_runs_without_turns": 1,
        "n_turns": 6,
        "max_turns": 4,
        "median_turns": 3.0,
        "n_scenarios": 2,
        "n_succeeded": 1,
        "n_failed": 1,
        "input_tokens": 400,
        "cached_input_tokens": 90,
        "output_tokens": 11,
        "max_context_tokens": 300,
        "cost_usd": 0.75,
        "n_tool_calls": 3,
        "n_tool_results": 2,
        "n_tool_errors": 1,
        "n_format_errors": 1,
        "n_compactions": 1,
        "n_missing_grades": 1,
        "error_rate": 0.25,
        "exits": {"Submitted": 2, "Timeout": 1},
        "exit_types": {
            "success_finish": 1,
            "fail_finish": 1,
            "budget": 0,
            "crash": 1,
            "user_abort": 0,
            "still_running": 0,
            "unknown": 0,
        },
    }


def test_what_files_do_not_say_is_none():
    """Unknown counts and sums are None, not 0."""
    found = asdict(summarise(make_table({"a": {"quality": [1]}})))
    said = {"n_runs": 1, "n_subagent_runs": 0, "n_runs_without_turns": 0, "n_turns": 1}
    said |= {"max_turns": 1, "median_turns": 1.0, "exits": {}}
    exit_types = found.pop("exit_types")
    assert sum(exit_types.values()) == exit_types["unknown"] == 1
    assert found == {name: said.get(name) for name in found}


def test_no_runs():
    """Nothing read gives zeros for what is counted and None for the rest."""
    found = summarise(make_table({}))
    assert (found.n_runs, found.n_turns, found.max_turns, found.median_turns) == (0, 0, None, None)


def test_tokens_of_runs_that_only_total():
    """A run's total stands in where its turns lack the figure, in full or in part."""
    table = make_table(
        {
            "whole": {"context_tokens": [10, 20]},
            "total": {"context_tokens": [None, None]},
            "part": {"context_tokens": [10, None]},
            "alone": {"context_tokens": [10, None]},
        },
        total_input_tokens={"whole": 999.0, "total": 1_000.0, "part": 500.0},
    )
    assert summarise(table).input_tokens == 30 + 1_000 + 500 + 10


def test_subagents_use_tokens_and_are_no_runs():
    """A sub-agent's turns and tokens count, but it is no run and has no exit of its own."""
    table = make_table(
        {"a": {"output_tokens": [1]}, "a/sub": {"output_tokens": [5] * 9}},
        parent={"a/sub": "a"},
        success={"a": True, "a/sub": False},
    )
    found = summarise(table)
    assert (found.n_runs, found.n_subagent_runs, found.n_turns, found.max_turns) == (1, 1, 10, 1)
    assert (found.output_tokens, found.n_succeeded, found.n_failed) == (46, 1, 0)
    assert sum(found.exit_types.values()) == 1


def test_sums_beyond_any_number_are_not_known():
    """Amounts whose sum no number can hold give None, without an error and without a warning."""
    columns = ("context_tokens", "output_tokens", "cost_usd", "n_tool_calls", "error")
    table = make_table({"a": {name: [1.7e308, 1.7e308] for name in columns}, "b": {}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = summarise(table)
    assert (found.input_tokens, found.output_tokens, found.cost_usd) == (None, None, None)
    assert (found.n_tool_calls, found.error_rate) == (None, None)
    assert found.max_context_tokens == int(1.7e308)
