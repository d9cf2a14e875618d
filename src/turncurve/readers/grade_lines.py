"""The lines of a grade file, which `turncurve grade` writes and the reader `grades` reads.

A file is JSON lines of three kinds: `session` (what a run of the command graded with), `run` (what
is known of a graded run) and `grade` (one answer of one grader to one turn, or why there is none).
Lines are only ever appended.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

FORMAT_VERSION = 1

Kind: TypeAlias = Literal["steps", "score", "rules", "fidelity"]
"""What a rubric asks: five dimensions of a step, a level, rules kept, or the goal kept."""

Value: TypeAlias = str | int | bool | None


class RubricMark(msgspec.Struct, frozen=True, kw_only=True):
    """The rubric of a session."""

    name: str
    version: int
    digest: str
    """Of everything that the grader is told by it."""
    kind: Kind
    low: float | None = None
    """Lowest and highest level, where it gives one."""
    high: float | None = None
    construct: str = ""
    """What the grader could see, as `no hindsight, own results shown`."""


class MemberMark(msgspec.Struct, frozen=True, kw_only=True):
    """One grader of a panel."""

    grader: str
    parameters: dict[str, Value | float] = {}
    samples: int = 1


class SessionLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="session"):
    """What grades were asked for, and of whom; the last one of a file says who votes."""

    turncurve_grades: int
    settings: str
    """Digest of all that a prompt is made by: rubric, budget, layout."""
    rubric: RubricMark
    panel: tuple[MemberMark, ...]
    context_tokens: int
    at: float
    """Seconds since 1970, UTC."""
    restated_by: MemberMark | None = None
    """Who restated the objective in copies of the runs' states; None where turns are judged."""

    @property
    def n_asked(self) -> int:
        """Votes that a turn is to have."""
        return sum(member.samples for member in self.panel)

    @property
    def panel_name(self) -> str:
        """The graders' names, each with its number of votes where that is not one."""
        return "+".join(
            member.grader + (f"*{member.samples}" if member.samples > 1 else "")
            for member in self.panel
        )


class RunLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="run"):
    """What is known of a graded run."""

    run: str
    n_turns: int
    """Turns when it was graded."""
    file: str
    """Name of its file, without folders."""
    record: str | int | None = None
    scenario: str | None = None
    trial: int | None = None
    condition: str | None = None
    model: str | None = None
    agent: str = "main"
    parent: str | None = None
    exit_type: str = "unknown"
    success: bool | None = None
    score: float | None = None


class Absence(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no grade."""

    reason: Literal["provider error", "refusal", "truncated", "no JSON", "broken invariant"]
    detail: str = ""


class Elided(msgspec.Struct, frozen=True, kw_only=True):
    """What of the run before and in a turn the grader was not shown, for want of room."""

    turns: int = 0
    """Whole earlier turns."""
    characters: int = 0


class TokenCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of the calls behind a grade; None where the provider does not say."""

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


class GradeLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="grade"):
    """One answer of one grader to one turn; exactly one of `answer` and `missing` is there."""

    key: str
    """Digest of all that the answer depends on."""
    settings: str
    run: str
    turn: int
    """From 1; for an anchor the turn that its goal stands before."""
    grader: str
    sample: int = 1
    rubric: str = ""
    answer: dict[str, Value] | None = None
    missing: Absence | None = None
    raw: str = ""
    """The reply as it came, cut where it is very long."""
    elided: Elided = Elided()
    usage: TokenCounts = TokenCounts()
    cost_usd: float | None = None
    seconds: float = 0.0
    calls: int = 1
    """Calls paid for: 2 with a repair, 0 for a copy of the grade of a run with the same content."""
    at: float = 0.0
    probability: float | None = None
    """Chance that a stated design drew this turn for a person to label; None for a grader."""
    anchor: Literal["floor", "ceiling", "paraphrase", "restated"] | None = None
    """Not a turn of the run: what the judge says of another goal (floor), of the same in other
    words (ceiling), and those words; and the objective as a copy of the turn's state restated it,
    which is judged in the turn's place."""


Line: TypeAlias = SessionLine | RunLine | GradeLine

_decode: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def encoded(line: Line) -> bytes:
    """The line as it stands in a file."""
    return msgspec.json.encode(line) + b"\n"


def decoded(text: bytes) -> Line:
    """A line of a file.

    Raises:
        msgspec.DecodeError: It is none.
    """
    return _decode.decode(text)
