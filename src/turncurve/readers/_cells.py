"""The header and the cells of a table of text: names, numbers, what is missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none"})
_BOOLS = {"true": True, "false": False}


def column_names(
    given: Sequence[str], known: Collection[str]
) -> tuple[list[str | None], list[str]]:
    """The name that each column is read under, and the names that stand more than once.

    Outer blanks are no part of a name. A name that differs from a known one in case alone is read
    as that one, unless that one is there too. Of columns with one name the first is read; the
    others are None.
    """
    bare = [name.strip() for name in given]
    spelt = {name.lower(): name for name in known if name not in bare}
    names: list[str | None] = []
    twice: list[str] = []
    for name in bare:
        own = spelt.get(name.lower(), name)
        if own and own in names:
            twice.append(own)
            names.append(None)
        else:
            names.append(own)
    return names, list(dict.fromkeys(twice))


def cell_value(
    cell: str, *, is_text: bool, decimal_comma: bool = False
) -> bool | float | str | None:
    """What a cell of text holds: a number, a bool, text; None where it is missing.

    A text column knows the empty cell alone as missing, and nothing but text.
    """
    cell = cell.strip()
    if is_text:
        return cell or None
    if cell.lower() in _MISSING:
        return None
    if _INTEGER.fullmatch(cell) and len(cell) < 20:
        return int(cell)
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if decimal_comma and _DECIMAL_COMMA.fullmatch(cell):
        return float(cell.replace(",", "."))
    return _BOOLS.get(cell.lower(), cell)
