"""Numbers as people read them, with their unit and their uncertainty."""

from __future__ import annotations

ABSENT = "–"


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
    return f"{value:.{digits}f}"


def usd(value: float | None) -> str:
    """Dollars: two decimals, or more where the amount is small."""
    if value is None:
        return ABSENT
    return f"${value:,.2f}" if value == 0 or abs(value) >= 1 else f"${value:.3g}"


def interval(low: float | None, high: float | None, unit: str = "", *, digits: int = 3) -> str:
    """`[low, high]`, with a question mark for an end that is not known; a dash without any end."""
    if low is None and high is None:
        return ABSENT
    ends = ["?" if end is None else amount(end, unit, digits=digits) for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """`1 run`, `1,200 runs`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def turns(start: float | None, end: float | None) -> str:
    """A bucket's label: `1-10`, or `7` where it holds one turn."""
    if start is None or end is None:
        return ABSENT
    first, last = (f"{edge:,g}" if edge == int(edge) else f"{edge:.2f}" for edge in (start, end))
    return first if first == last else f"{first}-{last}"
