"""opencode session exports: one JSON document of messages and their parts.

Parts and their fields are those of the tool's own message schema (MessageV2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Totals, Turn, Usage
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
from turncurve.readers.stream import json_document

_START = re.compile(rb'\s*\{\s*"(?:info|messages)"\s*:')
_SESSION = re.compile(rb'"id"\s*:\s*"ses_|"sessionID"\s*:\s*"ses_')

_ENDS = {
    "MessageAbortedError": ExitType.USER_ABORT,
    "ContextOverflowError": ExitType.BUDGET,
    "MessageOutputLengthError": ExitType.BUDGET,
}
_KINDS: dict[ExitType, EventKind] = {
    ExitType.USER_ABORT: "intervention",
    ExitType.BUDGET: "limit",
    ExitType.CRASH: "error",
}

_ABSENT = {
    "quality": "opencode writes no score of a turn",
    "error": "opencode writes no grades",
    "context_tokens": "no step of this session has its tokens beside it",
    "cached_input_tokens": "no step of this session has its tokens beside it",
    "output_tokens": "no step of this session has its tokens beside it",
    "reasoning_tokens": "no step of this session has its tokens beside it",
    "cost_usd": "no step of this session has a cost beside its tokens",
    "started_at": "no message of this session has its time beside it",
    "seconds": "a message's time holds that of its tools; no message here is a bare answer",
    "format_error": "a call that the model got wrong comes back as a failed result",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON object starts with the info or messages of a session named ses_..."""
    del path
    return bool(_START.match(head) and _SESSION.search(head))


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the session as a run."""
    try:
        document = as_mapping(json_document(path, on_problem))
    except ReadError as problem:
        on_problem(problem)
        return
    if isinstance(document.get("messages"), list):
        yield _run(document, path, on_problem)
    else:
        got = type(document.get("messages")).__name__
        on_problem(ReadError(path, f"wanted a list under `messages`, got {got}", record="messages"))


def _run(document: dict[str, Any], path: Path, on_problem: OnProblem) -> Run:
    info = as_mapping(document.get("info"))
    session = _Session()
    for place, message in enumerate(document["messages"]):
        if isinstance(message, dict):
            session.add(as_mapping(message.get("info")), as_list(message.get("parts")), place)
        else:
            reason = f"wanted a message with info and parts, got {type(message).__name__}"
            fix, record = "the session was read without it", f"messages[{place}]"
            on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
    is_priced = drop_unknown_costs(session.drafts)
    turns = turns_of(session.drafts, session.arrived, path=path, on_problem=on_problem)
    parent, agent = as_name(info.get("parentID")), as_name(info.get("agent"))
    last = len(turns)
    return Run(
        id=as_name(info.get("id")) or path.name.split(".")[0],
        turns=turns,
        format="opencode",
        path=str(path),
        model=most_used_model(turns) or as_name(as_mapping(info.get("model")).get("id")),
        agent="main" if parent is None else f"main/{agent or 'subagent'}",
        parent=parent,
        exit_type=session.exit_type,
        exit_text=session.exit_text,
        events=(
            *(
                Event(kind=e.kind, turn=min(e.turn, last + 1), detail=e.detail)
                for e in session.events
            ),
            *exit_events(session.exit_type, session.exit_text, last),
        ),
        totals=_totals(info, turns),
        absent=absent_signals(turns, _ABSENT),
        notes=() if is_priced else (UNPRICED,),
    )


def _totals(info: dict[str, Any], turns: tuple[Turn, ...]) -> Totals | None:
    """The session's cost, where its turns have none."""
    cost = as_float(info.get("cost"))
    if not cost or cost < 0 or any(turn.cost_usd is not None for turn in turns):
        return None
    return Totals(cost_usd=cost)


