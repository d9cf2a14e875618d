"""When two actions are the same: the canonical key of a tool call."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, TypeAlias
from unicodedata import normalize

from turncurve.model import ToolCall

JsonValue: TypeAlias = Any
"""A value as it came out of a JSON document."""

VOLATILE_KEYS = frozenset(
    {
        *("requestid", "traceid", "spanid", "correlationid", "invocationid", "idempotencykey"),
        *("toolcallid", "callid", "tooluseid", "nonce", "timestamp", "requesttime"),
    }
)
"""Argument names that differ from call to call and say nothing of what is done.

They are compared in lower case and without `_` and `-`. A bare `id` is not among them, nor is `ts`:
they often name what is acted on, as the `ts` of a Slack message does.
"""

COMMAND_KEYS = frozenset({"command", "cmd"})
"""Argument names whose text is a shell command: runs of white space in it count as one space."""

_DEEPEST = 60
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical_action(call: ToolCall, *, volatile: frozenset[str] = VOLATILE_KEYS) -> str:
    """The call's tool and arguments in one canonical form, as text.

    Arguments named in `volatile` and those that are null are dropped at every depth, names are
    sorted, texts are in Unicode's NFC and lose white space around them and slashes at their end,
    1.0 equals 1. Deeper than 60 levels everything counts as the same. Arguments that did not parse
    are compared as text.
    """
    arguments = call.arguments
    if isinstance(arguments, str):
        canonical: JsonValue = _one_space(_composed(arguments))
    else:
        canonical = _mapping(arguments, volatile, 0)
    return f"{_composed(call.name).strip()}:{_JSON.encode(canonical)}"


def action_key(call: ToolCall, *, volatile: frozenset[str] = VOLATILE_KEYS) -> int:
    """Hash of `canonical_action`: from 1 to 2**64 - 1, the same on every machine."""
    return text_key(canonical_action(call, volatile=volatile))


def text_key(text: str) -> int:
    """Hash of a text: from 1 to 2**64 - 1, the same on every machine."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def text_keys(text: str, rest: str) -> tuple[int, int]:
    """`text_key` of a text, and of it with the rest behind it; the text is gone through once."""
    hashed = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    digest = hashed.digest()
    hashed.update(rest.encode("utf-8", "surrogatepass"))
    whole = hashed.digest()
    return int.from_bytes(digest, "little") or 1, int.from_bytes(whole, "little") or 1


def _mapping(value: Mapping[str, JsonValue], volatile: frozenset[str], depth: int) -> JsonValue:
    if depth > _DEEPEST:
        return "..."
    kept = {}
    for name, item in value.items():
        plain = str(name).lower().replace("_", "").replace("-", "")
        if item is None or plain in volatile:
            continue
        kept[_composed(str(name))] = _value(
            item, volatile, depth + 1, is_command=plain in COMMAND_KEYS
        )
    return kept


def _value(
    value: JsonValue, volatile: frozenset[str], depth: int, *, is_command: bool = False
) -> JsonValue:
    if isinstance(value, str):
        text = _composed(value)
        bare = _one_space(text) if is_command else text.strip()
        return bare.rstrip("/") or bare[:1]
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else value
    if isinstance(value, Mapping):
        return _mapping(value, volatile, depth)
    if isinstance(value, list | tuple):
        items = value if depth <= _DEEPEST else ("...",)
        return [_value(item, volatile, depth + 1, is_command=is_command) for item in items]
    return value if isinstance(value, int | None) else str(value)


def _composed(text: str) -> str:
    return normalize("NFC", text)


def _one_space(text: str) -> str:
    return " ".join(text.split())
