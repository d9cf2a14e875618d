"""Which turns of a run are graded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from turncurve.model import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChoice:
    """Every turn, some turns by number, or every k-th.

    Attributes:
        turns: Numbers of turns, from 1; empty for all.
        every: Only turns whose number is a multiple of this.
    """

    turns: tuple[int, ...] = ()
    every: int = 1

    def __post_init__(self) -> None:
        if self.every < 1 or any(turn < 1 for turn in self.turns):
            raise ValueError(f"wanted turns and a step of at least 1, got {self!r}")

    def positions(self, run: Run) -> list[int]:
        """Positions of the chosen turns in the run, in its order."""
        chosen = frozenset(self.turns)
        return [
            position
            for position, turn in enumerate(run.turns)
            if (not chosen or turn.index in chosen) and turn.index % self.every == 0
        ]


def turn_numbers(given: int | str | Iterable[int | str] | None) -> tuple[int, ...]:
    """Numbers of turns as people give them: one, several, or a text divided by commas.

    Returns:
        Each once, in order; () for None.

    Raises:
        ValueError: One is no number from 1.
    """
    if given is None:
        return ()
    parts = str(given).split(",") if isinstance(given, int | str) else [*map(str, given)]
    words = [part.strip() for part in parts]
    if not all(word.isascii() and word.isdigit() and int(word) >= 1 for word in words):
        raise ValueError(f"wanted numbers of turns from 1, divided by commas, got {given!r}")
    return tuple(sorted({int(word) for word in words}))


EVERY_TURN = TurnChoice()
