"""Claude managed agents: the event stream of one session, as the API gives it or wrapped.

Event types and fields are those of the vendor's reference of session events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Totals
from turncurve.model.run import EventKind
from turncurve.readers._calls import CallDraft, turns_of
from turncurve.readers._exported import exported_records
from turncurve.readers._items import as_mapping
from turncurve.readers._managed_session import ManagedSession, usage
from turncurve.readers._outcomes import exit_events
from turncurve.readers._pairing import Arrived
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_name,
    as_text,
    is_transient,
    parse_time,
)
from turncurve.readers.stream import head, json_objects

_EVENT = re.compile(
    rb'"type"\s*:\s*"(?:span\.model_request_(?:start|end)|session\.status_\w+|agent\.tool_use'
    rb'|session\.thread_status_\w+|user\.define_outcome|session\.thread_created)"'
)
_ID = re.compile(rb'"id"\s*:\s*"sevt_')
_START = re.compile(rb"\s*[\[{]")
_PAGE = re.compile(rb'\s*(?:\[|\{\s*"data"\s*:\s*\[)')
_RESULTS = frozenset(
    {"agent.tool_result", "agent.mcp_tool_result", "user.tool_result", "user.custom_tool_result"}
)

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
    """Whether the first records are session events with ids of their kind."""
    del path
    return bool(_START.match(head) and _ID.search(head) and _EVENT.search(head))


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the session's run, then one for each of its other threads."""
    threads: dict[str | None, _Thread] = {None: _Thread()}
    session = ManagedSession()
    thread_of_call: dict[str, str | None] = {}
    n_events = 0
    for number, event in _events(path, on_problem):
        n_events += 1
        kind = as_text(event.get("type"))
        if kind == "session.status_running" and session.was_interrupted:
            threads[None].add_event("intervention", {"event": "user.interrupt"})
        if kind.startswith(_OF_SESSION):
            session.take(kind, event)
        if kind in _RESULTS:
            # A result does not name its thread, nor do those that a user gives.
            key = thread_of_call.get(_call_of(event) or "")
        else:
            key = as_name(event.get("session_thread_id")) if kind[:5] in _THREADED else None
        if kind.endswith("tool_use"):
            thread_of_call[as_text(event.get("id"))] = key
        if key not in threads:
            threads[key] = _Thread()
        threads[key].take(kind, event, number)
    if n_events:
        for name, thread in threads.items():
            yield _run(thread, session, name, path, on_problem)


_THREADED = ("agent", "span.")
_OF_SESSION = ("session.", "span.outcome_evaluation_end", "user.interrupt")


