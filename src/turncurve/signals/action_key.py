"""When two actions are the same: the canonical key of a tool call."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
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
_quoted = json.encoder.encode_basestring_ascii


def canonical_action(call: ToolCall, *, volatile: frozenset[str] = VOLATILE_KEYS) -> str:
    """The call's tool and arguments in one canonical form, as text.

    Arguments named in `volatile` and those that are null are dropped at every depth, names are
    sorted, texts are in Unicode's NFC and lose white space around them and slashes at their end,
    1.0 equals 1. Deeper than 60 levels everything counts as the same. Arguments that did not parse
    are compared as text.
    """
    arguments = call.arguments
    if isinstance(arguments, str):
        canonical = _quoted(_one_space(_composed(arguments)))
    else:
        kept = _mapping(arguments, volatile, 0)
        pairs = [f"{_quoted(name)}:{_as_json(kept[name])}" for name in sorted(kept)]
        canonical = f"{{{','.join(pairs)}}}"
    return f"{_composed(call.name).strip()}:{canonical}"


def action_key(call: ToolCall, *, volatile: frozenset[str] = VOLATILE_KEYS) -> int:
    """Hash of `canonical_action`: from 1 to 2**64 - 1, the same on every machine."""
    return text_key(canonical_action(call, volatile=volatile))


def text_key(text: str) -> int:
    """Hash of a text: from 1 to 2**64 - 1, the same on every machine."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def text_keys(text: str, rest: str) -> tuple[int, int]:
    """`text_key` of a text, and of it with a NUL and the rest behind it, in one go."""
    hashed = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    digest = hashed.digest()
    hashed.update(b"\0")
    hashed.update(rest.encode("utf-8", "surrogatepass"))
    whole = hashed.digest()
    return int.from_bytes(digest, "little") or 1, int.from_bytes(whole, "little") or 1


def _as_json(value: JsonValue) -> str:
    return _quoted(value) if type(value) is str else _JSON.encode(value)


def _mapping(
    value: Mapping[str, JsonValue], volatile: frozenset[str], depth: int
) -> dict[str, JsonValue]:
    kept = {}
    for name, item in value.items():
        if item is None:
            continue
        name = str(name)
        composed, plain = _known_name(name) if len(name) <= _LONG_NAME else _name(name)
        if plain in volatile:
            continue
        is_command = plain in COMMAND_KEYS
        if type(item) is str:
            kept[composed] = _text(item, is_command=is_command)
        else:
            kept[composed] = _value(item, volatile, depth + 1, is_command=is_command)
    return kept


def _name(name: str) -> tuple[str, str]:
    """An argument's name as it is compared, and as volatile ones are told by."""
    return _composed(name), name.lower().replace("_", "").replace("-", "")


_LONG_NAME = 64
_known_name = lru_cache(maxsize=4096)(_name)


def _value(
    value: JsonValue, volatile: frozenset[str], depth: int, *, is_command: bool = False
) -> JsonValue:
    if isinstance(value, str):
        return _text(value, is_command=is_command)
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else value
    if isinstance(value, Mapping):
        return "..." if depth > _DEEPEST else _mapping(value, volatile, depth)
    if isinstance(value, list | tuple):
        items = value if depth <= _DEEPEST else ("...",)
        return [_value(item, volatile, depth + 1, is_command=is_command) for item in items]
    return value if isinstance(value, int | None) else str(value)


def _text(value: str, *, is_command: bool) -> str:
    text = _composed(value)
    bare = _one_space(text) if is_command else text.strip()
    return bare.rstrip("/") or bare[:1]


def _composed(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def _one_space(text: str) -> str:
    return " ".join(text.split())
