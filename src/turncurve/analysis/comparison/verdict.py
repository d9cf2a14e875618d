"""Is b worse than a, better, or is no difference seen?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from turncurve.analysis.comparison.difference import Difference, DifferencePoint
from turncurve.analysis.comparison.signals import Way, way_of

Verdict: TypeAlias = Literal[
    "worse",
    "better",
    "mixed",
    "different",
    "no difference seen",
    "too few",
    "not comparable",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict, and where it is sure.

    Attributes:
        verdict: "worse" where b is surely worse at some turn or in the mean over turns, and surely
            better nowhere; "better" the other way round; "mixed" where it is both; "different"
            where the signal has no good direction. One band holds for all turns and the mean, so
            that the chance of any of these is at most 1 - level where the two do not differ.
        why: What it rests on, in a sentence.
        worse_at: First turns of the buckets at which b is surely worse.
        better_at: Those at which it is surely better.
        different_at: Those at which it differs, where the signal has no good direction.
        over_turns: What is sure of the mean over turns; None where nothing is.
    """

    verdict: Verdict
    why: str
    worse_at: tuple[int, ...] = ()
    better_at: tuple[int, ...] = ()
    different_at: tuple[int, ...] = ()
    over_turns: Way | None = None


def judged(difference: Difference, better: str | None) -> Judged:
    """What the band says of the difference at all turns and over them.

    Args:
        difference: The difference b - a.
        better: Good direction of the signal; None where neither is.
    """
    alpha = 1 - difference.level
    if difference.n_tested == 0 and difference.area.value is None:
        why = f"{difference.area.reason}"
        return Judged(verdict="too few", why=why)
    ways: dict[Way, list[int]] = {"worse": [], "better": [], "higher": [], "lower": []}
    for point in difference.points:
        if _sure(point, alpha) and point.difference is not None:
            ways[way_of(point.difference, better)].append(point.start)
    over: Way | None = None
    p = difference.area_p_adjusted
    if p is not None and p <= alpha and difference.area.value is not None:
        over = way_of(difference.area.value, better)
    return Judged(
        verdict=_verdict(ways, over),
        why=_why(difference, ways, over),
        worse_at=tuple(ways["worse"]),
        better_at=tuple(ways["better"]),
        different_at=tuple(sorted(ways["higher"] + ways["lower"])),
        over_turns=over,
    )


def _sure(point: DifferencePoint, alpha: float) -> bool:
    return point.p_adjusted is not None and point.p_adjusted <= alpha


def _verdict(ways: dict[Way, list[int]], over: Way | None) -> Verdict:
    seen = {way for way, turns in ways.items() if turns} | ({over} if over else set())
    if not seen:
        return "no difference seen"
    if "higher" in seen or "lower" in seen:
        return "different"
    if len(seen) > 1:
        return "mixed"
    return "worse" if "worse" in seen else "better"


def _why(difference: Difference, ways: dict[Way, list[int]], over: Way | None) -> str:
    n = sum(point.difference is not None for point in difference.points)
    parts = [
        f"{way} at {len(turns)} of {n} {'turns' if difference.bucket == 1 else 'buckets of turns'}"
        f" (first at turn {turns[0]:,})"
        for way, turns in ways.items()
        if turns
    ]
    if over is not None:
        parts.append(f"{over} in the mean over turns 1 to {difference.horizon:,}")
    if not parts and difference.n_tested == 0:
        return "no scenario differs at any turn"
    return "; ".join(parts) or "0 lies within the band at every turn, and for the mean over turns"
