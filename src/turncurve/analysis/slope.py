"""One slope of the failing share, however it was come by."""

from __future__ import annotations

from dataclasses import dataclass

from turncurve.analysis.within_slope import Weight, WithinSlope
from turncurve.stats.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeSettings:
    """What slopes are made with.

    Attributes:
        level: Confidence level.
        min_turns: Graded turns that a run needs for a slope of its own.
    """

    level: float = 0.95
    min_turns: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """One slope of the failing share.

    Attributes:
        name: How it is called in JSON.
        title: A few words for people.
        estimate: Change of the share where the position grows by 1 `per`.
        p: Two-sided, of no change; None with `no_p`.
        no_p: Why there is none.
        controls: What is held fixed.
        per: Unit of the position: turn, 100k tokens, run.
        weight: Who owns it, where that is known.
    """

    name: str
    title: str
    estimate: Estimate
    p: float | None = None
    no_p: str | None = None
    controls: tuple[str, ...] = ()
    per: str = "turn"
    weight: Weight | None = None


def as_slope(name: str, title: str, found: WithinSlope, *, per: str = "turn") -> Slope:
    """A slope within runs under a name."""
    return Slope(
        name=name,
        title=title,
        estimate=found.estimate,
        p=found.p,
        no_p=found.no_p,
        controls=found.controls,
        per=per,
        weight=found.weight,
    )
