"""Signals of repetition are worked out together, in time linear in actions."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from signals.plain_repetition import PLAIN
from signals.plain_repetition import retries as plain_retries
from turncurve.signals import SIGNALS, compute_derived, twins
from turncurve.signals.repetition import repetition_signals, retries
from turncurve.table import CallTable, EventTable, RunTable, TurnTable


def made_up(seed: int, n_runs: int, *, n_kinds: int, transient: float = 0.1) -> TurnTable:
    """Runs of 0 to 60 turns with 0 to 3 actions each, out of `n_kinds`; some have no result."""
    rng = np.random.default_rng(seed)
    n_turns = rng.integers(0, 61, n_runs)
    run = np.repeat(np.arange(n_runs), n_turns)
    row = np.repeat(np.arange(len(run)), rng.integers(0, 4, len(run)))
    n = len(row)
    key = rng.integers(1, n_kinds + 1, n).astype(np.uint64)
    # Keys of actions and of results may coincide, and still must not be mixed up.
    result_key = np.where(rng.random(n) < 0.3, 0, key + rng.integers(0, 2, n).astype(np.uint64))
    failed = (rng.random(n) < 0.3).astype(np.int8)
    return TurnTable(
        runs=RunTable(
            **{
                field.name: n_turns if field.name == "n_turns" else np.full(n_runs, None)
                for field in fields(RunTable)
            }
        ),
        run=run,
        turn=np.concatenate([np.zeros(0, np.int64), *(np.arange(1, k + 1) for k in n_turns)]),
        columns={},
        calls=CallTable(
            row=row,
            key=key,
            result_key=result_key,
            failed=failed,
            transient=(failed == 1) & (rng.random(n) < transient),
        ),
        events=EventTable(
            run=np.zeros(0, np.int64), turn=np.zeros(0, np.int64), kind=np.full(0, None)
        ),
        info={},
    )


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(0, 12),
    st.sampled_from([1, 3, 8, 30, 1000]),
    st.sampled_from([0.0, 0.02, 0.5]),
)
def test_together_they_are_what_each_is_alone(
    seed: int, n_runs: int, n_kinds: int, transient: float
) -> None:
    """On random tables every value is, to the last bit, that of the plain definitions."""
    table = made_up(seed, n_runs, n_kinds=n_kinds, transient=transient)
    found = repetition_signals(table)
    assert set(found) == set(PLAIN)
    for name, plain in PLAIN.items():
        assert_array_equal(found[name], plain(table), err_msg=name)
    assert_array_equal(retries(table), plain_retries(table))


@pytest.mark.parametrize("n_kinds", [4, 40])
def test_they_are_the_same_over_many_blocks(n_kinds: int) -> None:
    """A table of several blocks, some runs of them in circles, has the plain values too."""
    table = made_up(5, 1_500, n_kinds=n_kinds, transient=0.01)
    assert len(table.calls.row) > 2 * twins.BLOCK
    assert len(list(twins.blocks(table))) > 2
    found = repetition_signals(table)
    for name, plain in PLAIN.items():
        assert_array_equal(found[name], plain(table), err_msg=name)


def test_blocks_hold_every_run_once() -> None:
    """The blocks' turns, runs and actions are those of the table, in order and without a gap."""
    table = made_up(3, 1_200, n_kinds=9)
    found = list(twins.blocks(table))
    assert [b.rows.start for b in found] == [0, *(b.rows.stop for b in found[:-1])]
    assert [b.runs.start for b in found] == [0, *(b.runs.stop for b in found[:-1])]
    assert (found[-1].rows.stop, found[-1].runs.stop) == (len(table.turn), table.n_runs)
    assert_array_equal(np.concatenate([b.row + b.rows.start for b in found]), table.calls.row)
    assert_array_equal(
        np.concatenate([b.run + b.runs.start for b in found]), table.run[table.calls.row]
    )


def test_numbers_that_share_their_upper_bits_are_told_apart() -> None:
    """Where 48 bits are equal the full number decides, and equal ones stay in order."""
    mixed = np.array([7, 3, 7, 3, (1 << 60) + 1, 5, (1 << 60) + 1], dtype=np.uint64)
    order, ordered = twins.in_order(mixed)
    assert_array_equal(ordered, np.sort(mixed))
    assert_array_equal(order, np.argsort(mixed, kind="stable"))


def test_a_signal_alone_has_the_values_of_its_family() -> None:
    """`derive` of one signal gives what `compute_derived` adds for all."""
    table = made_up(9, 10, n_kinds=4)
    whole = compute_derived(table)
    for name in PLAIN:
        derive = SIGNALS[name].derive
        assert derive is not None
        assert_array_equal(derive(table), whole.columns[name])
