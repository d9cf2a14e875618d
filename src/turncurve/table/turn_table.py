"""The turn table: one row a turn, in columns, sorted by run and then turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.errors import InvariantError
from turncurve.table.columns import SignalInfo

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
ObjectArray: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """One row a run; every array has shape (n_runs,). Unknown is NaN in floats, None in objects."""

    id: ObjectArray
    scenario: ObjectArray
    trial: IntArray
    """Which repetition of its scenario under its condition, from 1."""
    condition: ObjectArray
    agent: ObjectArray
    parent: ObjectArray
    """Id of the run that started this sub-agent's run; None for a run of its own."""
    model: ObjectArray
    format: ObjectArray
    path: ObjectArray
    record: ObjectArray
    exit_type: ObjectArray
    """A value of `ExitType`, as plain text."""
    exit_text: ObjectArray
    success: FloatArray
    """1 succeeded, 0 failed, NaN unknown."""
    score: FloatArray
    n_turns: IntArray
    total_input_tokens: FloatArray
    """What the file says of the run as a whole (cached tokens included); NaN where it doesn't."""
    total_cached_input_tokens: FloatArray
    total_output_tokens: FloatArray
    total_cost_usd: FloatArray
    quality_low: FloatArray
    quality_high: FloatArray
    grader_tokens: FloatArray
    """Input and output tokens of grader calls in the same file; no part of the turns."""
    absent: ObjectArray
    """Mapping of signal name to the reason why this run's file cannot know it."""
    notes: ObjectArray
    """Tuple of sentences on how ambiguous parts of the file were read."""

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTable:
    """One row an event; arrays of shape (n_events,), sorted by run."""

    run: IntArray
    """Position in the run table."""
    turn: IntArray
    """First turn after the event."""
    kind: ObjectArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTable:
    """One row an action (a tool call, or an action key that the file gives), sorted by row."""

    row: IntArray
    """Row of the turn table."""
    key: NDArray[np.uint64]
    """Hash of the tool's name and canonical arguments."""
    result_key: NDArray[np.uint64]
    """Hash of key and result text; 0 where there is no result."""
    failed: NDArray[np.int8]
    """1 failed, 0 worked, -1 unknown or no result."""
    transient: NDArray[np.bool_]
    """True for a failure that a retry may cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTable:
    """Runs, their turns and their signals, without any message text.

    `run` and `turn` have shape (n_turns,); every array of `columns` too, with NaN where the signal
    does not apply or is not known. `run` holds positions in `runs` and never falls.
    """

    runs: RunTable
    run: IntArray
    turn: IntArray
    columns: Mapping[str, FloatArray]
    calls: CallTable
    events: EventTable
    info: Mapping[str, SignalInfo]

    def __post_init__(self) -> None:
        n = len(self.turn)
        wrong = {name: len(c) for name, c in self.columns.items() if len(c) != n}
        if wrong or len(self.run) != n:
            raise InvariantError(f"TurnTable: wanted {n} rows in every column, got {wrong}")
        if n and (np.diff(self.run) < 0).any():
            raise InvariantError("TurnTable: wanted rows sorted by run")

    @property
    def n_runs(self) -> int:
        """Number of runs, those without a turn included."""
        return len(self.runs)

    @property
    def offsets(self) -> IntArray:
        """Run r owns rows `offsets[r]:offsets[r + 1]`; shape (n_runs + 1,)."""
        return np.searchsorted(self.run, np.arange(self.n_runs + 1)).astype(np.int64)

    def column(self, name: str) -> FloatArray:
        """A column, or NaN for each turn where the table has none of that name."""
        column = self.columns.get(name)
        return np.full(len(self.turn), np.nan) if column is None else column

    def with_columns(
        self, columns: Mapping[str, FloatArray], info: Mapping[str, SignalInfo]
    ) -> TurnTable:
        """The same table with columns added or replaced."""
        return TurnTable(
            runs=self.runs,
            run=self.run,
            turn=self.turn,
            columns={**self.columns, **columns},
            calls=self.calls,
            events=self.events,
            info={**self.info, **info},
        )

    def select(self, runs: NDArray[np.bool_]) -> TurnTable:
        """The runs where `runs`, of shape (n_runs,), is True, with all that belongs to them."""
        position = np.cumsum(runs) - 1
        rows = runs[self.run]
        row_position = np.cumsum(rows) - 1
        calls, events = rows[self.calls.row], runs[self.events.run]
        kept_calls = _take(self.calls, calls)
        kept_events = _take(self.events, events)
        return TurnTable(
            runs=RunTable(**_take(self.runs, runs)),
            run=position[self.run[rows]],
            turn=self.turn[rows],
            columns={name: column[rows] for name, column in self.columns.items()},
            calls=CallTable(**{**kept_calls, "row": row_position[kept_calls["row"]]}),
            events=EventTable(**{**kept_events, "run": position[kept_events["run"]]}),
            info=self.info,
        )

    def take_runs(self, order: IntArray) -> TurnTable:
        """The runs at these positions, in this order, with all that belongs to them.

        Args:
            order: Positions in the run table, each at most once; shape (n_taken,).
        """
        starts, lengths = self.offsets[:-1][order], np.diff(self.offsets)[order]
        rows = _ranges(starts, lengths)
        calls = np.searchsorted(self.calls.row, np.arange(len(self.turn) + 1))
        call_counts = np.diff(calls)[rows]
        of_call = _ranges(calls[:-1][rows], call_counts)
        events = np.searchsorted(self.events.run, np.arange(self.n_runs + 1))
        event_counts = np.diff(events)[order]
        of_event = _ranges(events[:-1][order], event_counts)
        kept_calls, kept_events = _take(self.calls, of_call), _take(self.events, of_event)
        return TurnTable(
            runs=RunTable(**_take(self.runs, order)),
            run=np.repeat(np.arange(len(order)), lengths),
            turn=self.turn[rows],
            columns={name: column[rows] for name, column in self.columns.items()},
            calls=CallTable(**{**kept_calls, "row": np.repeat(np.arange(len(rows)), call_counts)}),
            events=EventTable(
                **{**kept_events, "run": np.repeat(np.arange(len(order)), event_counts)}
            ),
            info=self.info,
        )


def _ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """The positions of several stretches, one after another."""
    ends = np.cumsum(lengths)
    shift = np.repeat(starts - (ends - lengths), lengths)
    return np.asarray(np.arange(len(shift)) + shift, dtype=np.int64)


def _take(part: RunTable | CallTable | EventTable, which: NDArray[Any]) -> dict[str, Any]:
    return {field.name: getattr(part, field.name)[which] for field in fields(part)}
