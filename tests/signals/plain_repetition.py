"""Signals of repetition, each worked out by itself and plainly: what fast ones must equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve.signals.base import FloatArray
from turncurve.stats.permutation import quantile_of, window_repeats_null
from turncurve.table import TurnTable

WINDOW = 10
RETRY_TURNS = 2
LEVEL = 0.95
HALF = WINDOW / 2
FEW = 2

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def repeated_action(table: TurnTable) -> FloatArray:
    """Share of a turn's actions that the run had done before; NaN in a turn without actions.

    Retries of a transient failure are left out. A healthy agent's share grows by itself, because
    ever more of what there is to do has been done once: compare it with the window's.
    """
    kept = ~retries(table)
    return _share_by_turn(table, kept, previous(table, kept) >= 0)


def repeated_action_window(table: TurnTable) -> FloatArray:
    """Share of the run's last 10 actions that equal an earlier one among these 10.

    Taken at the turn's last action; fewer than 10 where the run has had fewer. NaN in a turn
    without actions. Retries of a transient failure are left out.
    """
    kept = ~retries(table)
    row = table.calls.row[kept]
    share = window_repeats(table, kept) / window_sizes(table, kept)
    values = np.full(len(table.turn), np.nan)
    values[row] = share  # of several actions in a turn, the last one stays
    return values


def repeated_action_consecutive(table: TurnTable) -> FloatArray:
    """Share of a turn's actions that equal the action right before; NaN without actions.

    Retries of a transient failure are left out.
    """
    kept = ~retries(table)
    before = previous(table, kept)
    return _share_by_turn(table, kept, (before >= 0) & (np.arange(len(before)) - before == 1))


def repeated_result(table: TurnTable) -> FloatArray:
    """As `repeated_action`, where an action is the same only if its result is too.

    So polling that returns something new is no repeat. NaN in a turn without a result.
    """
    kept = ~retries(table) & (table.calls.result_key != 0)
    return _share_by_turn(table, kept, previous(table, kept, table.calls.result_key) >= 0)


def retry(table: TurnTable) -> FloatArray:
    """Share of a turn's actions that retry a transient failure; NaN in a turn without actions."""
    everything = np.ones(len(table.calls.row), dtype=bool)
    return _share_by_turn(table, everything, retries(table))


def n_actions(table: TurnTable) -> FloatArray:
    """Actions in each turn, retries among them; NaN in a turn without actions."""
    return _count_by_turn(table, np.ones(len(table.calls.row), dtype=bool))


def n_actions_counted(table: TurnTable) -> FloatArray:
    """Actions in each turn that are no retry: what shares of repeats are of; NaN without any."""
    return _count_by_turn(table, ~retries(table))


def n_actions_with_result(table: TurnTable) -> FloatArray:
    """As `n_actions_counted`, of the actions that have a result."""
    return _count_by_turn(table, ~retries(table) & (table.calls.result_key != 0))


def retries(table: TurnTable) -> BoolArray:
    """True for each action that repeats one that failed transiently up to 2 turns before.

    The failure is the last time that the run did the same. Shape (n_actions,).
    """
    calls = table.calls
    if not calls.transient.any():
        return np.zeros(len(calls.row), dtype=bool)
    before = previous(table, np.ones(len(calls.row), dtype=bool))
    turn = table.turn[calls.row]
    near = turn - turn[before] <= RETRY_TURNS
    return np.asarray((before >= 0) & calls.transient[before] & near)


def previous(table: TurnTable, kept: BoolArray, key: NDArray[np.uint64] | None = None) -> IntArray:
    """Position of the last earlier action with the same key in the same run, -1 if there is none.

    Both are positions among the kept actions; shape (n_kept,).
    """
    keys = (table.calls.key if key is None else key)[kept]
    mixed = _mix(keys, run_of(table, kept))
    order = np.argsort(mixed, kind="stable")
    same = mixed[order[1:]] == mixed[order[:-1]]
    before = np.full(len(keys), -1, dtype=np.int64)
    before[order[1:][same]] = order[:-1][same]
    return before


def run_of(table: TurnTable, kept: BoolArray) -> IntArray:
    """The run of each kept action; shape (n_kept,)."""
    run: IntArray = table.run[table.calls.row[kept]]
    return run


