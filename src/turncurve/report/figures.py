"""Numbers as people read them, with their unit and their uncertainty."""

from __future__ import annotations

import math

ABSENT = "–"
HUGE = 1e15
"""From here on, and below `TINY`, a number is written with an exponent."""
TINY = 1e-9
LOPSIDED = 0.02
"""Share of an interval's width by which its middle may lie off the value and be written as ±."""

_SIZES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def amount(value: float | None, unit: str = "", *, digits: int = 3) -> str:
    """A value in its unit: shares to `digits` decimals, tokens and counts in thousands groups."""
    if value is None:
        return ABSENT
    if abs(value) >= HUGE:
        return _scientific(value)
    if unit == "usd":
        return usd(value)
    if unit == "tokens":
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return _unsigned_zero(f"{value:.{digits}f}")


def signed(value: float | None) -> str:
    """A change with its sign and two digits: `-0.0042`, `+230`, `0`."""
    if value is None:
        return ABSENT
    if value == 0:
        return "0"
    size = abs(value)
    if size >= HUGE or size < TINY:
        return f"{'+' * (value > 0)}{_scientific(value)}"
    return f"{value:+,.0f}" if size >= 100 else f"{value:+.{max(0, _decimals(value, 2))}f}"


def usd(value: float | None) -> str:
    """Dollars: two decimals, or more where the amount is small."""
    if value is None:
        return ABSENT
    if value < 0:
        return f"-{usd(-value)}"
    if value >= HUGE or 0 < value < TINY:
        return f"${_scientific(value)}"
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
    """A value in few characters: tokens in thousands (`12.3k`), shares to two decimals.

    What is no share and small has two significant digits.
    """
    if value is None:
        return ABSENT
    return ("$" if unit == "usd" else "") + _compact(value, unit)


def _compact(value: float, unit: str) -> str:
    size = abs(value)
    if size >= HUGE or (unit != "share" and 0 < size < TINY):
        return _scientific(value)
    for least, letter in _SIZES:
        if size >= least:
            return f"{value / least:.3g}{letter}".replace("e+03", "000")
    if unit == "usd":
        return _short_usd(value)
    if unit == "tokens":
        return f"{value:.0f}" if value == 0 or size >= 10 else f"{value:.2g}"
    if unit != "share" and 0 < size < 0.095:
        return _digits(value, 2)
    return _unsigned_zero(f"{value:.0f}" if size >= 100 else f"{value:.2f}")


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
    return f"{value:.{_decimals(value, n)}f}"


def _decimals(value: float, n: int) -> int:
    return n - 1 - math.floor(math.log10(abs(value)))


def _scientific(value: float) -> str:
    """`1.23e20`."""
    return f"{value:.3g}".replace("e+", "e")


def _unsigned_zero(number: str) -> str:
    """`-0.00` is 0.00."""
    return number.removeprefix("-") if not number.strip("-0.") else number


def span(start: float, end: float, axis: str = "turn") -> str:
    """A bucket's label: `1-10`, or `7` where it holds one turn; thousands for tokens."""
    if axis == "tokens":
        return f"{_apart(start, end - start)}-{_apart(end, end - start)}"
    if axis == "progress":
        return f"{100 * start:.0f}-{100 * end:.0f} %"
    first, last = f"{start:g}", f"{end:g}"
    if first == last:
        return first
    return f"{first} to {last}" if start < 0 else f"{first}-{last}"


def _apart(tokens: float, width: float) -> str:
    """A token count in so many digits that the ends of buckets of a width differ."""
    for size, letter in _SIZES:
        if HUGE > abs(tokens) >= size:
            decimals = max(0, math.ceil(math.log10(size / width))) if width > 0 else math.inf
            if decimals > 2:
                return f"{tokens:,.0f}"
            short = f"{tokens / size:.{decimals}f}"
            return (short.rstrip("0").rstrip(".") if decimals else short) + letter
    return amount(tokens, "tokens")


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
