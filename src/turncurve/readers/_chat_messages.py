"""Chat messages as their writers log them, in one form: a role, a text, and tool calls.

Shapes of OpenAI's completions, Anthropic's messages, and LangChain's, plain or serialized.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from turncurve.readers._items import as_list, as_mapping
from turncurve.readers.fields import as_name, as_text

_ROLES = {"human": "user", "ai": "assistant", "aimessagechunk": "assistant", "model": "assistant"}
_CALLS = frozenset({"tool_call", "tool_use", "server_tool_call", "server_tool_use"})
_SILENT = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Parts that are no text of the answer."""


def decoded(given: object) -> Any:
    """A value, or what the JSON text of a list or an object holds; NaN in it is missing."""
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(given, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return given
    return given


def chat_messages(given: object) -> list[dict[str, Any]]:
    """The messages in what a call gave; bare text is one message."""
    return [chat_message(one) for one in _listed(given)]


def messages_since_answer(given: object) -> list[dict[str, Any]]:
    """The messages in what a call was given, from the last answer of a model on.

    Each call is given the whole conversation so far, of which the rest was told before.
    """
    found = list[dict[str, Any]]()
    for one in reversed(_listed(given)):
        found.append(chat_message(one))
        if found[-1]["role"] == "assistant":
            break
    return found[::-1]


def _listed(given: object) -> list[Any]:
    given = decoded(given)
    if isinstance(given, dict):
        inner = given.get("messages")
        given = inner if isinstance(inner, list) else [given]
    if isinstance(given, str):
        given = [{"content": given}] if given else []
    listed = as_list(given)
    return listed[0] if listed and isinstance(listed[0], list) else listed


def chat_message(given: object) -> dict[str, Any]:
    """A message with role, content and tool_calls; no role where it has none."""
    given = {"content": given} if isinstance(given, str) else as_mapping(given)
    inner = as_mapping(given.get("kwargs")) or as_mapping(given.get("data")) or given
    content = inner.get("content")
    more = as_mapping(inner.get("additional_kwargs"))
    listed = as_list(decoded(inner.get("tool_calls"))) or as_list(more.get("tool_calls"))
    calls = [_call(as_mapping(decoded(one))) for one in listed]
    return {
        "role": _role(given, inner),
        "content": as_text([*_texts(content)]),
        "tool_calls": calls or [*_calls_in(content)],
    }


def _role(given: dict[str, Any], inner: dict[str, Any]) -> str:
    """The role, by that name, by a type, or by the class that a serialized message is of."""
    named = as_list(given.get("id"))
    kind = as_name(inner.get("role"))
    if kind is None and named and isinstance(named[-1], str):
        kind = named[-1]
    kind = kind or as_name(inner.get("type")) or as_name(given.get("type")) or ""
    kind = kind.removesuffix("MessageChunk").removesuffix("Message").lower()
    return _ROLES.get(kind, kind)


def _texts(content: object) -> Iterator[object]:
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str) or kind not in _CALLS | _SILENT:
            yield part


def _calls_in(content: object) -> Iterator[dict[str, Any]]:
    for part in map(as_mapping, as_list(content)):
        if isinstance(part.get("type"), str) and part["type"] in _CALLS:
            yield _call(part)


def _call(given: dict[str, Any]) -> dict[str, Any]:
    given = {**given, **as_mapping(given.get("function"))}
    names = ("arguments", "args", "input")
    arguments = next((given[name] for name in names if given.get(name) is not None), None)
    return {"id": given.get("id"), "name": given.get("name"), "arguments": arguments}
