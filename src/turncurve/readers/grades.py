"""Grade files that `turncurve grade` writes: judgements of turns without the turns' text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from turncurve.model import ExitType, Run, Turn
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_count, as_float
from turncurve.readers.grade_file import GradeFile, read_grade_file
from turncurve.readers.grade_lines import RunLine
from turncurve.readers.graded import ABSENT as GRADED
from turncurve.readers.judgements import Judgement, judge

_START = re.compile(rb'\s*\{"kind"\s*:\s*"session"\s*,\s*"turncurve_grades"\s*:\s*\d')

_SCORED = {**GRADED, "error": "this file holds scores, not grades of steps"}


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a file starts with the session line of a grade file."""
    del path
    return bool(_START.match(head))


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each graded run with the turns that were graded.

    Answers of one turn may stand anywhere in the file, so their fold is held in memory: about a
    kilobyte a grade.
    """
    file = read_grade_file(path, on_problem)
    for run in file.run_ids():
        yield _run(run, file, path)


def _run(run: str, file: GradeFile, path: Path) -> Run:
    turns = []
    for index in sorted(file.turns.get(run, {})):
        judged = judge(file, run, index)
        if judged is not None:
            turns.append(_turn(index, judged))
    known = file.runs.get(run) or RunLine(run=run, n_turns=0, file="")
    success, exit_ = _outcome(known)
    scale = None
    if file.session is not None and file.session.rubric.kind == "score":
        low, high = file.session.rubric.low, file.session.rubric.high
        scale = (low, high) if low is not None and high is not None and low < high else None
    return Run(
        id=run,
        turns=tuple(turns),
        format="grades",
        path=str(path),
        record=file.records[run],
        scenario=known.scenario or None,
        trial=as_count(known.trial) or None,
        condition=known.condition or None,
        model=known.model or None,
        agent=known.agent or "main",
        parent=known.parent or None,
        exit_type=exit_,
        success=success,
        score=as_float(known.score),
        quality_scale=scale,
        absent=absent_signals(turns, _SCORED if _is_scored(file) else GRADED),
        notes=_notes(turns, known),
    )


def _is_scored(file: GradeFile) -> bool:
    return file.session is not None and file.session.rubric.kind != "steps"


def _turn(index: int, judged: Judgement) -> Turn:
    grades = (judged.grade,) if judged.grade is not None else ()
    return Turn(index=index, grades=grades, values=judged.values)


def _outcome(known: RunLine) -> tuple[bool | None, ExitType]:
    """Whether the run succeeded and how it ended, where the two fit together."""
    words = {exit_.value for exit_ in ExitType}
    exit_ = ExitType(known.exit_type) if known.exit_type in words else ExitType.UNKNOWN
    if known.success is not None and exit_ is ExitType.finished(not known.success):
        return known.success, ExitType.UNKNOWN
    return known.success, exit_


def _notes(turns: list[Turn], known: RunLine) -> tuple[str, ...]:
    notes = []
    if known.n_turns > len(turns):
        notes.append(f"{len(turns)} of {known.n_turns} turns were graded")
    n_missing = sum(
        any(grade.validity is None for grade in turn.grades)
        or turn.values.get("grade_missing") == 1
        for turn in turns
    )
    if n_missing:
        notes.append(f"{n_missing} grade(s) could not be had and are missing")
    return tuple(notes)


READER = Reader(
    name="grades",
    title="grade files of turncurve grade (.jsonl)",
    recognised_by='a first line {"kind":"session","turncurve_grades":...',
    looks_like=looks_like,
    read=read,
    no_run="a grade file without a grade",
)
