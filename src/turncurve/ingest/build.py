"""Runs to a turn table, one at a time: of a run's text nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from turncurve.ingest.judged import JUDGED
from turncurve.ingest.measure import Columns, Measure
from turncurve.model import Run, Usage
from turncurve.signals.actions import actions
from turncurve.table import CallTable, EventTable, RunTable, SignalInfo, TurnTable
from turncurve.table.columns import objects
from turncurve.table.concat import end_to_end

_NAN = float("nan")
_EXACT = 2**53
"""Whole numbers up to here are exact as floats, which axes and curves count turns in."""


class TableBuilder:
    """Collects runs into a turn table, in the order they come.

    Time and memory are linear in turns: of many runs a block of columns is made, and of all blocks
    the table.

    Args:
        measure: Maps a run to its columns.
    """

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._info: dict[str, SignalInfo] = {n: s.info for n, s in measure.signals.items()}
        self._runs: dict[str, list[Any]] = {field.name: [] for field in fields(RunTable)}
        self._blocks: list[_Block] = []
        self._open = _Open()
        self._n_turns = 0
        self._event_run: list[int] = []
        self._event_turn: list[int] = []
        self._event_kind: list[str] = []

    @property
    def n_runs(self) -> int:
        """Runs so far."""
        return len(self._runs["id"])

    @property
    def n_turns(self) -> int:
        """Rows so far."""
        return self._n_turns

    def add(self, run: Run) -> None:
        """Append one run; one that raises leaves the table as it was.

        Whatever can fail is done before the first list grows, so that `table` cannot.
        """
        position, first = len(self._runs["id"]), self._n_turns
        columns, absent = self._measure(run)
        turn = _turns([turn.index for turn in run.turns])
        events = sorted(run.events, key=lambda event: event.turn)
        event_turn = _turns([event.turn for event in events]).tolist() if events else []
        calls = [
            (first + row, key, result_key, failed, bool(transient))
            for row, key, result_key, failed, transient in actions(run)
        ]
        row = _run_row(run, absent)
        for name in [name for name in columns if name not in self._info]:
            self._info[name] = _info_of(name, columns)
        self._open.add(columns, turn, calls)
        self._n_turns += len(turn)
        for name, value in row.items():
            self._runs[name].append(value)
        self._event_run += [position] * len(events)
        self._event_turn += event_turn
        self._event_kind += [event.kind for event in events]
        if self._open.n_turns >= _BLOCK or len(self._open.calls) >= _BLOCK:
            self._close()

    def table(self) -> TurnTable:
        """The table of all runs added."""
        self._close()
        blocks, runs = self._blocks, _run_table(self._runs)
        return TurnTable(
            runs=runs,
            run=np.repeat(np.arange(len(runs), dtype=np.int64), runs.n_turns),
            turn=end_to_end([block.turn for block in blocks], np.int64),
            columns={name: _finite(self._column(name)) for name in self._info},
            calls=CallTable(
                **{
                    name: end_to_end([block.calls[name] for block in blocks], kind)
                    for name, kind in _CALLS.items()
                }
            ),
            events=EventTable(
                run=np.array(self._event_run, dtype=np.int64),
                turn=np.array(self._event_turn, dtype=np.int64),
                kind=objects(self._event_kind),
            ),
            info=dict(self._info),
        )

    def _column(self, name: str) -> NDArray[np.float64]:
        parts = [
            values if (values := block.columns.get(name)) is not None else _nothing(len(block.turn))
            for block in self._blocks
        ]
        return end_to_end(parts, np.float64)

    def _close(self) -> None:
        """Make a block of the runs that came since the last one."""
        if self._open.turns:
            self._blocks.append(self._open.block())
            self._open = _Open()


_BLOCK = 50_000
"""Turns or actions of which a block of columns is made."""

_CALLS: Mapping[str, type[np.generic]] = {
    "row": np.int64,
    "key": np.uint64,
    "result_key": np.uint64,
    "failed": np.int8,
    "transient": np.bool_,
}


class _Block(NamedTuple):
    """Columns of many runs."""

    turn: NDArray[np.int64]
    columns: Columns
    calls: dict[str, NDArray[Any]]


class _Open:
    """Runs of which no block has been made yet."""

    def __init__(self) -> None:
        self.turns: list[NDArray[np.int64]] = []
        self.columns: list[Columns] = []
        self.calls: list[tuple[int, int, int, int, bool]] = []
        self.n_turns = 0

    def add(
        self,
        columns: Columns,
        turn: NDArray[np.int64],
        calls: list[tuple[int, int, int, int, bool]],
    ) -> None:
        self.turns.append(turn)
        self.columns.append(columns)
        self.calls += calls
        self.n_turns += len(turn)

    def block(self) -> _Block:
        names = dict.fromkeys(name for columns in self.columns for name in columns)
        calls = zip(*self.calls, strict=True) if self.calls else ((),) * len(_CALLS)
        return _Block(
            turn=np.concatenate(self.turns),
            columns={name: self._column(name) for name in names},
            calls={
                name: np.array(values, dtype=kind)
                for (name, kind), values in zip(_CALLS.items(), calls, strict=True)
            },
        )

    def _column(self, name: str) -> NDArray[np.float64]:
        parts = [columns.get(name) for columns in self.columns]
        return np.concatenate(
            [
                _nothing(len(turn)) if part is None else part
                for part, turn in zip(parts, self.turns, strict=True)
            ]
        )


def _nothing(n_rows: int) -> NDArray[np.float64]:
    return np.full(n_rows, np.nan)


def _turns(turns: list[int]) -> NDArray[np.int64]:
    """Turns as an array; raises OverflowError for one that a float would round."""
    array = np.array(turns, dtype=np.int64)
    if len(array) and array.max() > _EXACT:
        raise OverflowError(f"wanted turns up to 2**53, got {array.max()}")
    return array


def _info_of(name: str, columns: Columns) -> SignalInfo:
    """What is known of a column that no signal describes."""
    judged = JUDGED.get(name)
    if judged is not None and (judged.weight is None or judged.weight in columns):
        return judged
    return SignalInfo(name=name, title=_title(name))


def _title(name: str) -> str:
    """A column's name in words, for one that no signal describes."""
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:] or name


def _run_row(run: Run, absent: Mapping[str, str]) -> dict[str, Any]:
    totals = run.totals
    low, high = run.quality_scale or (None, None)
    return {
        "id": run.id,
        "scenario": run.scenario,
        "trial": np.int64(run.trial or 0),
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
        "n_turns": np.int64(len(run.turns)),
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
