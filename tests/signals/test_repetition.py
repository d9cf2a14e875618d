"""Repeated actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from signals.hand_made import calling, doing, result, run_of, table_of, turn
from turncurve.model import Run, ToolCall, Turn
from turncurve.table import TurnTable

sequences = st.lists(st.integers(0, 4), max_size=40)


def column(name: str, *runs: Run) -> np.ndarray:
    return table_of(*runs).columns[name]


def window_by_definition(keys: Sequence[object], window: int = 10) -> list[float]:
    """Share of the last `window` actions that equal an earlier one among them, word for word."""
    shares = []
    for end in range(len(keys)):
        seen = keys[max(0, end - window + 1) : end + 1]
        shares.append(float(np.mean([key in seen[:i] for i, key in enumerate(seen)])))
    return shares


def test_the_founding_example() -> None:
    """Sixty actions `q{turn % 12}` repeat in 48 of 60 turns, and never within ten actions."""
    run = doing([t % 12 for t in range(1, 61)])
    assert column("repeated_action", run).mean() == pytest.approx(0.8)
    assert column("repeated_action_window", run).max() == 0


@settings(deadline=None)
@given(st.lists(sequences, min_size=1, max_size=4))
def test_every_kind_follows_its_definition(runs: list[list[int]]) -> None:
    """Vectorised over several runs, each kind equals its definition written as a loop."""
    table = table_of(*(doing(keys, f"run {i}") for i, keys in enumerate(runs)))
    seen = [key in keys[:i] for keys in runs for i, key in enumerate(keys)]
    in_a_row = [i > 0 and key == keys[i - 1] for keys in runs for i, key in enumerate(keys)]
    window = [share for keys in runs for share in window_by_definition(keys)]
    assert_array_equal(table.columns["repeated_action"], seen)
    assert_array_equal(table.columns["repeated_action_consecutive"], in_a_row)
    assert_allclose(table.columns["repeated_action_window"], window, rtol=1e-12)


@settings(deadline=None)
@given(sequences, st.permutations(range(5)))
def test_what_an_action_is_called_does_not_matter(keys: list[int], names: list[int]) -> None:
    """Renaming the actions one to one changes no signal of repetition."""
    plain, renamed = table_of(doing(keys)), table_of(doing([names[key] for key in keys]))
    for name in ("repeated_action", "repeated_action_window", "spiral", "repeated_result"):
        assert_array_equal(plain.columns[name], renamed.columns[name])


@settings(deadline=None)
@given(sequences, sequences)
def test_the_order_of_runs_does_not_matter(one: list[int], other: list[int]) -> None:
    """Two runs in the other order have the same values."""
    forth = table_of(doing(one, "a"), doing(other, "b"))
    back = table_of(doing(other, "b"), doing(one, "a"))
    n = len(one)
    for name in ("repeated_action", "repeated_action_window", "repeated_action_consecutive"):
        assert_array_equal(forth.columns[name][:n], back.columns[name][len(other) :])
        assert_array_equal(forth.columns[name][n:], back.columns[name][: len(other)])


def test_several_actions_in_a_turn_share_its_value() -> None:
    """Of a turn's three calls two repeat; the turn after it repeats nothing."""
    run = run_of([calling(1, "a", "b", "a"), calling(2, "a", "c", "b"), calling(3, "d")])
    assert_allclose(column("repeated_action", run), [1 / 3, 2 / 3, 0])


def test_a_turn_without_actions_is_missing() -> None:
    """It has NaN for every kind, and the next action still sees the one before it."""
    run = run_of([calling(1, "a"), turn(2), calling(3, "a")])
    for name in ("repeated_action", "repeated_action_consecutive", "repeated_result", "retry"):
        assert np.isnan(column(name, run)[1])
    assert column("repeated_action_consecutive", run)[2] == 1


def polling(*texts: str) -> Run:
    """A run that makes the same call each turn and gets these answers."""
    return run_of(
        [
            turn(
                i,
                tool_calls=(ToolCall(id="c", name="poll"),),
                tool_results=(result(failed=False, call_id="c", text=text),),
            )
            for i, text in enumerate(texts, 1)
        ]
    )


