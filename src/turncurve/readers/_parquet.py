"""Parquet files row by row; a cell that cannot be read costs neither its row nor its column."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from turncurve.errors import ReadError
from turncurve.readers._cells import cell_value, column_names
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import compression, open_trace

PARQUET_MAGIC = b"PAR1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def parquet_rows(
    path: Path,
    on_problem: OnProblem,
    *,
    text: Collection[str],
    known: Collection[str],
    only: Collection[str] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give (row from 1, cells) of each row.

    Texts are read as the cells of a CSV file are; bytes as the UTF-8 text that they hold; a decimal
    as a number; a duration as seconds; a time as a `datetime` in UTC. A cell that has no such
    value is missing, and told once for its column.

    Args:
        path: The file.
        on_problem: Told of what cannot be read.
        text: Columns whose texts stay texts; others become numbers or bools where they can.
        known: Names that a column may spell in capitals.
        only: Columns that are wanted; None for all.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, and most traces are no Parquet

    number, faults = 0, _Faults(path)
    try:
        with _opened(path) as file:
            wanted = _wanted(file.schema_arrow.names, known, only, path, on_problem)
            for batch in file.iter_batches(columns=list(wanted)):
                columns = {}
                for given, name in wanted.items():
                    column = batch.column(batch.schema.get_all_field_indices(given)[0])
                    is_text, tell = name in text, faults.of(name, number)
                    columns[name] = _values(column, is_text=is_text, tell=tell)
                for row in range(batch.num_rows):
                    number += 1
                    yield number, {name: values[row] for name, values in columns.items()}
    except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
        reason = f"the Parquet file cannot be read on: {problem}"
        on_problem(ReadError(path, reason, record=number + 1))
    except ReadError as problem:
        on_problem(problem)
    faults.tell(on_problem)


def parquet_columns(path: Path) -> list[str] | None:
    """Names of a Parquet file's columns, of its footer alone; None where it cannot be had.

    A packed file's footer is out of reach.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, and most traces are no Parquet
    import pyarrow.parquet as pq  # noqa: PLC0415

    if compression(path):
        return None
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return None


def parquet_may_have(path: Path, name: str) -> bool:
    """Whether a Parquet file's footer names the column, in whatever case; a cheap look.

    True too where the footer is out of reach, as in a packed file or one that is cut off: whoever
    reads it says so.
    """
    if compression(path):
        return True
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - 8))
        tail = file.read()
        if len(tail) < 8 or not tail.endswith(PARQUET_MAGIC):
            return True
        footer = min(int.from_bytes(tail[:4], "little"), size - 8)
        file.seek(size - 8 - footer)
        # A name stands in the footer's Thrift with its length, a byte for names this short.
        return bytes([len(name)]) + name.lower().encode() in file.read(footer).lower()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, and most traces are no Parquet

    if compression(path) is None:
        with pq.ParquetFile(path) as file:
            yield file
        return
    with open_trace(path) as packed:
        yield pq.ParquetFile(io.BytesIO(packed.read()))


def _wanted(
    given: list[str],
    known: Collection[str],
    only: Collection[str] | None,
    path: Path,
    on_problem: OnProblem,
) -> dict[str, str]:
    """Column in the file to the name that it is read under."""
    names, twice = column_names(given, known)
    for name in twice:
        reason, fix = f"the column `{name}` stands twice", "the first one was read"
        on_problem(ReadError(path, reason, fix=fix, kept=True))
    pairs = zip(given, names, strict=True)
    return {column: n for column, n in pairs if n is not None and (only is None or n in only)}


class _Faults:
    """Cells that could not be read: how many of a column, and the first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[tuple[str, str], tuple[int, int]] = {}

    def of(self, column: str, before: int) -> Callable[[int, str], None]:
        """A listener for the faults of one column, in rows that follow so many others."""

        def tell(row: int, fault: str) -> None:
            first, n_cells = self._found.get((column, fault), (before + row + 1, 0))
            self._found[column, fault] = (first, n_cells + 1)

        return tell

    def tell(self, on_problem: OnProblem) -> None:
        for (column, fault), (first, n_cells) in self._found.items():
            more = f" and {n_cells - 1:,} more rows" if n_cells > 1 else ""
            reason = f"column `{column}`: {fault}, in this row{more}"
            on_problem(ReadError(self._path, reason, record=first, kept=True))


_Convert: TypeAlias = Callable[[Any], tuple[Any, str | None]]
"""A cell to its plain value, and what is wrong with it."""


def _values(column: Any, *, is_text: bool, tell: Callable[[int, str], None]) -> list[Any]:
    """The cells of an Arrow array as plain values; faults are told by row, from 0."""
    column, convert = _conversion(column, is_text=is_text)
    values: list[Any] = []
    for row, cell in enumerate(_cells(column)):
        value, fault = cell, None
        if isinstance(cell, _UnreadableError):
            value, fault = None, str(cell)
        elif convert is not None and cell is not None:
            value, fault = convert(cell)
        if fault is not None:
            tell(row, fault)
        values.append(value)
    return values


class _UnreadableError(Exception):
    """Stands for a cell that Arrow cannot give; the message says why."""


def _cells(column: Any) -> list[Any]:
    try:
        cells: list[Any] = column.to_pylist()
    except Exception:  # noqa: BLE001 - each type has errors of its own; the good cells are read
        return [_cell(column, row) for row in range(len(column))]
    return cells


def _cell(column: Any, row: int) -> Any:
    try:
        return column[row].as_py()
    except Exception as problem:  # noqa: BLE001 - one cell fails as a whole
        return _UnreadableError(f"cannot be read ({problem}), so missing")


def _conversion(column: Any, *, is_text: bool) -> tuple[Any, _Convert | None]:
    """The array in a form that always gives plain cells, and what is to be done with each."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, and most traces are no Parquet

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_timestamp(kind):
        return column.cast(pa.int64()), _time(_PER_SECOND[kind.unit])
    if types.is_duration(kind):
        per_second = _PER_SECOND[kind.unit]
        return column.cast(pa.int64()), lambda count: (count / per_second, None)
    if types.is_decimal(kind):
        return column, _number
    if types.is_string(kind) or types.is_large_string(kind):
        # Arrow gives no cell of a text column whose bytes are no UTF-8, but all as bytes.
        return column.cast(pa.large_binary()), _text(is_text=is_text)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return column, _text(is_text=is_text)
    return column, None


def _text(*, is_text: bool) -> _Convert:
    def convert(cell: bytes) -> tuple[Any, str | None]:
        try:
            return cell_value(cell.decode(), is_text=is_text), None
        except UnicodeDecodeError:
            words = cell.decode("utf-8", "replace")
            return cell_value(words, is_text=is_text), "invalid UTF-8, read as U+FFFD"

    return convert


def _time(per_second: int) -> _Convert:
    def convert(count: int) -> tuple[datetime | None, str | None]:
        try:
            return _EPOCH + timedelta(microseconds=count * 10**6 // per_second), None
        except OverflowError:
            return None, "a time out of the years 1 to 9999, read as missing"

    return convert


def _number(cell: Decimal) -> tuple[float, str | None]:
    return int(cell) if cell == cell.to_integral_value() else float(cell), None
