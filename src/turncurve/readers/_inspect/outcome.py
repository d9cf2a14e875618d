"""How an Inspect sample ended: exit type, success and score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turncurve.model import ExitType
from turncurve.readers import graded_turns
from turncurve.readers._inspect.quality import GRADED_TRACE, judges_turns
from turncurve.readers.fields import as_float

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

_VERDICTS = {
    "c": True,
    "correct": True,
    "yes": True,
    "true": True,
    "i": False,
    "incorrect": False,
    "n": False,
    "no": False,
    "false": False,
}
_LETTER_SCORES = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0}
_ABORTS = ("operator",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a sample ended, with notes on what had to be decided."""

    exit_type: ExitType
    exit_text: str
    success: bool | None
    score: float | None
    notes: tuple[str, ...] = ()


def outcome_of(sample: EvalSample, log_status: str, graduated: frozenset[str]) -> Outcome:
    """The outcome of one sample.

    Args:
        sample: The sample.
        log_status: Status of its whole log: success, error, cancelled or started.
        graduated: Names of scores (or `score.key` of their parts) that have a value strictly
            between 0 and 1, or beyond, somewhere in the log: their 1 and 0 are no verdicts.
    """
    success, score, notes = _success(sample, graduated)
    ended = _ended_early(sample, log_status)
    if ended is None:
        ended = ExitType.finished(success), "completed"
    exit_type, exit_text = ended
    return Outcome(
        exit_type=exit_type, exit_text=exit_text, success=success, score=score, notes=tuple(notes)
    )


def graduated_scores(scores: Iterable[Mapping[str, Score] | None]) -> frozenset[str]:
    """Names of the scores of a log that take numbers other than 0 and 1."""
    return frozenset(
        name
        for named in scores
        for name, value in _values(named)
        if (number := as_float(value)) is not None and number not in (0.0, 1.0)
    )


def score_number(value: object) -> float | None:
    """A score as a number: itself, or 1, 0, 0.5, 0 for the letters C, I, P, N; else None."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return _LETTER_SCORES.get(value.strip().lower())
    return as_float(value)


def _success(
    sample: EvalSample, graduated: frozenset[str]
) -> tuple[bool | None, float | None, list[str]]:
    rubric = {n for n, score in (sample.scores or {}).items() if judges_turns(score.metadata or {})}
    values = [
        (name, value)
        for name, value in _values(sample.scores)
        if not (name.split(".")[0] in rubric and as_float(value) is not None)
    ]
    verdicts = {name: _verdict(name, value, graduated) for name, value in values}
    clear = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
    told = _told(sample) & clear.keys()
    if len(told) == 1:
        name = told.pop()
        notes = [f"success: the score {name!r}, as the scorer of turns was told"]
        return clear[name], score_number(dict(values)[name]), notes
    if len(clear) == 1:
        name, success = clear.popitem()
        notes = [f"success: the score {name!r}"] if len(values) > 1 else []
        return success, score_number(dict(values)[name]), notes
    score = score_number(values[0][1]) if len(values) == 1 else None
    if clear:
        named = ", ".join(sorted(clear))
        return None, score, [f"success unknown: {len(clear)} scores could be it ({named})"]
    graded = _success_of_graded_trace(sample)
    if graded is not None:
        return graded, score, [f"success: as {GRADED_TRACE} says"]
    if values and score is not None:
        return None, score, [f"success unknown: the score {values[0][0]!r} is no verdict"]
    return None, score, []


def _told(sample: EvalSample) -> set[str]:
    """Names of the scores that scorers of turns were told to take for the outcome."""
    records = ((score.metadata or {}).get(graded_turns.KEY) for score in _scores(sample))
    named = (record.get("outcome_from") for record in records if isinstance(record, Mapping))
    return {name for name in named if isinstance(name, str)}


def _scores(sample: EvalSample) -> Iterable[Score]:
    return (sample.scores or {}).values()


def _values(scores: Mapping[str, Score] | None) -> Iterable[tuple[str, object]]:
    for name, score in (scores or {}).items():
        if isinstance(score.value, dict):
            yield from ((f"{name}.{key}", value) for key, value in score.value.items())
        else:
            yield name, score.value


def _verdict(name: str, value: object, graduated: frozenset[str]) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _VERDICTS.get(value.strip().lower())
    number = as_float(value)
    return bool(number) if number in (0.0, 1.0) and name not in graduated else None


def _success_of_graded_trace(sample: EvalSample) -> bool | None:
    for score in _scores(sample):
        trace = (score.metadata or {}).get(GRADED_TRACE)
        success = trace.get("success") if isinstance(trace, dict) else None
        if isinstance(success, bool):
            return success
    return None


def _ended_early(sample: EvalSample, log_status: str) -> tuple[ExitType, str] | None:
    """The exit of a sample that did not come to its own end; None if it did."""
    if sample.error is not None:
        first_line = sample.error.message.strip().partition("\n")[0]
        if log_status == "cancelled" and "cancel" in first_line.lower():
            return ExitType.USER_ABORT, first_line
        return ExitType.CRASH, first_line
    if sample.limit is not None:
        text = f"{sample.limit.type} limit"
        return (ExitType.USER_ABORT if sample.limit.type in _ABORTS else ExitType.BUDGET), text
    if not sample.scores and sample.completed_at is None and log_status != "success":
        unfinished = {"started": ExitType.STILL_RUNNING, "cancelled": ExitType.USER_ABORT}
        return unfinished.get(log_status, ExitType.UNKNOWN), log_status
    return None
