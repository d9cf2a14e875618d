"""Actions that a run had done before: found by sorting, some whole runs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable

WINDOW = 10
"""Actions in the trailing window."""

BLOCK = 1 << 15
"""Actions worked on at once, so that they stay near the processor; a run is never cut."""

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
KeyArray = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """Actions of some neighbouring runs, in the table's order; arrays of shape (n_actions,).

    Attributes:
        rows: Where the runs' turns are in the table.
        runs: Where the runs are in its run table.
        row: Turn of each action, from 0 for the first of `rows`.
        run: Run of each action, from 0 for the first of `runs`.
        key: As in the call table.
        result_key: As in the call table.
        failed_transiently: True for a failure that a retry may cure.
    """

    rows: slice
    runs: slice
    row: IntArray
    run: IntArray
    key: KeyArray
    result_key: KeyArray
    failed_transiently: BoolArray

    def __len__(self) -> int:
        return len(self.row)

    @property
    def n_rows(self) -> int:
        """Turns of the runs, those without an action included."""
        return int(self.rows.stop - self.rows.start)

    @property
    def n_runs(self) -> int:
        """Runs, those without an action included."""
        return int(self.runs.stop - self.runs.start)

    def where(self, kept: BoolArray) -> Actions:
        """Only the kept actions of the same runs."""
        return replace(
            self,
            row=self.row[kept],
            run=self.run[kept],
            key=self.key[kept],
            result_key=self.result_key[kept],
            failed_transiently=self.failed_transiently[kept],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """Which actions of a run are the same: positions, those of one kind together and in order.

    Attributes:
        order: Positions of the actions; shape (n_actions,).
        kind: A number for each position in `order` that rises from kind to kind; kinds of
            different runs differ.
    """

    order: IntArray
    kind: IntArray

    def where(self, kept: BoolArray) -> Twins:
        """The same of the kept actions only, at their positions among the kept ones."""
        chosen = kept[self.order]
        position = np.cumsum(kept) - 1
        return Twins(order=position[self.order[chosen]], kind=self.kind[chosen])

    def before(self) -> IntArray:
        """Position of each action's last earlier twin, -1 without one; shape (n_actions,)."""
        again = self.kind[1:] == self.kind[:-1]
        before = np.full(len(self.order), -1, dtype=np.int64)
        before[self.order[1:][again]] = self.order[:-1][again]
        return before


def blocks(table: TurnTable) -> Iterator[Actions]:
    """The actions of a table in order, whole runs at a time: every run is in one block."""
    calls, offsets = table.calls, table.offsets
    first = np.searchsorted(calls.row, offsets)
    bounds = np.searchsorted(first, np.arange(0, len(calls.row), BLOCK), side="right") - 1
    edges = np.unique([0, *bounds.tolist(), table.n_runs]).tolist()
    for start, stop in pairwise(edges):
        own = slice(first[start], first[stop])
        n_actions = np.diff(first[start : stop + 1])
        yield Actions(
            rows=slice(int(offsets[start]), int(offsets[stop])),
            runs=slice(start, stop),
            row=calls.row[own] - offsets[start],
            run=np.repeat(np.arange(stop - start), n_actions),
            key=calls.key[own],
            result_key=calls.result_key[own],
            failed_transiently=calls.transient[own],
        )


def twins(actions: Actions, key: KeyArray) -> Twins:
    """Which actions have the same key in the same run; `key` has shape (n_actions,)."""
    mixed = _mixed(key, actions.run)
    order, by_kind = in_order(mixed)
    kind = np.zeros(len(mixed), dtype=np.int64)
    np.cumsum(by_kind[1:] != by_kind[:-1], out=kind[1:])
    return Twins(order=order, kind=kind)


def window_sizes(actions: Actions) -> IntArray:
    """Actions in the trailing window that ends at each action: 1 to 10; shape (n_actions,)."""
    ends = np.cumsum(np.bincount(actions.run, minlength=actions.n_runs))
    starts = np.concatenate([[0], ends[:-1]])
    sizes: IntArray = np.minimum(np.arange(len(actions)) - starts[actions.run] + 1, WINDOW)
    return sizes


def window_repeats(actions: Actions, before: IntArray) -> IntArray:
    """Actions in the trailing window at each action that equal an earlier one in the window.

    That is the window's size less the number of distinct actions in it: 0 to 9. `before` is from
    `Twins.before`. An action counts from its own place to the last window of the run that holds
    its twin, so two counts and one running sum do.
    """
    position = np.arange(len(actions))
    near = (before >= 0) & (position - before < WINDOW)
    ends = np.cumsum(np.bincount(actions.run, minlength=actions.n_runs))
    gone = np.minimum(before[near] + WINDOW, ends[actions.run[near]])
    left = np.bincount(gone, minlength=len(actions) + 1)[: len(actions)]
    repeats: IntArray = np.cumsum(near - left)
    return repeats


def _mixed(key: KeyArray, run: IntArray) -> KeyArray:
    """One number for key and run together, which loses nothing of the key: odd factors only."""
    with np.errstate(over="ignore"):
        salt = (run.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        salt ^= salt >> np.uint64(32)
        salt *= np.uint64(0xC2B2AE3D27D4EB4F)
        salt ^= key
        salt *= np.uint64(0x165667B19E3779F9)
    return salt


def in_order(mixed: KeyArray) -> tuple[IntArray, KeyArray]:
    """Positions that bring equal numbers together, in order among them, and the numbers there.

    Three passes by 16 bits each (numpy sorts those by radix, in linear time) order by the upper 48
    bits; where different numbers share them, which is rare, a full sort takes over.
    """
    order = np.argsort((mixed >> np.uint64(16)).astype(np.uint16), kind="stable")
    for shift in (32, 48):
        digit = (mixed >> np.uint64(shift)).astype(np.uint16)[order]
        order = order[np.argsort(digit, kind="stable")]
    ordered = mixed[order]
    differ = ordered[1:] ^ ordered[:-1]
    if ((differ != 0) & (differ < np.uint64(1 << 16))).any():
        order = np.argsort(mixed, kind="stable")
        ordered = mixed[order]
    return order, ordered
