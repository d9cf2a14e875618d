"""A long text cut to its start and its end, and a tool call's arguments as text."""

from __future__ import annotations

import json
from dataclasses import dataclass

from turncurve.model.run import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A text, or its start and its end when it is longer than the cap."""

    head: str
    omitted: int = 0
    """Characters left out between `head` and `tail`."""
    tail: str = ""


def excerpt(text: str, cap: int) -> Excerpt:
    """The text cut to `cap` characters.

    A longer one keeps three quarters of the cap from its start and one quarter from its end, since
    tool output often says at its end what went wrong.
    """
    if len(text) <= cap:
        return Excerpt(head=text)
    tail = cap // 4
    return Excerpt(
        head=text[: cap - tail], omitted=len(text) - cap, tail=text[-tail:] if tail else ""
    )


def arguments_text(call: ToolCall) -> str:
    """A call's arguments, one a line where they are a mapping."""
    if isinstance(call.arguments, str):
        return call.arguments
    return "\n".join(f"{name}: {_plain(value)}" for name, value in call.arguments.items())


def _plain(value: object) -> str:
    """A string as it is, so that code keeps its lines; all else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except RecursionError:
        return "(nested too deeply to show)"
