"""Grades of the steps of agent traces, one trace a line: the turns' judgements without their text.

A line is `{trace_id, task_id, model, source, success, steps, metadata}`; a step is
`{step_index, validity, complexity, dependency, severity, is_looping, grader_model, raw}`. A line,
its metadata or a step may have a `construct`: whether the judge knew how the run went on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Construct, Grade, Run, Turn
from turncurve.readers._graded_steps import CONSTRUCTS, grade_of_step, parse_error
from turncurve.readers._items import as_mapping, json_items
from turncurve.readers._outcomes import exit_events, exit_type
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import MOST_TURNS, as_count, as_text

_START = re.compile(rb'\s*(?:\[\s*)?\{\s*"')
_KEYS = (
    re.compile(rb'"steps"\s*:\s*\['),
    re.compile(rb'"(?:trace_id|task_id)"\s*:'),
    re.compile(rb'"(?:validity|grader_model)"\s*:'),
)
_PHASE = {"explore": 1.0, "act": 0.0}

_NO_CONTENT = "a file of grades holds no content of the turns that it grades"
_NO_USAGE = "a file of grades holds no usage"
ABSENT = {
    "quality": "this file holds grades, not a rubric's score",
    "error": "no grade of this run could be had",
    "n_tool_calls": _NO_CONTENT,
    "n_tool_results": _NO_CONTENT,
    "n_tool_errors": _NO_CONTENT,
    "format_error": _NO_CONTENT,
    "context_tokens": _NO_USAGE,
    "cached_input_tokens": _NO_USAGE,
    "output_tokens": _NO_USAGE,
    "reasoning_tokens": _NO_USAGE,
    "cost_usd": _NO_USAGE,
    "started_at": "a file of grades holds no times",
    "seconds": "a file of grades holds no times",
    "compaction": "a file of grades does not say what happened between turns",
}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts as records of a trace with graded steps."""
    del path
    return bool(_START.match(head)) and all(key.search(head) for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each graded trace of the file as a run."""
    for where, record in json_items(path, on_problem):
        if not isinstance(record, dict) or not isinstance(record.get("steps"), list):
            reason = "wanted a graded trace with a list under `steps`"
            fix = "the other traces were read"
            on_problem(ReadError(path, reason, record=where, fix=fix))
            continue
        yield _run(record, where, path, on_problem)


def _run(record: dict[str, Any], where: str | int, path: Path, on_problem: OnProblem) -> Run:
    construct = _construct(record, where, path, on_problem)
    turns = _turns(record["steps"], construct, where, path, on_problem)
    task = _words(record.get("task_id"))
    success = record.get("success") if isinstance(record.get("success"), bool) else None
    words = _words(as_mapping(record.get("metadata")).get("exit_status"))
    exit_ = exit_type(words, success=success)
    n_missing = sum(grade.validity is None for turn in turns for grade in turn.grades)
    notes = []
    if n_missing:
        notes.append(f"{n_missing} grade(s) that the grader's answer did not give are missing")
    if not turns:
        notes.append("no turn: the trace has no graded step")
    return Run(
        id=_words(record.get("trace_id")) or f"record {where}",
        turns=turns,
        format="graded",
        path=str(path),
        record=where,
        scenario=task,
        model=_words(record.get("model")),
        exit_type=exit_,
        exit_text=words,
        success=success,
        events=exit_events(exit_, words, turns[-1].index if turns else 0),
        absent=absent_signals(turns, ABSENT),
        notes=tuple(notes),
    )


def _construct(
    record: dict[str, Any], where: str | int, path: Path, on_problem: OnProblem
) -> Construct | None:
    """What the judges of a trace knew, where the record or its metadata says so."""
    given = record.get("construct") or as_mapping(record.get("metadata")).get("construct")
    return _known_construct(given, f"{where}.construct", path, on_problem)


def _known_construct(
    given: object, record: str, path: Path, on_problem: OnProblem
) -> Construct | None:
    construct = CONSTRUCTS.get(as_text(given))
    if given is not None and construct is None:
        reason = f"wanted construct {' or '.join(CONSTRUCTS)}, got {given!r:.40}"
        fix = "the grades were read as of no stated construct"
        on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))
    return construct


def _words(value: object) -> str | None:
    """An id or a name: text that is not empty, or a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _turns(
    steps: list[Any],
    construct: Construct | None,
    where: str | int,
    path: Path,
    on_problem: OnProblem,
) -> tuple[Turn, ...]:
    """The turns in order; several graders' judgements of one step stand on one turn."""
    grades: dict[int, tuple[Grade, ...]] = {}
    values: dict[int, dict[str, float]] = {}
    records: dict[int, str] = {}
    for position, step in enumerate(steps):
        record = f"{where}.steps[{position}]"
        index = as_count(step.get("step_index")) if isinstance(step, dict) else None
        if index is None or index >= MOST_TURNS:
            _tell(path, record, f"wanted a step_index from 0 to {MOST_TURNS - 1:,}", on_problem)
            continue
        grade, turn = _grade(step, construct, record, path, on_problem), index + 1
        others = grades.get(turn, ())
        if not others:
            values[turn], records[turn] = {}, record
        elif any(grade.grader == other.grader for other in others):
            reason = f"step {index} is graded a second time by {grade.grader!r}"
            _tell(path, record, reason, on_problem)
            continue
        grades[turn] = (*others, grade)
        raw = step.get("raw")
        phase = _PHASE.get(as_text(raw.get("step_phase"))) if type(raw) is dict else None
        if phase is not None:
            values[turn]["phase_explore"] = phase
    return tuple(
        Turn(index=turn, values=values[turn], grades=grades[turn], record=records[turn])
        for turn in sorted(grades)
    )


def _tell(path: Path, record: str, reason: str, on_problem: OnProblem) -> None:
    fix = "the trace was read without this step"
    on_problem(ReadError(path, reason, record=record, fix=fix, kept=True))


def _grade(
    step: dict[str, Any],
    construct: Construct | None,
    record: str,
    path: Path,
    on_problem: OnProblem,
) -> Grade:
    own = step.get("construct")
    if own is not None:
        construct = _known_construct(own, f"{record}.construct", path, on_problem)
    grade = grade_of_step(step, construct=construct)
    if grade.missing_reason is not None and parse_error(step) is None:
        fix = "the grade counts as missing"
        on_problem(ReadError(path, grade.missing_reason, record=record, fix=fix, kept=True))
    return grade


READER = Reader(
    name="graded",
    title="grades of the steps of agent traces (.jsonl)",
    recognised_by="JSON records of one trace each, with steps that have a validity by a grader",
    looks_like=looks_like,
    read=read,
    no_run="grades without a trace",
)
