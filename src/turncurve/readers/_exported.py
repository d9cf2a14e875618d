"""The records of an export: JSON lines, a JSON list, an API's answer, or Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.readers._items import json_items
from turncurve.readers._parquet import PARQUET_MAGIC, parquet_columns, parquet_rows
from turncurve.readers.base import OnProblem
from turncurve.readers.stream import head, json_document

_ANSWER = re.compile(rb'\{\s*"(?:data|runs)"\s*:\s*\[?\s*')
_PAGES = ("data", "runs")
"""Names under which an API's answer holds its records."""


def exported_records(path: Path, on_problem: OnProblem) -> Iterator[tuple[str | int, Any]]:
    """Give (where, record) of each record; what cannot be read goes to `on_problem`."""
    if head(path, len(PARQUET_MAGIC)) == PARQUET_MAGIC:
        yield from _rows(path, on_problem)
        return
    items: Iterator[tuple[str | int, Any]]
    if _is_one_document(head(path)):
        try:
            items = iter([("document", json_document(path, on_problem))])
        except ReadError as problem:
            on_problem(problem)
            return
    else:
        items = json_items(path, on_problem)
    for where, item in items:
        page = next((name for name in _PAGES if _is_page(item, name)), None)
        if page is None:
            yield where, item
        else:
            yield from ((f"{where}: {page}[{i}]", one) for i, one in enumerate(item[page]))


def parquet_has(head_: bytes, path: Path, names: tuple[str, ...]) -> bool:
    """Whether the file is Parquet and has columns of these names."""
    if not head_.startswith(PARQUET_MAGIC):
        return False
    columns = parquet_columns(path)
    return columns is not None and set(names) <= set(columns)


def _is_page(item: object, name: str) -> bool:
    return isinstance(item, dict) and "id" not in item and isinstance(item.get(name), list)


def _is_one_document(start: bytes) -> bool:
    """Whether an object goes on over several lines, so that the file is no JSON lines."""
    first, _, rest = start.lstrip().partition(b"\n")
    first = first.rstrip()
    if not first.startswith(b"{") or not rest.strip():
        return False
    if first == b"{" or _ANSWER.fullmatch(first):
        return True
    return first.endswith((b"{", b"[", b",")) and not rest.lstrip().startswith(b"{")


def _rows(path: Path, on_problem: OnProblem) -> Iterator[tuple[int, dict[str, Any]]]:
    columns = frozenset(parquet_columns(path) or ())
    for number, row in parquet_rows(path, on_problem, text=columns, known=columns):
        yield number, {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """A cell as JSON would hold it: a time in seconds, a map as an object."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, list) and value and all(_is_entry(one) for one in value):
        return dict(value)
    return value


def _is_entry(one: object) -> bool:
    return isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)
