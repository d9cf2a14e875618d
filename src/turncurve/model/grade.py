"""One judgement of one turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from turncurve.errors import InvariantError

Validity: TypeAlias = Literal["fail", "neutral", "pass"]
Construct: TypeAlias = Literal["hindsight", "no_hindsight"]
"""What whoever judged a turn knew: how the run went on, or no more than the turns up to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """One judgement of one turn by one grader with one rubric version.

    A grade that could not be had (the grader's answer did not parse, the call failed) has
    `validity` None and says why in `missing_reason`: it is missing, never neutral.
    """

    grader: str
    validity: Validity | None = None
    rubric: str | None = None
    complexity: Literal["low", "medium", "high"] | None = None
    dependency: Literal["independent", "dependent", "n/a"] | None = None
    severity: Literal["low", "medium", "high"] | None = None
    looping: bool | None = None
    missing_reason: str | None = None
    members: tuple[Grade, ...] | None = None
    """The votes behind a grade of several graders, or of one asked several times; else None."""
    construct: Construct | None = None
    """None where the file does not say."""

    def __post_init__(self) -> None:
        if (self.validity is None) != (self.missing_reason is not None):
            raise InvariantError(
                "Grade: wanted either a validity or a missing_reason, got "
                f"validity={self.validity!r}, missing_reason={self.missing_reason!r}"
            )
