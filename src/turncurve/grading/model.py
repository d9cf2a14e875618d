"""The one seam to a language model that grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from turncurve.model import Usage
from turncurve.readers.grade_lines import MemberMark, Value

Parameters: TypeAlias = Mapping[str, Value | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderMessage:
    """One message to a grader; its parts are one text, of which the first ones change least."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The parts as one text."""
        return "\n\n".join(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back from one call.

    Attributes:
        text: The answer, without blocks of reasoning where the provider tells them apart.
        usage: Tokens; None where the provider does not say.
        cost_usd: What the provider says that it costs; None where it does not.
        stop: Why it ended: by itself, cut off by a limit on tokens, or refused.
    """

    text: str
    usage: Usage | None = None
    cost_usd: float | None = None
    stop: Literal["end", "length", "refusal"] = "end"


class ProviderError(Exception):
    """A call failed.

    Args:
        reason: What the provider says.
        transient: Whether trying again may help: a rate limit, an overload, a lost connection.
        retry_after: Seconds that the provider asks to wait.
    """

    def __init__(
        self, reason: str, *, transient: bool = False, retry_after: float | None = None
    ) -> None:
        self.transient, self.retry_after = transient, retry_after
        super().__init__(reason)


class GraderModel(Protocol):
    """A model that grades.

    Attributes:
        name: What grades are signed with, as `openai/gpt-5-mini`.
        parameters: All that changes its answers: temperature, reasoning effort, seed.
    """

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Parameters: ...

    async def generate(
        self, messages: Sequence[GraderMessage], schema: Mapping[str, Any] | None
    ) -> Reply:
        """Answer, held to a JSON Schema where the provider can.

        Raises:
            ProviderError: The call failed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One grader of a panel, and how often it is asked about each turn."""

    model: GraderModel
    samples: int = 1

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples: wanted at least 1, got {self.samples}")

    def mark(self) -> MemberMark:
        """As a grade file says it."""
        return MemberMark(
            grader=self.model.name,
            parameters=dict(self.model.parameters),
            samples=self.samples,
        )


Panel: TypeAlias = Sequence[Member]
"""Who grades: one model, one model several times, or several models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restater:
    """The model that is asked, in copies of a run's states, to restate the objective.

    Attributes:
        model: Usually the agent's own.
        copies: By turn, the same model as one that has the very state of that turn before it; for
            other turns the state is put together from what the trace holds.
    """

    model: GraderModel
    copies: Mapping[int, GraderModel] = field(default_factory=dict)

    def at(self, turn: int) -> GraderModel:
        """Who is asked about a turn."""
        return self.copies.get(turn, self.model)

    def mark(self) -> MemberMark:
        """As a grade file says it."""
        return Member(model=self.model).mark()


def check_panel(panel: Panel) -> None:
    """See that each member can be told apart by its name.

    Raises:
        ValueError: There is none, or two have one name.
    """
    names = [member.model.name for member in panel]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"wanted a panel of graders with different names, got {names!r}")
