"""Grades of a run's turns as one small record, a letter a turn.

Inspect's scorers of this package write it into a score's metadata, and the `inspect` reader reads
it back. docs/howto/inspect-ai.md describes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from turncurve.model import Grade, Validity
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
_NOTHING = "-"
_VALIDITY: Mapping[str, Validity] = {"F": "fail", "N": "neutral", "P": "pass"}
_LEVEL: Mapping[str, Literal["low", "medium", "high"]] = {"L": "low", "M": "medium", "H": "high"}
_DEPENDENCY: Mapping[str, Literal["independent", "dependent", "n/a"]] = {
    "I": "independent",
    "D": "dependent",
    "X": "n/a",
}
_LOOPING: Mapping[str, bool] = {"1": True, "0": False}
W = TypeVar("W")


def record_of(grades: Sequence[Grade], *, source: Source) -> dict[str, Any]:
    """The record of one grader's grades, one for each turn, in order.

    Args:
        grades: Grades of turns 1, 2, ...; all by one grader with one rubric.
        source: What judged.

    Returns:
        JSON values: `schema`, `source`, `grader`, `rubric`, `n_turns`; `validity`, `looping`,
        `severity`, `complexity` and `dependency` as text of one letter a turn, the last four only
        where some turn has one; `missing`, a list of `{why, turns}`.
    """
    missing: dict[str, list[int]] = defaultdict(list)
    for turn, grade in enumerate(grades, start=1):
        if grade.missing_reason is not None:
            missing[grade.missing_reason].append(turn)
    letters = {
        "validity": _spelt(_VALIDITY, [grade.validity for grade in grades]),
        "looping": _spelt(_LOOPING, [grade.looping for grade in grades]),
        "severity": _spelt(_LEVEL, [grade.severity for grade in grades]),
        "complexity": _spelt(_LEVEL, [grade.complexity for grade in grades]),
        "dependency": _spelt(_DEPENDENCY, [grade.dependency for grade in grades]),
    }
    return {
        "schema": SCHEMA,
        "source": source,
        "grader": grades[0].grader if grades else None,
        "rubric": grades[0].rubric if grades else None,
        "n_turns": len(grades),
        **{name: text for name, text in letters.items() if name == "validity" or text.strip("-")},
        "missing": [{"why": why, "turns": turns} for why, turns in missing.items()],
    }


def source_of(record: Mapping[str, Any]) -> Source | None:
    """What judged, as a record says; None for a record that can't be read."""
    if as_int(record.get("schema")) != SCHEMA or not isinstance(record.get("validity"), str):
        return None
    return "rule" if record.get("source") == "rule" else "grader"


def grades_of(record: Mapping[str, Any], *, n_turns: int) -> dict[int, Grade]:
    """The grades in a record by turn, up to the last turn; {} for a record that can't be read.

    A letter that is none of its alphabet is a missing grade, or no value of that kind.
    """
    if source_of(record) is None:
        return {}
    validity: str = record["validity"]
    grader = as_name(record.get("grader")) or "unknown"
    rubric = as_name(record.get("rubric"))
    reasons = _reasons(record.get("missing"))
    return {
        turn: Grade(
            grader=grader,
            rubric=rubric,
            validity=_VALIDITY.get(letter),
            looping=_read(_LOOPING, record.get("looping"), turn),
            severity=_read(_LEVEL, record.get("severity"), turn),
            complexity=_read(_LEVEL, record.get("complexity"), turn),
            dependency=_read(_DEPENDENCY, record.get("dependency"), turn),
            missing_reason=None if letter in _VALIDITY else reasons.get(turn, NOT_SAID),
        )
        for turn, letter in enumerate(validity[:n_turns], start=1)
    }


def _spelt(alphabet: Mapping[str, W], values: Sequence[W | None]) -> str:
    letters = {value: letter for letter, value in alphabet.items()}
    return "".join(_NOTHING if value is None else letters[value] for value in values)


def _read(alphabet: Mapping[str, W], text: object, turn: int) -> W | None:
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
