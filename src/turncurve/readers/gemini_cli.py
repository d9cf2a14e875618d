"""Gemini CLI: recorded sessions, in one document or one record a line, and its stream-json output.

The records of a session file are those that the tool's own chat recording replays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import (
    Event,
    Message,
    Run,
    ToolCall,
    ToolResult,
    Usage,
    usage_with_cache_inside,
)
from turncurve.readers._calls import CallDraft, turns_of
from turncurve.readers._gemini_stream import is_stream, read_stream
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._models import most_used_model
from turncurve.readers._pairing import Arrived
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    as_arguments,
    as_count,
    as_name,
    as_text,
    is_transient,
    parse_time,
)
from turncurve.readers.stream import head, json_document, json_objects

_START = re.compile(rb"\s*\{")
_KEYS = (b'"sessionId"', b'"projectHash"')
_MESSAGES = re.compile(rb'"messages"\s*:\s*\[\s*\{')
_COMPRESSED = re.compile(r"compressed from:? \w{1,20} to \w{1,20} tokens")
"""What the tool itself tells its user of a compaction."""

_ABSENT = {
    "quality": "Gemini CLI writes no score of a turn",
    "error": "Gemini CLI writes no grades",
    "context_tokens": "no answer of this session has its tokens beside it",
    "cached_input_tokens": "no answer of this session has its tokens beside it",
    "output_tokens": "no answer of this session has its tokens beside it",
    "reasoning_tokens": "no answer of this session has its tokens beside it",
    "cost_usd": "Gemini CLI writes no cost",
    "started_at": "no answer of this session has its time beside it",
    "seconds": "Gemini CLI writes when an answer came, not when it was asked for",
    "format_error": "a call that the model got wrong comes back as a failed result",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as a session record, or has the lines of stream-json output."""
    del path
    if not _START.match(head):
        return False
    return all(key in head[:4096] for key in _KEYS) or is_stream(head)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each session of the file as a run."""
    start = head(path)
    if not all(key in start[:4096] for key in _KEYS):
        yield from read_stream(path, on_problem)
        return
    session = _Session()
    if _is_one_document(start):
        try:
            document = as_mapping(json_document(path, on_problem))
        except ReadError as problem:
            on_problem(problem)
            return
        session.take(document, "session")
        for place, message in enumerate(as_list(document.get("messages"))):
            session.take_message(message, f"messages[{place}]", path, on_problem)
    else:
        for number, line in json_objects(path, on_problem):
            session.replay(line, number, path, on_problem)
    yield _run(session, path, on_problem)


def _is_one_document(start: bytes) -> bool:
    """Whether the messages stand within the first object, and not in records after it."""
    first, newline, rest = start.lstrip().partition(b"\n")
    if newline and not first.rstrip().endswith(b"}") and not rest.lstrip().startswith(b'{"'):
        return True
    return bool(_MESSAGES.search(first))


class _Session:
    """The messages of a session as its file leaves them: a later record replaces an earlier one."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.messages: dict[str, tuple[dict[str, Any], str | int]] = {}
        self.compacted_after: set[str] = set()
        self.n_rewound = 0
        self._context: list[str] = []
        self._copies: dict[str, int] = {}

    def take(self, meta: dict[str, Any], record: str | int) -> None:
        """Take up what is said of the session."""
        del record
        self.meta.update({key: value for key, value in meta.items() if key != "messages"})

    def take_message(
        self, message: object, record: str | int, path: Path, on_problem: OnProblem
    ) -> None:
        """Take up a message; one of a known id takes its place."""
        if not isinstance(message, dict):
            reason = f"wanted a message with a type and content, got {type(message).__name__}"
            fix = "the session was read without it"
            on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
            return
        name = as_name(message.get("id")) or f"at {record}"
        known = self.messages.get(name)
        self.messages[name] = (message, record if known is None else known[1])
        if known is None and message.get("type") == "gemini":
            self._context.append(name)

    def replay(self, line: dict[str, Any], number: int, path: Path, on_problem: OnProblem) -> None:
        """Take up a record of a file of one record a line."""
        if "$rewindTo" in line:
            self._rewind(as_name(line["$rewindTo"]))
        elif "$set" in line:
            change = as_mapping(line["$set"])
            self.take(change, number)
            if isinstance(change.get("messages"), list):
                self._replace(change["messages"], number, path, on_problem)
        elif "type" in line and "id" in line:
            self.take_message(line, number, path, on_problem)
        else:
            self.take(line, number)
            for message in as_list(line.get("messages")):
                self.take_message(message, number, path, on_problem)

    def _rewind(self, to: str | None) -> None:
        """Drop a message and all after it; all, where it is not known.

        A message that was given anew with another history stands for what came before that.
        """
        names = list(self.messages)
        start = names.index(to) if to in self.messages else self._copies.get(to or "", 0)
        for name in names[start:]:
            self.n_rewound += self.messages.pop(name)[0].get("type") == "gemini"
            self.compacted_after.discard(name)
        self._context = [name for name in self._context if name in self.messages]

    def _replace(self, messages: list[Any], number: int, path: Path, on_problem: OnProblem) -> None:
        """Another history for the model: with fewer answers than it had, it was compacted.

        What was said stays. A history without the last answers takes back a turn that was stopped.
        """
        if not self.messages:
            for message in messages:
                self.take_message(message, number, path, on_problem)
            return
        given = [(as_name(as_mapping(one).get("id")) or "", as_mapping(one)) for one in messages]
        answers = [name for name, message in given if message.get("type") == "gemini"]
        is_new_text = any(
            name not in self.messages and name not in self._copies and _text(message.get("content"))
            for name, message in given
            if message.get("type") == "user"
        )
        is_less = len(answers) < len(self._context)
        if is_less and (is_new_text or answers != self._context[: len(answers)]):
            self.compacted_after.add(next(reversed(self.messages)))
        self._context = answers
        for name, _ in given:
            if name not in self.messages:
                self._copies.setdefault(name, len(self.messages))


