"""Claude Code session files: JSON lines, several of them for one model call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    Event,
    EventKind,
    ExitType,
    Message,
    Run,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from turncurve.readers._models import most_used_model
from turncurve.readers._pairing import Arrived, pair_results
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_float,
    as_name,
    as_text,
    is_transient,
    parse_time,
)
from turncurve.readers.stream import json_objects

_ABSENT = {
    "quality": "a Claude Code session holds no score",
    "error": "a Claude Code session holds no grades",
    "context_tokens": "no message of this session has a usage block",
    "cached_input_tokens": "this session does not say how much of its input was cached",
    "output_tokens": "no message of this session has a usage block",
    "reasoning_tokens": "Claude Code counts reasoning within the output tokens",
    "cost_usd": "Claude Code writes no cost since version 1.0.9",
    "started_at": "no message of this session has a timestamp",
    "seconds": "Claude Code writes no duration of a model call",
    "format_error": "tool calls are structured, so a malformed one leaves no mark",
}
_USAGE = {
    "input_tokens": "input_uncached",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
    "output_tokens": "output",
}
_CLEAR = re.compile(r"\s*<command-name>/?clear</command-name>")
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user")
_LIMIT = re.compile(r"limit reached|hit your .{0,40}limit", re.IGNORECASE)
_OPENING = re.compile(
    rb'\s*\{[^{}]*"type"\s*:\s*"(queue-operation|permission-mode|file-history-snapshot|summary)"'
    rb'(?=[^{}]*"(sessionId|messageId|leafUuid)")'
)


@dataclass(slots=True)
class _Call:
    """One model call, put together from its lines."""

    record: int
    before: tuple[Message, ...]
    texts: list[str] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    model: str | None = None
    started_at: float | None = None
    cost_usd: float | None = None
    stop_reason: str | None = None


@dataclass(slots=True)
class _Thread:
    """One conversation: the main one, what follows a /clear, or one sub-agent's."""

    record: int
    session: str | None
    calls: dict[str, _Call] = field(default_factory=dict)
    arrived: list[Arrived] = field(default_factory=list)
    waiting: list[Message] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    end: tuple[ExitType, str] | None = None
    """How the run ended, should nothing follow."""

    def happened(self, kind: EventKind, **detail: Any) -> None:
        kept = {name: value for name, value in detail.items() if value is not None}
        self.events.append(Event(kind=kind, turn=len(self.calls) + 1, detail=kept))

    def just_compacted(self) -> bool:
        return any(e.kind == "compaction" and e.turn > len(self.calls) for e in self.events)


