"""A turn table as four Parquet files, a row group for every so many runs.

The rows of one group in `runs`, `turns`, `calls` and `events` belong together and count from its
own first run and row, so a group is a turn table by itself and a pass over millions of turns holds
one group at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from turncurve.table.columns import SignalInfo, objects
from turncurve.table.turn_table import CallTable, EventTable, RunTable, TurnTable

FILES = ("runs", "turns", "calls", "events")

_FLOAT = pa.float64()
_WHOLE = ("trial", "n_turns")
_REAL = (
    *("success", "score", "total_input_tokens", "total_cached_input_tokens"),
    *("total_output_tokens", "total_cost_usd", "quality_low", "quality_high", "grader_tokens"),
)
_RUN_TYPES: Mapping[str, pa.DataType] = {
    **dict.fromkeys(_WHOLE, pa.int64()),
    **dict.fromkeys(_REAL, _FLOAT),
}
_AS_JSON = frozenset({"record", "absent", "notes"})
_RUNS = pa.schema(
    [
        pa.field(f.name, _RUN_TYPES.get(f.name, pa.string()), nullable=f.name not in _RUN_TYPES)
        for f in fields(RunTable)
    ]
)
_CALLS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("key", pa.uint64(), nullable=False),
        pa.field("result_key", pa.uint64(), nullable=False),
        pa.field("failed", pa.int8(), nullable=False),
        pa.field("transient", pa.bool_(), nullable=False),
    ]
)
_EVENTS = pa.schema(
    [
        pa.field("run", pa.int64(), nullable=False),
        pa.field("turn", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
    ]
)


class TableWriter:
    """Writes turn tables, each as one row group, into four files of a folder.

    Columns are those of the first table and those in `columns`; a later table that brings a new one
    does not fit, and `fits` says so beforehand.

    Args:
        folder: An existing folder.
        columns: Names of the columns of `turns`.
    """

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self._names = tuple(columns)
        turns = pa.schema(
            [
                pa.field("run", pa.int32(), nullable=False),
                pa.field("turn", pa.int64(), nullable=False),
            ]
            + [pa.field(f"signal.{name}", _FLOAT, nullable=False) for name in columns]
        )
        schemas = {"runs": _RUNS, "turns": turns, "calls": _CALLS, "events": _EVENTS}
        self._writers = {
            name: pq.ParquetWriter(
                folder / f"{name}.parquet", schema, compression="zstd", compression_level=3
            )
            for name, schema in schemas.items()
        }
        self._schemas = schemas

    def fits(self, table: TurnTable) -> bool:
        """Whether every column of a table has its place in the files."""
        return set(table.columns) <= set(self._names)

    def write(self, table: TurnTable) -> None:
        """Write one table as the next row group of each file."""
        turns: list[Any] = [table.run.astype(np.int32), table.turn]
        turns += [table.column(name) for name in self._names]
        calls, events = table.calls, table.events
        groups: dict[str, list[Any]] = {
            "runs": [_stored(f.name, getattr(table.runs, f.name)) for f in fields(RunTable)],
            "turns": turns,
            "calls": [getattr(calls, f.name) for f in fields(CallTable)],
            "events": [events.run, events.turn, events.kind.tolist()],
        }
        for name, arrays in groups.items():
            schema = self._schemas[name]
            columns = [
                pa.array(values, field.type) for values, field in zip(arrays, schema, strict=True)
            ]
            batch = pa.Table.from_arrays(columns, schema=schema)
            # An empty group too, so that group i of each file is that of the same runs.
            self._writers[name].write_table(batch, row_group_size=max(len(batch), 1))

    def close(self) -> None:
        """Finish the files."""
        for writer in self._writers.values():
            writer.close()


class TableReader:
    """Reads the row groups that `TableWriter` wrote.

    Args:
        folder: The folder with the four files.
        info: What the columns mean.
    """

    def __init__(self, folder: Path, info: Mapping[str, SignalInfo]) -> None:
        self._files = {
            name: pq.ParquetFile(folder / f"{name}.parquet", memory_map=True) for name in FILES
        }
        self._info = info
        self.n_groups: int = self._files["runs"].metadata.num_row_groups

    def runs(self) -> Iterator[RunTable]:
        """The run table of each group."""
        for group in range(self.n_groups):
            yield self._runs(group)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[TurnTable]:
        """Each group as a turn table; with `columns`, those alone and only what they need."""
        for group in range(self.n_groups):
            yield self._table(group, columns)

    def _table(self, group: int, columns: Sequence[str] | None) -> TurnTable:
        known = [name for name in self._info if columns is None or name in columns]
        names = ["run", "turn", *(f"signal.{name}" for name in known)]
        turns = self._files["turns"].read_row_group(group, columns=names)
        calls = self._files["calls"].read_row_group(group)
        events = self._files["events"].read_row_group(group)
        return TurnTable(
            runs=self._runs(group),
            run=_numbers(turns, "run").astype(np.int64),
            turn=_numbers(turns, "turn"),
            columns={name: _numbers(turns, f"signal.{name}") for name in known},
            calls=CallTable(**{f.name: _numbers(calls, f.name) for f in fields(CallTable)}),
            events=EventTable(
                run=_numbers(events, "run"),
                turn=_numbers(events, "turn"),
                kind=objects(events.column("kind").to_pylist()),
            ),
            info={name: self._info[name] for name in known},
        )

    def _runs(self, group: int) -> RunTable:
        table = self._files["runs"].read_row_group(group)
        return RunTable(**{f.name: _restored(table, f.name) for f in fields(RunTable)})


def sync(folder: Path) -> None:
    """Have the folder's files, and the folder itself, on disk before anything counts on them."""
    files = [path for path in folder.iterdir() if path.is_file()]
    for path in (*files, folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    """A column as an array; without a copy where it is one piece."""
    column = table.column(name)
    if column.num_chunks == 1:
        return np.asarray(column.chunk(0).to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy())


def _stored(name: str, values: NDArray[Any]) -> Any:
    if name in _RUN_TYPES:
        return values
    if name in _AS_JSON:
        return [None if v is None else msgspec.json.encode(v).decode() for v in values]
    return [None if v is None else _text(v) for v in values]


def _text(value: str) -> str:
    """A trace may hold half a surrogate pair, which Parquet has no form for."""
    return value.encode("utf-8", "replace").decode()


def _restored(table: pa.Table, name: str) -> NDArray[Any]:
    if name in _RUN_TYPES:
        return _numbers(table, name)
    values = table.column(name).to_pylist()
    if name not in _AS_JSON:
        return objects(values)
    known: dict[str | None, Any] = {None: None}
    for text in values:
        if text not in known:
            value = msgspec.json.decode(text)
            known[text] = tuple(value) if name == "notes" else value
    return objects([known[text] for text in values])
