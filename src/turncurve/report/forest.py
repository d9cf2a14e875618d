"""Estimates under each other with their intervals, on one axis with a line at 0."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turncurve.report.svg_parts import svg_start, svg_text

_LEFT, _WIDE, _RIGHT = 300, 380, 150
_ROW, _TOP, _FOOT = 28, 14, 46
_TICKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One estimate.

    Attributes:
        label: What it is; may be a name of a trace.
        value: None where there is none.
        low: Lower limit; None where there is none.
        high: Upper limit.
        said: What stands to the right of it.
        second: Drawn hollow: beside the main one.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    said: str
    second: bool = False


def forest_svg(rows: Sequence[ForestRow], *, label: str, axis: str) -> str:
    """The drawing.

    Args:
        rows: From top to bottom.
        label: What it shows, for who cannot see it.
        axis: Name of the axis.
    """
    return "".join(_forest(rows, label, axis))


def _forest(rows: Sequence[ForestRow], label: str, axis: str) -> Iterator[str]:
    known = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    room = (high - low) * 0.05 or 1.0
    low, high = low - room, high + room
    bottom = _TOP + len(rows) * _ROW

    def at(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * _WIDE

    yield svg_start(_LEFT + _WIDE + _RIGHT, bottom + _FOOT, label)
    for tick in _ticks(low, high):
        x = f"{at(tick):.1f}"
        yield f'<path class="axis" d="M{x} {_TOP}V{bottom}"/>'
        yield svg_text(at(tick), bottom + 17, f"{tick:g}", anchor="middle", size=11, soft=True)
    yield f'<path class="zero" stroke-width="2" d="M{at(0.0):.1f} {_TOP}V{bottom}"/>'
    yield svg_text(_LEFT + _WIDE / 2, bottom + 36, axis, anchor="middle", size=12, soft=True)
    for i, row in enumerate(rows):
        y = _TOP + (i + 0.5) * _ROW
        yield svg_text(_LEFT - 14, y + 4, row.label, anchor="end")
        yield svg_text(_LEFT + _WIDE + 12, y + 4, row.said, size=12, soft=True)
        if row.value is not None:
            if row.low is not None and row.high is not None:
                ends = f'x1="{at(row.low):.1f}" x2="{at(row.high):.1f}"'
                yield f'<line class="first" {ends} y1="{y:g}" y2="{y:g}" stroke-width="2"/>'
            hollow = " hollow" if row.second else ""
            yield (
                f'<circle class="first{hollow}" cx="{at(row.value):.1f}" cy="{y:g}" r="5" '
                'stroke-width="2"/>'
            )
    yield "</svg>"


def _ticks(low: float, high: float) -> Iterator[float]:
    rough = (high - low) / _TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * digit for digit in (1, 2, 5, 10) if size * digit >= rough)
    for i in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield round(i * step, 12)
