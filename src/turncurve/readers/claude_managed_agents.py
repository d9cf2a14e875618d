"""Claude managed agents: the event stream of one session, as the API gives it or wrapped.

Event types and fields are those of the vendor's reference of session events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Totals, Usage
from turncurve.readers._calls import CallDraft, turns_of
from turncurve.readers._items import as_mapping
from turncurve.readers._outcomes import exit_events
from turncurve.readers._pairing import Arrived
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

_EVENT = re.compile(
    rb'"type"\s*:\s*"(?:span\.model_request_(?:start|end)|session\.status_\w+|agent\.tool_use'
    rb'|session\.thread_status_\w+|user\.define_outcome|session\.thread_created)"'
)
_ID = re.compile(rb'"id"\s*:\s*"sevt_')
_LINE = re.compile(rb"\s*\{")
_SATISFIED = frozenset({"satisfied", "passed", "success"})
_NOT_SATISFIED = frozenset({"needs_revision", "failed", "max_iterations_reached"})

_ABSENT = {
    "quality": "the session's outcome is judged, not its turns",
    "error": "managed agents write no grades",
    "context_tokens": "no model request of this session has its usage beside it",
    "cached_input_tokens": "no model request of this session has its usage beside it",
    "output_tokens": "no model request of this session has its usage beside it",
    "reasoning_tokens": "managed agents do not count reasoning tokens apart",
    "cost_usd": "managed agents write the cost of the session, not of its requests",
    "started_at": "no model request of this session has its time beside it",
    "seconds": "no model request of this session has both of its times",
    "format_error": "a call that the model got wrong comes back as a failed result",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether the first lines are session events with ids of their kind."""
    del path
    return bool(_LINE.match(head) and _ID.search(head) and _EVENT.search(head))


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the session's run, then one for each of its other threads."""
    threads: dict[str | None, _Thread] = {}
    session = _Session()
    n_events = 0
    for number, line in json_objects(path, on_problem):
        n_events += 1
        raw = as_mapping(line.get("raw")) or line
        session.take(raw)
        name = as_name(raw.get("session_thread_id"))
        kind = as_text(raw.get("type"))
        key = name if kind.startswith(("agent.", "span.")) else None
        if key not in threads:
            threads[key] = _Thread()
        threads[key].take(kind, raw, number)
    if not n_events:
        return
    main = threads.pop(None, _Thread())
    yield _run(main, session, None, path, on_problem)
    for name, thread in threads.items():
        yield _run(thread, session, name, path, on_problem)


class _Session:
    """What the events say of the session as a whole."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.cost_usd: float | None = None
        self.result: str | None = None
        self.stop: str | None = None
        self.is_running = False
        self.was_terminated = False
        self.error: str | None = None

    def take(self, raw: dict[str, Any]) -> None:
        """Take up one event."""
        self.id = self.id or as_name(raw.get("session_id"))
        kind = raw.get("type")
        if kind == "session.usage":
            self._cost(as_mapping(as_mapping(raw.get("usage")).get("list_cost")))
        elif kind == "span.outcome_evaluation_end":
            self.result = as_name(raw.get("result"))
        elif kind == "session.status_running":
            self.is_running, self.stop = True, None
        elif kind == "session.status_idle":
            self.is_running = False
            self.stop = as_name(as_mapping(raw.get("stop_reason")).get("type"))
        elif kind == "session.status_terminated":
            self.is_running, self.was_terminated = False, True
        elif kind == "session.error":
            self.error = as_text(as_mapping(raw.get("error")).get("message")) or "session.error"

    def _cost(self, cost: dict[str, Any]) -> None:
        """The session's cost so far: an amount in cents, as text; the last one counts."""
        amount = cost.get("amount")
        if isinstance(amount, str) and re.fullmatch(r"\d{1,15}(\.\d+)?", amount):
            amount = float(amount)
        cents = as_float(amount)
        if cents is not None and cents >= 0:
            self.cost_usd = cents / 100

    def end(self) -> tuple[ExitType, str | None, bool | None]:
        """How it ended, in which words, and whether its outcome was met."""
        success = None
        if self.result in _SATISFIED or self.result in _NOT_SATISFIED:
            success = self.result in _SATISFIED
        words = self.stop or ("terminated" if self.was_terminated else self.result)
        if self.was_terminated and success is None:
            return ExitType.CRASH, self.error or words, None
        if self.is_running:
            return ExitType.STILL_RUNNING, words, success
        return ExitType.finished(success), words, success


