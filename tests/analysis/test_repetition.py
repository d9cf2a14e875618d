"""Repeated actions, summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from table_factory import make_table
from turncurve.analysis.repetition import Spiral, repetition
from turncurve.signals.repetition import repetition_signals
from turncurve.stats.ratio import ratio_of_sums
from turncurve.table import TurnTable

COLUMNS = (
    *("repeated_action", "repeated_action_window", "repeated_action_consecutive"),
    "repeated_result",
)


def acting(*runs: Sequence[str], **columns: Sequence[float]) -> TurnTable:
    """Runs with one action a turn, and the columns of the repetition signals."""
    names = {f"r{i}": actions for i, actions in enumerate(runs)}
    table = make_table(
        {name: {"turn_no": [1.0] * len(actions), **columns} for name, actions in names.items()},
        actions=names,
    )
    found = repetition_signals(table)
    return table.with_columns({name: found[name] for name in COLUMNS}, {})


def test_founding_example() -> None:
    """60 turns over 12 queries in turn: 48 of 60 actions were done before, a rate of .8."""
    result = repetition(acting([f"search:q{turn % 12}" for turn in range(1, 61)]))
    assert result.rate.value == 0.8
    assert (result.n_actions, result.n_runs, result.n_retries) == (60, 1, 0)
    assert result.window_rate.value == result.consecutive_rate.value == 0


def test_rates_are_over_actions_of_all_runs() -> None:
    """Runs aab and abcd: one repeat in seven actions, not the mean of 1/3 and 0."""
    result = repetition(acting("aab", "abcd"))
    assert result.rate.value == pytest.approx(1 / 7)
    assert result.consecutive_rate.value == pytest.approx(1 / 7)
    wanted = ratio_of_sums([1, 0], [3, 4])
    assert result.rate.low == 0
    assert result.rate.high == min(1, wanted.high or 0)


def test_subagents_are_left_out_and_counted() -> None:
    """What a sub-agent repeats, and its spiral, are no part of the runs' own."""
    actions = {"main": "aabc", "helper": "x" * 20}
    table = make_table(
        {name: {"turn_no": [1.0] * len(keys)} for name, keys in actions.items()},
        actions=actions,
        parent={"helper": "main"},
    )
    table = table.with_columns(repetition_signals(table), {})
    result = repetition(table)
    assert (result.rate.value, result.n_actions, result.n_runs) == (0.25, 4, 1)
    assert result.excluded == {"run of a sub-agent": 1}
    assert result.spirals == ()
    assert repetition(table.select(np.array([False, True]))).n_spirals == 1


def test_several_actions_in_a_turn_weigh_as_such() -> None:
    """A turn of three actions, two of them repeats, counts three: 2 of 4 in all."""
    table = make_table({"r": {"turn_no": [1.0, 1.0]}}, actions={"r": "ab"})
    table = replace(
        table,
        calls=replace(
            table.calls,
            row=np.array([0, 1, 1, 1]),
            key=np.array([1, 1, 1, 2], dtype=np.uint64),
            result_key=np.zeros(4, dtype=np.uint64),
            failed=np.zeros(4, dtype=np.int8),
            transient=np.zeros(4, dtype=np.bool_),
        ),
    )
    table = table.with_columns(repetition_signals(table), {})
    assert repetition(table).rate.value == pytest.approx(0.5)


def test_retries_stand_apart() -> None:
    """A repeat right after a transient failure is a retry: counted apart, and in no rate."""
    table = acting("aabc")
    calls = replace(
        table.calls,
        failed=np.array([1, 0, 0, 0], dtype=np.int8),
        transient=np.array([True, False, False, False]),
    )
    table = replace(table, calls=calls)
    table = table.with_columns(repetition_signals(table), {})
    result = repetition(table)
    assert (result.n_retries, result.n_actions, result.rate.value) == (1, 3, 0)


def test_spirals_begin_at_their_first_mark() -> None:
    """A run's first marked turn is where its spiral begins; a run without a mark is none."""
    table = acting("abcdef", "abcdef")
    marks = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, np.nan])
    result = repetition(table.with_columns({"spiral": marks}, {}))
    assert result.spirals == (Spiral(run="r0", turn=4, n_turns=2),)
    assert result.n_spirals == 1
    assert repetition(table).n_spirals is None


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=6))
def test_rate_is_repeats_over_actions(runs: list[str]) -> None:
    """The rate is what counting distinct actions gives, and lies within its interval."""
    rate = repetition(acting(*runs)).rate
    repeats = sum(len(run) - len(set(run)) for run in runs)
    assert rate.value == pytest.approx(repeats / sum(map(len, runs)))
    if rate.low is not None and rate.high is not None:
        assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_interval_covers_the_truth() -> None:
    """20 runs of 15 actions out of 8: the interval holds the expected rate in about 95 %."""
    rng = np.random.default_rng(1)
    truth = 1 - 8 * (1 - (7 / 8) ** 15) / 15
    inside = 0
    for _ in range(300):
        rate = repetition(acting(*rng.choice(list("abcdefgh"), (20, 15)).tolist())).rate
        assert rate.low is not None
        assert rate.high is not None
        inside += rate.low <= truth <= rate.high
    assert_allclose(inside / 300, 0.95, atol=3 * np.sqrt(0.05 * 0.95 / 300))


@pytest.mark.parametrize("table", [make_table({}), make_table({"r": {}}), acting("")])
def test_absent_without_actions(table: TurnTable) -> None:
    """Without an action the rates are absent, not 0."""
    result = repetition(table)
    assert result.rate.value is result.n_retries is None
    assert result.rate.reason is not None
    assert result.why == "no turn has an action"