class _Session:
    """The model calls of a session: one a step, where a message holds several."""

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self.arrived: list[Arrived] = []
        self.events: list[Event] = []
        self.exit_type = ExitType.UNKNOWN
        self.exit_text: str | None = None
        self._before: list[Message] = []
        self._compacts = False
        self._failed: Event | None = None

    def add(self, info: dict[str, Any], parts: list[Any], place: int) -> None:
        """Take up the next message."""
        if info.get("role") == "assistant":
            self._answer(info, parts, place)
        else:
            self._prompt(parts)

    def _prompt(self, parts: list[Any]) -> None:
        for part in map(as_mapping, parts):
            if part.get("type") == "compaction":
                self._compacts = True
            elif part.get("type") in ("text", "subtask") and part.get("ignored") is not True:
                text = as_text(part.get("text")) or as_text(part.get("prompt"))
                self._before.append(Message(role="user", text=text))

    def _answer(self, info: dict[str, Any], parts: list[Any], place: int) -> None:
        if self._failed is not None:
            self.events.append(self._failed)
            self._failed = None
        steps = _steps(parts)
        for step in steps:
            self._step(info, step, f"messages[{place}]", is_alone=len(steps) == 1)
        if self._compacts or info.get("summary") is True:
            # The summary is a call itself; the first turn that works with it comes after.
            self.events.append(Event(kind="compaction", turn=len(self.drafts) + 1))
            self._compacts = False
        self._end(info)

    def _step(
        self, info: dict[str, Any], parts: list[dict[str, Any]], record: str, *, is_alone: bool
    ) -> None:
        draft = CallDraft(record=record, model=_model(info))
        self.drafts.append(draft)
        has_tool = False
        for part in parts:
            kind = part.get("type")
            if kind == "text":
                draft.texts.append(as_text(part.get("text")))
            elif kind == "tool":
                has_tool = True
                self._tool(draft, part)
            elif kind == "step-finish":
                draft.usage = _usage(as_mapping(part.get("tokens")))
                draft.cost_usd = _cost(part.get("cost"))
            elif kind == "retry":
                detail = {"error": as_text(_message(part))}
                self.events.append(Event(kind="error", turn=len(self.drafts), detail=detail))
        time = as_mapping(info.get("time"))
        if is_alone:
            draft.usage = draft.usage or _usage(as_mapping(info.get("tokens")))
            if draft.cost_usd is None:
                draft.cost_usd = _cost(info.get("cost"))
            draft.started_at = parse_time(time.get("created"))
            ended = parse_time(time.get("completed"))
            began = draft.started_at
            if not has_tool and ended is not None and began is not None and ended >= began:
                draft.seconds = ended - began
        if info.get("error") and not (draft.texts or draft.tool_calls or draft.usage):
            # Its error is told; a call that came to nothing else is no turn.
            self.drafts.pop()
        else:
            draft.before, self._before = tuple(self._before), []

    def _tool(self, draft: CallDraft, part: dict[str, Any]) -> None:
        state, call_id = as_mapping(part.get("state")), as_name(part.get("callID"))
        call = ToolCall(
            id=call_id, name=as_text(part.get("tool")), arguments=as_arguments(state.get("input"))
        )
        draft.tool_calls.append(call)
        status = state.get("status")
        if status not in ("completed", "error"):
            return
        failed = status == "error"
        was_stopped = failed and as_mapping(state.get("metadata")).get("interrupted") is True
        text = as_text(state.get("error" if failed else "output"))
        result = ToolResult(
            call_id=call_id,
            text=text,
            error=None if was_stopped else failed,
            detector=None if was_stopped else "status",
            transient=failed and is_transient(text),
        )
        latest = len(self.drafts) - 1
        self.arrived.append(Arrived(result=result, record=latest, latest=latest))

    def _end(self, info: dict[str, Any]) -> None:
        """How the session ended, if this answer is its last; else what happened after it."""
        error = as_mapping(info.get("error"))
        name = as_name(error.get("name"))
        self.exit_text = name or as_name(info.get("finish"))
        self.exit_type = ExitType.UNKNOWN
        if name is not None:
            self.exit_type = _ENDS.get(name, ExitType.CRASH)
            detail = {"error": name, "text": as_text(_message(info))}
            turn = len(self.drafts) + 1
            self._failed = Event(kind=_KINDS[self.exit_type], turn=turn, detail=detail)


def _message(given: dict[str, Any]) -> object:
    """What the error of a message or a part says."""
    return as_mapping(as_mapping(given.get("error")).get("data")).get("message")


def _steps(parts: list[Any]) -> list[list[dict[str, Any]]]:
    """The parts of each model call of a message; a message without steps is one call."""
    steps: list[list[dict[str, Any]]] = [[]]
    for part in map(as_mapping, parts):
        if part.get("type") == "step-start" and steps[-1]:
            steps.append([])
        steps[-1].append(part)
    return steps


def _model(info: dict[str, Any]) -> str | None:
    return as_name(info.get("modelID")) or as_name(as_mapping(info.get("model")).get("modelID"))


def _cost(given: object) -> float | None:
    cost = as_float(given)
    return cost if cost is not None and cost >= 0 else None


def _usage(tokens: dict[str, Any]) -> Usage | None:
    """Usage that counts cached input apart; None for the zeros that an answer begins with."""
    cache = as_mapping(tokens.get("cache"))
    reasoning, output = as_count(tokens.get("reasoning")), as_count(tokens.get("output"))
    given = as_count(tokens.get("input"))
    read, write = as_count(cache.get("read")), as_count(cache.get("write"))
    if not any((given, output, reasoning, read, write)):
        return None
    if output is not None and reasoning:
        said = (given or 0) + (read or 0) + (write or 0) + output
        # Older versions counted reasoning within output: the total tells, and they gave none.
        is_within = as_count(tokens.get("total")) in (None, said) and output >= reasoning
        output += 0 if is_within else reasoning
    return Usage(
        input_uncached=given,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
    )


READER = Reader(
    name="opencode",
    title="opencode session exports (.json)",
    recognised_by="a JSON object with the info and messages of a session whose id starts with ses_",
    looks_like=looks_like,
    read=read,
)