@dataclass(slots=True)
class _Session:
    """The conversations of one file, by key; a line's own fields and its parent tell which."""

    path: Path
    on_problem: OnProblem
    threads: dict[str, _Thread] = field(default_factory=dict)
    key_of: dict[str, str] = field(default_factory=dict)
    started_by: dict[str, str] = field(default_factory=dict)
    main: str = "main"
    n_repeated: int = 0

    def add(self, number: int, line: Mapping[str, Any]) -> None:
        uuid, kind, message = line.get("uuid"), line.get("type"), line.get("message")
        if isinstance(uuid, str) and uuid in self.key_of:
            self.n_repeated += 1
            return
        if kind in ("user", "assistant") and not isinstance(message, dict):
            reason = f"wanted an object as message of a {kind} line, got {message!r:.80}"
            self.on_problem(ReadError(self.path, reason, record=number))
            return
        key = self._key(line)
        if isinstance(uuid, str):
            self.key_of[uuid] = key
        if kind in ("user", "assistant", "system"):
            thread = self.threads.get(key)
            if thread is None:
                thread = self.threads[key] = _Thread(number, self._session_id(number, line))
            _ADD[kind](thread, number, line)
            result = line.get("toolUseResult")
            if isinstance(result, dict) and isinstance(result.get("agentId"), str):
                self.started_by.setdefault(result["agentId"], key)

    def _session_id(self, number: int, line: Mapping[str, Any]) -> str | None:
        given = line.get("sessionId")
        if given is None or isinstance(given, str):
            return given
        reason, fix = f"wanted text as sessionId, got {given!r:.80}", "read as missing"
        self.on_problem(ReadError(self.path, reason, record=number, fix=fix, kept=True))
        return None

    def _key(self, line: Mapping[str, Any]) -> str:
        if not line.get("isSidechain"):
            if line.get("type") == "user":
                self._start_over_if_cleared(line["message"])
            return self.main
        if isinstance(line.get("agentId"), str):
            return str(line["agentId"])
        if in_name := re.match(r"(?:.*__)?agent-([\w-]+)\.", self.path.name):
            return in_name[1]
        parent = self.key_of.get(str(line.get("parentUuid")), "main")
        if not parent.startswith("main"):
            return parent
        side = [key for key in self.threads if not key.startswith("main")]
        # A prompt opens a sub-agent's conversation; anything else without a parent goes on in one.
        return f"sidechain-{len(side) + 1}" if not side or _is_prompt(line) else side[-1]

    def _start_over_if_cleared(self, message: Mapping[str, Any]) -> None:
        current = self.threads.get(self.main)
        if current and current.calls and _CLEAR.match(as_text(message.get("content"))):
            n_main = sum(key.startswith("main") for key in self.threads)
            self.main = f"main#{n_main + 1}"

    def runs(self) -> Iterator[Run]:
        session = next((t.session for t in self.threads.values() if t.session), None)
        session = session or self.path.name.split(".")[0]
        talking = {key: thread for key, thread in self.threads.items() if thread.calls}
        for key, thread in (talking or dict(list(self.threads.items())[:1])).items():
            yield self._run(key, thread, session)

    def _run(self, key: str, thread: _Thread, session: str) -> Run:
        turns = _turns(thread, self.path, self.on_problem)
        is_main = key.startswith("main")
        starter = self.started_by.get(key, "main")
        exit_type, exit_text = thread.end or (ExitType.UNKNOWN, _stop_reason(thread, turns))
        return Run(
            id=_run_id(key, session),
            turns=turns,
            format="claude_code",
            path=str(self.path),
            record=thread.record,
            model=most_used_model(turns),
            agent="main" if is_main else f"main/{key}",
            parent=None if is_main else _run_id(starter, session),
            exit_type=exit_type,
            exit_text=exit_text,
            events=tuple(thread.events),
            absent=absent_signals(turns, _ABSENT),
            notes=self._notes(key, turns),
        )

    def _notes(self, key: str, turns: tuple[Turn, ...]) -> tuple[str, ...]:
        notes: list[str] = []
        if key.startswith("main#"):
            notes.append("starts at a /clear, which empties the context: a run of its own")
        if self.n_repeated:
            notes.append(
                f"lines of the file that repeat an earlier uuid, left out: {self.n_repeated}"
            )
        if turns and _is_cut_off(turns[-1]):
            notes.append("a tool call of the last turn has no result: cut off, or still running")
        return tuple(notes)


def _is_prompt(line: Mapping[str, Any]) -> bool:
    if line.get("type") != "user":
        return False
    content = line["message"].get("content")
    blocks = content if isinstance(content, list) else []
    return not any(isinstance(b, dict) and b.get("type") == "tool_result" for b in blocks)


def _run_id(key: str, session: str) -> str:
    if key.startswith("main"):
        return session + key.removeprefix("main")
    return f"{session}/{key}"


def _add_system(thread: _Thread, _number: int, line: Mapping[str, Any]) -> None:
    subtype = line.get("subtype")
    if subtype in ("compact_boundary", "microcompact_boundary"):
        found = line.get("compactMetadata", line.get("microcompactMetadata"))
        about = found if isinstance(found, dict) else {}
        milliseconds = as_float(about.get("durationMs"))
        thread.happened(
            "compaction",
            trigger=about.get("trigger"),
            scope="tool results" if subtype.startswith("micro") else None,
            tokens_before=as_count(about.get("preTokens")),
            tokens_after=as_count(about.get("postTokens")),
            seconds=None if milliseconds is None else milliseconds / 1000,
        )
    elif subtype == "api_error":
        thread.happened("error", source="api", text=_error_text(line.get("error")))


def _error_text(error: object) -> str:
    inner = error.get("message", error.get("type")) if isinstance(error, dict) else error
    return as_text(inner)


def _add_user(thread: _Thread, number: int, line: Mapping[str, Any]) -> None:
    content = line["message"].get("content")
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            thread.arrived.append(_arrived(thread, number, block))
        elif text := as_text(block):
            thread.waiting.append(Message(role="user", text=text))
            if _INTERRUPTED.match(text):
                thread.happened("intervention", source="user interrupt")
                thread.end = (ExitType.USER_ABORT, text.strip())
    if line.get("isCompactSummary") and not thread.just_compacted():
        thread.happened("compaction", source="summary")


def _arrived(thread: _Thread, number: int, block: Mapping[str, Any]) -> Arrived:
    text = as_text(block.get("content"))
    inner = block.get("content")
    failed = block.get("is_error") is True or (isinstance(inner, dict) and "error_code" in inner)
    result = ToolResult(
        call_id=as_name(block.get("tool_use_id")),
        text=text,
        error=failed,
        detector="flag",
        transient=failed and is_transient(text),
    )
    return Arrived(result=result, record=number, latest=len(thread.calls) - 1)