def _run(session: _Session, path: Path, on_problem: OnProblem) -> Run:
    drafts, arrived, events = list[CallDraft](), list[Arrived](), list[Event]()
    before, compacted, answered = list[Message](), set[int](), set[str | None]()
    for name, (message, record) in session.messages.items():
        kind, text = message.get("type"), _text(message.get("content"))
        if kind == "gemini":
            drafts.append(_draft(message, text, record, tuple(before)))
            before = []
            results = list(_results(message, len(drafts) - 1))
            answered.update(item.result.call_id for item in results)
            arrived += results
        elif kind == "error":
            events.append(Event(kind="error", turn=len(drafts) + 1, detail={"error": text}))
        elif kind == "user":
            parts = _answered(message, len(drafts) - 1)
            arrived += (item for item in parts if item.result.call_id not in answered)
            if text:
                before.append(Message(role="user", text=text))
        is_told = kind == "info" and _COMPRESSED.search(text) is not None
        if (is_told or name in session.compacted_after) and len(drafts) + 1 not in compacted:
            compacted.add(len(drafts) + 1)
            events.append(Event(kind="compaction", turn=len(drafts) + 1))
    turns = turns_of(drafts, arrived, path=path, on_problem=on_problem)
    is_subagent = session.meta.get("kind") == "subagent"
    rewound = f"{session.n_rewound} answer(s) were taken back by the user and are no turns"
    return Run(
        id=as_name(session.meta.get("sessionId")) or path.name.split(".")[0],
        turns=turns,
        format="gemini_cli",
        path=str(path),
        model=most_used_model(turns),
        agent="main/subagent" if is_subagent else "main",
        parent=path.parent.name if is_subagent else None,
        events=tuple(events),
        absent=absent_signals(turns, _ABSENT),
        notes=(rewound,) if session.n_rewound else (),
    )


def _text(content: object) -> str:
    """The text of a message, without the parts of it that are thoughts."""
    if isinstance(content, list):
        content = [part for part in content if as_mapping(part).get("thought") is not True]
    return as_text(content)


def _draft(
    message: dict[str, Any], text: str, record: str | int, before: tuple[Message, ...]
) -> CallDraft:
    # A session that was written anew may have its calls among the parts of its content alone.
    calls = as_list(message.get("toolCalls")) or _parts(message, "functionCall")
    return CallDraft(
        record=record,
        before=before,
        texts=[text],
        tool_calls=[
            ToolCall(
                id=as_name(call.get("id")),
                name=as_text(call.get("name")),
                arguments=as_arguments(call.get("args")),
            )
            for call in map(as_mapping, calls)
        ],
        usage=_usage(as_mapping(message.get("tokens"))),
        model=as_name(message.get("model")),
        started_at=parse_time(message.get("timestamp")),
    )


def _usage(tokens: dict[str, Any]) -> Usage | None:
    """Input includes cached tokens; thoughts are counted apart from output."""
    given, output = as_count(tokens.get("input")), as_count(tokens.get("output"))
    if given is None and output is None:
        return None
    thoughts, tool = as_count(tokens.get("thoughts")), as_count(tokens.get("tool"))
    return usage_with_cache_inside(
        input_tokens=None if given is None else given + (tool or 0),
        cached=as_count(tokens.get("cached")),
        output=None if output is None else output + (thoughts or 0),
        reasoning=thoughts,
    )


def _results(message: dict[str, Any], latest: int) -> Iterator[Arrived]:
    for call in map(as_mapping, as_list(message.get("toolCalls"))):
        status = call.get("status")
        if status not in ("success", "error", "cancelled"):
            continue
        text = "\n".join(_said(part) for part in as_list(call.get("result")))
        failed = status == "error"
        result = ToolResult(
            call_id=as_name(call.get("id")),
            text=text or as_text(call.get("resultDisplay")),
            error=None if status == "cancelled" else failed,
            detector=None if status == "cancelled" else "status",
            transient=failed and is_transient(text),
        )
        yield Arrived(result=result, record=latest, latest=latest)


def _parts(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What the parts of a message's content hold of a kind."""
    parts = [as_mapping(as_mapping(part).get(kind)) for part in as_list(message.get("content"))]
    return [part for part in parts if part]


def _answered(message: dict[str, Any], latest: int) -> Iterator[Arrived]:
    """What came back of calls that stand among the parts of an answer's content."""
    for answer in _parts(message, "functionResponse"):
        failed = "error" in as_mapping(answer.get("response"))
        text = _said({"functionResponse": answer})
        result = ToolResult(
            call_id=as_name(answer.get("id")),
            text=text,
            error=failed,
            detector="status",
            transient=failed and is_transient(text),
        )
        yield Arrived(result=result, record=latest, latest=latest)


def _said(part: object) -> str:
    """What a function answered: its output, or its error."""
    response = as_mapping(as_mapping(part).get("functionResponse")).get("response")
    if isinstance(response, dict) and len(response) == 1:
        response = next(iter(response.values()))
    return as_text(response) if response is not None else as_text(part)


READER = Reader(
    name="gemini_cli",
    title="Gemini CLI sessions (.json, .jsonl) and stream-json output",
    recognised_by=(
        "a session record with a sessionId and a projectHash, or lines of types init, tool_use and "
        "message as stream-json writes them"
    ),
    looks_like=looks_like,
    read=read,
    no_run="Gemini CLI output without a session",
)
