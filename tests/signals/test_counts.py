"""Grades, tool errors, tokens, cost and events: what their NaN rules promise."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from signals.hand_made import calling, result, run_of, table_of, turn
from turncurve.model import Event, Grade, Turn


def graded(*validities: str | None) -> Turn:
    """A turn with one grade for each validity; None is a grade that could not be had."""
    return turn(
        1,
        grades=tuple(
            Grade(grader=f"g{i}", validity=v, missing_reason=None if v else "no JSON")
            for i, v in enumerate(validities)
        ),
    )


def test_neutral_and_pass_are_no_error() -> None:
    """Only `fail` counts."""
    for validity, error in (("fail", 1), ("neutral", 0), ("pass", 0)):
        assert_array_equal(table_of(run_of([graded(validity)])).columns["error"], [error])


def test_several_graders_give_the_share_that_judged_it_failing() -> None:
    """Of three graders one has no grade; of the other two one says fail."""
    columns = table_of(run_of([graded("fail", "pass", None)])).columns
    assert_allclose(columns["error"], [0.5])
    assert_array_equal(columns["grade_missing"], [0])


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from([True, False, None]), max_size=4), max_size=6))
def test_the_rate_is_over_results_of_known_status(turns: list[list[bool | None]]) -> None:
    """Results that do not tell count neither as failed nor as worked."""
    run = run_of(
        [
            turn(i, tool_results=tuple(result(failed=f) for f in failed))
            for i, failed in enumerate(turns, 1)
        ]
    )
    columns = table_of(run).columns
    for row, failed in enumerate(turns):
        known = [f for f in failed if f is not None]
        expected = sum(known) / len(known) if known else np.nan
        assert_allclose(columns["tool_error_rate"][row], expected)
        assert_allclose(columns["tool_success"][row], 1 - expected)


def test_a_file_that_cannot_tell_has_no_tool_errors() -> None:
    """Where not one result of a run tells, there is no count of errors, not 0."""
    run = run_of([turn(1, tool_results=(result(failed=None),)), turn(2)])
    assert np.isnan(table_of(run).columns["n_tool_errors"]).all()


def test_tool_errors_are_counted_by_the_detector_that_spoke() -> None:
    """A flag and a return code in one turn are one each, two in all."""
    failures = (result(failed=True), result(failed=True, detector="return_code"))
    columns = table_of(run_of([turn(1, tool_results=failures)])).columns
    names = ("", "_flag", "_return_code", "_status", "_text")
    assert [columns[f"n_tool_errors{name}"][0] for name in names] == [2, 1, 1, 0, 0]


def test_tool_error_of_the_file_stands_in_for_results() -> None:
    """A file of bare numbers that gives `tool_error` has a tool-error rate, and no count."""
    run = run_of([Turn(index=1, values={"tool_error": 1.0}), Turn(index=2)])
    columns = table_of(run).columns
    assert_array_equal(columns["tool_error"], [1, np.nan])
    assert_array_equal(columns["tool_error_rate"], [1, np.nan])
    assert_array_equal(columns["tool_success"], [0, np.nan])
    assert np.isnan(columns["n_tool_errors"]).all()


def test_a_format_that_says_so_has_no_tool_counts() -> None:
    """A run that lists `n_tool_calls` as absent has no counts, whatever its turns hold."""
    run = run_of([calling(1, "a")], absent={"n_tool_calls": "calls are not recorded"})
    columns = table_of(run).columns
    assert np.isnan(columns["n_tool_calls"]).all()
    assert np.isnan(columns["n_tool_errors"]).all()


def test_compactions_are_counted_at_the_first_turn_after() -> None:
    """Two before turn 2 count there; one in a gap of turn numbers counts at the next turn."""
    events = tuple(Event(kind="compaction", turn=t) for t in (2, 2, 4))
    other = (Event(kind="limit", turn=3),)
    run = run_of([turn(1), turn(2), turn(3), turn(5)], events=(*events, *other))
    assert_array_equal(table_of(run).columns["compaction"], [0, 2, 0, 1])


def test_a_compaction_after_the_last_turn_is_in_the_events_alone() -> None:
    """No turn shows its effect."""
    table = table_of(run_of([turn(1)], events=(Event(kind="compaction", turn=2),)))
    assert_array_equal(table.columns["compaction"], [0])
    assert_array_equal(table.events.turn, [2])
