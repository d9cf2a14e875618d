"""Gemini CLI's `--output-format stream-json`: what happened, one event a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Totals
from turncurve.readers._calls import CallDraft, turns_of
from turncurve.readers._items import as_mapping
from turncurve.readers._outcomes import exit_events
from turncurve.readers._pairing import Arrived
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_name,
    as_text,
    is_transient,
    parse_time,
)
from turncurve.readers.stream import json_objects

_INIT = re.compile(
    rb'^\s*\{(?=[^\n]*"type"\s*:\s*"init")(?=[^\n]*"session_id")(?=[^\n]*"model")', re.MULTILINE
)
_TOOL = re.compile(
    rb'^\s*\{(?=[^\n]*"type"\s*:\s*"tool_use")(?=[^\n]*"tool_id")(?=[^\n]*"tool_name")',
    re.MULTILINE,
)

_ERRORS = {
    "FatalTurnLimitedError": ExitType.BUDGET,
    "FatalCancellationError": ExitType.USER_ABORT,
}
_AT_THE_END = "stream-json gives the tokens of the session at its end, not by turn"
_ABSENT = {
    "quality": "Gemini CLI writes no score of a turn",
    "error": "Gemini CLI writes no grades",
    "context_tokens": _AT_THE_END,
    "cached_input_tokens": _AT_THE_END,
    "output_tokens": _AT_THE_END,
    "reasoning_tokens": _AT_THE_END,
    "cost_usd": "Gemini CLI writes no cost",
    "started_at": "no event of this session has its time beside it",
    "seconds": "stream-json writes when an answer came, not when it was asked for",
    "format_error": "a call that the model got wrong comes back as a failed result",
}
_CUT = (
    "stream-json does not mark model calls: a turn ends where an answer or a call follows a "
    "result, so calls of one answer that ran one after another are turns of their own"
)


def is_stream(head: bytes) -> bool:
    """Whether some line starts a session, or a tool call, as stream-json does."""
    return bool(
        (b'"session_id"' in head and _INIT.search(head))
        or (b'"tool_name"' in head and _TOOL.search(head))
    )


def read_stream(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each session of the output; several may stand in one file, one after another."""
    session = _Session()
    n_sessions = n_lines = 0
    for number, line in json_objects(path, on_problem):
        n_lines += 1
        if line.get("type") == "init" and session.has_begun:
            n_sessions += 1
            following = session.give_up_prompt()
            yield _run(session, path, on_problem, number=n_sessions, is_last=False)
            session = _Session(before=following)
        session.take(line, number)
    if n_lines:
        yield _run(session, path, on_problem, number=n_sessions + 1, is_last=True)


@dataclass(slots=True, kw_only=True)
class _Session:
    before: list[Message] = field(default_factory=list)
    id: str | None = None
    model: str | None = None
    drafts: list[CallDraft] = field(default_factory=list)
    arrived: list[Arrived] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    result: dict[str, Any] | None = None
    is_open: bool = False

    @property
    def has_begun(self) -> bool:
        """Whether an init or a turn of it was read; a prompt may come before either."""
        return self.id is not None or bool(self.drafts)

    def give_up_prompt(self) -> list[Message]:
        """What was said after the last turn: it was meant for the session that follows."""
        following, self.before = self.before, []
        return following

    def take(self, line: dict[str, Any], number: int) -> None:
        """Take up one event."""
        kind = line.get("type")
        if kind == "init":
            self.id, self.model = as_name(line.get("session_id")), as_name(line.get("model"))
        elif kind == "message" and line.get("role") == "assistant":
            self._current(line, number).texts.append(as_text(line.get("content")))
        elif kind == "message":
            self.before.append(Message(role="user", text=as_text(line.get("content"))))
            self.is_open = False
        elif kind == "tool_use":
            call = ToolCall(
                id=as_name(line.get("tool_id")),
                name=as_text(line.get("tool_name")),
                arguments=as_arguments(line.get("parameters")),
            )
            self._current(line, number).tool_calls.append(call)
        elif kind == "tool_result":
            self._result(line, number)
        elif kind == "error":
            detail = {"error": as_text(line.get("message"))}
            self.events.append(Event(kind="error", turn=len(self.drafts) + 1, detail=detail))
        elif kind == "result":
            self.result = line

    def _current(self, line: dict[str, Any], number: int) -> CallDraft:
        """The open turn; a new one after a result or a prompt."""
        if not self.is_open:
            time = parse_time(line.get("timestamp"))
            self.drafts.append(
                CallDraft(
                    record=number,
                    before=tuple(self.before),
                    started_at=time,
                    model=self.model,
                )
            )
            self.before, self.is_open = [], True
        return self.drafts[-1]

    def _result(self, line: dict[str, Any], number: int) -> None:
        status = line.get("status")
        known = status in ("success", "error")
        text = as_text(line.get("output")) or as_text(as_mapping(line.get("error")).get("message"))
        result = ToolResult(
            call_id=as_name(line.get("tool_id")),
            text=text,
            error=status == "error" if known else None,
            detector="status" if known else None,
            transient=status == "error" and is_transient(text),
        )
        self.arrived.append(Arrived(result=result, record=number, latest=len(self.drafts) - 1))
        self.is_open = False


def _run(
    session: _Session, path: Path, on_problem: OnProblem, *, number: int, is_last: bool
) -> Run:
    for draft in session.drafts:
        draft.texts = ["".join(draft.texts)]
    turns = turns_of(session.drafts, session.arrived, path=path, on_problem=on_problem)
    exit_, words = _end(session, is_last=is_last)
    events = [
        Event(kind=e.kind, turn=min(e.turn, len(turns) + 1), detail=e.detail)
        for e in session.events
    ]
    return Run(
        id=session.id or f"{path.name.split('.')[0]}/session-{number}",
        turns=turns,
        format="gemini_cli",
        path=str(path),
        record=f"session {number}",
        model=session.model,
        exit_type=exit_,
        exit_text=words,
        events=(*events, *exit_events(exit_, words, len(turns))),
        totals=_totals(session),
        absent=absent_signals(turns, _ABSENT),
        notes=(_CUT,),
    )


def _end(session: _Session, *, is_last: bool) -> tuple[ExitType, str | None]:
    """By its result; without one, a session that another follows has died."""
    if session.result is None:
        return (ExitType.UNKNOWN if is_last else ExitType.CRASH), None
    words = as_name(session.result.get("status"))
    if words != "error":
        return ExitType.UNKNOWN, words
    name = as_name(as_mapping(session.result.get("error")).get("type"))
    return _ERRORS.get(name or "", ExitType.CRASH), name or words


def _totals(session: _Session) -> Totals | None:
    """The session's tokens; what is in the total beyond input and output are thoughts."""
    stats = as_mapping(as_mapping(session.result).get("stats"))
    given, output = as_count(stats.get("input_tokens")), as_count(stats.get("output_tokens"))
    total = as_count(stats.get("total_tokens"))
    if total is not None and given is not None and output is not None:
        output = max(output, total - given)
    counts = {
        "input_tokens": given,
        "cached_input_tokens": as_count(stats.get("cached")),
        "output_tokens": output,
    }
    return Totals(**counts) if any(counts.values()) else None
