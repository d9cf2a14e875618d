"""The confusion matrix, and kappa with AC1 by position, as drawings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from turncurve.analysis.agreement import Agreement
from turncurve.analysis.breakdowns import Group
from turncurve.report.svg_parts import svg_key, svg_start, svg_text
from turncurve.stats.estimate import Estimate

_CELL = 92
_LEFT, _TOP = 150, 44
_FAINT, _STRONG = 0.08, 0.62
"""Opacity of a cell that holds none of its column's turns, and of one that holds all."""


def confusion_svg(agreement: Agreement) -> str:
    """The matrix; a cell is the darker the larger its share of its column (its label)."""
    return "".join(_matrix(agreement))


def _matrix(agreement: Agreement) -> Iterator[str]:
    n = len(agreement.categories)
    width, height = _LEFT + n * _CELL + 10, _TOP + n * _CELL + 10
    columns = [sum(column) for column in zip(*agreement.confusion, strict=True)]
    yield svg_start(width, height, "Confusion matrix: turns by grade and label")
    for j, name in enumerate(agreement.categories):
        x = _LEFT + (j + 0.5) * _CELL
        yield svg_text(x, _TOP - 22, "labelled", anchor="middle", soft=True)
        yield svg_text(x, _TOP - 7, name, anchor="middle")
    for i, (name, row) in enumerate(zip(agreement.categories, agreement.confusion, strict=True)):
        y = _TOP + (i + 0.5) * _CELL
        yield svg_text(_LEFT - 10, y + 5, f"graded {name}", anchor="end")
        for j, count in enumerate(row):
            share = count / columns[j] if columns[j] else 0.0
            x, top = _LEFT + j * _CELL, _TOP + i * _CELL
            opacity = _FAINT + (_STRONG - _FAINT) * share
            yield (
                f'<rect class="cell" x="{x}" y="{top}" width="{_CELL}" height="{_CELL}" '
                f'fill-opacity="{opacity:.3f}"/>'
            )
            yield svg_text(x + _CELL / 2, top + 44, f"{count:,}", anchor="middle", size=17)
            said = f"{share:.0%} of label" if columns[j] else "no such label"
            yield svg_text(x + _CELL / 2, top + 64, said, anchor="middle", size=11)
    yield "</svg>"


_STEP = 132
_HIGH = 220
_MARGIN_LEFT, _MARGIN_TOP, _FOOT = 46, 30, 62


def positions_svg(groups: Sequence[Group]) -> str:
    """Kappa (filled) and AC1 (hollow) of each range of turns, with their intervals."""
    return "".join(_positions(groups))


def _positions(groups: Sequence[Group]) -> Iterator[str]:
    width = _MARGIN_LEFT + len(groups) * _STEP + 16
    yield svg_start(width, _MARGIN_TOP + _HIGH + _FOOT, "Kappa and AC1 by position, with intervals")
    known = [
        end
        for group in groups
        for one in (group.agreement.kappa, group.agreement.ac1)
        for end in (one.value, one.low)
        if end is not None
    ]
    lowest = min(0, math.floor(4 * max(-1.0, min(known, default=0.0)))) / 4
    for quarter in range(round(4 * lowest), 5):
        y = _height(quarter / 4, lowest)
        yield (
            f'<line class="{"axis" if quarter else "zero"}" x1="{_MARGIN_LEFT}" '
            f'x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        yield svg_text(_MARGIN_LEFT - 8, y + 4, f"{quarter / 4:g}", anchor="end", soft=True)
    yield svg_key(_MARGIN_LEFT + 8, "first", "kappa")
    yield svg_key(_MARGIN_LEFT + 88, "second", "AC1")
    for number, group in enumerate(groups):
        x = _MARGIN_LEFT + (number + 0.5) * _STEP
        yield from _mark(x - 14, group.agreement.kappa, "first", lowest)
        yield from _mark(x + 14, group.agreement.ac1, "second", lowest)
        base = _MARGIN_TOP + _HIGH
        yield svg_text(x, base + 20, f"turns {group.label}", anchor="middle")
        of = f"{group.agreement.n_turns:,} turns, {group.agreement.n_runs:,} runs"
        yield svg_text(x, base + 37, of, anchor="middle", size=11, soft=True)
        fails = sum(row[0] for row in group.agreement.confusion)
        yield svg_text(x, base + 52, f"{fails:,} failing", anchor="middle", size=11, soft=True)
    yield "</svg>"


def _mark(x: float, one: Estimate, kind: str, lowest: float) -> Iterator[str]:
    if one.value is None:
        yield svg_text(x, _height(lowest, lowest) - 6, "–", anchor="middle", soft=True)
        return
    if one.low is not None and one.high is not None:
        top, bottom = _height(one.high, lowest), _height(one.low, lowest)
        yield (
            f'<line class="{kind}" x1="{x}" x2="{x}" y1="{top:.1f}" y2="{bottom:.1f}" '
            'stroke-width="2"/>'
        )
    hollow = " hollow" if kind == "second" else ""
    y = _height(one.value, lowest)
    yield f'<circle class="{kind}{hollow}" cx="{x}" cy="{y:.1f}" r="5" stroke-width="2"/>'
    side, anchor = (-9, "end") if kind == "first" else (9, "start")
    yield svg_text(x + side, y + 4, f"{one.value:.2f}", anchor=anchor, size=11)


def _height(value: float, lowest: float) -> float:
    return _MARGIN_TOP + _HIGH * (1.0 - value) / (1.0 - lowest)
