"""Charts as plain SVG: no script draws them, and every text in them is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Value: TypeAlias = float | None

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 12, 34
_X_TICKS, _Y_TICKS = 8, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A curve; None is a gap."""

    y: Sequence[Value]
    css: str
    step: bool = False
    """Whether a value holds until the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What lies between two curves."""

    low: Sequence[Value]
    high: Sequence[Value]
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A horizontal line."""

    y: float
    css: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Points, each with a class of its own; None is left out."""

    y: Sequence[Value]
    css: Sequence[str]


Mark: TypeAlias = Line | Band | Level | Dots


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What a chart shows.

    Attributes:
        label: What it shows, for who cannot see it.
        x: Where each value stands; shape (n,).
        marks: From the back to the front; each has n values.
        hints: What a pointer is told at each x.
        x_title: Name of the axis.
    """

    label: str
    x: Sequence[float]
    marks: Sequence[Mark]
    hints: Sequence[str]
    x_title: str


def svg(chart: Chart, *, width: int, height: int, css: str = "") -> str:
    """The chart in a size.

    Args:
        chart: What it shows.
        width: Of the drawing, in units that are pixels where the page has so much room.
        height: Likewise.
        css: Class of the element.
    """
    frame = _frame(chart, width, height)
    parts = [*_axes(chart, frame)]
    parts += [piece for mark in chart.marks for piece in _drawn(mark, chart.x, frame)]
    parts += _hints(chart, frame)
    label = html.escape(chart.label)
    return (
        f'<svg class="static {css}" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    width: int
    height: int
    x_low: float
    x_high: float
    y_low: float
    y_high: float
    y_step: float

    def x(self, value: float) -> float:
        span = self.x_high - self.x_low
        return _LEFT + (value - self.x_low) / span * (self.width - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        span = self.y_high - self.y_low
        return self.height - _BOTTOM - (value - self.y_low) / span * (self.height - _TOP - _BOTTOM)


def _frame(chart: Chart, width: int, height: int) -> _Frame:
    known = [value for mark in chart.marks for value in _values(mark) if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        room = abs(low) / 2 or 1.0
        low, high = low - room, high + room
    step = _nice((high - low) / _Y_TICKS)
    x_low, x_high = min(chart.x), max(chart.x)
    if x_low == x_high:
        x_low, x_high = x_low - 1, x_high + 1
    return _Frame(
        width, height, x_low, x_high, math.floor(low / step) * step, math.ceil(high / step) * step,
        step,
    )  # fmt: skip


def _values(mark: Mark) -> Iterator[Value]:
    if isinstance(mark, Level):
        yield mark.y
    elif isinstance(mark, Band):
        yield from mark.low
        yield from mark.high
    else:
        yield from mark.y


def _nice(step: float) -> float:
    """The first of 1, 2, 5, 10, ... that is at least the step."""
    size = 10.0 ** math.floor(math.log10(step))
    return next(size * digit for digit in (1, 2, 5, 10) if size * digit >= step * (1 - 1e-9))


def _axes(chart: Chart, frame: _Frame) -> Iterator[str]:
    n = round((frame.y_high - frame.y_low) / frame.y_step)
    decimals = max(0, -math.floor(math.log10(frame.y_step) + 1e-9))
    for i in range(n + 1):
        value = frame.y_low + i * frame.y_step
        y = frame.y(value)
        text = f"{value:,.{decimals}f}" if decimals < 7 else f"{value:.3g}"
        text = text.replace("-", "\N{MINUS SIGN}") if float(text.replace(",", "")) else "0"
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{frame.width - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    room = max(2, min(_X_TICKS, (frame.width - _LEFT) // 48))
    step = max(1, math.ceil(_nice(max((frame.x_high - frame.x_low) / room, 1))))
    low = frame.height - _BOTTOM
    first = math.ceil(frame.x_low / step) * step
    if first - frame.x_low >= 0.6 * step:
        yield _x_tick(frame, math.ceil(frame.x_low), low)
    while first <= frame.x_high:
        yield _x_tick(frame, first, low)
        first += step
    title = html.escape(chart.x_title)
    yield (
        f'<text class="tick" x="{frame.width - _RIGHT}" y="{frame.height - 4}" '
        f'text-anchor="end">{title}</text>'
    )


def _x_tick(frame: _Frame, value: float, y: float) -> str:
    x = frame.x(value)
    return f'<text class="tick" x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{value:,g}</text>'


def _drawn(mark: Mark, x: Sequence[float], frame: _Frame) -> Iterator[str]:
    if isinstance(mark, Level):
        y = frame.y(mark.y)
        yield f'<path class="{mark.css}" d="M{_LEFT} {y:.1f}H{frame.width - _RIGHT}"/>'
    elif isinstance(mark, Dots):
        for at, value, css in zip(x, mark.y, mark.css, strict=True):
            if value is not None:
                yield (
                    f'<circle class="{css}" cx="{frame.x(at):.1f}" cy="{frame.y(value):.1f}" '
                    'r="3.2"/>'
                )
    elif isinstance(mark, Band):
        yield from _band(mark, x, frame)
    else:
        for part in _stretches(len(x), mark.y):
            yield f'<path class="{mark.css}" d="{_path(mark, part, x, frame)}"/>'


def _path(line: Line, part: range, x: Sequence[float], frame: _Frame) -> str:
    points = [(frame.x(x[i]), frame.y(line.y[i] or 0.0)) for i in part]
    start = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    if len(points) == 1:
        return f"{start}h0.1"
    if line.step:
        return start + "".join(f"H{px:.1f}V{py:.1f}" for px, py in points[1:])
    return start + "".join(f"L{px:.1f} {py:.1f}" for px, py in points[1:])


def _band(band: Band, x: Sequence[float], frame: _Frame) -> Iterator[str]:
    for part in _stretches(len(x), band.low, band.high):
        low = [(frame.x(x[i]), frame.y(band.low[i] or 0.0)) for i in part]
        high = [(frame.x(x[i]), frame.y(band.high[i] or 0.0)) for i in part]
        if len(part) == 1:
            # A place with no neighbour has no width to fill.
            low = [(low[0][0] - 2, low[0][1]), (low[0][0] + 2, low[0][1])]
            high = [(high[0][0] - 2, high[0][1]), (high[0][0] + 2, high[0][1])]
        outline = "L".join(f"{px:.1f} {py:.1f}" for px, py in [*low, *reversed(high)])
        yield f'<path class="{band.css}" d="M{outline}Z"/>'


def _stretches(n: int, *values: Sequence[Value]) -> Iterator[range]:
    """Places in a row at which all are known."""
    start = None
    for i in range(n + 1):
        known = i < n and all(series[i] is not None for series in values)
        if known and start is None:
            start = i
        elif not known and start is not None:
            yield range(start, i)
            start = None


def _hints(chart: Chart, frame: _Frame) -> Iterator[str]:
    """Boxes over the whole height that tell a pointer what is there."""
    places = [frame.x(x) for x in chart.x]
    edges = [(a + b) / 2 for a, b in pairwise(places)]
    ends = [_LEFT - 6.0, *edges, frame.width - _RIGHT + 6.0]
    for (left, right), hint in zip(pairwise(ends), chart.hints, strict=True):
        yield (
            f'<rect class="hint" x="{left:.1f}" y="{_TOP}" width="{right - left:.1f}" '
            f'height="{frame.height - _TOP - _BOTTOM}"><title>{html.escape(hint)}</title></rect>'
        )
