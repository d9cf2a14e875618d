"""The charts of a comparison: both curves, their difference, who is left, who is free of error."""

from __future__ import annotations

from collections.abc import Sequence

from turncurve.analysis.compare import Comparison
from turncurve.analysis.comparison.difference import Difference, DifferencePoint
from turncurve.analysis.comparison.signals import way_of
from turncurve.report.compare_words import name_of
from turncurve.report.figures import amount, interval, place, signed
from turncurve.report.static_chart import Band, Chart, Dots, Level, Line, Mark


def before_after(result: Comparison, difference: Difference) -> Chart:
    """Both curves with the interval of each turn by itself."""
    points = difference.points
    a, b = name_of(result.a), name_of(result.b)
    return Chart(
        label=f"{result.signal} by turn of {a} and of {b}, with intervals",
        x=_middles(points),
        marks=(
            Band(low=[p.a_low for p in points], high=[p.a_high for p in points], css="area-a"),
            Band(low=[p.b_low for p in points], high=[p.b_high for p in points], css="area-b"),
            Line(y=[p.a for p in points], css="line of-a"),
            Line(y=[p.b for p in points], css="line of-b"),
        ),
        hints=[_both(point, a, b) for point in points],
        x_title="turn",
    )


def difference_chart(result: Comparison, difference: Difference) -> Chart:
    """B - A with the naive interval inside the band that holds everywhere."""
    points = difference.points
    marks: list[Mark] = [
        Band(low=[p.band_low for p in points], high=[p.band_high for p in points], css="band"),
        Band(low=[p.low for p in points], high=[p.high for p in points], css="alone"),
        Level(y=0.0, css="zero"),
    ]
    margin = difference.noninferiority
    if margin is not None:
        at = -margin.margin if result.better == "high" else margin.margin
        marks.append(Level(y=at, css="margin"))
    values = [point.difference for point in points]
    marks += [
        Line(y=values, css="line change"),
        Dots(y=values, css=[f"dot {_way(p, difference, result.better)}" for p in points]),
    ]
    return Chart(
        label=f"{result.signal} of {name_of(result.b)} less that of {name_of(result.a)}, by turn, "
        "with a band that holds at all turns together",
        x=_middles(points),
        marks=marks,
        hints=[_change(point) for point in points],
        x_title="turn",
    )


def still_running(result: Comparison, difference: Difference) -> Chart | None:
    """Share of runs that get to each turn; None where all get to the end."""
    points = difference.points
    if all(point.reach_a == point.reach_b == 1 for point in points):
        return None
    a, b = name_of(result.a), name_of(result.b)
    return Chart(
        label=f"share of runs of {a} and of {b} that get to each turn",
        x=_middles(points),
        marks=(
            Level(y=0.0, css="zero"),
            Line(y=[p.reach_a for p in points], css="line of-a", step=True),
            Line(y=[p.reach_b for p in points], css="line of-b", step=True),
        ),
        hints=[
            f"{place(p.start, p.end)}: {a} {amount(p.reach_a, digits=2)}, "
            f"{b} {amount(p.reach_b, digits=2)}"
            for p in points
        ],
        x_title="turn",
    )


def error_free(result: Comparison) -> Chart | None:
    """Share of runs free of error just after each turn; None where there is no ratio."""
    found = result.first_error
    if not found.survival_a:
        return None
    a, b = name_of(result.a), name_of(result.b)
    return Chart(
        label=f"share of runs of {a} and of {b} without an error, by turn",
        x=list(range(len(found.survival_a) + 1)),
        marks=(
            Level(y=0.0, css="zero"),
            Line(y=[1.0, *found.survival_a], css="line of-a", step=True),
            Line(y=[1.0, *found.survival_b], css="line of-b", step=True),
        ),
        hints=[
            f"after turn {turn}: {a} {amount(of_a, digits=2)}, {b} {amount(of_b, digits=2)}"
            for turn, (of_a, of_b) in enumerate(
                zip((1.0, *found.survival_a), (1.0, *found.survival_b), strict=True)
            )
        ],
        x_title="turn",
    )


def _middles(points: Sequence[DifferencePoint]) -> list[float]:
    return [(point.start + point.end) / 2 for point in points]


def _way(point: DifferencePoint, difference: Difference, better: str | None) -> str:
    p = point.p_adjusted
    if p is None or p > 1 - difference.level or not point.difference:
        return "unsure"
    return way_of(point.difference, better)


def _both(point: DifferencePoint, a: str, b: str) -> str:
    where = place(point.start, point.end)
    if point.difference is None:
        return f"{where}: {point.reason}"
    return (
        f"{where}, {point.n_pairs} scenarios: {a} {amount(point.a)} "
        f"{interval(point.a_low, point.a_high)}, {b} {amount(point.b)} "
        f"{interval(point.b_low, point.b_high)}"
    )


def _change(point: DifferencePoint) -> str:
    where = place(point.start, point.end)
    if point.difference is None:
        return f"{where}: {point.reason}"
    return (
        f"{where}, {point.n_pairs} scenarios: {signed(point.difference)}; band "
        f"{interval(point.band_low, point.band_high)}; alone {interval(point.low, point.high)}"
    )
