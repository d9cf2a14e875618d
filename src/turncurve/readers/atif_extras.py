"""What turncurve writes into the `extra` of an ATIF trajectory beside what the format holds.

One description for both ways: `turncurve convert` writes it, the reader takes it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, TypeVar

import msgspec

from turncurve.errors import InvariantError
from turncurve.model import (
    Detector,
    Event,
    ExitType,
    Grade,
    Run,
    ToolCall,
    ToolResult,
    Totals,
    Turn,
    Usage,
)
from turncurve.readers.fields import MOST_TOKENS, MOST_TURNS, as_float, as_text

KEY = "turncurve"
"""The key of `extra` under which it all stands."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultExtra:
    """What ATIF cannot say of a tool result. `error` None means that nothing tells."""

    error: bool | None = None
    detector: Detector | None = None
    transient: bool = False
    call_id: str | None = None
    """The call's id, where no call of the step has it."""
    names_no_call: bool = False
    """True where the id beside the result was made to join it to its call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExtra:
    """What ATIF cannot say of a tool call."""

    has_no_id: bool = False
    """True where the call's id was made, since ATIF wants one."""
    is_text: bool = False
    """True where the arguments are a text, which stands in an object under `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnExtra:
    """What ATIF cannot say of a turn."""

    turn: int
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    action: str | None = None
    format_error: bool | None = None
    usage: Usage | None = None
    """Where the step's metrics cannot hold which part is known."""
    values: Mapping[str, float] = field(default_factory=dict)
    grades: tuple[Grade, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExtra:
    """What ATIF cannot say of a run."""

    scenario: str | None = None
    trial: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | None = None
    condition: str | None = None
    model: str | None = None
    agent: str | None = None
    parent: str | None = None
    exit_type: ExitType | None = None
    exit_text: str | None = None
    success: bool | None = None
    score: float | None = None
    events: tuple[Event, ...] | None = None
    totals: Totals | None = None
    quality_scale: tuple[float, float] | None = None
    grader_usage: Usage | None = None
    absent: Mapping[str, str] | None = None
    notes: tuple[str, ...] | None = None


def of_run(run: Run) -> RunExtra:
    """What ATIF cannot say of this run."""
    return RunExtra(**{one.name: getattr(run, one.name) for one in fields(RunExtra)})


def extra_of(holder: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What turncurve wrote into a trajectory, step or result; None where it wrote nothing."""
    extra = holder.get("extra")
    own = extra.get(KEY) if isinstance(extra, dict) else None
    return own if isinstance(own, dict) else None


def turn_extra(own: Mapping[str, Any]) -> TurnExtra:
    """What was written of a turn.

    Raises:
        InvariantError: It is not what turncurve writes.
    """
    return _checked(own, TurnExtra)


def call_extra(own: Mapping[str, Any]) -> CallExtra:
    """What was written of a tool call.

    Raises:
        InvariantError: It is not what turncurve writes.
    """
    return _checked(own, CallExtra)


def result_extra(own: Mapping[str, Any]) -> ResultExtra:
    """What was written of a tool result.

    Raises:
        InvariantError: It is not what turncurve writes, or names an error and not what told it.
    """
    extra = _checked(own, ResultExtra)
    if extra.error is not None and extra.detector is None:
        raise InvariantError(f"extra.{KEY}: wanted a detector beside error={extra.error!r}")
    return extra


def run_extra(own: Mapping[str, Any]) -> RunExtra:
    """What was written of a run.

    Raises:
        InvariantError: It is not what turncurve writes.
    """
    return _checked(own, RunExtra)


def _checked(own: Mapping[str, Any], kind: type[T]) -> T:
    own = {name: value for name, value in own.items() if name != "signals"}
    if not all(map(_is_measure, _numbers(own))):
        raise InvariantError(f"extra.{KEY}: wanted numbers of some measure, got one beyond any")
    try:
        return msgspec.convert(own, kind)
    except msgspec.ValidationError as problem:
        raise InvariantError(f"extra.{KEY}: {problem}") from problem


def _numbers(value: object) -> Iterator[int | float]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, int | float):
            yield one


def _is_measure(number: float) -> bool:
    if isinstance(number, int):
        return abs(number) <= MOST_TOKENS
    return as_float(number) is not None


def run_as_written(run: Run, own: RunExtra) -> Run:
    """The run with what was written of it.

    Raises:
        InvariantError: It contradicts itself or the turns.
    """
    known = {one.name: getattr(own, one.name) for one in fields(own)}
    return replace(run, **{name: value for name, value in known.items() if value is not None})


def turns_as_written(turns: Sequence[Turn], own: Sequence[TurnExtra | None]) -> tuple[Turn, ...]:
    """The turns with what was written of each, and with their numbers where all have theirs."""
    numbers = [0 if one is None else one.turn for one in own]
    rises = all(a < b for a, b in zip([0, *numbers], numbers, strict=False))
    numbered = rises and (not numbers or numbers[-1] <= MOST_TURNS)
    return tuple(
        turn if one is None else _turn(turn, one, one.turn if numbered else turn.index)
        for turn, one in zip(turns, own, strict=True)
    )


def _turn(turn: Turn, own: TurnExtra, index: int) -> Turn:
    return replace(
        turn,
        index=index,
        seconds=own.seconds,
        action=own.action,
        format_error=own.format_error,
        usage=turn.usage if own.usage is None else own.usage,
        values=own.values,
        grades=own.grades,
    )


def result_as_written(result: ToolResult, own: ResultExtra) -> ToolResult:
    """The result with what was written of it."""
    return replace(
        result,
        error=own.error,
        detector=own.detector,
        transient=own.transient,
        call_id=None if own.names_no_call else own.call_id or result.call_id,
    )


def call_as_written(call: ToolCall, own: CallExtra) -> ToolCall:
    """The call with what was written of it."""
    return ToolCall(
        id=None if own.has_no_id else call.id,
        name=call.name,
        arguments=_text(call.arguments) if own.is_text else call.arguments,
    )


def _text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else as_text(arguments.get("text"))
