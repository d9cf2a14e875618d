"""Runs to a turn table, one at a time: of a run's text nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turncurve.ingest.growing import GrowingArray
from turncurve.ingest.measure import Columns, Measure
from turncurve.model import Run, Usage
from turncurve.signals.actions import Action, actions
from turncurve.table import CallTable, EventTable, RunTable, SignalInfo, TurnTable
from turncurve.table.columns import objects

_NAN = float("nan")
_EXACT = 2**53
"""Whole numbers up to here are exact as floats, which axes and curves count turns in."""


class TableBuilder:
    """Collects runs into a turn table, in the order they come.

    Time and memory are linear in turns: each column is one growing array.

    Args:
        measure: Maps a run to its columns.
    """

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._info: dict[str, SignalInfo] = {n: s.info for n, s in measure.signals.items()}
        self._columns: dict[str, GrowingArray[np.float64]] = {
            name: GrowingArray(np.float64, _NAN) for name in self._info
        }
        self._turn: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._runs: dict[str, list[Any]] = {field.name: [] for field in fields(RunTable)}
        self._calls = _CallRows()
        self._event_run: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._event_turn: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._event_kind: list[str] = []

    @property
    def n_runs(self) -> int:
        """Runs so far."""
        return len(self._runs["id"])

    @property
    def n_turns(self) -> int:
        """Rows so far."""
        return len(self._turn)

    def add(self, run: Run) -> None:
        """Append one run; one that raises leaves the table as it was.

        Whatever can fail is done before the first array grows, so that `table` cannot.
        """
        position, first = len(self._runs["id"]), len(self._turn)
        columns, absent = self._measure(run)
        turn = _turns([turn.index for turn in run.turns])
        events = sorted(run.events, key=lambda event: event.turn)
        event_turn = _turns([event.turn for event in events])
        calls = _call_columns(list(actions(run)), first)
        row = _run_row(run, absent)
        new = {n: SignalInfo(name=n, title=_title(n)) for n in columns if n not in self._columns}
        self._calls.extend(calls)
        self._turn.extend(turn)
        self._info.update(new)
        self._extend(columns, first)
        for name, value in row.items():
            self._runs[name].append(value)
        self._event_run.extend(np.full(len(events), position, dtype=np.int64))
        self._event_turn.extend(event_turn)
        self._event_kind += [event.kind for event in events]

    def table(self) -> TurnTable:
        """The table of all runs added."""
        n = len(self._turn)
        for column in self._columns.values():
            column.grow_to(n)
        runs = _run_table(self._runs)
        return TurnTable(
            runs=runs,
            run=np.repeat(np.arange(len(runs), dtype=np.int64), runs.n_turns),
            turn=self._turn.array(),
            columns={name: _finite(column.array()) for name, column in self._columns.items()},
            calls=self._calls.table(),
            events=EventTable(
                run=self._event_run.array(),
                turn=self._event_turn.array(),
                kind=objects(self._event_kind),
            ),
            info=dict(self._info),
        )

    def _extend(self, columns: Columns, first: int) -> None:
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = GrowingArray(np.float64, _NAN)
            self._columns[name].grow_to(first)
            self._columns[name].extend(values)


def _turns(turns: list[int]) -> NDArray[np.int64]:
    """Turns as an array; raises OverflowError for one that a float would round."""
    array = np.array(turns, dtype=np.int64)
    if len(array) and array.max() > _EXACT:
        raise OverflowError(f"wanted turns up to 2**53, got {array.max()}")
    return array


def _title(name: str) -> str:
    """A column's name in words, for one that no signal describes."""
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:] or name


class _CallRows:
    def __init__(self) -> None:
        self._row: GrowingArray[np.int64] = GrowingArray(np.int64)
        self._key: GrowingArray[np.uint64] = GrowingArray(np.uint64)
        self._result_key: GrowingArray[np.uint64] = GrowingArray(np.uint64)
        self._failed: GrowingArray[np.int8] = GrowingArray(np.int8)
        self._transient: GrowingArray[np.bool_] = GrowingArray(np.bool_)

    def extend(self, calls: CallTable) -> None:
        self._row.extend(calls.row)
        self._key.extend(calls.key)
        self._result_key.extend(calls.result_key)
        self._failed.extend(calls.failed)
        self._transient.extend(calls.transient)

    def table(self) -> CallTable:
        return CallTable(
            row=self._row.array(),
            key=self._key.array(),
            result_key=self._result_key.array(),
            failed=self._failed.array(),
            transient=self._transient.array(),
        )


def _call_columns(rows: Sequence[Action], first: int) -> CallTable:
    return CallTable(
        row=np.array([first + action.row for action in rows], dtype=np.int64),
        key=np.array([action.key for action in rows], dtype=np.uint64),
        result_key=np.array([action.result_key for action in rows], dtype=np.uint64),
        failed=np.array([action.failed for action in rows], dtype=np.int8),
        transient=np.array([action.transient for action in rows], dtype=np.bool_),
    )


def _run_row(run: Run, absent: Mapping[str, str]) -> dict[str, Any]:
    totals = run.totals
    low, high = run.quality_scale or (None, None)
    row: dict[str, Any] = {
        "id": run.id,
        "scenario": run.scenario,
        "trial": run.trial or 0,
        "condition": run.condition,
        "agent": run.agent,
        "parent": run.parent,
        "model": run.model,
        "format": run.format,
        "path": run.path,
        "record": run.record,
        "exit_type": run.exit_type.value,
        "exit_text": run.exit_text,
        "success": _real(run.success),
        "score": _real(run.score),
        "n_turns": len(run.turns),
        "total_input_tokens": _real(totals.input_tokens) if totals else _NAN,
        "total_cached_input_tokens": _real(totals.cached_input_tokens) if totals else _NAN,
        "total_output_tokens": _real(totals.output_tokens) if totals else _NAN,
        "total_cost_usd": _real(totals.cost_usd) if totals else _NAN,
        "quality_low": _real(low),
        "quality_high": _real(high),
        "grader_tokens": _all_tokens(run.grader_usage),
        "absent": dict(absent),
        "notes": tuple(run.notes),
    }
    return {name: np.int64(v) if name in _INTEGERS else v for name, v in row.items()}


def _real(value: float | None) -> float:
    return _NAN if value is None else float(value)


def _all_tokens(usage: Usage | None) -> float:
    if usage is None or (usage.context_tokens is None and usage.output is None):
        return _NAN
    return float((usage.context_tokens or 0) + (usage.output or 0))


_INTEGERS = frozenset({"trial", "n_turns"})
_FLOATS = frozenset(
    {
        *("success", "score", "total_input_tokens", "total_cached_input_tokens"),
        *("total_output_tokens", "total_cost_usd", "quality_low", "quality_high", "grader_tokens"),
    }
)


def _run_table(rows: Mapping[str, list[Any]]) -> RunTable:
    arrays: dict[str, Any] = {}
    for name, values in rows.items():
        if name in _INTEGERS:
            arrays[name] = np.array(values, dtype=np.int64)
        elif name in _FLOATS:
            arrays[name] = _finite(np.array(values, dtype=np.float64))
        else:
            arrays[name] = objects(values)
    return RunTable(**arrays)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same array with NaN in place of infinities: no measure of a turn is infinite."""
    values[~np.isfinite(values)] = np.nan
    return values
