"""The messages of a mini-swe-agent run, grouped into turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    Event,
    Message,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_int,
    as_name,
    as_text,
    is_transient,
    parse_time,
)

_COMMAND_BLOCK = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_RETURN_CODE = re.compile(r"\s*(?:<exception>.{0,2000}?</exception>\s*)?<returncode>(-?\d+)<", re.S)
_NOT_EXECUTED = "action was not executed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """How the harness's own messages begin, by the templates that the file gives."""

    format_error: str = "Please always provide EXACTLY ONE action in triple backticks"
    timeout: str = "The last command <command>"


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A turn whose results are still to come."""

    message: dict[str, Any]
    index: int
    record: str
    before: tuple[Message, ...]
    previous_time: float | None
    calls: tuple[ToolCall, ...]
    results: list[ToolResult] = field(default_factory=list)
    format_error: bool = False


class Conversation:
    """Groups the messages of one run into turns, as they come.

    A turn opens with the model's answer and takes up the results after it. It closes at the next
    answer and at any message that is no result; such a message belongs `before` the next turn.
    """

    def __init__(self, notices: Notices) -> None:
        self.turns: list[Turn] = []
        self.events: list[Event] = []
        self.exit: dict[str, Any] = {}
        """What the harness added to its closing message."""
        self._notices = notices
        self._draft: _Draft | None = None
        self._before: list[Message] = []
        self._time: float | None = None

    def add(self, message: dict[str, Any], record: str, *, is_last: bool) -> None:
        """Take up the next message."""
        role = _role(message)
        if role == "assistant":
            self._open(message, record)
        elif role == "exit":
            self.exit = as_mapping(message.get("extra"))
        elif role == "tool":
            self._take_result(message)
        elif role == "user":
            self._take_notice(message, record, is_last=is_last)
        else:
            self._note("system", _text(message))
        time = parse_time(as_mapping(message.get("extra")).get("timestamp"))
        self._time = time if role in ("assistant", "tool") else None

    def close(self) -> None:
        """Finish the open turn."""
        if self._draft is not None:
            self.turns.append(_turn(self._draft))
            self._draft = None

    def _open(self, message: dict[str, Any], record: str) -> None:
        self.close()
        self._draft = _Draft(
            message=message,
            index=len(self.turns) + 1,
            record=record,
            before=tuple(self._before),
            previous_time=self._time,
            calls=_tool_calls(message),
        )
        self._before = []

    def _note(self, role: str, text: str) -> None:
        self.close()
        self._before.append(Message(role="system" if role == "system" else "user", text=text))

    def _take_result(self, message: dict[str, Any]) -> None:
        if self._draft is None:  # what a human's own command gave
            self._note("user", _text(message))
        else:
            self._draft.results.append(_result(message, self._draft))

    def _take_notice(self, message: dict[str, Any], record: str, *, is_last: bool) -> None:
        text, draft = _text(message), self._draft
        extra = as_mapping(message.get("extra"))
        waits = draft is not None and not draft.results
        if self._is_format_error(text, extra):
            self._take_format_error(message, record, waits=waits)
        elif draft is None or not waits or extra.get("interrupt_type") or "actions" in extra:
            self._note("user", text)
        elif text.startswith(self._notices.timeout):
            self._note("user", text)
            self._add_event({"error": "timeout"})
        elif _RETURN_CODE.match(text):
            self._take_result(message)
        elif not is_last and len(draft.calls) == 1:
            draft.results.append(ToolResult(call_id=_only_id(draft), text=text))
        else:
            self._note("user", text)

    def _is_format_error(self, text: str, extra: dict[str, Any]) -> bool:
        interrupt = extra.get("interrupt_type")
        return interrupt == "FormatError" or (
            interrupt is None and text.startswith(self._notices.format_error)
        )

    def _take_format_error(self, message: dict[str, Any], record: str, *, waits: bool) -> None:
        """Mark the answer that the harness could not read, where the file kept that answer."""
        response = as_mapping(as_mapping(message.get("extra")).get("response"))
        if not waits and response:
            self._open(_kept_answer(response), record)
        if self._draft is not None and not self._draft.results:
            self._draft.format_error = True
            self._draft.calls = ()
        else:
            self.close()
            self._add_event({"error": "format_error", "answer": "not in the file"})
        self._note("user", _text(message))

    def _add_event(self, detail: dict[str, Any]) -> None:
        self.events.append(Event(kind="error", turn=len(self.turns) + 1, detail=detail))


def conversation(
    messages: Sequence[Any], notices: Notices, path: Path, on_problem: OnProblem
) -> Conversation:
    """Group messages into turns; one that is no JSON object is told and left out."""
    talk = Conversation(notices)
    for position, message in enumerate(messages):
        record = f"messages[{position}]"
        if not isinstance(message, dict):
            on_problem(
                ReadError(
                    path,
                    f"wanted a message with a role and content, got {type(message).__name__}",
                    record=record,
                    fix="the run was read without it",
                    kept=True,
                )
            )
            continue
        talk.add(message, record, is_last=position == len(messages) - 1)
    talk.close()
    return talk


def _role(message: dict[str, Any]) -> str:
    """The role, one name for the two APIs that mini-swe-agent talks to."""
    if message.get("object") == "response":
        return "assistant"
    if message.get("type") == "function_call_output":
        return "tool"
    if "returncode" in as_mapping(message.get("extra")):
        return "tool"
    return str(message.get("role"))


def _text(message: dict[str, Any]) -> str:
    if "output" in message and "content" not in message:
        output = message["output"]
        parts = [part for part in as_list(output) if as_mapping(part).get("type") == "message"]
        return as_text(parts if isinstance(output, list) else output)
    return as_text(message.get("content"))


def _kept_answer(response: dict[str, Any]) -> dict[str, Any]:
    """An assistant message out of the provider's response behind a format error."""
    choice = as_mapping(next(iter(as_list(response.get("choices"))), None))
    chat = as_mapping(choice.get("message"))
    answer = chat or {"output": response.get("output")}
    return {**answer, "extra": {"response": response}}


