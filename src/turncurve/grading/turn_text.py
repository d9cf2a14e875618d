"""Parts of a run as a grader reads them: messages, turns, each cut to the room that it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turncurve.grading.rubric import Sees
from turncurve.grading.tokens import size
from turncurve.model import Message, Turn
from turncurve.model.excerpt import arguments_text, excerpt

_LEAST = 40
"""Characters of a part below which it is not cut further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that was said, called or returned, under its label."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Parts as they are shown, and the characters of them that are not."""

    text: str
    omitted: int = 0

    @property
    def size(self) -> int:
        """UTF-8 bytes."""
        return size(self.text)


def parts_of_turn(turn: Turn, *, sees: Sees = "results", told: bool = True) -> tuple[Part, ...]:
    """What the model was told, what it wrote, its calls with their arguments, and their results.

    Args:
        turn: The turn.
        sees: "action" leaves the results out.
        told: False leaves out what the model was told before it.
    """
    return tuple(_parts(turn, sees, told=told))


def parts_of_messages(messages: tuple[Message, ...]) -> tuple[Part, ...]:
    """Messages by who sent them."""
    return tuple(Part(label=message.role, text=message.text) for message in messages)


def n_characters(parts: tuple[Part, ...]) -> int:
    """Characters of what was said, without the labels."""
    return sum(len(part.text) for part in parts)


def shown(parts: tuple[Part, ...], *, mark: str, cap: int, room: int) -> Shown:
    """Parts one below another, each under a heading that carries the mark.

    Args:
        parts: What is shown.
        mark: Token in each heading, which no text of the run can know.
        cap: Characters that each part may have.
        room: UTF-8 bytes of the whole; the cap is halved until it fits, and what then still does
            not fit (very many parts) is cut off at the end.
    """
    whole = _joined(parts, mark, cap)
    while whole.size > room and cap > _LEAST:
        cap //= 2
        whole = _joined(parts, mark, cap)
    if whole.size <= room:
        return whole
    kept = whole.text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return Shown(text=kept, omitted=whole.omitted + len(whole.text) - len(kept))


def _parts(turn: Turn, sees: Sees, *, told: bool) -> Iterator[Part]:
    if told:
        yield from parts_of_messages(turn.before)
    if turn.text:
        yield Part(label="agent", text=turn.text)
    for call in turn.tool_calls:
        yield Part(label=f"call {_name(call.name)}", text=arguments_text(call))
    if turn.action is not None and not turn.tool_calls:
        yield Part(label="action", text=turn.action)
    if sees == "action":
        return
    names = {call.id: _name(call.name) for call in turn.tool_calls if call.id}
    for result in turn.tool_results:
        label = "error" if result.error else "result"
        name = names.get(result.call_id or "")
        yield Part(label=f"{label} of {name}" if name else label, text=result.text)


def _name(name: str) -> str:
    """A tool's name in one line: a trace may hold anything there."""
    return " ".join(name.split())[:100]


def _joined(parts: tuple[Part, ...], mark: str, cap: int) -> Shown:
    lines, omitted = list[str](), 0
    for part in parts:
        cut = excerpt(part.text, cap)
        lines.append(f"[{mark} {part.label}]")
        if cut.omitted:
            note = f"[{mark} {cut.omitted:,} characters left out]"
            lines += [cut.head, note, cut.tail]
        else:
            lines.append(cut.head)
        omitted += cut.omitted
    return Shown(text="\n".join(lines), omitted=omitted)
