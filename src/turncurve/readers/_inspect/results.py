"""What came back from a tool, and whether it failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from turncurve.model import Detector, ToolResult
from turncurve.readers.fields import is_transient, looks_like_error

if TYPE_CHECKING:
    from inspect_ai.event import ToolEvent
    from inspect_ai.model import ChatMessageTool
    from inspect_ai.tool import ToolCallError

_COMMAND_WORDS = ("bash", "shell", "python", "exec", "terminal", "command")
"""Tools named so run commands: a failed command is text to them, and no error flag is raised."""


def result_of_event(event: ToolEvent) -> tuple[ToolResult, bool]:
    """The result of a tool call, and whether the call itself was malformed."""
    if event.error is None and event.failed:
        text = content_text(event.result)
        return ToolResult(call_id=event.id, text=text, error=True, detector="flag"), False
    return _result(event.id, event.function, content_text(event.result), event.error)


def result_of_message(message: ChatMessageTool) -> tuple[ToolResult, bool]:
    """As `result_of_event`, from the message that brought the result to the model."""
    text = content_text(message.content)
    return _result(message.tool_call_id, message.function or "", text, message.error)


def content_text(content: object) -> str:
    """The text of a message or result; parts without text (images) are named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(content_text, content)))
    text = getattr(content, "text", None)  # one of a dozen content types of Inspect's
    if isinstance(text, str):
        return text
    kind = getattr(content, "type", None)
    if kind == "reasoning":
        return ""
    return f"[{kind}]" if isinstance(kind, str) else json.dumps(content, default=str)


def _result(
    call_id: str | None, function: str, text: str, error: ToolCallError | None
) -> tuple[ToolResult, bool]:
    if error is None:
        failed = _runs_commands(function) and looks_like_error(text)
        detector: Detector = "text" if failed else "flag"
        transient = failed and is_transient(text)
        return (
            ToolResult(
                call_id=call_id, text=text, error=failed, detector=detector, transient=transient
            ),
            False,
        )
    said = "\n".join(filter(None, (error.message, text if text != error.message else "")))
    if error.type == "parsing":
        return ToolResult(call_id=call_id, text=said), True
    if error.type == "cancelled":
        return ToolResult(call_id=call_id, text=said), False
    transient = error.type == "timeout" or is_transient(error.message)
    return (
        ToolResult(call_id=call_id, text=said, error=True, detector="flag", transient=transient),
        False,
    )


def _runs_commands(function: str) -> bool:
    return any(word in function.lower() for word in _COMMAND_WORDS)
