"""Who&When: failed runs of several agents in one file each, with the step that decided it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, ToolResult, Turn
from turncurve.readers._items import as_mapping
from turncurve.readers._talk import Talk
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_count, as_name, as_text, is_transient
from turncurve.readers.stream import json_document

_MARKS = (b'"mistake_step"', b'"mistake_agent"', b'"Orchestrator (thought)"')
_QUESTION = (b'"question_ID"', b'"ground_truth"')
_START = re.compile(rb"\s*\{")
_TERMINALS = frozenset({"Computer_terminal", "ComputerTerminal"})
_HARNESS = frozenset({"human", "Orchestrator (termination condition)"})
_ORCHESTRATOR = "Orchestrator"
_DELEGATES = "Orchestrator (->"
_THINKS = "Orchestrator (thought)"
_NOTICE = re.compile(r"\s*(?:Next speaker|Stalled|Request satisfied|Replan counter exceeded)\b")
"""How a thought starts that the harness wrote: it repeats what the last ledger decided."""
_NO_CODE = re.compile(r"\s*There is no code from the last\b")
_EXIT_CODE = re.compile(r"\s*exitcode: (-?\d+) ")

_NOT_WRITTEN = "Who&When keeps messages alone"
_ABSENT = {
    "quality": "Who&When names the deciding mistake and scores nothing else",
    "error": "the file names no step of a mistake that is a turn",
    "context_tokens": _NOT_WRITTEN,
    "cached_input_tokens": _NOT_WRITTEN,
    "output_tokens": _NOT_WRITTEN,
    "reasoning_tokens": _NOT_WRITTEN,
    "cost_usd": _NOT_WRITTEN,
    "started_at": "Who&When writes no times",
    "seconds": "Who&When writes no times",
    "format_error": "an answer is a message to the other agents, never malformed",
    "compaction": _NOT_WRITTEN,
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON object has a history of messages and names a mistake, as far as it shows."""
    del path
    if not _START.match(head) or b'"history"' not in head:
        return False
    # The mistake may stand behind a history that is longer than the head.
    return any(mark in head for mark in _MARKS) or all(key in head for key in _QUESTION)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the one run of the file."""
    try:
        document = as_mapping(json_document(path, on_problem))
    except ReadError as problem:
        on_problem(problem)
        return
    if isinstance(document.get("history"), list):
        yield _run(document, path, on_problem)
    else:
        reason = f"wanted a list under `history`, got {type(document.get('history')).__name__}"
        on_problem(ReadError(path, reason, record="history"))


def _run(document: dict[str, Any], path: Path, on_problem: OnProblem) -> Run:
    history = document["history"]
    turn_of = _Turns(history, path, on_problem)
    mistake = _mistake(document, path, on_problem)
    turns, note = turn_of.with_mistake(mistake)
    success = _success(document)
    return Run(
        id=as_name(document.get("question_ID")) or path.name.partition(".")[0],
        turns=turns,
        format="who_and_when",
        path=str(path),
        scenario=as_name(document.get("question_ID")),
        exit_type=ExitType.finished(success),
        success=success,
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(document, mistake, note)),
    )


def _success(document: dict[str, Any]) -> bool | None:
    """The outcome, under the name of either half of the collection."""
    for name in ("is_correct", "is_corrected"):
        if isinstance(document.get(name), bool):
            return bool(document[name])
    return None


def _mistake(document: dict[str, Any], path: Path, on_problem: OnProblem) -> int | None:
    """Place of the deciding mistake in the history, from 0; the file writes it as text."""
    given = document.get("mistake_step")
    text = given.strip() if isinstance(given, str) else ""
    place = int(text) if re.fullmatch(r"\d{1,9}", text) else as_count(given)
    if place is None or place >= len(document["history"]):
        reason = (
            f"mistake_step {given!r:.40} is no place in a history of {len(document['history'])}"
        )
        fix = "the run was read without its mistake"
        on_problem(ReadError(path, reason, record="mistake_step", fix=fix, kept=True))
        return None
    return place


def _speaker(message: object) -> str:
    given = as_mapping(message)
    return as_name(given.get("name")) or as_name(given.get("role")) or ""


def _notes(document: dict[str, Any], mistake: int | None, note: str | None) -> Iterator[str]:
    who, why = as_name(document.get("mistake_agent")), as_text(document.get("mistake_reason"))
    if who or why:
        yield f"the deciding mistake, by {who or 'nobody named'}: {why}"
    if who and mistake is not None:
        speaker = _speaker(document["history"][mistake]).partition(" (")[0]
        if speaker.casefold() != who.casefold():
            yield f"the message of that step is by {speaker or 'nobody'}, not by {who}"
    if note:
        yield note


class _Turns:
    """The turns of a history, and which turn each of its messages is part of."""

    def __init__(self, history: list[Any], path: Path, on_problem: OnProblem) -> None:
        self._talk = Talk()
        self._turn_of: list[int] = []
        self._values: list[dict[str, float]] = []
        self._said: list[str] = []
        self._plans = False
        for place, message in enumerate(history):
            if isinstance(message, dict):
                self._add(message, place)
            else:
                reason = f"wanted a message with content, got {type(message).__name__}"
                fix = "the run was read without it"
                record = f"history[{place}]"
                on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
            self._turn_of.append(self._talk.n_turns)

    def with_mistake(self, place: int | None) -> tuple[tuple[Turn, ...], str | None]:
        """The turns, with `error` up to the mistake; and a note where it is in no turn's answer."""
        turns, _ = self._talk.end()
        if place is None or not turns:
            return turns, None
        last = self._turn_of[place]
        note = None
        if last == 0:
            last, note = 1, "the mistake stands before the first answer, and is told of turn 1"
        for index, values in enumerate(self._values[:last], start=1):
            values["error"] = float(index == last)
        return turns, note

    def _add(self, message: dict[str, Any], place: int) -> None:
        who = _speaker(message)
        text = as_text(message.get("content"))
        repeats = self._plans and who == _THINKS and _NOTICE.match(text)
        if who in _TERMINALS and not _NO_CODE.match(text):
            self._talk.result(_result(text))
        elif who in _TERMINALS or who in _HARNESS or repeats:
            self._talk.hear("user", text)
        elif self._plans and who.startswith(_DELEGATES):
            # What the orchestrator says to another is a part of the answer that it thought in.
            self._said.append(text)
            self._talk.more(text="\n".join(self._said))
        else:
            self._plans = who.startswith(_ORCHESTRATOR)
            self._said = [text]
            self._values.append({})
            self._talk.answer(text=text, record=f"history[{place}]", values=self._values[-1])


def _result(text: str) -> ToolResult:
    code = _EXIT_CODE.match(text)
    if code is None:
        return ToolResult(text=text)
    failed = code[1] != "0"
    return ToolResult(
        text=text,
        error=failed,
        detector="return_code",
        transient=failed and is_transient(text),
    )


READER = Reader(
    name="who_and_when",
    title="Who&When failures with the step of the mistake (.json)",
    recognised_by="a JSON object with a history and a mistake_step or mistake_agent",
    looks_like=looks_like,
    read=read,
)
