"""OpenClaw and pi sessions: a tree of entries, one a line.

Entry types are those of pi's session format, versions 1 to 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Usage
from turncurve.model.run import EventKind
from turncurve.readers._calls import CallDraft, turns_of
from turncurve.readers._costs import UNPRICED, drop_unknown_costs
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._models import most_used_model
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
from turncurve.readers.stream import json_document, json_objects

_SESSION = re.compile(rb'\s*\{[^\n]*?"type"\s*:\s*"session"')
_KEYS = (b'"cwd"', b'"timestamp"', b'"id"')
_INDEX = "sessions.json"
_WRITTEN_BY_GATEWAY = frozenset({"delivery-mirror", "gateway-injected"})
"""Models of messages that OpenClaw wrote into the session itself; the model never sees them."""
_ENDS = {
    "error": ExitType.CRASH,
    "aborted": ExitType.USER_ABORT,
    "length": ExitType.UNKNOWN,
}

_FAILED: dict[str | None, EventKind] = {"error": "error", "aborted": "intervention"}

_ABSENT = {
    "quality": "OpenClaw writes no score of a turn",
    "error": "OpenClaw writes no grades",
    "context_tokens": "no answer of this session has its usage beside it",
    "cached_input_tokens": "no answer of this session has its usage beside it",
    "output_tokens": "no answer of this session has its usage beside it",
    "reasoning_tokens": "OpenClaw does not count reasoning tokens apart",
    "cost_usd": "no answer of this session has a cost beside its tokens, as under a subscription",
    "started_at": "no answer of this session has its time beside it",
    "seconds": "OpenClaw writes when an answer came, not when it was asked for",
    "format_error": "a call that the model got wrong comes back as a failed result",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether the first line is the header of a session, with an id and a working folder."""
    del path
    first = head.lstrip().partition(b"\n")[0]
    return bool(_SESSION.match(first)) and all(key in first for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the session's run, then one for each branch that was left.

    The entries that lead to the last one written are the run, so all are read first.
    """
    lines = list(json_objects(path, on_problem))
    if not lines:
        return
    tree = _Tree(line for _, line in lines)
    session = _Session()
    threads: dict[str | None, _Branch] = {None: _Branch(first=1)}
    seen = set[str]()
    for number, line in lines:
        entry = as_name(line.get("id"))
        if line.get("type") == "session":
            session.take(line)
            continue
        if entry is not None and entry in seen:
            continue
        seen.add(entry or "")
        branch = tree.branch_of(entry)
        if branch not in threads:
            fork = tree.fork_of(entry)
            threads[branch] = _Branch(first=threads[tree.branch_of(fork)].turns_up_to(fork) + 1)
        threads[branch].take(line, entry, number)
    for branch, thread in threads.items():
        yield _run(thread, session, branch, path, on_problem)


class _Tree:
    """Which branch each entry is on: None for those that lead to the last one."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self._parent: dict[str, str | None] = {}
        last: str | None = None
        for line in lines:
            entry, parent = as_name(line.get("id")), as_name(line.get("parentId"))
            if line.get("type") == "session" or entry is None or entry in self._parent:
                continue
            # A parent that is not above its child would make a circle.
            self._parent[entry] = parent if parent in self._parent else None
            last = entry
        self._main: set[str] = set()
        while last is not None:
            self._main.add(last)
            last = self._parent[last]
        self._branch: dict[str, str | None] = {}
        continued = set[str]()
        for entry, parent in self._parent.items():
            off = None
            if entry not in self._main:
                # A branch goes on with the first child of its last entry; others fork off again.
                known = self._branch.get(parent or "") if parent not in continued else None
                off = known or entry
                continued.add(parent or "")
            self._branch[entry] = off

    def branch_of(self, entry: str | None) -> str | None:
        """The first entry of the branch that an entry is on."""
        return self._branch.get(entry or "")

    def fork_of(self, entry: str | None) -> str | None:
        """The entry that an entry's branch goes off from."""
        return self._parent.get(self.branch_of(entry) or "")


class _Session:
    """What the header says."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.parent: str | None = None

    def take(self, line: dict[str, Any]) -> None:
        """Take up a header; a later one in the file changes nothing."""
        self.id = self.id or as_name(line.get("id"))
        parent = as_name(line.get("parentSession"))
        if parent is not None and self.parent is None:
            self.parent = _session_id(parent)


def _session_id(given: str) -> str:
    """The id in the name of a session's file, or the id itself."""
    name = re.split(r"[/\\]", given)[-1].removesuffix(".jsonl")
    return name.rpartition("_")[2] or name


class _Branch:
    """The turns of one way through the tree."""

    def __init__(self, *, first: int) -> None:
        self.first = first
        self.drafts: list[CallDraft] = []
        self.arrived: list[Arrived] = []
        self.events: list[Event] = []
        self.stop: str | None = None
        self.failure = ""
        self.n_written_by_gateway = 0
        self._failed: Event | None = None
        self._before: list[Message] = []
        self._turns_at: dict[str, int] = {}

    def turns_up_to(self, entry: str | None) -> int:
        """How many turns the run had at an entry of it."""
        return self._turns_at.get(entry or "", 0)

    def take(self, line: dict[str, Any], entry: str | None, number: int) -> None:
        """Take up the next entry."""
        kind = line.get("type")
        if kind == "message":
            message = as_mapping(line.get("message"))
            role = message.get("role")
            if role == "assistant":
                self._answer(message, line.get("timestamp"), number)
            elif role == "toolResult":
                self._result(message, number)
            else:
                self._heard(message)
        elif kind == "compaction":
            detail = {"tokens_before": as_count(line.get("tokensBefore"))}
            turn = self.first + len(self.drafts)
            self.events.append(Event(kind="compaction", turn=turn, detail=detail))
        elif kind in ("custom_message", "branch_summary"):
            self._heard({"content": line.get("content") or line.get("summary")})
        if entry is not None:
            self._turns_at[entry] = self.first - 1 + len(self.drafts)

    def _answer(self, message: dict[str, Any], written_at: object, number: int) -> None:
        model = as_name(message.get("model"))
        if model in _WRITTEN_BY_GATEWAY and message.get("provider") == "openclaw":
            self.n_written_by_gateway += 1
            return
        if self._failed is not None:
            self.events.append(self._failed)
            self._failed = None
        usage = as_mapping(message.get("usage"))
        draft = CallDraft(
            record=number,
            usage=_usage(usage),
            cost_usd=_cost(usage),
            model=model,
            started_at=parse_time(message.get("timestamp")) or parse_time(written_at),
        )
        for part in map(as_mapping, as_list(message.get("content"))):
            if part.get("type") == "text":
                draft.texts.append(as_text(part.get("text")))
            elif part.get("type") == "toolCall":
                call = ToolCall(
                    id=as_name(part.get("id")),
                    name=as_text(part.get("name")),
                    arguments=as_arguments(part.get("arguments")),
                )
                draft.tool_calls.append(call)
        if isinstance(message.get("content"), str):
            draft.texts.append(message["content"])
        self.stop = as_name(message.get("stopReason"))
        self.failure = as_name(message.get("errorMessage")) or ""
        if self.stop in _FAILED and not (draft.texts or draft.tool_calls or draft.usage):
            # The last one is told by the run's exit; one that was tried again, as an event.
            detail = {"error": self.failure or self.stop}
            turn = self.first + len(self.drafts)
            self._failed = Event(kind=_FAILED[self.stop], turn=turn, detail=detail)
            return
        draft.before, self._before = tuple(self._before), []
        self.drafts.append(draft)

    def _result(self, message: dict[str, Any], number: int) -> None:
        text, failed = as_text(message.get("content")), message.get("isError")
        known = isinstance(failed, bool)
        result = ToolResult(
            call_id=as_name(message.get("toolCallId")),
            text=text,
            error=bool(failed) if known else None,
            detector="flag" if known else None,
            transient=failed is True and is_transient(text),
        )
        latest = len(self.drafts) - 1
        self.arrived.append(Arrived(result=result, record=number, latest=latest))

    def _heard(self, message: dict[str, Any]) -> None:
        text = as_text(message.get("content")) or as_text(message.get("output"))
        self._before.append(Message(role="user", text=text))


def _usage(given: dict[str, Any]) -> Usage | None:
    """Usage that leaves cached tokens out of its input count."""
    names = {
        "input_uncached": "input",
        "cache_read": "cacheRead",
        "cache_write": "cacheWrite",
        "output": "output",
    }
    counts = {name: as_count(given.get(key)) for name, key in names.items()}
    return Usage(**counts) if any(counts.values()) else None


def _cost(usage: dict[str, Any]) -> float | None:
    cost = as_float(as_mapping(usage.get("cost")).get("total"))
    return cost if cost is not None and cost >= 0 else None


def _run(
    thread: _Branch, session: _Session, branch: str | None, path: Path, on_problem: OnProblem
) -> Run:
    is_priced = drop_unknown_costs(thread.drafts)
    turns = turns_of(
        thread.drafts, thread.arrived, path=path, on_problem=on_problem, first=thread.first
    )
    run_id = session.id or path.name.split(".")[0]
    parent = session.parent or _spawned_by(path, run_id) if branch is None else run_id
    last = thread.first + len(turns)
    exit_ = _ENDS.get(thread.stop or "", ExitType.UNKNOWN) if turns else ExitType.UNKNOWN
    words = thread.failure or thread.stop
    events = [Event(kind=e.kind, turn=min(e.turn, last), detail=e.detail) for e in thread.events]
    if not turns:
        events = [Event(kind=e.kind, turn=1, detail=e.detail) for e in events]
    return Run(
        id=run_id if branch is None else f"{run_id}/branch-{branch}",
        turns=turns,
        format="openclaw",
        path=str(path),
        record=branch,
        model=most_used_model(turns),
        agent=_agent(parent, branch),
        parent=parent,
        exit_type=exit_,
        exit_text=words,
        events=(*events, *exit_events(exit_, words, last - 1 if turns else 0)),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(branch, thread, is_priced=is_priced)),
    )


