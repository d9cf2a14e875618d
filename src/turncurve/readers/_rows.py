"""Flat tables of records, row by row: JSON lines, a JSON list, CSV, Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from turncurve.errors import ReadError
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import (
    compression,
    head,
    json_document,
    json_lines,
    json_objects,
    open_trace,
)

Row: TypeAlias = tuple[int, Mapping[str, Any]]
"""Where it stands (a line, or a row of Parquet or of a JSON list, from 1), and its cells."""

PARQUET_MAGIC = b"PAR1"
DELIMITERS = ",\t;"
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})
_BOOLS = {"true": True, "false": False}
_ESCAPED = re.compile("[\udc80-\udcff]")


def rows(
    path: Path,
    on_problem: OnProblem,
    *,
    text: Collection[str],
    only: tuple[str, ...] | None = None,
) -> Iterator[Row]:
    """Give the rows of a table, one at a time.

    Names in a CSV header lose outer blanks. A missing cell is None: a JSON null; in CSV an empty
    cell, `NaN`, `NA`, `N/A`, `null` or `None`, of which a text column knows the empty one alone.

    Args:
        path: The file; its first bytes tell what it is.
        on_problem: Told of each row that cannot be read.
        text: Columns whose CSV cells stay text; others become numbers or bools where they can.
        only: Columns that are wanted, for a cheaper pass; None for all.
    """
    start = head(path)
    if start.startswith(PARQUET_MAGIC):
        yield from _parquet_rows(path, on_problem, only)
    elif start.lstrip().startswith(b"["):
        yield from _list_rows(path, on_problem)
    elif start.lstrip().startswith(b"{"):
        yield from _line_rows(path, on_problem, only)
    else:
        yield from _csv_rows(path, on_problem, text)


def _line_rows(path: Path, on_problem: OnProblem, only: tuple[str, ...] | None) -> Iterator[Row]:
    if only is None:
        yield from json_objects(path, on_problem)
        return
    wanted = msgspec.defstruct("Wanted", [(name, Any, None) for name in only])
    for number, row in json_lines(path, on_problem, type=wanted):
        yield number, msgspec.structs.asdict(row)


def _list_rows(path: Path, on_problem: OnProblem) -> Iterator[Row]:
    try:
        document = json_document(path, on_problem)
    except ReadError as problem:
        on_problem(problem)
        return
    for number, row in enumerate(document, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            reason = f"wanted a list of objects, got a {type(row).__name__} in it"
            on_problem(ReadError(path, reason, record=number))


def csv_header(line: str) -> tuple[str, list[str]]:
    """The delimiter of a CSV header line, and its column names.

    Of comma, tab and semicolon the one that gives most columns is taken.
    """
    by_delimiter = {mark: next(csv.reader([line], delimiter=mark), []) for mark in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda mark: len(by_delimiter[mark]))
    return delimiter, [name.strip() for name in by_delimiter[delimiter]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Csv:
    """What is needed to read one row of a CSV file."""

    path: Path
    names: list[str]
    delimiter: str
    text: Collection[str]

    def row(self, cells: list[str]) -> dict[str, Any]:
        pairs = zip(self.names, cells, strict=True)
        return {name: self._cell(name, cell.strip()) for name, cell in pairs}

    def _cell(self, name: str, cell: str) -> bool | float | str | None:
        if name in self.text:
            return cell or None
        return None if cell.lower() in _MISSING else _typed(cell, self.delimiter)


def _typed(cell: str, delimiter: str) -> bool | float | str:
    if _INTEGER.fullmatch(cell) and len(cell) < 20:
        return int(cell)
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if delimiter == ";" and _DECIMAL_COMMA.fullmatch(cell):
        return float(cell.replace(",", "."))
    return _BOOLS.get(cell.lower(), cell)


def _csv_rows(path: Path, on_problem: OnProblem, text: Collection[str]) -> Iterator[Row]:
    number = 1
    try:
        with open_trace(path) as file:
            # A cell may hold bytes that are no UTF-8; they are told by row, so they must pass here.
            lines = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
            delimiter, names = csv_header(lines.readline().strip())
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            table = _Csv(path=path, names=names, delimiter=delimiter, text=text)
            for number, cells in _csv_cells(reader, path, on_problem):
                yield from _csv_row(table, number, cells, on_problem)
    except ReadError as problem:
        on_problem(ReadError(path, problem.reason, record=number + 1, fix=problem.fix))


def _csv_cells(
    reader: Iterator[list[str]], path: Path, on_problem: OnProblem
) -> Iterator[tuple[int, list[str]]]:
    """Give (line number, cells) of each row that is no blank line; the header is line 1."""
    while True:
        number = reader.line_num + 2  # type: ignore[attr-defined]
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            on_problem(ReadError(path, f"is no CSV row: {problem}", record=number))
            continue
        if cells is None:
            return
        if cells:
            yield number, cells


def _csv_row(table: _Csv, number: int, cells: list[str], on_problem: OnProblem) -> Iterator[Row]:
    if len(cells) != len(table.names):
        reason = f"wanted {len(table.names)} cells as in the header, got {len(cells)}"
        on_problem(ReadError(table.path, reason, record=number))
        return
    if any(_ESCAPED.search(cell) for cell in cells):
        cells = [_ESCAPED.sub("\N{REPLACEMENT CHARACTER}", cell) for cell in cells]
        reason = "invalid UTF-8, read as U+FFFD"
        on_problem(ReadError(table.path, reason, record=number, kept=True))
    yield number, table.row(cells)


def _parquet_rows(path: Path, on_problem: OnProblem, only: tuple[str, ...] | None) -> Iterator[Row]:
    import pyarrow as pa  # noqa: PLC0415 - heavy, and most traces are no Parquet
    import pyarrow.parquet as pq  # noqa: PLC0415

    number = 0
    try:
        with open_trace(path) as packed:
            file = pq.ParquetFile(io.BytesIO(packed.read()) if compression(path) else path)
            names = [name for name in file.schema_arrow.names if only is None or name in only]
            for batch in file.iter_batches(columns=names):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError) as problem:
        reason = f"the Parquet file cannot be read on: {problem}"
        on_problem(ReadError(path, reason, record=number + 1))
    except ReadError as problem:
        on_problem(problem)


def parquet_has_column(path: Path, name: str) -> bool:
    """Whether a Parquet file's footer names the column; the file's data is not read.

    A packed file's footer is out of reach, so such a one is taken to have it.
    """
    if compression(path):
        return True
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - 8))
        tail = file.read()
        if len(tail) < 8 or not tail.endswith(PARQUET_MAGIC):
            return True  # cut off: whoever reads it says so
        footer = min(int.from_bytes(tail[:4], "little"), size - 8)
        file.seek(size - 8 - footer)
        # A name stands in the footer's Thrift with its length, a byte for names this short.
        return bytes([len(name)]) + name.encode() in file.read(footer)
