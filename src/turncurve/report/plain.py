"""Results as the plain values that JSON has."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

NAMES = {"start": "from", "end": "to"}
"""Fields whose JSON name is a word that Python keeps for itself."""


def dump(document: Mapping[str, Any]) -> str:
    """JSON text; NaN and infinities are refused, since no other program could read them."""
    return json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def plain(value: object) -> Any:
    """A result as JSON values: field names are keys, NaN and infinities are null."""
    if is_dataclass(value):
        return {NAMES.get(f.name, f.name): plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {as_json_text(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return _scalar(value)


def _scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return as_json_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    raise TypeError(f"wanted a result of plain values, got {type(value).__name__}: {value!r}")


def as_json_text(value: str) -> str:
    """Text that can be encoded, which half a surrogate pair in a trace cannot."""
    return value.encode("utf-8", "replace").decode()
