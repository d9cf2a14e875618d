"""Charts as plain SVG."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.report.static_chart import Band, Chart, Dots, Level, Line, svg


def chart(*marks: Line | Band | Level | Dots, n: int = 5, label: str = "a chart") -> str:
    made = Chart(
        label=label, x=[float(i) for i in range(1, n + 1)], marks=marks, hints=["h"] * n,
        x_title="turn",
    )  # fmt: skip
    return svg(made, width=300, height=200)


def ticks(drawn: str) -> list[str]:
    return re.findall(r'text-anchor="end">([^<]+)</text>', drawn)[:-1]


def test_gaps_part_a_line() -> None:
    """A missing value leaves a gap; a lone one stays to be seen."""
    drawn = chart(Line(y=[1, 2, None, 3, None], css="line"))
    assert drawn.count('<path class="line"') == 2


def test_a_band_needs_both_ends() -> None:
    """Where an end is missing nothing is filled; a lone place has a width."""
    drawn = chart(Band(low=[0, None, 0, 0, 0], high=[1, 1, None, 2, 2], css="band"))
    assert drawn.count('<path class="band"') == 2
    assert "nan" not in drawn


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([0.0, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([-0.3, 0.1], ["\N{MINUS SIGN}0.3", "\N{MINUS SIGN}0.2", "\N{MINUS SIGN}0.1", "0", "0.1"]),
        ([0.0, 5000.0], ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]),
    ],
)
def test_ticks_are_round(values: list[float], wanted: list[str]) -> None:
    """They are multiples of 1, 2 or 5, and hold all values."""
    assert ticks(chart(Line(y=[*values, None, None, None], css="l"))) == wanted


@given(st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), min_size=1, max_size=12))
def test_any_values(values: list[float | None]) -> None:
    """Whatever the values, every coordinate is a finite number within the drawing."""
    drawn = chart(Dots(y=values, css=["dot"] * len(values)), n=len(values))
    for x, y in re.findall(r'cx="([^"]+)" cy="([^"]+)"', drawn):
        assert 0 <= float(x) <= 300
        assert -0.1 <= float(y) <= 200.1
    assert drawn.count("<circle") == sum(value is not None for value in values)


def test_words_are_escaped() -> None:
    """A label is text."""
    assert "<b>" not in chart(Level(y=0, css="zero"), label='"><b>')
