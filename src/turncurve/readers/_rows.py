"""Flat tables of records, row by row: JSON lines, a JSON list, CSV, Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from turncurve.errors import ReadError
from turncurve.readers._csv import csv_rows
from turncurve.readers._parquet import PARQUET_MAGIC, parquet_rows
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import head, json_document, json_lines, json_objects

Row: TypeAlias = tuple[int, Mapping[str, Any]]
"""Where it stands (a line, or a row of Parquet or of a JSON list, from 1), and its cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a format knows of its columns.

    Attributes:
        known: Their names; a header may spell them in capitals.
        text: Those whose cells stay texts; others become numbers or bools where they can.
    """

    known: frozenset[str]
    text: frozenset[str]


def rows(
    path: Path, on_problem: OnProblem, columns: Columns, *, only: tuple[str, ...] | None = None
) -> Iterator[Row]:
    """Give the rows of a table, one at a time.

    Names in a header of CSV or Parquet lose outer blanks. A missing cell is None: a JSON null; in
    CSV and in a text of Parquet an empty cell, `NaN`, `NA`, `N/A`, `null` or `None`, of which a
    text column knows the empty one alone.

    Args:
        path: The file; its first bytes tell what it is.
        on_problem: Told of each row that cannot be read.
        columns: What is known of the columns.
        only: Columns that are wanted, for a cheaper pass; None for all.
    """
    start, known, text = head(path), columns.known, columns.text
    if start.startswith(PARQUET_MAGIC):
        yield from parquet_rows(path, on_problem, text=text, known=known, only=only)
    elif start.lstrip().startswith(b"["):
        yield from _list_rows(path, on_problem)
    elif start.lstrip().startswith(b"{"):
        yield from _line_rows(path, on_problem, only)
    else:
        yield from csv_rows(path, on_problem, text=text, known=known)


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
