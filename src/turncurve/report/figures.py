"""Numbers as people read them, with their unit and their uncertainty."""

from __future__ import annotations

import math

ABSENT = "–"
LOPSIDED = 0.02
"""Share of an interval's width by which its middle may lie off the value and be written as ±."""


def amount(value: float | None, unit: str = "", *, digits: int = 3) -> str:
    """A value in its unit: shares to `digits` decimals, tokens and counts in thousands groups."""
    if value is None:
        return ABSENT
    if unit == "usd":
        return usd(value)
    if unit == "tokens":
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return _unsigned_zero(f"{value:.{digits}f}")


def usd(value: float | None) -> str:
    """Dollars: two decimals, or more where the amount is small."""
    if value is None:
        return ABSENT
    return f"${value:,.2f}" if value == 0 or abs(value) >= 0.1 else f"${_digits(value, 3)}"


def interval(low: float | None, high: float | None, unit: str = "", *, digits: int = 3) -> str:
    """`[low, high]`, `[low or more]` where the data set no upper end; a dash without any end."""
    if low is None and high is None:
        return ABSENT
    if low is None or high is None:
        end, way = (low, "more") if high is None else (high, "less")
        return f"[{amount(end, unit, digits=digits)} or {way}]"
    return f"[{amount(low, unit, digits=digits)}, {amount(high, unit, digits=digits)}]"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """`1 run`, `1,200 runs`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def compact(value: float | None, unit: str = "") -> str:
    """A value in few characters: tokens in thousands (`12.3k`), shares to two decimals."""
    if value is None:
        return ABSENT
    if unit == "usd":
        return f"${_short_usd(value)}"
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    if unit == "tokens":
        return f"{value:.0f}" if value == 0 or abs(value) >= 10 else f"{value:.2g}"
    return _unsigned_zero(f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}")


def with_margin(value: float, low: float | None, high: float | None, unit: str = "") -> str:
    """`12.3k ±0.8k` in few characters; `[11k,15k]` where the interval is lopsided."""
    shown = compact(value, unit)
    if low is None or high is None:
        return shown
    if abs((high - value) - (value - low)) <= LOPSIDED * (high - low):
        return f"{shown} ±{compact((high - low) / 2, unit).removeprefix('$')}"
    ends = [compact(end, unit).removeprefix("$") for end in (low, high)]
    return f"{shown} [{ends[0]},{ends[1]}]"


def _short_usd(value: float) -> str:
    return f"{value:.2f}" if value == 0 or abs(value) >= 1 else _digits(value, 2)


def _digits(value: float, n: int) -> str:
    """A number below 1 to `n` significant digits, without an exponent."""
    return f"{value:.{n - 1 - math.floor(math.log10(abs(value)))}f}"


def _unsigned_zero(number: str) -> str:
    """`-0.00` is 0.00."""
    return number.removeprefix("-") if not number.strip("-0.") else number


def span(start: float, end: float, axis: str = "turn") -> str:
    """A bucket's label: `1-10`, or `7` where it holds one turn; thousands for tokens."""
    if axis == "tokens":
        return f"{compact(start, 'tokens')}-{compact(end, 'tokens')}"
    if axis == "progress":
        return f"{100 * start:.0f}-{100 * end:.0f} %"
    first, last = f"{start:g}", f"{end:g}"
    if first == last:
        return first
    return f"{first} to {last}" if start < 0 else f"{first}-{last}"


def place(start: float, end: float, axis: str = "turn") -> str:
    """A bucket in a sentence: `turns 1-10`, `turn 7`, `0-10 % of the run`."""
    label = span(start, end, axis)
    if axis == "tokens":
        return f"{label} tokens sent"
    if axis == "progress":
        return f"{label} of the run"
    if axis == "event":
        return f"{label} turns from the event"
    return f"turn {label}" if start == end else f"turns {label}"
