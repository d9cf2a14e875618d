"""A run: the turns that one agent took on one scenario, and what happened to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from turncurve.errors import InvariantError
from turncurve.model.grade import Grade
from turncurve.model.usage import Usage

Detector: TypeAlias = Literal["flag", "return_code", "status", "text"]
"""What told that a tool call failed: an error flag, a return code, a status word, or its text."""

EventKind: TypeAlias = Literal["compaction", "injection", "intervention", "limit", "error", "other"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class ExitType(StrEnum):
    """How a run ended."""

    SUCCESS_FINISH = "success_finish"
    """Finished by itself, and succeeded."""
    FAIL_FINISH = "fail_finish"
    """Finished by itself, and failed."""
    BUDGET = "budget"
    """Stopped by a limit on turns, tokens, time or cost."""
    CRASH = "crash"
    USER_ABORT = "user_abort"
    STILL_RUNNING = "still_running"
    UNKNOWN = "unknown"
    """The file does not say, or says that it finished and not whether it succeeded."""

    @classmethod
    def finished(cls, success: bool | None) -> ExitType:  # noqa: FBT001 - the outcome itself
        """How a run ended that finished by itself, by its outcome."""
        if success is None:
            return cls.UNKNOWN
        return cls.SUCCESS_FINISH if success else cls.FAIL_FINISH


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool. `arguments` is a mapping, or the text that did not parse as one."""

    id: str | None = None
    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came back from one tool call.

    `error` is None where the source has no way to tell; True and False say which detector spoke.
    """

    call_id: str | None = None
    text: str = ""
    error: bool | None = None
    detector: Detector | None = None
    transient: bool = False
    """True for an error that a retry may cure: a timeout, a rate limit, an overloaded server."""

    def __post_init__(self) -> None:
        if self.error is not None and self.detector is None:
            raise InvariantError(f"ToolResult: wanted a detector beside error={self.error!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Text that reached the model and is no tool result: a prompt, a notice, a summary."""

    role: Literal["system", "user"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One model call, with the tool calls and results that it caused.

    `index` counts from 1. `values` holds numbers that the file itself gives for the turn, by signal
    name: a rubric score as `quality`, a custom measure. None and absence mean: not known.
    """

    index: int
    text: str = ""
    before: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    model: str | None = None
    started_at: float | None = None
    """Seconds since 1970, UTC."""
    seconds: float | None = None
    """Wall-clock time of the model call."""
    format_error: bool | None = None
    """True where the answer could not be read as an action; None where a file can't tell."""
    action: str | None = None
    """An action key that the file gives in place of tool calls."""
    values: Mapping[str, float] = field(default_factory=dict)
    grades: tuple[Grade, ...] = ()
    record: str | int | None = None
    """Where in the file this turn starts: a line number, or an index."""

    def __post_init__(self) -> None:
        if self.index < 1:
            raise InvariantError(f"Turn.index: wanted >= 1 (turns count from 1), got {self.index}")
        if self.cost_usd is not None and not self.cost_usd >= 0:
            raise InvariantError(f"turn {self.index}: wanted cost_usd >= 0, got {self.cost_usd!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a run.

    `turn` is the first turn after it, so offset 0 from the event is the first turn that can show
    its effect; an event after the last turn n has `turn` n + 1.
    """

    kind: EventKind
    turn: int
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a file says of a whole run, for sources that do not say it turn by turn."""

    input_tokens: int | None = None
    """Cached tokens included."""
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of one agent on one scenario.

    A sub-agent's run has its own turn index; `parent` is the id of the run that started it and
    `agent` its path. `absent` says which signals this file cannot know, and why.
    """

    id: str
    turns: tuple[Turn, ...]
    format: str
    path: str
    record: str | int | None = None
    scenario: str | None = None
    trial: int | None = None
    condition: str | None = None
    model: str | None = None
    agent: str = "main"
    parent: str | None = None
    exit_type: ExitType = ExitType.UNKNOWN
    exit_text: str | None = None
    """The source's own words for how the run ended."""
    success: bool | None = None
    score: float | None = None
    events: tuple[Event, ...] = ()
    totals: Totals | None = None
    quality_scale: tuple[float, float] | None = None
    """Lowest and highest value that the rubric behind `values["quality"]` can give."""
    grader_usage: Usage | None = None
    """Tokens of grader calls in the same file; they are no part of the agent's turns."""
    absent: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    notes: tuple[str, ...] = ()
    """How ambiguous parts of the file were read."""

    def __post_init__(self) -> None:
        previous = 0
        for turn in self.turns:
            if turn.index == previous:
                raise InvariantError(f"run {self.id!r}: turn {turn.index} stands twice")
            if turn.index < previous:
                raise InvariantError(
                    f"run {self.id!r}: wanted rising turns, got {turn.index} after {previous}"
                )
            previous = turn.index
        for event in self.events:
            if not 1 <= event.turn <= previous + 1:
                raise InvariantError(
                    f"run {self.id!r}: wanted an event at a turn from 1 to {previous + 1}, "
                    f"got {event.kind} at {event.turn}"
                )
        contradicted = None if self.success is None else ExitType.finished(not self.success)
        if self.exit_type is contradicted:
            raise InvariantError(
                f"run {self.id!r}: exit type {self.exit_type.value} contradicts "
                f"success={self.success}"
            )
