"""Grades of a run's turns as one small record, a letter a turn.

Inspect's scorers of this package write it into a score's metadata, and the `inspect` reader reads
it back. docs/howto/inspect-ai.md describes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal, TypeAlias, TypeVar

from turncurve.model import Construct, Grade, Validity
from turncurve.readers.fields import as_int, as_name

KEY = "turncurve.graded_turns"
"""Key of the record in a score's metadata."""
SCHEMA = 1
"""Version of the record; a reader leaves one of a later version alone."""

Source: TypeAlias = Literal["rule", "grader"]
"""What judged: a rule over signals, or a model (or person) that read the turns."""

BY_RULE = "by a rule over signals"
"""The end of a run's note that its verdicts are of the source "rule": nobody read its turns."""

NOT_SAID = "the record does not say why"
_NOTHING, _NOT_ASKED = "-", "."
_VALIDITY: Mapping[str, Validity] = {"F": "fail", "N": "neutral", "P": "pass"}
_LEVEL: Mapping[str, Literal["low", "medium", "high"]] = {"L": "low", "M": "medium", "H": "high"}
_DEPENDENCY: Mapping[str, Literal["independent", "dependent", "n/a"]] = {
    "I": "independent",
    "D": "dependent",
    "X": "n/a",
}
_CONSTRUCT: Mapping[str, Construct] = {"hindsight": "hindsight", "no_hindsight": "no_hindsight"}
_LOOPING: Mapping[str, bool] = {"1": True, "0": False}
W = TypeVar("W")


def record_of(grades: Sequence[Grade | None], *, source: Source) -> dict[str, Any]:
    """The record of one grader's or panel's grades, one for each turn, in order.

    Args:
        grades: Grades of turns 1, 2, ..., None for a turn that was not to be judged; all by one
            grader with one rubric.
        source: What judged.

    Returns:
        JSON values: `schema`, `source`, `grader`, `rubric`, `n_turns`; `construct` where it is
        known; `validity`, `looping`, `severity`, `complexity` and `dependency` as text of one
        letter a turn, the last four only where some turn has one; `missing`, a list of
        `{why, turns}`; `votes` where several voted, the same of each.
    """
    first = next((grade for grade in grades if grade is not None), None)
    votes = _votes(grades)
    return {
        "schema": SCHEMA,
        "source": source,
        "grader": first.grader if first else None,
        "rubric": first.rubric if first else None,
        **({"construct": first.construct} if first and first.construct else {}),
        "n_turns": len(grades),
        **_spelling(grades),
        **({"votes": votes} if votes else {}),
    }


def source_of(record: Mapping[str, Any]) -> Source | None:
    """What judged, as a record says; None for a record that holds no grades, or can't be read."""
    if as_int(record.get("schema")) != SCHEMA or not isinstance(record.get("validity"), str):
        return None
    return "rule" if record.get("source") == "rule" else "grader"


def grades_of(record: Mapping[str, Any], *, n_turns: int) -> dict[int, Grade]:
    """The grades in a record by turn, up to the last turn; {} for a record that can't be read.

    A letter that is none of its alphabet is a missing grade, or no value of that kind; a turn that
    was not to be judged has no grade.
    """
    if source_of(record) is None:
        return {}
    shared: dict[str, Any] = {
        "rubric": as_name(record.get("rubric")),
        "construct": _CONSTRUCT.get(str(record.get("construct"))),
    }
    given = record.get("votes")
    votes = [
        _read(vote, n_turns, shared)
        for vote in (given if isinstance(given, list) else [])
        if isinstance(vote, Mapping) and isinstance(vote.get("validity"), str)
    ]
    return {
        turn: replace(grade, members=members) if len(members) > 1 else grade
        for turn, grade in _read(record, n_turns, shared).items()
        for members in [tuple(vote[turn] for vote in votes if turn in vote)]
    }


def reasons_of(missing: Mapping[int, str]) -> list[dict[str, Any]]:
    """Why turns are missing, by turn, as a record says it: `{why, turns}` for each reason."""
    by_reason: dict[str, list[int]] = defaultdict(list)
    for turn, why in missing.items():
        by_reason[why].append(turn)
    return [{"why": why, "turns": turns} for why, turns in by_reason.items()]


def _spelling(grades: Sequence[Grade | None]) -> dict[str, Any]:
    missing = {
        turn: grade.missing_reason
        for turn, grade in enumerate(grades, start=1)
        if grade is not None and grade.missing_reason is not None
    }
    letters = {
        "validity": _spelt(_VALIDITY, [grade and grade.validity for grade in grades]),
        "looping": _spelt(_LOOPING, [grade and grade.looping for grade in grades]),
        "severity": _spelt(_LEVEL, [grade and grade.severity for grade in grades]),
        "complexity": _spelt(_LEVEL, [grade and grade.complexity for grade in grades]),
        "dependency": _spelt(_DEPENDENCY, [grade and grade.dependency for grade in grades]),
    }
    asked = (
        _NOT_ASKED if grade is None else letter
        for grade, letter in zip(grades, letters["validity"], strict=True)
    )
    return {
        "validity": "".join(asked),
        **{name: text for name, text in letters.items() if name != "validity" and text.strip("-")},
        "missing": reasons_of(missing),
    }


def _votes(grades: Sequence[Grade | None]) -> list[dict[str, Any]]:
    """Each voter's grades; [] where one voted alone."""
    by_voter = zip_longest(*((grade.members if grade else None) or () for grade in grades))
    return [
        {"grader": next(vote.grader for vote in votes if vote is not None), **_spelling(votes)}
        for votes in by_voter
    ]


def _read(entry: Mapping[str, Any], n_turns: int, shared: Mapping[str, Any]) -> dict[int, Grade]:
    grader = as_name(entry.get("grader")) or "unknown"
    reasons = _reasons(entry.get("missing"))
    return {
        turn: Grade(
            grader=grader,
            validity=_VALIDITY.get(letter),
            looping=_letter(_LOOPING, entry.get("looping"), turn),
            severity=_letter(_LEVEL, entry.get("severity"), turn),
            complexity=_letter(_LEVEL, entry.get("complexity"), turn),
            dependency=_letter(_DEPENDENCY, entry.get("dependency"), turn),
            missing_reason=None if letter in _VALIDITY else reasons.get(turn, NOT_SAID),
            **shared,
        )
        for turn, letter in enumerate(entry["validity"][:n_turns], start=1)
        if letter != _NOT_ASKED
    }


def _spelt(alphabet: Mapping[str, W], values: Sequence[W | None]) -> str:
    letters = {value: letter for letter, value in alphabet.items()}
    return "".join(_NOTHING if value is None else letters[value] for value in values)


def _letter(alphabet: Mapping[str, W], text: object, turn: int) -> W | None:
    if not isinstance(text, str) or len(text) < turn:
        return None
    return alphabet.get(text[turn - 1])


def _reasons(missing: object) -> dict[int, str]:
    found: dict[int, str] = {}
    for entry in missing if isinstance(missing, list) else []:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("turns"), list):
            continue
        why = as_name(entry.get("why")) or NOT_SAID
        found |= {turn: why for given in entry["turns"] if (turn := as_int(given)) is not None}
    return found
