"""OpenHands: the event list of a session, and the output.jsonl of its evaluations.

Events and observations are those of OpenHands' version 0 event stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Event, ExitType, Run
from turncurve.readers._items import as_mapping
from turncurve.readers._models import most_used_model
from turncurve.readers._openhands_events import Events
from turncurve.readers._outcomes import exit_events
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_name, as_text
from turncurve.readers.stream import head, json_document, json_lines

_LIST = re.compile(rb'\s*\[\s*\{\s*"id"\s*:\s*\d')
_OBJECT = re.compile(rb"\s*\{")
_EVENT_KEYS = (b'"source"', b'"timestamp"')
_OUTPUT_KEYS = (b'"instance_id"', b'"history"')
_OUTPUT_MARKS = (b'"test_result"', b'"agent_class"', b'"llm_config"', b'"metadata"')

_ABSENT = {
    "quality": "OpenHands writes no score of a turn",
    "error": "OpenHands writes no grades",
    "context_tokens": "no event of this run has token counts that are its own",
    "cached_input_tokens": "no event of this run has token counts that are its own",
    "output_tokens": "no event of this run has token counts that are its own",
    "reasoning_tokens": "OpenHands does not count reasoning tokens apart",
    "cost_usd": "no event of this run has a cost that is its own",
    "started_at": "no event of this run has its time beside it",
    "seconds": "no event of this run says how long its model call took",
    "format_error": "a call that the model got wrong comes back as a failed result",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON list starts with an event, or a line with an instance and its history."""
    del path
    if _LIST.match(head):
        return all(key in head for key in _EVENT_KEYS) and (
            b'"action"' in head or b'"observation"' in head
        )
    first = head.lstrip().partition(b"\n")[0]
    return (
        bool(_OBJECT.match(first))
        and all(key in first for key in _OUTPUT_KEYS)
        and any(mark in first for mark in _OUTPUT_MARKS)
    )


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give the run of an event list, or one for each line of an evaluation's output."""
    for where, document in _documents(path, on_problem):
        if isinstance(document, list):
            yield _run({"history": document}, where, path, on_problem)
        elif isinstance(document, dict) and isinstance(document.get("history"), list):
            yield _run(document, where, path, on_problem)
        elif isinstance(document, dict) and "instance_id" in document:
            yield _run({**document, "history": []}, where, path, on_problem)
        else:
            reason = f"wanted a list of events or an instance, got {type(document).__name__}"
            on_problem(ReadError(path, reason, record=where, fix="the other records were read"))


def _documents(path: Path, on_problem: OnProblem) -> Iterator[tuple[int | None, Any]]:
    if head(path, 4096).lstrip().startswith(b"["):
        try:
            yield None, json_document(path, on_problem)
        except ReadError as problem:
            on_problem(problem)
        return
    yield from json_lines(path, on_problem)


def _run(row: dict[str, Any], where: int | None, path: Path, on_problem: OnProblem) -> Run:
    events = Events(path, on_problem, record=where)
    for place, event in enumerate(_flat(row["history"])):
        events.take(event, place)
    turns, inner = events.turns()
    metadata, report = as_mapping(row.get("metadata")), _report(row)
    instance = as_name(row.get("instance_id"))
    resolved = report.get("resolved")
    success = resolved if isinstance(resolved, bool) else None
    error = as_text(row.get("error"))
    exit_, words = _end(events, error, success=success)
    return Run(
        id=instance or path.name.split(".")[0],
        turns=turns,
        format="openhands",
        path=str(path),
        record=where,
        scenario=instance,
        model=most_used_model(turns)
        or as_name(as_mapping(metadata.get("llm_config")).get("model")),
        exit_type=exit_,
        exit_text=words,
        success=success,
        events=(
            *(Event(kind=e.kind, turn=min(e.turn, len(turns) + 1), detail=e.detail) for e in inner),
            *exit_events(exit_, words, len(turns)),
        ),
        totals=events.totals(as_mapping(row.get("metrics")), turns),
        absent=absent_signals(turns, _ABSENT),
        notes=tuple(events.notes()),
    )


def _flat(history: list[Any]) -> Iterator[Any]:
    """Events one by one: old outputs hold pairs of an action and its observation."""
    for item in history:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def _report(row: dict[str, Any]) -> dict[str, Any]:
    """Where an evaluation says whether the instance is resolved."""
    tested = as_mapping(row.get("test_result"))
    for report in (as_mapping(row.get("report")), as_mapping(tested.get("report")), tested):
        if isinstance(report.get("resolved"), bool):
            return report
    return {}


def _end(events: Events, error: str, *, success: bool | None) -> tuple[ExitType, str | None]:
    """By the last state of the agent, the error beside the run, or how its last action reads."""
    if events.hit_limit or "iteration" in error.lower() or "budget" in error.lower():
        return ExitType.BUDGET, error or events.state
    if (error or events.state == "error") and not success:
        return ExitType.CRASH, error or events.state
    if events.state in ("stopped", "rejected") and not events.is_finished:
        return ExitType.USER_ABORT, events.state
    if events.state == "running" and success is None:
        return ExitType.STILL_RUNNING, events.state
    return ExitType.finished(success), events.state or ("finish" if events.is_finished else None)


READER = Reader(
    name="openhands",
    title="OpenHands event lists (.json) and evaluation output (.jsonl)",
    recognised_by=(
        "a JSON list of events with an id, a source and an action or observation, or lines with an "
        "instance_id and its history"
    ),
    looks_like=looks_like,
    read=read,
    no_run="OpenHands output without an instance",
)