def _agent(parent: str | None, branch: str | None) -> str:
    if branch is not None:
        return "main/branch"
    return "main" if parent is None else "main/subagent"


def _spawned_by(path: Path, session: str) -> str | None:
    """The session that started this one as a sub-agent, by the index beside it."""
    index = path.parent / _INDEX
    try:
        state = index.stat()
    except OSError:
        return None
    return _spawners(index, state.st_mtime_ns, state.st_size).get(session)


@lru_cache(maxsize=4)
def _spawners(index: Path, mtime_ns: int, size: int) -> Mapping[str, str]:
    """The parent of each sub-agent's session, by id; an index is read once for all files beside it.

    Args:
        index: The file.
        mtime_ns: When it was written, so that another version of it is read anew.
        size: Its size, for the same reason.
    """
    del mtime_ns, size
    try:
        # A repair is no problem of the trace beside it.
        entries = as_mapping(json_document(index, lambda _: None))
    except ReadError:
        return {}
    known = {key: as_mapping(value) for key, value in entries.items()}
    pairs = (
        (as_name(entry.get("sessionId")), known.get(as_text(entry.get("spawnedBy")), {}))
        for entry in known.values()
    )
    return {
        session: parent
        for session, spawner in pairs
        if session is not None and (parent := as_name(spawner.get("sessionId"))) is not None
    }


def _notes(branch: str | None, thread: _Branch, *, is_priced: bool) -> Iterator[str]:
    if not is_priced:
        yield UNPRICED
    if thread.n_written_by_gateway:
        yield f"{thread.n_written_by_gateway} message(s) that the gateway wrote itself are no turns"
    if branch is not None:
        yield f"a branch that was left, from turn {thread.first - 1} of the session on"


READER = Reader(
    name="openclaw",
    title="OpenClaw and pi sessions (.jsonl)",
    recognised_by="a first line of type session with an id and a working folder",
    looks_like=looks_like,
    read=read,
    companions=(_INDEX,),
    no_run="a session without a line",
)
