"""Missing values and their reasons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table_factory import make_table
from turncurve.analysis.missing import Missing, missing
from turncurve.table import SignalInfo, TurnTable

NAN = float("nan")


def of(signal: str, table: TurnTable) -> Missing | None:
    return next((m for m in missing(table) if m.signal == signal), None)


def test_reasons_of_grades_are_told_apart() -> None:
    """Of five turns one was never graded and two grades are missing: three reasons, not one."""
    table = make_table(
        {
            "r": {
                "error": [0, 1, None, None, None],
                "grade_missing": [0, 0, 1, 1, None],
            }
        }
    )
    assert of("error", table) == Missing(
        signal="error",
        n_missing=3,
        n_turns=5,
        reasons={"a grade was tried and is missing": 2, "the turn was not graded": 1},
    )


def test_a_readers_reason_goes_first() -> None:
    """What a run's file cannot know is said in its reader's words; other runs keep their own."""
    table = make_table(
        {
            "a": {"context_tokens": [None, None]},
            "b": {"context_tokens": [5, None]},
        },
        absent={"a": {"context_tokens": "SWE-agent keeps no tokens by turn"}},
    )
    found = of("context_tokens", table)
    assert found is not None
    assert found.reasons == {
        "SWE-agent keeps no tokens by turn": 2,
        "the file gives no figure for the turn": 1,
    }


def test_a_turn_without_tool_results_has_no_tool_error_rate() -> None:
    """The reason is what the turn lacks."""
    table = make_table({"r": {"tool_error_rate": [0, None, 1]}})
    found = of("tool_error_rate", table)
    assert found is not None
    assert found.reasons == {"turn without a tool result whose outcome is known": 1}


def test_a_signal_without_a_column_is_listed() -> None:
    """A signal that readers call absent and no run has is missing on every turn."""
    table = make_table(
        {"a": {"error": [0, 1]}, "b": {"error": [0]}},
        absent={"a": {"cost_usd": "no cost in this format"}, "b": {}},
    )
    assert of("cost_usd", table) == Missing(
        signal="cost_usd",
        n_missing=3,
        n_turns=3,
        reasons={"no cost in this format": 2, "the file gives no figure for the turn": 1},
    )


def test_a_derived_signal_takes_its_sources_reason() -> None:
    """A run without content has no repeats because of that; one with actions, by the turn."""
    table = make_table(
        {"a": {"repeated_action": [None, None]}, "b": {"repeated_action": [0, None]}},
        absent={
            "a": {"n_tool_calls": "grades hold no content"},
            "b": {"n_tool_calls": "actions are given by name"},
        },
    )
    found = of("repeated_action", table)
    assert found is not None
    assert found.reasons == {"grades hold no content": 2, "turn without an action": 1}


def test_a_run_without_any_tool_result_lacks_just_that() -> None:
    """Where the reader names no reason, it is the turn's."""
    table = make_table(
        {"r": {"tool_error_rate": [None, None]}}, absent={"r": {"n_tool_results": "none kept"}}
    )
    found = of("tool_error_rate", table)
    assert found is not None
    assert found.reasons == {"none kept": 2}
    found = of("tool_error_rate", make_table({"r": {"tool_error_rate": [None, None]}}))
    assert found is not None
    assert found.reasons == {"turn without a tool result whose outcome is known": 2}


def test_complete_signals_and_plain_counts_are_not_listed() -> None:
    """A signal with a value on every turn is no entry; nor is a count behind other signals."""
    table = make_table(
        {"r": {"quality": [1, 1], "n_tool_calls": [None, None]}},
        info={"n_tool_calls": SignalInfo(name="n_tool_calls", title="", curve=False)},
    )
    assert missing(table) == ()


@given(
    st.dictionaries(
        st.sampled_from(["quality", "error", "cost_usd", "mine"]),
        st.lists(st.sampled_from([0.5, NAN]), min_size=6, max_size=6),
        min_size=1,
    ),
    st.sets(st.sampled_from(["quality", "error", "cost_usd", "mine"])),
    st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=6, max_size=6),
)
def test_reasons_add_up(
    columns: dict[str, list[float]], said: set[str], tried: list[float]
) -> None:
    """The reasons' counts add up to the turns without a value, most missing first."""
    table = make_table(
        {"a": {**columns, "grade_missing": tried}, "b": columns},
        absent={"a": dict.fromkeys(said, "not in this format"), "b": {}},
    )
    found = missing(table)
    for each in found:
        assert sum(each.reasons.values()) == each.n_missing > 0
        if each.signal in columns:
            assert each.n_missing == 2 * np.isnan(columns[each.signal]).sum()
    assert [m.n_missing for m in found] == sorted((m.n_missing for m in found), reverse=True)


@pytest.mark.parametrize("table", [make_table({}), make_table({"r": {}})])
def test_nothing_is_missing_from_no_turns(table: TurnTable) -> None:
    """Without turns there is no entry."""
    assert missing(table) == ()
