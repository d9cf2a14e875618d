"""What the slopes come to: a finding that survives its controls, none worth a name, or not told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turncurve.analysis.slope import Slope

Verdict: TypeAlias = Literal["finding", "clean", "inconclusive", "error"]


NOTHING_HELD = "no complexity or phase being known that could be held"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatteryVerdict:
    """The verdict on the default slope.

    Attributes:
        verdict: "finding" where the slope within runs is told from 0, with and without complexity
            and phase held (as far as they are known), and both go one way; "clean" where its limits
            over `span` turns are within `margin`; "error" where there is no slope; else
            "inconclusive".
        way: "rise" or "fall" for a finding.
        why: Its ground, in a sentence without a full stop.
        settle: What would settle it, where it is inconclusive.
    """

    verdict: Verdict
    way: Literal["rise", "fall"] | None
    why: str
    settle: str | None = None


def verdict_of(slopes: Sequence[Slope], *, span: float, margin: float) -> BatteryVerdict:
    """The verdict on the list of slopes.

    Args:
        slopes: With those named within_cr2 and within_cr2_controlled.
        span: Turns over which a change counts.
        margin: Change over them that does not matter.
    """
    named = {slope.name: slope for slope in slopes}
    alone, held = named["within_cr2"], named["within_cr2_controlled"]
    value, held_value = alone.estimate.value, held.estimate.value
    if value is None:
        why = alone.estimate.reason or "there is no slope"
        return BatteryVerdict(verdict="error", way=None, why=why)
    equal = f"at equal {' and '.join(held.controls)}" if held.controls else NOTHING_HELD
    if _told(alone):
        free = not held.controls
        if free or (held_value is not None and _told(held) and held_value * value > 0):
            way: Literal["rise", "fall"] = "rise" if value > 0 else "fall"
            why = f"told from 0 within runs, {equal}"
            return BatteryVerdict(verdict="finding", way=way, why=why)
        why = f"told from 0 within runs, but not {equal}"
        return BatteryVerdict(
            verdict="inconclusive", way=None, why=why, settle=_settle(held, span, margin)
        )
    low, high = alone.estimate.low, alone.estimate.high
    if low is not None and high is not None and max(-low, high) * span <= margin:
        why = f"over {span:,.0f} turns the change is surely within {margin:g}"
        return BatteryVerdict(verdict="clean", way=None, why=why)
    why = alone.no_p or "not told from 0 within runs"
    return BatteryVerdict(
        verdict="inconclusive", way=None, why=why, settle=_settle(alone, span, margin)
    )


def _told(slope: Slope) -> bool:
    return slope.p is not None and slope.p < 1 - slope.estimate.level


def _settle(slope: Slope, span: float, margin: float) -> str | None:
    """More runs, by how wide the interval is; more even ones, where few own the slope."""
    estimate = slope.estimate
    if slope.p is None and estimate.df is not None:
        return "more tasks whose runs are as long as the longest: few own the slope"
    if estimate.low is None or estimate.high is None or span <= 0:
        return None
    factor = ((estimate.high - estimate.low) / 2 * span / margin) ** 2
    if factor <= 1:
        return f"the interval is narrow already: a change of {margin:g} would be seen"
    return (
        f"about {max(factor, 1.1):,.1f} times as many runs would tell a change by {margin:g} over "
        f"{math.ceil(span):,} turns from none"
    )
