"""A slope as a sentence and as cells: by how much errors rise or fall, and how sure that is."""

from __future__ import annotations

from turncurve.analysis.slope import Slope
from turncurve.report.estimate_words import level_of
from turncurve.report.figures import ABSENT, signed

TURNS = 10
"""Turns that a slope by turn is told for."""


def step_of(slope: Slope) -> tuple[float, str]:
    """By what to multiply a slope before it is told, and per what it then is."""
    if slope.per == "turn":
        return float(TURNS), f"{TURNS} turns"
    return 1.0, slope.per


def slope_sentence(slope: Slope, what: str = "errors") -> str:
    """`within runs: errors rise by 0.079 per 10 turns (0.014 to 0.14; p 0.024, 6.9 df)`."""
    if slope.estimate.value is None:
        return f"{slope.title}: not known ({slope.estimate.reason})"
    return f"{slope.title}: {what} {moved(slope)} per {step_of(slope)[1]} ({_sure(slope)})"


def moved(slope: Slope) -> str:
    """`rise by 0.079`, `fall by 0.06`, `do not change`."""
    value = (slope.estimate.value or 0.0) * step_of(slope)[0]
    if value == 0:
        return "do not change"
    return f"{'rise' if value > 0 else 'fall'} by {signed(abs(value)).lstrip('+')}"


def limits_in_words(slope: Slope) -> str:
    """`0.014 to 0.14`, or that there are none."""
    estimate, (times, _) = slope.estimate, step_of(slope)
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{_plain(estimate.low * times)} to {_plain(estimate.high * times)}"


def _sure(slope: Slope) -> str:
    df = "" if slope.estimate.df is None else f", {slope.estimate.df:.1f} degrees of freedom"
    if slope.p is not None:
        return f"{limits_in_words(slope)}; p {p_words(slope.p)}{df}"
    return f"{limits_in_words(slope)}; no p value{df}"


def p_words(p: float | None) -> str:
    """Three decimals, or two digits of a small one; a dash for none."""
    if p is None:
        return ABSENT
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def _plain(value: float) -> str:
    return signed(value).removeprefix("+")


def slope_cells(slope: Slope) -> tuple[str, ...]:
    """Value, interval, p and degrees of freedom, per 10 turns or per unit of its axis."""
    estimate, (times, _) = slope.estimate, step_of(slope)
    value = ABSENT if estimate.value is None else signed(estimate.value * times)
    known = estimate.low is not None and estimate.high is not None
    between = f"[{limits_in_words(slope)}]".replace(" to ", ", ") if known else ABSENT
    df = ABSENT if estimate.df is None else f"{estimate.df:.1f}"
    return value, between, p_words(slope.p), df


def header_of(slope: Slope, first: str, per: str) -> tuple[str, ...]:
    """The header over `slope_cells`."""
    return first, f"per {per}", f"{level_of(slope.estimate)} interval", "p", "df"