class _Thread:
    """The model requests of one thread, and what came of each."""

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self.arrived: list[Arrived] = []
        self.events: list[Event] = []
        self.agent: str | None = None
        self.n_given_up = 0
        self._before: list[Message] = []
        self._open: CallDraft | None = None
        self._on: dict[str, Callable[[dict[str, Any], int], None]] = {
            "span.model_request_start": self._start,
            "span.model_request_end": self._end,
            "agent.message": self._text,
            "agent.tool_use": self._call,
            "agent.mcp_tool_use": self._call,
            "agent.custom_tool_use": self._call,
            "agent.tool_result": self._result,
            "agent.mcp_tool_result": self._result,
            "user.custom_tool_result": self._result,
            "user.message": self._heard,
            "user.define_outcome": self._heard,
            "system.message": self._heard,
            "agent.thread_context_compacted": self._compacted,
            "session.error": self._failed,
        }

    def take(self, kind: str, raw: dict[str, Any], number: int) -> None:
        """Take up one event; kinds that say nothing of a turn are passed over."""
        self.agent = self.agent or as_name(raw.get("agent_name"))
        if kind in self._on:
            self._on[kind](raw, number)

    def _start(self, raw: dict[str, Any], number: int) -> None:
        self._give_up()
        self._open = CallDraft(record=number, started_at=parse_time(raw.get("processed_at")))
        self.drafts.append(self._open)

    def _give_up(self) -> None:
        """A request that ended in nothing and was made anew is no turn."""
        if self._open is not None and not self._open.texts and not self._open.tool_calls:
            self.drafts.pop()
            self.n_given_up += 1
        self._open = None

    def _end(self, raw: dict[str, Any], number: int) -> None:
        if self._open is None:
            self._start(raw, number)
        draft = self._open
        assert draft is not None
        draft.usage = _usage(as_mapping(raw.get("model_usage")))
        draft.model = as_name(raw.get("model"))
        ended = parse_time(raw.get("processed_at"))
        if ended is not None and draft.started_at is not None and ended >= draft.started_at:
            draft.seconds = ended - draft.started_at
        draft.before, self._before = tuple(self._before), []
        if raw.get("is_error") is True:
            detail = {"error": "model request failed"}
            self.events.append(Event(kind="error", turn=len(self.drafts) + 1, detail=detail))
        self._open = None

    def _current(self, number: int) -> CallDraft:
        """The request that something was said in; one without a start has its own draft."""
        if self._open is None:
            self._open = CallDraft(record=number)
            self.drafts.append(self._open)
        return self._open

    def _text(self, raw: dict[str, Any], number: int) -> None:
        self._current(number).texts.append(as_text(raw.get("content")))

    def _call(self, raw: dict[str, Any], number: int) -> None:
        call = ToolCall(
            id=as_name(raw.get("id")),
            name=as_text(raw.get("name")),
            arguments=as_arguments(raw.get("input")),
        )
        self._current(number).tool_calls.append(call)

    def _result(self, raw: dict[str, Any], number: int) -> None:
        text, failed = as_text(raw.get("content")), raw.get("is_error")
        known = isinstance(failed, bool)
        ids = (raw.get(f"{kind}tool_use_id") for kind in ("", "mcp_", "custom_"))
        result = ToolResult(
            call_id=next((one for one in map(as_name, ids) if one), None),
            text=text,
            error=bool(failed) if known else None,
            detector="flag" if known else None,
            transient=failed is True and is_transient(text),
        )
        self.arrived.append(Arrived(result=result, record=number, latest=len(self.drafts) - 1))

    def _heard(self, raw: dict[str, Any], number: int) -> None:
        del number
        text = as_text(raw.get("content")) or as_text(raw.get("description"))
        is_system = raw.get("type") == "system.message"
        self._before.append(Message(role="system" if is_system else "user", text=text))

    def _compacted(self, raw: dict[str, Any], number: int) -> None:
        del raw, number
        self.events.append(Event(kind="compaction", turn=len(self.drafts) + 1))

    def _failed(self, raw: dict[str, Any], number: int) -> None:
        del number
        detail = {"error": as_text(as_mapping(raw.get("error")).get("message"))}
        self.events.append(Event(kind="error", turn=len(self.drafts) + 1, detail=detail))


def _usage(given: dict[str, Any]) -> Usage | None:
    """Usage that leaves cached tokens out of its input count."""
    names = {
        "input_uncached": "input_tokens",
        "cache_read": "cache_read_input_tokens",
        "cache_write": "cache_creation_input_tokens",
        "output": "output_tokens",
    }
    counts = {name: as_count(given.get(key)) for name, key in names.items()}
    return Usage(**counts) if any(count is not None for count in counts.values()) else None


def _run(
    thread: _Thread, session: _Session, name: str | None, path: Path, on_problem: OnProblem
) -> Run:
    turns = turns_of(thread.drafts, thread.arrived, path=path, on_problem=on_problem)
    exit_, words, success = session.end()
    if name is not None:
        exit_, words, success = ExitType.UNKNOWN, None, None
    run_id = session.id or path.name.split(".")[0]
    events = [
        Event(kind=e.kind, turn=min(e.turn, len(turns) + 1), detail=e.detail) for e in thread.events
    ]
    cost = session.cost_usd if name is None else None
    return Run(
        id=run_id if name is None else f"{run_id}/{name}",
        turns=turns,
        format="claude_managed_agents",
        path=str(path),
        record=name,
        parent=None if name is None else run_id,
        agent="main" if name is None else f"main/{thread.agent or 'thread'}",
        exit_type=exit_,
        exit_text=words,
        success=success,
        events=(*events, *exit_events(exit_, words, len(turns))),
        totals=None if cost is None else Totals(cost_usd=cost),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(thread, session, name)),
    )


def _notes(thread: _Thread, session: _Session, name: str | None) -> Iterator[str]:
    if thread.n_given_up:
        yield f"{thread.n_given_up} model request(s) ended in nothing and are no turns"
    if name is None and session.result is not None:
        yield f"the outcome was judged: {session.result}"


READER = Reader(
    name="claude_managed_agents",
    title="Claude managed agents event stream (.jsonl)",
    recognised_by="lines that are session events, such as span.model_request_start, with sevt_ ids",
    looks_like=looks_like,
    read=read,
    no_run="an event stream without an event",
)
