"""Lost in Conversation: simulated conversations that reveal a task turn by turn, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Turn
from turncurve.readers._items import as_mapping
from turncurve.readers._outcomes import exit_events
from turncurve.readers._talk import Talk
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_float, as_name, as_text, parse_time
from turncurve.readers.stream import json_objects

_LINE = re.compile(rb"\s*\{")
_KEYS = (b'"conv_id"', b'"conv_type"', b'"trace"')
_COMPLETED, _OVER = "conversation-completed", "max_turns_exceeded"
_SCALE = (0.0, 1.0)

_NOT_COUNTED = "Lost in Conversation counts no tokens"
_ABSENT = {
    "quality": "no answer of this conversation was evaluated",
    "error": "Lost in Conversation evaluates answers and grades no step",
    "context_tokens": _NOT_COUNTED,
    "cached_input_tokens": _NOT_COUNTED,
    "output_tokens": _NOT_COUNTED,
    "reasoning_tokens": _NOT_COUNTED,
    "cost_usd": "no answer of this conversation has its cost beside it",
    "started_at": "no answer of this conversation has its time beside it",
    "seconds": "the file says when an answer came, to a second, and not when it was asked for",
    "format_error": "an answer is a text to the user, never malformed",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether the first line is a conversation with a conv_id, a conv_type and a trace."""
    del path
    first = head.lstrip().partition(b"\n")[0]
    return bool(_LINE.match(first)) and all(key in first for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each conversation of the file as a run."""
    for number, line in json_objects(path, on_problem):
        if isinstance(line.get("trace"), list):
            yield _run(line, number, path, on_problem)
        else:
            reason = f"wanted a list under `trace`, got {type(line.get('trace')).__name__}"
            fix = "the other conversations were read"
            on_problem(ReadError(path, reason, record=number, fix=fix))


def _run(line: dict[str, Any], number: int, path: Path, on_problem: OnProblem) -> Run:
    conversation = _Conversation(f"{number}", path, on_problem)
    for place, entry in enumerate(line["trace"]):
        conversation.add(entry, place)
    turns, after = conversation.talk.end()
    score = as_float(line.get("score"))
    success = _success(line.get("is_correct"), score)
    exit_ = _exit_type(conversation.ended_by, success=success)
    task = as_name(line.get("task_id"))
    return Run(
        id=as_name(line.get("conv_id")) or f"line-{number}",
        turns=turns,
        format="lost_in_conversation",
        path=str(path),
        record=number,
        scenario=task or as_name(line.get("task")),
        condition=as_name(line.get("conv_type")),
        model=as_name(line.get("assistant_model")),
        exit_type=exit_,
        exit_text=conversation.ended_by,
        success=success,
        score=score,
        events=exit_events(exit_, conversation.ended_by, len(turns)),
        quality_scale=_SCALE,
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(_notes(turns, n_after=len(after))),
    )


def _success(is_correct: object, score: float | None) -> bool | None:
    """The outcome; some tasks have a score and null in its place."""
    if isinstance(is_correct, bool):
        return is_correct
    return None if score is None else score >= 1


def _exit_type(words: str | None, *, success: bool | None) -> ExitType:
    if words == _OVER:
        return ExitType.BUDGET
    return ExitType.finished(success)


def _notes(turns: tuple[Turn, ...], *, n_after: int) -> Iterator[str]:
    if any(turn.started_at is not None for turn in turns):
        yield "times have no zone and are taken as UTC; they are those of the answers"
    if n_after:
        yield f"{n_after} message(s) to the model after its last answer"


class _Conversation:
    """The turns of one trace: answers, with what the evaluation in the log says of each."""

    def __init__(self, record: str, path: Path, on_problem: OnProblem) -> None:
        self.talk = Talk()
        self.ended_by: str | None = None
        self._record = record
        self._path = path
        self._on_problem = on_problem
        self._values: dict[str, float] = {}

    def add(self, entry: object, place: int) -> None:
        """Take up the next entry of the trace."""
        if not isinstance(entry, dict):
            reason = f"wanted an entry with a role and content, got {type(entry).__name__}"
            fix = "the conversation was read without it"
            where = f"{self._record}.trace[{place}]"
            self._on_problem(ReadError(self._path, reason, record=where, fix=fix, kept=True))
        elif entry.get("role") == "assistant":
            self._answer(entry, place)
        elif entry.get("role") == "log":
            self._log(as_mapping(entry.get("content")))
        else:
            role = "system" if entry.get("role") == "system" else "user"
            self.talk.hear(role, as_text(entry.get("content")))  # type: ignore[arg-type]

    def _answer(self, entry: dict[str, Any], place: int) -> None:
        cost = as_float(entry.get("cost_usd"))
        self._values = {}
        self.talk.answer(
            text=as_text(entry.get("content")),
            cost_usd=cost if cost is not None and cost >= 0 else None,
            started_at=parse_time(entry.get("timestamp")),
            values=self._values,
            record=f"{self._record}.trace[{place}]",
        )

    def _log(self, content: dict[str, Any]) -> None:
        kind = content.get("type")
        if kind in (_COMPLETED, _OVER):
            self.ended_by = str(kind)
        elif kind == "answer-evaluation" and self.talk.has_turn:
            score, correct = as_float(content.get("score")), content.get("is_correct")
            if score is None and isinstance(correct, bool):
                score = float(correct)
            if score is not None and _SCALE[0] <= score <= _SCALE[1]:
                self._values["quality"] = score
        elif kind == "system-verification" and self.talk.has_turn:
            kind_of_answer = as_name(as_mapping(content.get("response")).get("response_type"))
            if kind_of_answer is not None:
                self._values["answer_attempt"] = float(kind_of_answer == "answer_attempt")


READER = Reader(
    name="lost_in_conversation",
    title="Lost in Conversation simulations (.jsonl)",
    recognised_by="lines that have a conv_id, a conv_type and a trace",
    looks_like=looks_like,
    read=read,
    no_run="Lost in Conversation simulations without a line",
)