def _add_assistant(thread: _Thread, number: int, line: Mapping[str, Any]) -> None:
    message = line["message"]
    content = message.get("content")
    if line.get("isApiErrorMessage"):
        text = as_text(content)
        thread.happened("error", source="api", text=text)
        thread.end = (ExitType.BUDGET if _LIMIT.search(text) else ExitType.CRASH, text)
        return
    if message.get("model") == "<synthetic>":
        return
    call_id = (
        as_name(message.get("id"))
        or as_name(line.get("requestId"))
        or as_name(line.get("uuid"))
        or f"line {number}"
    )
    call = thread.calls.get(call_id)
    if call is None:
        call = thread.calls[call_id] = _Call(record=number, before=tuple(thread.waiting))
        thread.waiting, thread.end = [], None
    _add_numbers(call, line)
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        if not isinstance(block, dict):
            continue
        kind = str(block.get("type"))
        if kind.endswith("tool_use"):
            _add_tool_call(call, block)
        elif kind.endswith("tool_result"):
            thread.arrived.append(_arrived(thread, number, block))
        elif kind == "text" and (text := as_text(block.get("text"))):
            call.texts.append(text)


def _add_tool_call(call: _Call, block: Mapping[str, Any]) -> None:
    tool_id = as_name(block.get("id"))
    if tool_id is None or all(tool_id != known.id for known in call.tool_calls):
        arguments = as_arguments(block.get("input"))
        name = as_text(block.get("name")) or "unknown"
        call.tool_calls.append(ToolCall(id=tool_id, name=name, arguments=arguments))


def _add_numbers(call: _Call, line: Mapping[str, Any]) -> None:
    """Usage is repeated on every line of a message, and grew while older versions streamed it."""
    message = line["message"]
    usage, known = message.get("usage"), call.usage
    for theirs, ours in _USAGE.items() if isinstance(usage, dict) else ():
        count = as_count(usage.get(theirs))
        if count is not None and count >= known.get(ours, 0):
            known[ours] = count
    if (cost := as_float(line.get("costUSD"))) is not None and cost >= 0:
        call.cost_usd = max(cost, call.cost_usd or 0.0)
    if call.started_at is None:
        call.started_at = parse_time(line.get("timestamp"))
    if call.model is None:
        call.model = as_text(message.get("model")) or None
    call.stop_reason = as_text(message.get("stop_reason")) or call.stop_reason


_ADD = {"user": _add_user, "assistant": _add_assistant, "system": _add_system}


def _turns(thread: _Thread, path: Path, on_problem: OnProblem) -> tuple[Turn, ...]:
    calls = list(thread.calls.values())
    results = pair_results(
        [[tool_call.id for tool_call in call.tool_calls] for call in calls],
        thread.arrived,
        path=path,
        on_problem=on_problem,
    )
    return tuple(
        Turn(
            index=index,
            text="\n".join(call.texts),
            before=call.before,
            tool_calls=tuple(call.tool_calls),
            tool_results=tuple(of_turn),
            usage=Usage(**call.usage) if call.usage else None,
            cost_usd=call.cost_usd,
            model=call.model,
            started_at=call.started_at,
            record=call.record,
        )
        for index, (call, of_turn) in enumerate(zip(calls, results, strict=True), start=1)
    )


def _stop_reason(thread: _Thread, turns: tuple[Turn, ...]) -> str | None:
    """The last message's stop reason, unless the run was cut off amid its tool calls."""
    if not turns or _is_cut_off(turns[-1]):
        return None
    return list(thread.calls.values())[-1].stop_reason


def _is_cut_off(turn: Turn) -> bool:
    answered = {result.call_id for result in turn.tool_results}
    return any(call.id not in answered for call in turn.tool_calls)


def _read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    session = _Session(path, on_problem)
    for number, line in json_objects(path, on_problem):
        session.add(number, line)
    yield from session.runs()


def _looks_like(head: bytes, _: Path) -> bool:
    if not head.lstrip().startswith(b"{"):
        return False
    if b'"sessionId"' in head and b'"parentUuid"' in head:
        return True
    return bool(_OPENING.match(head))


READER = Reader(
    name="claude_code",
    title="Claude Code session",
    recognised_by="lines with a sessionId and a parentUuid, or a line that opens such a session",
    looks_like=_looks_like,
    read=_read,
    no_run="a Claude Code session without a message",
)
