"""Whether a file is a table of turns, and what it lacks if it is nearly one."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import msgspec

from turncurve.readers._csv import csv_columns
from turncurve.readers._parquet import PARQUET_MAGIC, parquet_columns, parquet_may_have

_TURN_KEY = re.compile(rb'\s*(?:\[\s*)?\{[^{}\[\]]*"turn"\s*:')
_SHOWN = 12
"""Names of columns that a near miss lists."""


def is_turn_table(head: bytes, path: Path) -> bool:
    """Whether a file with these first bytes has a column or key `turn`."""
    if head.startswith(PARQUET_MAGIC):
        return parquet_may_have(path, "turn")
    start = head.lstrip()
    if start[:1] in (b"{", b"["):
        return bool(_TURN_KEY.match(start)) or any("turn" in keys for keys in _keys(start))
    columns = csv_columns(head, {"turn"})
    return columns is not None and any(name.lower() == "turn" for name in columns)


def lacks_turn(head: bytes, path: Path) -> str | None:
    """What a table without `turn` has in its place, in words; None for what is no table."""
    if head.startswith(PARQUET_MAGIC):
        return _lacking("column", "columns", parquet_columns(path) or [])
    start = head.lstrip()
    if start[:1] in (b"{", b"["):
        return _lacking("key", "keys of the first record", next(iter(_keys(start)), []))
    columns = csv_columns(head, {"turn"}) or []
    return _lacking("column", "columns", columns if len(columns) > 1 else [])


def _lacking(one: str, several: str, names: Collection[str]) -> str | None:
    if not names:
        return None
    shown = ", ".join(list(names)[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"no {one} `turn`; the {several} are {shown}{more}"


def _keys(start: bytes) -> list[list[str]]:
    """The keys of each of the first lines that is a JSON object."""
    records = []
    for line in start.split(b"\n", 20)[:20]:
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(record, dict):
            records.append(list(record))
    return records