def _events(path: Path, on_problem: OnProblem) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give (where, event) of lines, of a list or of an API's answer; each event once.

    A client that takes up a stream again gets events that it had.
    """
    seen = set[str]()
    for number, record in _records(path, on_problem):
        raw = record.get("raw")
        event = raw if isinstance(raw, dict) else record
        name = event.get("id")
        if isinstance(name, str):
            if name in seen:
                continue
            seen.add(name)
        yield number, event


def _records(path: Path, on_problem: OnProblem) -> Iterator[tuple[int, dict[str, Any]]]:
    if not _PAGE.match(head(path, 4096)):
        yield from json_objects(path, on_problem)
        return
    for number, (where, record) in enumerate(exported_records(path, on_problem), start=1):
        if isinstance(record, dict):
            yield number, record
        else:
            reason = f"wanted an event, got a {type(record).__name__}"
            fix = "the session was read without it"
            on_problem(ReadError(path, reason, record=where, fix=fix))


def _call_of(event: dict[str, Any]) -> str | None:
    """The id of the call that a result is of."""
    for key in ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"):
        if (name := as_name(event.get(key))) is not None:
            return name
    return None


class _Thread:
    """The model requests of one thread, and what came of each."""

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self.arrived: list[Arrived] = []
        self.n_given_up = 0
        self.n_unmarked = 0
        self._events: list[tuple[EventKind, int, dict[str, Any]]] = []
        self._before: list[Message] = []
        self._open: CallDraft | None = None
        self._is_marked = False
        self._on: dict[str, Callable[[dict[str, Any], int], None]] = {
            "span.model_request_start": self._start,
            "span.model_request_end": self._end,
            "agent.message": self._text,
            "agent.tool_use": self._call,
            "agent.mcp_tool_use": self._call,
            "agent.custom_tool_use": self._call,
            **dict.fromkeys(_RESULTS, self._result),
            "user.message": self._heard,
            "user.define_outcome": self._heard,
            "system.message": self._heard,
            "agent.thread_message_received": self._heard,
            "agent.thread_context_compacted": self._compacted,
            "session.error": self._failed,
        }

    def take(self, kind: str, event: dict[str, Any], number: int) -> None:
        """Take up one event; kinds that say nothing of a turn are passed over."""
        if kind in self._on:
            self._on[kind](event, number)

    def add_event(self, kind: EventKind, detail: dict[str, Any]) -> None:
        """Note what happened before the next turn."""
        self._events.append((kind, len(self.drafts) + 1, detail))

    def events(self) -> Iterator[Event]:
        """What happened, once all was taken up."""
        self._give_up()
        for kind, turn, detail in self._events:
            yield Event(kind=kind, turn=turn, detail=detail)

    def _start(self, event: dict[str, Any], number: int) -> None:
        self._give_up()
        self._open_draft(event, number, is_marked=True)

    def _give_up(self) -> None:
        """A request that ended in nothing and was made anew is no turn."""
        draft, self._open = self._open, None
        if draft is None or draft.texts or draft.tool_calls or draft.usage is not None:
            return
        self.drafts.pop()
        self._before = [*draft.before, *self._before]
        self.n_given_up += 1
        for place in range(len(self._events) - 1, -1, -1):
            kind, turn, detail = self._events[place]
            if turn <= len(self.drafts) + 1:
                break
            self._events[place] = (kind, len(self.drafts) + 1, detail)

    def _end(self, event: dict[str, Any], number: int) -> None:
        draft = self._open or self._open_draft(event, number, is_marked=True)
        draft.usage = usage(as_mapping(event.get("model_usage")))
        draft.model = as_name(event.get("model"))
        ended = parse_time(event.get("processed_at"))
        if ended is not None and draft.started_at is not None and ended >= draft.started_at:
            draft.seconds = ended - draft.started_at
        if event.get("is_error") is True:
            self.add_event("error", {"error": "model request failed"})
            self._give_up()
        self._open = None

    def _current(self, event: dict[str, Any], number: int) -> CallDraft:
        """The request that something was said in; one without a start has its own draft."""
        if self._open is None:
            self.n_unmarked += 1
            return self._open_draft(event, number, is_marked=False)
        return self._open

    def _open_draft(self, event: dict[str, Any], number: int, *, is_marked: bool) -> CallDraft:
        time = parse_time(event.get("processed_at"))
        draft = CallDraft(record=number, before=tuple(self._before), started_at=time)
        self._before, self._open, self._is_marked = [], draft, is_marked
        self.drafts.append(draft)
        return draft

    def _text(self, event: dict[str, Any], number: int) -> None:
        self._current(event, number).texts.append(as_text(event.get("content")))

    def _call(self, event: dict[str, Any], number: int) -> None:
        call = ToolCall(
            id=as_name(event.get("id")),
            name=as_text(event.get("name")),
            arguments=as_arguments(event.get("input")),
        )
        self._current(event, number).tool_calls.append(call)

    def _result(self, event: dict[str, Any], number: int) -> None:
        text, failed = as_text(event.get("content")), event.get("is_error")
        known = isinstance(failed, bool)
        result = ToolResult(
            call_id=_call_of(event),
            text=text,
            error=bool(failed) if known else None,
            detector="flag" if known else None,
            transient=failed is True and is_transient(text),
        )
        self.arrived.append(Arrived(result=result, record=number, latest=len(self.drafts) - 1))
        self._close_unmarked()

    def _heard(self, event: dict[str, Any], number: int) -> None:
        del number
        self._close_unmarked()
        text = as_text(event.get("content")) or as_text(event.get("description"))
        is_system = event.get("type") == "system.message"
        self._before.append(Message(role="system" if is_system else "user", text=text))

    def _close_unmarked(self) -> None:
        """Where the file does not show requests, an answer ends with what comes back."""
        if not self._is_marked:
            self._open = None

    def _compacted(self, event: dict[str, Any], number: int) -> None:
        del event, number
        self.add_event("compaction", {})

    def _failed(self, event: dict[str, Any], number: int) -> None:
        del number
        self.add_event("error", {"error": as_text(as_mapping(event.get("error")).get("message"))})


def _run(
    thread: _Thread, session: ManagedSession, name: str | None, path: Path, on_problem: OnProblem
) -> Run:
    events = tuple(thread.events())
    turns = turns_of(thread.drafts, thread.arrived, path=path, on_problem=on_problem)
    exit_, words, success = session.end()
    if name is not None:
        exit_, words, success = ExitType.UNKNOWN, None, None
    run_id = session.id or path.name.split(".")[0]
    cost = session.cost_usd if name is None else None
    return Run(
        id=run_id if name is None else f"{run_id}/{name}",
        turns=turns,
        format="claude_managed_agents",
        path=str(path),
        record=name,
        parent=None if name is None else run_id,
        agent="main" if name is None else f"main/{session.agents.get(name) or 'thread'}",
        exit_type=exit_,
        exit_text=words,
        success=success,
        events=(*events, *exit_events(exit_, words, len(turns))),
        totals=None if cost is None else Totals(cost_usd=cost),
        grader_usage=session.grader_usage if name is None else None,
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(thread, session, name)),
    )


def _notes(thread: _Thread, session: ManagedSession, name: str | None) -> Iterator[str]:
    if thread.n_given_up:
        yield f"{thread.n_given_up} model request(s) ended in nothing and are no turns"
    if thread.n_unmarked:
        yield (
            f"{thread.n_unmarked} turn(s) stand without their model request; such a turn ends with "
            "the first result after it"
        )
    if name is None and session.result is not None:
        yield f"the outcome was judged: {session.result}"


READER = Reader(
    name="claude_managed_agents",
    title="Claude managed agents event stream (.jsonl, .json)",
    recognised_by="session events, such as span.model_request_start, whose ids start with sevt_",
    looks_like=looks_like,
    read=read,
    no_run="an event stream without an event",
)