def _tool_calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    """Native calls, else the actions that the harness read, else the one command block."""
    native = [as_mapping(call) for call in as_list(message.get("tool_calls"))]
    native += [
        as_mapping(item)
        for item in as_list(message.get("output"))
        if as_mapping(item).get("type") == "function_call"
    ]
    if native:
        return tuple(_native_call(call) for call in native)
    actions = as_list(as_mapping(message.get("extra")).get("actions"))
    if actions:
        return tuple(_action(as_mapping(action)) for action in actions)
    blocks = _COMMAND_BLOCK.findall(_text(message))
    if len(blocks) != 1:
        return ()
    return (ToolCall(name="bash", arguments={"command": blocks[0].strip()}),)


def _native_call(call: dict[str, Any]) -> ToolCall:
    function = as_mapping(call.get("function")) or call
    return ToolCall(
        id=as_name(call.get("call_id") or call.get("id")),
        name=as_name(function.get("name")) or "bash",
        arguments=as_arguments(function.get("arguments")),
    )


def _action(action: dict[str, Any]) -> ToolCall:
    command = action.get("command", action.get("action"))
    return ToolCall(
        id=as_name(action.get("tool_call_id")),
        name="bash",
        arguments={"command": as_text(command)},
    )


def _only_id(draft: _Draft) -> str | None:
    return draft.calls[0].id if len(draft.calls) == 1 else None


def _result(message: dict[str, Any], draft: _Draft) -> ToolResult:
    extra, text = as_mapping(message.get("extra")), _text(message)
    code, exception = as_int(extra.get("returncode")), as_text(extra.get("exception_info"))
    if code is None and (written := _RETURN_CODE.match(text)):
        code = int(written.group(1))
    known = code is not None and exception != _NOT_EXECUTED
    return ToolResult(
        call_id=as_name(message.get("tool_call_id") or message.get("call_id")) or _only_id(draft),
        text=text,
        error=code != 0 if known else None,
        detector="return_code" if known else None,
        transient=bool(known and exception and is_transient(exception)),
    )


def _turn(draft: _Draft) -> Turn:
    extra = as_mapping(draft.message.get("extra"))
    response = as_mapping(extra.get("response")) or draft.message
    spent = as_mapping(response.get("usage"))
    ended = parse_time(extra.get("timestamp"))
    return Turn(
        index=draft.index,
        text=_text(draft.message),
        before=draft.before,
        tool_calls=draft.calls,
        tool_results=tuple(draft.results),
        usage=_usage(spent),
        cost_usd=_cost(extra.get("cost"), spent.get("cost")),
        model=as_name(response.get("model")),
        started_at=parse_time(response.get("created") or response.get("created_at"))
        or draft.previous_time,
        seconds=_seconds(draft.previous_time, ended),
        format_error=draft.format_error,
        record=draft.record,
    )


def _seconds(started: float | None, ended: float | None) -> float | None:
    if started is None or ended is None or ended < started:
        return None
    return ended - started


def _cost(*candidates: object) -> float | None:
    for candidate in candidates:
        cost = as_float(candidate)
        if cost is not None and cost >= 0:
            return cost
    return None


def _usage(spent: dict[str, Any]) -> Usage | None:
    """The normal form of a provider's usage; None if it counts nothing at all."""
    sent = _first_count(spent, "prompt_tokens", "input_tokens")
    output = _first_count(spent, "completion_tokens", "output_tokens")
    if not sent and not output:
        return None
    in_parts = as_mapping(spent.get("prompt_tokens_details") or spent.get("input_tokens_details"))
    out_parts = as_mapping(
        spent.get("completion_tokens_details") or spent.get("output_tokens_details")
    )
    cached = as_count(in_parts.get("cached_tokens"))
    if cached is None:
        cached = _first_count(spent, "cache_read_input_tokens", "prompt_cache_hit_tokens")
    written = _first_count(spent, "cache_creation_input_tokens")
    if written is None:
        written = _first_count(in_parts, "cache_creation_tokens", "cache_write_tokens")
    reasoning = as_count(out_parts.get("reasoning_tokens"))
    if reasoning is not None and (output is None or reasoning > output):
        reasoning = None  # some routes count it beside the output, so it is no part of it
    return usage_with_cache_inside(
        input_tokens=sent, cached=cached, cache_write=written, output=output, reasoning=reasoning
    )


def _first_count(spent: dict[str, Any], *names: str) -> int | None:
    for name in names:
        count = as_count(spent.get(name))
        if count is not None:
            return count
    return None
