"""What was said in a run, turn by turn, capped: the text that the HTML page shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turncurve.model import Run, Turn
from turncurve.model.excerpt import Excerpt, arguments_text, excerpt

DEFAULT_CAP = 20_000
"""Characters of one message, answer, call or result that are kept when nothing else is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """One tool call as text; arguments that are a mapping are written one a line."""

    name: str
    arguments: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultText:
    """One tool result; `call` is the position of its call in the turn, None if it names none."""

    text: Excerpt
    error: bool | None
    call: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnText:
    """One turn: what came before the model's answer, the answer, its calls and their results."""

    turn: int
    before: tuple[tuple[str, Excerpt], ...]
    """Role and text of each message."""
    text: Excerpt
    calls: tuple[CallText, ...]
    results: tuple[ResultText, ...]
    events: tuple[str, ...]
    """Kinds of the events right before this turn."""
    values: Mapping[str, float]
    """Signals that the file itself gives for the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTranscript:
    """The text of one run, each part at most `cap` characters long."""

    run: str
    cap: int
    turns: tuple[TurnText, ...]


def capture(run: Run, cap: int = DEFAULT_CAP) -> RunTranscript:
    """The text of `run`, each part cut to `cap` characters.

    A longer part keeps three quarters of the cap from its start and one quarter from its end,
    since tool output often says at its end what went wrong.

    Raises:
        ValueError: `cap` is below 1.
    """
    if cap < 1:
        raise ValueError(f"cap: wanted at least 1 character a part, got {cap}")
    events: dict[int, list[str]] = {}
    for event in run.events:
        events.setdefault(event.turn, []).append(event.kind)
    turns = tuple(_turn_text(turn, tuple(events.get(turn.index, ())), cap) for turn in run.turns)
    return RunTranscript(run=run.id, cap=cap, turns=turns)


def transcript_json(transcript: RunTranscript) -> str:
    """The transcript as compact JSON, in the short form that the page reads.

    An excerpt is a string, or `[head, omitted, tail]`; a call is `[name, arguments]`, a result
    `[text, error, call]`, a message `[role, text]`.
    """
    document = {
        "run": transcript.run,
        "cap": transcript.cap,
        "turns": [_turn_document(turn) for turn in transcript.turns],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _turn_text(turn: Turn, events: tuple[str, ...], cap: int) -> TurnText:
    positions = {call.id: number for number, call in enumerate(turn.tool_calls) if call.id}
    return TurnText(
        turn=turn.index,
        before=tuple((message.role, excerpt(message.text, cap)) for message in turn.before),
        text=excerpt(turn.text, cap),
        calls=tuple(
            CallText(
                name=excerpt(call.name, cap).head, arguments=excerpt(arguments_text(call), cap)
            )
            for call in turn.tool_calls
        ),
        results=tuple(
            ResultText(
                text=excerpt(result.text, cap),
                error=result.error,
                call=positions.get(result.call_id or ""),
            )
            for result in turn.tool_results
        ),
        events=events,
        values={name: value for name, value in turn.values.items() if abs(value) < float("inf")},
    )


def _turn_document(turn: TurnText) -> dict[str, Any]:
    parts = {
        "before": [[role, _short(text)] for role, text in turn.before],
        "text": _short(turn.text),
        "calls": [[call.name, _short(call.arguments)] for call in turn.calls],
        "results": [[_short(r.text), r.error, r.call] for r in turn.results],
        "events": list(turn.events),
        "values": dict(turn.values),
    }
    return {"turn": turn.turn, **{name: part for name, part in parts.items() if part}}


def _short(excerpt: Excerpt) -> str | list[str | int]:
    if not excerpt.omitted:
        return excerpt.head
    return [excerpt.head, excerpt.omitted, excerpt.tail]
