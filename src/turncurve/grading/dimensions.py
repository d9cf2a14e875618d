"""What a grader may answer: closed sets only, and what must hold between the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from turncurve.readers.grade_lines import Kind, Value

Answer: TypeAlias = Mapping[str, Value]
"""Dimension to what was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One question with a closed set of answers.

    Attributes:
        name: Key of the answer.
        question: What is asked, in a sentence.
        values: What may be answered; empty for the number of an earlier turn.
        meanings: What each value means, by its text; may be empty.
        or_null: Whether null may be answered too, for "does not apply".
    """

    name: str
    question: str
    values: tuple[str | int | bool, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    or_null: bool = False

    def accepts(self, value: object, turn: int) -> bool:
        """Whether this is an answer to give on a turn; true is no 1, and 1.0 is none either."""
        if value is None:
            return self.or_null
        if not self.values:
            return type(value) is int and 1 <= value < turn
        return any(type(value) is type(one) and value == one for one in self.values)

    def wanted(self, turn: int) -> str:
        """What would be accepted, in words."""
        if not self.values:
            return f"the number of an earlier turn, 1 to {turn - 1}, or null"
        return ", ".join([*map(as_said, self.values), *(["null"] if self.or_null else [])])

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of an answer."""
        if not self.values:
            return {"type": ["integer", "null"]}
        kinds = {bool: "boolean", int: "integer", str: "string"}
        names = [*dict.fromkeys(kinds[type(value)] for value in self.values)]
        if self.or_null:
            names.append("null")
        values = [*self.values, *([None] if self.or_null else [])]
        return {"type": names[0] if len(names) == 1 else names, "enum": values}


def as_said(value: Value) -> str:
    """A value as JSON writes it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def answer_schema(dimensions: tuple[Dimension, ...]) -> dict[str, Any]:
    """The JSON Schema of a whole answer: every dimension, and nothing else."""
    return {
        "type": "object",
        "properties": {one.name: one.schema() for one in dimensions},
        "required": [one.name for one in dimensions],
        "additionalProperties": False,
    }


LEVELS = ("low", "medium", "high")

STEP: Mapping[str, tuple[str | int | bool, ...]] = {
    "validity": ("fail", "neutral", "pass"),
    "complexity": LEVELS,
    "dependency": ("independent", "dependent", "n/a"),
    "severity": LEVELS,
    "looping": (True, False),
    "repeats_turn": (),
}
"""The dimensions of a step, whose sets no rubric file changes; `severity` may be null."""

NULLABLE = frozenset({"severity", "repeats_turn"})

RULE: tuple[Literal["kept", "broken", "n/a"], ...] = ("kept", "broken", "n/a")


def broken_invariant(kind: Kind, answer: Answer) -> str | None:
    """What does not fit together in an answer whose values are all allowed; None if all does.

    Of a step: severity and dependency are about failing steps only, a step that passes does not
    loop, and one that loops points at the turn that it repeats. What a model returns must keep
    them; a human's labels may lack dimensions and are not asked.
    """
    if kind != "steps":
        return None
    failing, looping = answer["validity"] == "fail", answer["looping"] is True
    if failing != (answer["severity"] is not None):
        return "severity is for failing steps only: wanted " + (
            "low, medium or high" if failing else "null"
        )
    if failing != (answer["dependency"] != "n/a"):
        return "dependency is for failing steps only: wanted " + (
            "independent or dependent" if failing else "n/a"
        )
    if answer["validity"] == "pass" and looping:
        return "a step that repeats an earlier one is no progress: wanted looping false, or no pass"
    if looping != (answer["repeats_turn"] is not None):
        return "looping goes with the first occurrence: wanted " + (
            "the number of the turn that is repeated" if looping else "repeats_turn null"
        )
    return None
