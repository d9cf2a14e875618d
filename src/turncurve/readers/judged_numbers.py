"""Numbers that graders gave a run's turns as one small record, where the rubric asks for no grades.

It stands in a score's metadata where a record of grades would (`graded_turns`), and is told from
one by its `values`. docs/howto/inspect-ai.md describes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turncurve.readers.fields import as_float, as_int
from turncurve.readers.graded_turns import SCHEMA, reasons_of

NUMBERS = (
    "quality",
    "adherence_judged",
    "n_rules_judged",
    "goal_fidelity",
    "goal_fidelity_raw",
)
"""What graders give in numbers, by signal name."""
MISSING = "grade_missing"
_HAD, _MISSING, _NOT_ASKED = "1", "-", "."


def record_of_numbers(
    turns: Sequence[Mapping[str, float] | None],
    *,
    grader: str | None,
    rubric: str | None,
    construct: str | None = None,
    scale: tuple[float, float] | None = None,
    missing: Mapping[int, str],
) -> dict[str, Any]:
    """The record of one grader's or panel's numbers, one mapping for each turn, in order.

    Args:
        turns: Numbers of turns 1, 2, ... by signal name, with `grade_missing`; None for a turn
            that was not to be judged.
        grader: Who judged.
        rubric: By what.
        construct: What the numbers are of, in words.
        scale: Lowest and highest value of `quality`.
        missing: Why turns have no number, by turn.

    Returns:
        JSON values: `schema`, `source`, `grader`, `rubric`, `construct`, `n_turns`; `asked`, a
        text of one letter a turn; `values`, a list with a number or null a turn by signal;
        `scale`; `missing`, a list of `{why, turns}`.
    """
    named = [name for name in NUMBERS if any(name in (turn or {}) for turn in turns)]
    return {
        "schema": SCHEMA,
        "source": "grader",
        "grader": grader,
        "rubric": rubric,
        **({"construct": construct} if construct else {}),
        "n_turns": len(turns),
        "asked": "".join(_letter(turn) for turn in turns),
        "values": {name: [(turn or {}).get(name) for turn in turns] for name in named},
        **({"scale": list(scale)} if scale else {}),
        "missing": reasons_of(missing),
    }


def holds_numbers(record: Mapping[str, Any]) -> bool:
    """Whether a record can be read as one of numbers."""
    return (
        as_int(record.get("schema")) == SCHEMA
        and isinstance(record.get("asked"), str)
        and isinstance(record.get("values"), Mapping)
    )


def numbers_of(record: Mapping[str, Any], *, n_turns: int) -> dict[int, dict[str, float]]:
    """The numbers in a record by turn, up to the last turn; {} for one that can't be read.

    Each turn that was asked about has `grade_missing`, 0 or 1.
    """
    if not holds_numbers(record):
        return {}
    found = {
        turn: {MISSING: float(letter != _HAD)}
        for turn, letter in enumerate(record["asked"][:n_turns], start=1)
        if letter != _NOT_ASKED
    }
    for name in NUMBERS:
        for turn, number in _numbers(record["values"].get(name), n_turns):
            if found.get(turn, {}).get(MISSING) == 0:
                found[turn][name] = number
    return found


def _numbers(given: object, n_turns: int) -> Iterator[tuple[int, float]]:
    for turn, value in enumerate(given[:n_turns] if isinstance(given, list) else [], start=1):
        number = as_float(value)
        if number is not None:
            yield turn, number


def _letter(turn: Mapping[str, float] | None) -> str:
    if turn is None:
        return _NOT_ASKED
    return _MISSING if turn.get(MISSING) == 1 else _HAD