def window_sizes(table: TurnTable, kept: BoolArray) -> IntArray:
    """Actions in the trailing window that ends at each kept action: 1 to 10."""
    run = run_of(table, kept)
    first = np.searchsorted(run, run)
    sizes: IntArray = np.minimum(np.arange(len(run)) - first + 1, WINDOW)
    return sizes


def window_repeats(
    table: TurnTable, kept: BoolArray, key: NDArray[np.uint64] | None = None
) -> IntArray:
    """Actions in the trailing window at each kept action that equal an earlier one in the window.

    That is the window's size less the number of distinct actions in it; 0 to 9. As in `previous`,
    `key` says which are equal.
    """
    before = previous(table, kept, key)
    position = np.arange(len(before))
    start = position - window_sizes(table, kept) + 1
    count = np.zeros(len(before), dtype=np.int64)
    for lag in range(min(WINDOW, len(before))):
        # Counts action i - lag of the window that ends at i, if its twin lies in that window too.
        count[lag:] += before[: len(before) - lag] >= start[lag:]
    return count


def _mix(key: NDArray[np.uint64], run: IntArray) -> NDArray[np.uint64]:
    """One number for key and run together: a product by odd constants, which loses nothing."""
    with np.errstate(over="ignore"):
        salt = (run.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        salt ^= salt >> np.uint64(32)
        mixed: NDArray[np.uint64] = (key ^ (salt * np.uint64(0xC2B2AE3D27D4EB4F))) * np.uint64(
            0x165667B19E3779F9
        )
    return mixed


def _share_by_turn(table: TurnTable, kept: BoolArray, marked: BoolArray) -> FloatArray:
    row = table.calls.row[kept]
    n = np.bincount(row, minlength=len(table.turn))
    hits = np.bincount(row, weights=marked, minlength=len(table.turn))
    share: FloatArray = np.divide(hits, n, out=np.full(len(table.turn), np.nan), where=n > 0)
    return share


def _count_by_turn(table: TurnTable, kept: BoolArray) -> FloatArray:
    n = np.bincount(table.calls.row[kept], minlength=len(table.turn))
    return np.where(n > 0, n, np.nan)


def spiral(table: TurnTable) -> FloatArray:
    """1 where a run is in a spiral, 0 where it is not.

    It is at a turn if, of the 10 actions up to the turn's last one,

    - at least half repeat an earlier one among these 10, and more do than in 95 % of random orders
      of the run's own actions, or
    - at most 2 are distinct, which finds a run that is stuck for most of its length, so that its
      own actions in any order repeat as much.

    An action is the same only if its result is too, where it has one: polling that returns
    something new each time is no spiral. The distribution over random orders is worked out exactly,
    so there is no seed. Retries of a transient failure are left out. NaN in a turn without actions,
    and before the run's tenth.
    """
    kept = ~retries(table)
    keys = np.where(table.calls.result_key != 0, table.calls.result_key, table.calls.key)
    row, key, run = table.calls.row[kept], keys[kept], run_of(table, kept)
    repeats = window_repeats(table, kept, keys)
    full = window_sizes(table, kept) == WINDOW
    stuck = full & (repeats >= WINDOW - FEW)
    suspect = full & (repeats >= HALF)
    limit = np.full(table.n_runs, WINDOW)
    for position in np.unique(run[suspect & ~stuck]).tolist():
        start, end = np.searchsorted(run, [position, position + 1])
        _, counts = np.unique(key[start:end], return_counts=True)
        limit[position] = quantile_of(window_repeats_null(counts, WINDOW), LEVEL)
    marked = stuck | (suspect & (repeats > limit[run]))
    values = np.full(len(table.turn), np.nan)
    # Of several actions in a turn, the last one stays.
    values[row] = np.where(full, marked.astype(np.float64), np.nan)
    return values


PLAIN = {
    "n_actions": n_actions,
    "n_actions_counted": n_actions_counted,
    "n_actions_with_result": n_actions_with_result,
    "repeated_action": repeated_action,
    "repeated_action_window": repeated_action_window,
    "repeated_action_consecutive": repeated_action_consecutive,
    "repeated_result": repeated_result,
    "retry": retry,
    "spiral": spiral,
}
