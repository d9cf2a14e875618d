"""Repetition on random tables, beside the definitions written out action by action."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from table_factory import make_table
from turncurve.signals import compute_derived
from turncurve.signals.repetition import repetition_signals
from turncurve.signals.twins import BLOCK, WINDOW
from turncurve.stats.permutation import quantile_of, window_repeats_null
from turncurve.table import CallTable, TurnTable

NAMES = (
    *("n_actions", "n_actions_counted", "n_actions_with_result", "retry", "repeated_action"),
    *("repeated_action_window", "repeated_action_consecutive", "repeated_result", "spiral"),
)


def random_table(seed: int, n_runs: int, n_turns: int, n_kinds: int) -> TurnTable:
    """Runs of up to n_turns turns with 0 to 3 actions of few kinds, some failing transiently."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, n_turns + 1, size=n_runs)
    table = make_table({f"r{i}": {"quality": [1.0] * n} for i, n in enumerate(lengths.tolist())})
    row = np.repeat(np.arange(len(table.turn)), rng.integers(0, 4, size=len(table.turn)))
    n = len(row)
    key = rng.integers(1, n_kinds + 1, size=n).astype(np.uint64) * np.uint64(2**40 + 1)
    result = np.where(
        rng.random(n) < 0.2, 0, key * 8 + rng.integers(0, 2, size=n).astype(np.uint64)
    )
    failed = rng.integers(-1, 2, size=n).astype(np.int8)
    calls = CallTable(
        row=row,
        key=key,
        result_key=result.astype(np.uint64),
        failed=failed,
        transient=(failed == 1) & (rng.random(n) < 0.5),
    )
    return TurnTable(
        runs=table.runs,
        run=table.run,
        turn=table.turn,
        columns=table.columns,
        calls=calls,
        events=table.events,
        info=table.info,
    )


def written_out(table: TurnTable) -> dict[str, np.ndarray]:
    """Every signal by its definition, one run and one action at a time."""
    found = {name: np.full(len(table.turn), np.nan) for name in NAMES}
    calls = table.calls
    for run in range(table.n_runs):
        own = [i for i in range(len(calls.row)) if table.run[calls.row[i]] == run]
        retried = {i for i in own if is_retry(table, own, i)}
        kept = [i for i in own if i not in retried]
        for row in sorted({int(calls.row[i]) for i in own}):
            of_turn = [i for i in own if calls.row[i] == row]
            found["n_actions"][row] = len(of_turn)
            found["retry"][row] = sum(i in retried for i in of_turn) / len(of_turn)
        for row in sorted({int(calls.row[i]) for i in kept}):
            one_turn(table, kept, row, found)
    return found


def is_retry(table: TurnTable, own: list[int], i: int) -> bool:
    calls = table.calls
    same = [j for j in own if j < i and calls.key[j] == calls.key[i]]
    if not same or not calls.transient[same[-1]]:
        return False
    return bool(table.turn[calls.row[i]] - table.turn[calls.row[same[-1]]] <= 2)


def one_turn(table: TurnTable, kept: list[int], row: int, found: dict[str, np.ndarray]) -> None:
    calls = table.calls
    key, result = calls.key.tolist(), calls.result_key.tolist()
    either = [r or k for k, r in zip(key, result, strict=True)]
    of_turn = [i for i in kept if calls.row[i] == row]
    n = len(of_turn)
    found["n_actions_counted"][row] = n
    before = {i: [j for j in kept if j < i] for i in of_turn}
    found["repeated_action"][row] = (
        sum(any(key[j] == key[i] for j in before[i]) for i in of_turn) / n
    )
    found["repeated_action_consecutive"][row] = (
        sum(bool(before[i]) and key[before[i][-1]] == key[i] for i in of_turn) / n
    )
    answered = [i for i in of_turn if result[i]]
    if answered:
        found["n_actions_with_result"][row] = len(answered)
        found["repeated_result"][row] = sum(
            any(result[j] == result[i] for j in before[i] if result[j]) for i in answered
        ) / len(answered)
    window = [j for j in kept if j <= of_turn[-1]][-WINDOW:]
    found["repeated_action_window"][row] = 1 - len({key[j] for j in window}) / len(window)
    if len(window) == WINDOW:
        n_distinct = len({either[j] for j in window})
        counts = np.unique([either[j] for j in kept], return_counts=True)[1]
        limit = quantile_of(window_repeats_null(counts, WINDOW), 0.95)
        repeats = WINDOW - n_distinct
        found["spiral"][row] = n_distinct <= 2 or (repeats >= 5 and repeats > limit)


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(1, 25), st.integers(1, 12))
@settings(deadline=None, max_examples=40)
def test_equals_the_definitions(seed: int, n_runs: int, n_turns: int, n_kinds: int) -> None:
    """On any table every signal of repetition is what its definition gives, NaN included."""
    table = random_table(seed, n_runs, n_turns, n_kinds)
    computed, expected = repetition_signals(table), written_out(table)
    for name in NAMES:
        np.testing.assert_allclose(computed[name], expected[name], rtol=0, atol=1e-12, err_msg=name)


def test_runs_do_not_depend_on_their_neighbours() -> None:
    """With more actions than one block holds, each run has what it has alone."""
    table = random_table(3, 1_500, 40, 9)
    assert len(table.calls.row) > BLOCK
    together = compute_derived(table)
    for run in (0, 1, 700, 1_498, 1_499):
        alone = compute_derived(table.select(np.arange(table.n_runs) == run))
        own = together.run == run
        for name in NAMES:
            assert together.columns[name][own] == pytest.approx(alone.columns[name], nan_ok=True)
