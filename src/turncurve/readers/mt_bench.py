"""MT-Bench judgments: one line a judged answer, two answers a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from turncurve.errors import ReadError
from turncurve.model import Grade, Run, Turn
from turncurve.readers._items import as_list
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import MOST_TURNS, as_float, as_int, as_name
from turncurve.readers.stream import json_objects

_SCALE = (1.0, 10.0)
_LINE = re.compile(rb"\s*\{")
_KEYS = (b'"question_id"', b'"judgment"', b'"score"', b'"turn"', b'"model"')

_NOT_WRITTEN = "an MT-Bench judgment holds the judge's words and score alone"
_ABSENT = {
    "quality": "no judgment of this conversation held a score",
    "error": "MT-Bench scores answers from 1 to 10 and grades no step",
    "context_tokens": _NOT_WRITTEN,
    "cached_input_tokens": _NOT_WRITTEN,
    "output_tokens": _NOT_WRITTEN,
    "reasoning_tokens": _NOT_WRITTEN,
    "cost_usd": _NOT_WRITTEN,
    "started_at": "the time of a judgment is the judge's, not the answer's",
    "seconds": _NOT_WRITTEN,
    "format_error": "an answer is a text to the user, never malformed",
    "compaction": _NOT_WRITTEN,
}
_UNPARSED = "the judge's answer held no score (-1)"


class _Key(NamedTuple):
    model: str
    question: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    line: int
    score: float | None
    missing: str | None
    """Why there is no score."""


def looks_like(head: bytes, path: Path) -> bool:
    """Whether the first line has the keys of a judgment."""
    del path
    first = head.lstrip().partition(b"\n")[0]
    return bool(_LINE.match(first)) and all(key in first for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each judged conversation: the answers of one model to one question, by one judge.

    The second answers of all questions may stand behind the first ones, so one number an answer is
    held until the file's end.
    """
    judged: dict[_Key, dict[int, _Judged]] = {}
    for number, line in json_objects(path, on_problem):
        try:
            key, turn, one = _judgment(line, number, path, on_problem)
        except ReadError as problem:
            on_problem(problem)
            continue
        first = judged.setdefault(key, {}).setdefault(turn, one)
        if first is not one:
            reason = f"turn {turn} of question {key.question} was judged before"
            fix = f"line {first.line} counts"
            on_problem(ReadError(path, reason, record=number, fix=fix))
    several = len({key.judge for key in judged}) > 1
    for key, answers in judged.items():
        yield _run(key, answers, path, several=several)


def _judgment(
    line: dict[str, Any], number: int, path: Path, on_problem: OnProblem
) -> tuple[_Key, int, _Judged]:
    turn, question = as_int(line.get("turn")), line.get("question_id")
    if turn is None or not 1 <= turn <= MOST_TURNS:
        reason = f"wanted a turn from 1 on, got {line.get('turn')!r:.40}"
        raise ReadError(path, reason, record=number, fix="the other judgments were read")
    if not isinstance(question, int | str) or isinstance(question, bool):
        reason = f"wanted a question_id, got {question!r:.40}"
        raise ReadError(path, reason, record=number, fix="the other judgments were read")
    judge = line.get("judge")
    words = [as_name(part) or "" for part in as_list(judge)] or [as_name(judge) or ""]
    # The judge's prompt for the second answer has another name; the judge is the same.
    key = _Key(as_name(line.get("model")) or "", str(question), words[0])
    score, missing = _score(line.get("score"))
    if missing not in (None, _UNPARSED):
        fix = "the answer was read without a score"
        on_problem(ReadError(path, missing or "", record=number, fix=fix, kept=True))
    return key, turn, _Judged(line=number, score=score, missing=missing)


def _score(given: object) -> tuple[float | None, str | None]:
    """The score, or why there is none."""
    score = as_float(given)
    if score == -1:
        return None, _UNPARSED
    if score is None or not _SCALE[0] <= score <= _SCALE[1]:
        return None, f"wanted a score from 1 to 10, or -1 for none, got {given!r:.40}"
    return score, None


def _run(key: _Key, answers: dict[int, _Judged], path: Path, *, several: bool) -> Run:
    turns = tuple(_turn(turn, answers[turn], key.judge) for turn in sorted(answers))
    judge = f"/{key.judge}" if several else ""
    return Run(
        id=f"{key.model}/question-{key.question}{judge}",
        turns=turns,
        format="mt_bench",
        path=str(path),
        record=min(one.line for one in answers.values()),
        scenario=f"question-{key.question}",
        condition=key.model or None,
        model=key.model or None,
        quality_scale=_SCALE,
        absent=absent_signals(turns, _ABSENT),
        notes=("the answers themselves stand in another file",),
    )


def _turn(index: int, one: _Judged, judge: str) -> Turn:
    if one.score is None:
        missing = Grade(grader=judge or "judge", validity=None, missing_reason=one.missing)
        return Turn(index=index, grades=(missing,), record=one.line)
    return Turn(index=index, values={"quality": one.score}, record=one.line)


READER = Reader(
    name="mt_bench",
    title="MT-Bench judgments of single answers (.jsonl)",
    recognised_by="lines that have a question_id, a model, a judgment, a score and a turn",
    looks_like=looks_like,
    read=read,
    no_run="MT-Bench judgments without a line",
)
