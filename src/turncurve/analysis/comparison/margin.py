"""Is b no worse than a by more than a difference that would not matter?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

MarginState: TypeAlias = Literal["not worse", "worse", "open"]
Held: TypeAlias = tuple[float | None, float | None, float | None, MarginState | None]
"""A bucket's difference, its limits by itself, and what the band says of the margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NonInferiority:
    """What is known of a stated margin at the turns up to the horizon.

    Attributes:
        margin: The difference that would not matter, in the signal's unit.
        shown: Whether b is no worse by more at every turn: the interval of each one by itself stays
            above the margin. All must hold together, so no turn is chosen and none corrected for.
        n_points: Buckets with a difference.
        n_shown: Those at which it holds.
        n_worse: Those at which b is surely worse by more, by the band.
    """

    margin: float
    shown: bool
    n_points: int
    n_shown: int
    n_worse: int


def margin_state(
    value: float,
    limits: tuple[float | None, float | None],
    margin: float,
    better: str | None,
) -> MarginState:
    """What the limits of a difference say: no worse by more, surely worse by more, or neither.

    Pairs that all agree have no limits; what they agree on is then taken at its word.
    """
    low, high = (value if limit is None else limit for limit in limits)
    worst, best = (low, high) if better == "high" else (-high, -low)
    if worst > -margin:
        return "not worse"
    return "worse" if best < -margin else "open"


def noninferiority(
    points: Sequence[Held], margin: float | None, better: str | None
) -> NonInferiority | None:
    """The margin over all buckets; None where none was stated.

    References:
        Berger (1982), Technometrics 24:295-300 (intersection-union tests).
    """
    if margin is None:
        return None
    held = [
        margin_state(value, (low, high), margin, better) == "not worse"
        for value, low, high, _ in points
        if value is not None
    ]
    return NonInferiority(
        margin=margin,
        shown=bool(held) and all(held),
        n_points=len(held),
        n_shown=sum(held),
        n_worse=sum(state == "worse" for *_, state in points),
    )
