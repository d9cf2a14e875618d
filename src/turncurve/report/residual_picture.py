"""Predicted against observed by task, and how far runs come stage by stage, as drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turncurve.analysis.residual_stages import StageRow
from turncurve.analysis.residual_tasks import Rate, TaskResidual
from turncurve.report.figures import amount
from turncurve.report.svg_parts import svg_dot, svg_key, svg_line, svg_start, svg_text

_LEFT, _WIDE, _ROW, _TOP, _FOOT = 170, 420, 34, 34, 30
_STEP, _HIGH = 104, 200
_EDGE, _BASE = 46, 44


def tasks_svg(tasks: Sequence[TaskResidual]) -> str:
    """A row a task: both sides with their limits, on the scale of chances."""
    return "".join(_tasks(tasks))


def _tasks(tasks: Sequence[TaskResidual]) -> Iterator[str]:
    height = _TOP + len(tasks) * _ROW
    yield svg_start(_LEFT + _WIDE + 20, height + _FOOT, "Predicted and observed success by task")
    yield svg_key(_LEFT, "first", "predicted by stages")
    yield svg_key(_LEFT + 170, "second", "observed end to end")
    for quarter in range(5):
        x = _across(quarter / 4)
        yield svg_line((x, _TOP - 6), (x, height), "axis" if quarter else "zero")
        yield svg_text(x, height + 18, f"{quarter / 4:g}", anchor="middle", soft=True)
    for number, task in enumerate(tasks):
        y = _TOP + (number + 0.5) * _ROW
        yield svg_text(_LEFT - 12, y + 4, task.name[:20], anchor="end")
        yield from _side(task.predicted, y - 6, "first")
        yield from _side(task.observed, y + 6, "second")
    yield "</svg>"


def _side(rate: Rate, y: float, kind: str) -> Iterator[str]:
    yield svg_line((_across(rate.low), y), (_across(rate.high), y), kind)
    yield svg_dot(_across(rate.value), y, kind)


def _across(value: float) -> float:
    return _LEFT + _WIDE * value


def waterfall_svg(stages: Sequence[StageRow]) -> str:
    """Bars that fall stage by stage: the share that has passed all so far."""
    return "".join(_waterfall(stages))


def _waterfall(stages: Sequence[StageRow]) -> Iterator[str]:
    width = _EDGE + len(stages) * _STEP + 20
    base = _BASE + _HIGH
    yield svg_start(width, base + 48, "Share that passes all stages so far, by stage")
    yield svg_key(_EDGE + 6, "first", "as stages predict")
    yield svg_key(_EDGE + 160, "second", "end-to-end runs")
    for quarter in range(5):
        y = _up(quarter / 4)
        yield svg_line((_EDGE, y), (width - 8, y), "axis" if quarter else "zero")
        yield svg_text(_EDGE - 8, y + 4, f"{quarter / 4:g}", anchor="end", soft=True)
    before: dict[str, float] = {"first": 1.0, "second": 1.0}
    for number, row in enumerate(stages):
        x = _EDGE + number * _STEP + 14
        sides = (("first", row.predicted_reach), ("second", row.observed_reach))
        for place, (kind, reach) in enumerate(sides):
            if reach is None:
                continue
            left = x + place * 38
            yield _bar(left, before[kind], reach, kind)
            yield svg_text(left + 16, _up(reach) + 14, amount(reach, digits=2), anchor="middle",
                           size=11)  # fmt: skip
            before[kind] = reach
        yield svg_text(x + 36, base + 20, row.stage[:13], anchor="middle")
        said = f"{row.n_passed}/{row.n_arrived} pass"
        yield svg_text(x + 36, base + 38, said, anchor="middle", size=11, soft=True)
    yield "</svg>"


def _bar(x: float, top: float, bottom: float, kind: str) -> str:
    """What is lost at a stage, hanging from what came in, over what is left."""
    lost = max(_up(bottom) - _up(top), 1.0)
    hollow = " hollow" if kind == "second" else ""
    return (
        f'<rect class="{kind}{hollow}" x="{x:g}" y="{_up(top):.1f}" width="32" '
        f'height="{lost:.1f}" stroke-width="2"/>'
    )


def _up(value: float) -> float:
    return _BASE + _HIGH * (1.0 - value)
