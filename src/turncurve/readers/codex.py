"""Codex CLI rollout files: JSON lines of response items and of events beside them.

What one model call returned is told apart by the cumulative token counter: each new total closes
the call whose items stand before it. A file without a counter (an old one) is cut where items of
the model follow on something that went to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    Event,
    ExitType,
    Message,
    Run,
    ToolCall,
    Turn,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers._codex_results import tool_result
from turncurve.readers._models import most_used_model
from turncurve.readers._pairing import Arrived, pair_results
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_name,
    as_text,
    parse_time,
)
from turncurve.readers.stream import json_objects, open_trace

_ABSENT = {
    "quality": "a Codex rollout holds no score",
    "error": "a Codex rollout holds no grades",
    "context_tokens": "this rollout has no token_count events",
    "cached_input_tokens": "this rollout has no token_count events",
    "output_tokens": "this rollout has no token_count events",
    "reasoning_tokens": "this rollout has no token_count events",
    "cost_usd": "a Codex rollout holds no cost",
    "started_at": "the lines of this rollout have no timestamp",
    "seconds": "a Codex rollout holds no duration of a model call",
    "format_error": "tool calls are structured, so a malformed one leaves no mark",
}
_COUNTER = b'"total_token_usage"'
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_COUNTS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")


@dataclass(slots=True)
class _Call:
    """One model call, put together from the items that it returned."""

    record: int
    before: tuple[Message, ...]
    started_at: float | None
    model: str | None
    texts: list[str] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None


@dataclass(slots=True)
class _Session:
    """What has been read of one rollout."""

    has_counter: bool
    id: str | None = None
    record: int = 1
    parent: str | None = None
    model: str | None = None
    calls: list[_Call] = field(default_factory=list)
    is_open: bool = False
    """Whether items of the model still belong to the last call."""
    total: tuple[int | None, ...] | None = None
    uncounted: Usage | None = None
    """Tokens of a call that left no items: a compaction's, if one follows, else a turn's own."""
    uncounted_record: int = 0
    waiting: list[Message] = field(default_factory=list)
    arrived: list[Arrived] = field(default_factory=list)
    exit_codes: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    end: tuple[ExitType, str | None] = (ExitType.UNKNOWN, None)

    def call(self, number: int, time: float | None) -> _Call:
        """The call that an item of the model belongs to."""
        if not self.is_open:
            self.flush_uncounted()
            self.calls.append(_Call(number, tuple(self.waiting), time, self.model))
            self.waiting, self.is_open = [], True
        return self.calls[-1]

    def flush_uncounted(self) -> None:
        if self.uncounted is not None:
            call = _Call(self.uncounted_record, tuple(self.waiting), None, self.model)
            call.usage, self.uncounted, self.waiting = self.uncounted, None, []
            self.calls.append(call)

    def sent_to_model(self) -> None:
        """Without a counter, what is sent to the model ends the call before it."""
        if not self.has_counter:
            self.is_open = False


def _add(session: _Session, number: int, line: Mapping[str, Any]) -> None:
    kind, payload = line.get("type"), line.get("payload")
    time = parse_time(line.get("timestamp"))
    if not isinstance(payload, dict):  # before version 0.32 a line was the bare item
        kind, payload = ("response_item", line) if "type" in line else ("session_meta", line)
    if kind == "session_meta":
        _add_meta(session, number, payload)
    elif kind == "turn_context":
        session.model = as_text(payload.get("model")) or session.model
    elif kind == "response_item":
        _add_item(session, number, payload, time)
    elif kind == "event_msg":
        _add_event(session, number, payload)
    elif kind == "compacted":
        _add_compaction(session, as_text(payload.get("message")))


def _add_meta(session: _Session, number: int, meta: Mapping[str, Any]) -> None:
    own_id = as_text(meta.get("id", meta.get("session_id")))
    if session.id is not None or not own_id:
        return  # a forked session repeats the meta line of the one it came from
    session.id, session.record = own_id, number
    source = meta.get("source")
    spawn = source.get("subagent") if isinstance(source, dict) else None
    spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    if isinstance(spawn, dict):
        session.parent = as_text(spawn.get("parent_thread_id")) or None


def _add_item(session: _Session, number: int, item: Mapping[str, Any], time: float | None) -> None:
    kind, role = item.get("type"), item.get("role")
    if kind == "message" and role != "assistant":
        session.sent_to_model()
        text = as_text(item.get("content"))
        session.waiting.append(Message(role="user" if role == "user" else "system", text=text))
    elif kind == "message":
        session.call(number, time).texts.append(as_text(item.get("content")))
    elif kind == "reasoning":
        session.call(number, time)
    elif kind in _CALLS:
        session.call(number, time).tool_calls.append(_tool_call(item))
    elif kind in _OUTPUTS:
        result = tool_result(item)
        session.arrived.append(Arrived(result=result, record=number, latest=len(session.calls) - 1))
        session.sent_to_model()


def _tool_call(item: Mapping[str, Any]) -> ToolCall:
    arguments = next((item[k] for k in ("arguments", "input", "action") if k in item), None)
    return ToolCall(
        id=as_name(item.get("call_id", item.get("id"))),
        name=as_text(item.get("name")) or str(item["type"]).removesuffix("_call"),
        arguments=as_arguments(arguments),
    )


def _add_event(session: _Session, number: int, event: Mapping[str, Any]) -> None:
    kind = event.get("type")
    if kind == "token_count":
        _add_count(session, number, event.get("info"))
    elif kind == "context_compacted":
        _add_compaction(session, "")
    elif kind == "turn_aborted":
        reason = as_text(event.get("reason")) or "turn_aborted"
        session.is_open = False
        session.events.append(
            Event(kind="intervention", turn=len(session.calls) + 1, detail={"source": reason})
        )
        is_user = reason in ("interrupted", "turn_aborted", "replaced")
        session.end = (ExitType.USER_ABORT if is_user else ExitType.UNKNOWN, reason)
    elif kind in ("task_started", "turn_started"):
        session.is_open = False
        session.end = (ExitType.UNKNOWN, None)
    elif kind in ("task_complete", "turn_complete"):
        session.is_open = False
        session.end = (ExitType.UNKNOWN, as_text(kind))
    elif kind in ("error", "stream_error"):
        text = as_text(event.get("message"))
        detail = {"source": "api", "text": text}
        session.events.append(Event(kind="error", turn=len(session.calls) + 1, detail=detail))
        session.end = (ExitType.CRASH, text) if kind == "error" else session.end
    elif kind == "exec_command_end":
        code, call_id = event.get("exit_code"), event.get("call_id")
        if isinstance(code, int) and isinstance(call_id, str):
            session.exit_codes[call_id] = code


def _add_count(session: _Session, number: int, info: object) -> None:
    """Close a call where the cumulative total is a new one; repeats of a total say nothing."""
    total = _counts(info, "total_token_usage")
    if total is None or total == session.total:
        return
    counts = _counts(info, "last_token_usage") or _difference(total, session.total)
    session.total = total
    usage = usage_with_cache_inside(
        input_tokens=counts[0], cached=counts[1], output=counts[2], reasoning=counts[3]
    )
    if session.is_open:
        session.calls[-1].usage = usage
        session.is_open = False
    else:
        session.flush_uncounted()
        session.uncounted, session.uncounted_record = usage, number


def _counts(info: object, name: str) -> tuple[int | None, ...] | None:
    counts = info.get(name) if isinstance(info, dict) else None
    if not isinstance(counts, dict):
        return None
    return tuple(as_count(counts.get(key)) for key in _COUNTS)


def _difference(
    total: tuple[int | None, ...], before: tuple[int | None, ...] | None
) -> tuple[int | None, ...]:
    """What was counted since; a counter that fell has started anew."""
    pairs = list(zip(total, before or (0,) * len(total), strict=True))
    if any(now is not None and then is not None and now < then for now, then in pairs):
        return total
    return tuple(
        now - then if now is not None and then is not None else None for now, then in pairs
    )


def _add_compaction(session: _Session, summary: str) -> None:
    """One compaction leaves up to two records, and the call that wrote its summary."""
    session.is_open = False
    last = session.events[-1] if session.events else None
    if last and last.kind == "compaction" and last.turn == len(session.calls) + 1:
        return
    usage, session.uncounted = session.uncounted, None
    if session.calls and _wrote(session.calls[-1], summary):
        wrote = session.calls.pop()
        usage, session.waiting = wrote.usage, [*wrote.before, *session.waiting]
    detail = {
        "summary_input_tokens": usage.context_tokens if usage else None,
        "summary_output_tokens": usage.output if usage else None,
    }
    kept = {name: value for name, value in detail.items() if value is not None}
    session.events.append(Event(kind="compaction", turn=len(session.calls) + 1, detail=kept))


def _wrote(call: _Call, summary: str) -> bool:
    text = "\n".join(call.texts).strip()
    return bool(text) and not call.tool_calls and text in summary


def _run(session: _Session, path: Path, on_problem: OnProblem) -> Run:
    turns = _turns(session, path, on_problem)
    exit_type, exit_text = session.end
    return Run(
        id=session.id or path.name.split(".")[0],
        turns=turns,
        format="codex",
        path=str(path),
        record=session.record,
        model=most_used_model(turns) or session.model,
        agent="main/subagent" if session.parent else "main",
        parent=session.parent,
        exit_type=exit_type,
        exit_text=exit_text,
        events=tuple(
            Event(kind=event.kind, turn=min(event.turn, len(turns) + 1), detail=event.detail)
            for event in session.events
        ),
        absent=absent_signals(turns, _ABSENT),
        notes=_notes(session),
    )


def _notes(session: _Session) -> tuple[str, ...]:
    if not session.has_counter:
        return ("no token_count events: turns are cut where a tool's output or a prompt came in",)
    if session.calls and session.calls[-1].usage is None:
        return ("the last model call has no token count: cut off, or still running",)
    return ()


def _turns(session: _Session, path: Path, on_problem: OnProblem) -> tuple[Turn, ...]:
    session.flush_uncounted()
    results = pair_results(
        [[tool_call.id for tool_call in call.tool_calls] for call in session.calls],
        [_with_exit_code(item, session.exit_codes) for item in session.arrived],
        path=path,
        on_problem=on_problem,
    )
    return tuple(
        Turn(
            index=index,
            text="\n".join(text for text in call.texts if text),
            before=call.before,
            tool_calls=tuple(call.tool_calls),
            tool_results=tuple(of_turn),
            usage=call.usage,
            model=call.model,
            started_at=call.started_at,
            record=call.record,
        )
        for index, (call, of_turn) in enumerate(zip(session.calls, results, strict=True), start=1)
    )


def _with_exit_code(item: Arrived, exit_codes: Mapping[str, int]) -> Arrived:
    code = exit_codes.get(item.result.call_id or "")
    if code is None or item.result.detector == "return_code":
        return item
    result = replace(item.result, error=code != 0, detector="return_code")
    return replace(item, result=result)


def _read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    session = _Session(has_counter=_has_counter(path))
    n_lines = 0
    for number, line in json_objects(path, on_problem):
        n_lines += 1
        _add(session, number, line)
    if n_lines:
        yield _run(session, path, on_problem)


def _has_counter(path: Path) -> bool:
    """Whether the file counts tokens at all, which must be known before its first call ends."""
    try:
        with open_trace(path) as file:
            end = b""
            while piece := file.read1(1 << 20):
                piece = end + piece
                if _COUNTER in piece:
                    return True
                end = piece[-len(_COUNTER) :]
            return False
    except ReadError:
        return False


_LINE = re.compile(
    rb'\s*\{[^\n]*?"type"\s*:\s*"(?:session_meta|turn_context|response_item|event_msg|compacted)"'
)
_OLD_META = re.compile(
    rb'\s*\{"id"\s*:\s*"[^"]*"\s*,\s*"timestamp"\s*:\s*"[^"]*"[^\n]*"instructions"'
)


def _looks_like(head: bytes, _: Path) -> bool:
    first = head.lstrip().partition(b"\n")[0]
    return bool(_LINE.match(first) and b'"payload"' in first) or bool(_OLD_META.match(first))


READER = Reader(
    name="codex",
    title="Codex CLI rollout",
    recognised_by="a first line of type session_meta (or another rollout type) with a payload",
    looks_like=_looks_like,
    read=_read,
    no_run="a Codex rollout without a record",
)