def test_polling_that_returns_something_new_is_no_repeat_by_result() -> None:
    """By its call each poll repeats the first; by its result only an answer seen before does."""
    run = polling("10 %", "20 %", "20 %")
    assert_array_equal(column("repeated_action", run), [0, 1, 1])
    assert_array_equal(column("repeated_result", run), [0, 0, 1])


def test_calls_without_a_result_are_not_compared_by_result() -> None:
    """Two calls that got no answer are no repeat by result, and no novelty either."""
    run = run_of([calling(1, "a"), calling(2, "a")])
    assert np.isnan(column("repeated_result", run)).all()


def attempt(index: int, *, transient: bool) -> Turn:
    """A turn that calls `fetch`, which times out (`transient`) or works."""
    return turn(
        index,
        tool_calls=(ToolCall(id="c", name="fetch"),),
        tool_results=(result(failed=transient, call_id="c", transient=transient),),
    )


def test_a_retry_of_a_transient_error_is_no_repeat() -> None:
    """The call after a timeout is a retry: it stands apart, and the next one is a repeat."""
    run = run_of(
        [attempt(1, transient=True), attempt(2, transient=False), attempt(3, transient=False)]
    )
    assert_array_equal(column("retry", run), [0, 1, 0])
    assert_array_equal(column("repeated_action", run), [0, np.nan, 1])


def test_a_repeat_long_after_a_transient_error_is_no_retry() -> None:
    """Three turns later it counts as a repeat again; two turns later it is still a retry."""
    late = run_of([attempt(1, transient=True), turn(2), turn(3), attempt(4, transient=False)])
    soon = run_of([attempt(1, transient=True), turn(2), attempt(3, transient=False)])
    assert_array_equal(column("repeated_action", late), [0, np.nan, np.nan, 1])
    assert_array_equal(column("retry", soon), [0, np.nan, 1])


def test_an_action_key_of_the_file_stands_for_a_call() -> None:
    """A turn without tool calls that names its action repeats it as a call would."""
    run = run_of([Turn(index=i, action=key) for i, key in enumerate(["a", "b", "a"], 1)])
    assert_array_equal(column("repeated_action", run), [0, 0, 1])


def test_the_file_s_own_tool_error_belongs_to_its_action() -> None:
    """`tool_error` beside an action key says whether that action failed."""
    run = run_of(
        [
            Turn(index=1, action="a", values={"tool_error": 1.0}),
            Turn(index=2, action="b", values={"tool_error": 0.0}),
            Turn(index=3, action="c"),
        ]
    )
    assert_array_equal(table_of(run).calls.failed, [1, 0, -1])


def test_results_without_an_id_belong_to_calls_in_order() -> None:
    """Two results for two calls are taken in order; one result for two calls is nobody's."""
    calls = (ToolCall(name="a"), ToolCall(name="b"))
    two = (result(failed=True), result(failed=False))
    run = run_of(
        [
            turn(1, tool_calls=calls, tool_results=two),
            turn(2, tool_calls=calls, tool_results=two[:1]),
        ]
    )
    assert_array_equal(table_of(run).calls.failed, [1, 0, -1, -1])


def test_a_healthy_agent_repeats_itself_ever_more_by_the_whole_run_and_not_by_the_window() -> None:
    """With 25 things to do, the share grows from .15 to .89 over 60 turns; the window's .15 to .17.

    Monte-Carlo error of a mean over 200 runs is at most .025.
    """
    table = healthy(seed=121, n_runs=200)
    whole = table.columns["repeated_action"].reshape(200, 60).mean(axis=0)
    window = table.columns["repeated_action_window"].reshape(200, 60).mean(axis=0)
    assert whole[:10].mean() == pytest.approx(0.15, abs=0.025)
    assert whole[50:].mean() == pytest.approx(0.89, abs=0.025)
    assert window[9] == pytest.approx(0.15, abs=0.025)
    assert window[59] == pytest.approx(0.17, abs=0.025)


def healthy(*, seed: int, n_runs: int, n_turns: int = 60) -> TurnTable:
    """Runs that each turn do one of 25 things, whatever they did before."""
    rng = np.random.default_rng(seed)
    return table_of(
        *(doing(rng.integers(0, 25, n_turns).tolist(), f"run {i}") for i in range(n_runs))
    )
