"""CSV files row by row; an unclosed quote costs its own row and no other."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.readers._cells import cell_value, column_names
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import open_trace

DELIMITERS = ",\t;|"
MOST_TAKEN_BACK = 100
"""Rows with an unclosed quote whose lines are read again: each may have swallowed 128 KiB."""
_NO_HEADER = re.compile(r"\s*(?:#.*|sep=.\s*)?", re.IGNORECASE | re.DOTALL)
MOST_BLANK = 1_000_000
"""Blank lines in a row after which nothing more is looked for."""
_MOST_BEFORE = 1000
"""Lines among which the header must be, blank lines and comments before it."""
_ESCAPED = re.compile("[\udc80-\udcff]")


def csv_header(line: str) -> tuple[str, list[str]]:
    """The delimiter of a CSV header line, and its column names.

    Of comma, tab, semicolon and bar the one that gives most columns is taken.
    """
    line = line.strip("\r\n ")
    by_delimiter = {mark: next(csv.reader([line], delimiter=mark), []) for mark in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda mark: len(by_delimiter[mark]))
    return delimiter, [name.strip() for name in by_delimiter[delimiter]]


def csv_columns(start: bytes, known: Collection[str]) -> list[str] | None:
    """The names in the header of a CSV file with these first bytes; None where there is none.

    Args:
        start: The file's first bytes.
        known: Names that tell a header with a `#` before it from a comment.
    """
    try:
        lines = io.StringIO(start.decode("utf-8", "replace"), newline="")
        header = _header(lines, known)[1]
    except csv.Error:
        return None
    is_words = bool(header) and all("\ufffd" not in name and name.isprintable() for name in header)
    return header if is_words else None


def csv_rows(
    path: Path, on_problem: OnProblem, *, text: Collection[str], known: Collection[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give (line number, cells) of each row below the header.

    Blank lines, and lines with a `#` before the header, are read over. Where a quote does not
    close, or closes in a row of another length, the lines that it swallowed are read again.

    Args:
        path: The file.
        on_problem: Told of each row that cannot be read.
        text: Columns whose cells stay texts; others become numbers or bools where they can.
        known: Names that a column may spell in capitals.
    """
    lines = None
    try:
        with open_trace(path) as file:
            # A cell may hold bytes that are no UTF-8; they are told by row, so they must pass here.
            wrapped = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline="")
            delimiter, given, number = _header(wrapped, known)
            if not given:
                return
            lines = _Lines(wrapped, number)
            names, twice = column_names(given, known)
            for name in twice:
                reason, fix = f"the column `{name}` stands twice", "the first one was read"
                on_problem(ReadError(path, reason, record=number, fix=fix, kept=True))
            table = _Table(path=path, names=names, delimiter=delimiter, text=text)
            yield from _rows(table, lines, on_problem)
    except csv.Error as problem:
        on_problem(ReadError(path, f"the header is no CSV row: {problem}", record=1))
    except ReadError as problem:
        record = lines.number + 1 if lines else 1
        on_problem(ReadError(path, problem.reason, record=record, fix=problem.fix))


def _header(lines: Iterator[str], known: Collection[str]) -> tuple[str, list[str], int]:
    """Delimiter and names of the header, and the number of its line."""
    number = 0
    for number, line in enumerate(islice(lines, _MOST_BEFORE), start=1):
        if not _NO_HEADER.fullmatch(line):
            return *csv_header(line), number
        delimiter, names = csv_header(line.lstrip("# "))
        if len(names) > 1 and not set(known).isdisjoint(names):
            return delimiter, names, number
    return ",", [], number


class _Lines:
    """The lines of a file, some of which can be taken back."""

    def __init__(self, lines: Iterator[str], number: int) -> None:
        self._lines = lines
        self._ahead: deque[str] = deque()
        self.number = number
        """Of the last line given."""
        self.row: list[str] = []
        """The lines given for the row that is being read."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._ahead.popleft() if self._ahead else next(self._lines)
        self.number += 1
        self.row.append(line)
        return line

    def take_back(self) -> None:
        """Give the lines of this row, but for its first, again."""
        self._ahead.extendleft(reversed(self.row[1:]))
        self.number -= len(self.row) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """What is needed to read one row of a CSV file."""

    path: Path
    names: list[str | None]
    delimiter: str
    text: Collection[str]

    def row(self, cells: list[str]) -> dict[str, Any]:
        pairs, comma = zip(self.names, cells, strict=True), self.delimiter == ";"
        return {
            name: cell_value(cell, is_text=name in self.text, decimal_comma=comma)
            for name, cell in pairs
            if name is not None
        }


def _rows(
    table: _Table, lines: _Lines, on_problem: OnProblem
) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(lines, delimiter=table.delimiter, strict=True)
    n_taken_back = n_blank = 0
    while n_blank <= MOST_BLANK:
        lines.row, number = [], lines.number + 1
        cells, reason = _cells(reader, len(table.names))
        if reason is not None:
            n_taken_back += len(lines.row) > 1
            is_read_again = n_taken_back <= MOST_TAKEN_BACK
            on_problem(_bad_row(table.path, number, reason, lines, is_read_again=is_read_again))
            if is_read_again:
                lines.take_back()
        elif cells is None:
            return
        n_blank = n_blank + 1 if cells == [] else 0
        if cells:
            yield number, table.row(_mended(cells, table.path, number, on_problem))
    reason = f"{MOST_BLANK:,} blank lines in a row; what stands behind them was not read"
    on_problem(ReadError(table.path, reason, record=lines.number))


def _bad_row(
    path: Path, number: int, reason: str, lines: _Lines, *, is_read_again: bool
) -> ReadError:
    n_swallowed, fix = len(lines.row) - 1, None
    if n_swallowed:
        reason += f"; it goes on over {n_swallowed:,} more line(s): an unclosed quote?"
        fix = (
            "those lines were read as rows of their own"
            if is_read_again
            else "those lines were not read: mend the quotes of the file"
        )
    return ReadError(path, reason, record=number, fix=fix)


def _cells(reader: Iterator[list[str]], n_columns: int) -> tuple[list[str] | None, str | None]:
    """The cells of the next row, [] for a blank line, None at the end; or why there are none."""
    try:
        cells = next(reader, None)
    except csv.Error as problem:
        return None, f"is no CSV row: {problem}"
    if cells and len(cells) != n_columns:
        return None, f"wanted {n_columns} cells as in the header, got {len(cells)}"
    return cells, None


def _mended(cells: list[str], path: Path, number: int, on_problem: OnProblem) -> list[str]:
    if not any(_ESCAPED.search(cell) for cell in cells):
        return cells
    reason = "invalid UTF-8, read as U+FFFD"
    on_problem(ReadError(path, reason, record=number, kept=True))
    return [_ESCAPED.sub("\N{REPLACEMENT CHARACTER}", cell) for cell in cells]
