"""A step with its past as lines of a screen, and a terminal that shows them and gives keys."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from turncurve.grading.label_book import Step, past_and_step
from turncurve.grading.label_keys import KEYS, Label, question
from turncurve.grading.rubric import Rubric
from turncurve.report.layout import visible

MOST_CHARACTERS = 6_000
"""Characters of one part that are shown; the labeller sees where more was cut."""
HELP = "[s] skip  [u] undo, back  [j] [k] or arrows scroll  [q] keep all, quit"
_ESCAPES = {"A": "up", "B": "down"}


class Screen(Protocol):
    """Where steps are shown and keys come from."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""

    def show(self, lines: Sequence[str]) -> None:
        """Show these lines and no others."""

    def key(self) -> str:
        """Wait for a key: a character, or "enter", "backspace", "up", "down"."""


def page(
    step: Step,
    label: Label,
    rubric: Rubric,
    *,
    place: str,
    up: int,
    size: tuple[int, int],
    hindsight: bool = False,
) -> list[str]:
    """The lines of a screen: the record above, the question below.

    Args:
        step: What is labelled.
        label: What was answered so far.
        rubric: What is asked.
        place: How far the labelling is, in words.
        up: Lines that the record is scrolled up by from where the step ends.
        size: Columns and lines.
        hindsight: The turns after the step are shown too.
    """
    columns, lines = size
    foot = _foot(label, rubric, place, columns)
    record, end = _record(step, columns, hindsight=hindsight)
    room = max(3, lines - len(foot) - 1)
    bottom = max(min(room, len(record)), min(len(record), end - up))
    shown = record[max(0, bottom - room) : bottom]
    return [*shown, "─" * columns, *foot]


def _record(step: Step, columns: int, *, hindsight: bool) -> tuple[list[str], int]:
    """Every line of the record, and the number of those up to the end of the step."""
    found: list[str] = []
    end = 0
    for title, parts in past_and_step(step, hindsight=hindsight):
        found += ["", f"══ {title} "[:columns].ljust(columns, "═")]
        for part in parts:
            found.append(f"[{visible(part.label, columns - 2)}]")
            found += _wrapped(part.text, columns)
        if "THE STEP TO LABEL" in title:
            end = len(found)
    return found, end or len(found)


def _wrapped(text: str, columns: int) -> Iterator[str]:
    for line in text[:MOST_CHARACTERS].splitlines():
        safe = visible(line, MOST_CHARACTERS)
        yield from textwrap.wrap(safe, columns, drop_whitespace=False) or [""]
    if len(text) > MOST_CHARACTERS:
        yield f"... {len(text) - MOST_CHARACTERS:,} more characters"


def _foot(label: Label, rubric: Rubric, place: str, columns: int) -> list[str]:
    asked = question(label)
    had = ", ".join(f"{name} {value}" for name, value in label.answer.items() if value is not None)
    lines = [f"{place}   {had}"]
    if asked is not None:
        dimension = next(one for one in rubric.dimensions if one.name == asked)
        lines += textwrap.wrap(f"{asked}: {dimension.question}", columns)
        if KEYS[asked]:
            lines.append("  ".join(f"[{key}] {value}" for key, value in KEYS[asked].items()))
        else:
            lines.append(f"number of the earlier turn, then enter: {label.typed}_")
    lines.append(label.said or "")
    lines += textwrap.wrap(HELP, columns)
    return [line[:columns] for line in lines]


class Terminal:
    """The terminal that the program runs in, key by key."""

    @property
    def size(self) -> tuple[int, int]:
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
        return max(40, columns), max(12, lines)

    def show(self, lines: Sequence[str]) -> None:
        sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(lines))
        sys.stdout.flush()

    def key(self) -> str:
        first = os.read(sys.stdin.fileno(), 1)
        if first == b"\x1b":
            return _ESCAPES.get(os.read(sys.stdin.fileno(), 2)[-1:].decode(errors="replace"), "")
        if first in {b"\x03", b"\x04", b""}:
            return "q"
        names = {b"\r": "enter", b"\n": "enter", b"\x7f": "backspace", b"\x08": "backspace"}
        return names.get(first) or first.decode(errors="replace").lower()


@contextmanager
def terminal() -> Iterator[Terminal]:
    """The terminal, which is as it was when the work is over.

    Raises:
        OSError: Standard input or output is no terminal.
    """
    import termios  # noqa: PLC0415 - not on every system
    import tty  # noqa: PLC0415

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise OSError("no terminal")
    before = termios.tcgetattr(sys.stdin.fileno())
    try:
        tty.setcbreak(sys.stdin.fileno())
        sys.stdout.write("\x1b[?1049h")
        yield Terminal()
    finally:
        sys.stdout.write("\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
