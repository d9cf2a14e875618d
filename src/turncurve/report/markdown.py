"""The report as Markdown, short enough for a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turncurve.analysis.degradation import Curve
from turncurve.report import sentences
from turncurve.report.document import Report
from turncurve.report.figures import amount, interval, span
from turncurve.report.headline import headline
from turncurve.report.markup import escaped, table
from turncurve.report.sentences import Fact

SHOWN_PROBLEMS = 5
SURE = 0.01
"""Chance below which the number of runs that left their first turns is worth a look."""
MANY_MISSING = 0.1


def to_markdown(report: Report) -> str:
    """Headline, curve, what to look at: for `$GITHUB_STEP_SUMMARY` or a pull request."""
    top = headline(report)
    blocks = [
        "### turncurve: quality within runs",
        f"**{escaped(top.sentence)}**",
        escaped(" ".join([*top.details, sentences.what_was_read(report)])),
        *_curve(report),
        *_listed("Is the drop real?", _drop(report)),
        *_listed("What to look at", list(_look_at(report))),
        *_listed("Figures", list(_figures(report))),
        *_problems(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _curve(report: Report) -> Iterator[str]:
    if report.quality.name is None or not report.curves:
        return
    curve, panel = report.curves[0], report.panels[0]
    steady = {point.start: point.value for point in panel.points} if curve.n_runs > 1 else {}
    info = report.signals[curve.signal]
    header = [curve.axis, info.title, f"{100 * curve.level:g} % interval", "runs", "turns"]
    rows = [_row(curve, index, steady) for index in range(len(curve.points))]
    yield table([*header, *([f"the same {panel.n_runs} runs"] if steady else [])], rows)
    yield escaped(report.quality.why[:1].upper() + report.quality.why[1:] + ".")


def _row(curve: Curve, index: int, steady: dict[float, float]) -> list[str]:
    point = curve.points[index]
    same = [amount(steady[point.start]) if point.start in steady else ""] if steady else []
    return [
        span(point.start, point.end, curve.axis),
        amount(point.value),
        interval(point.low, point.high),
        f"{point.n_runs:,}",
        f"{point.n_turns:,}",
        *same,
    ]


def _drop(report: Report) -> list[Fact]:
    return [("turn by turn", report.drop.sentence), *report.drop.facts]


def _look_at(report: Report) -> Iterator[Fact]:
    for trend in report.trends:
        if trend.chance is not None and trend.chance < SURE:
            yield sentences.trend_fact(trend, sentences.title(report, trend.signal))
    if report.repetition.n_spirals:
        yield from list(sentences.repetition_facts(report.repetition))[1:]
    for gap in report.missing:
        if gap.signal == report.quality.name and gap.n_missing > MANY_MISSING * gap.n_turns:
            yield sentences.missing_fact(gap, "missing quality")
    if report.coverage is not None and not report.coverage.covered:
        yield "coverage", report.coverage.sentence
    if report.regrounding is not None:
        yield sentences.regrounding_fact(report.regrounding)


def _figures(report: Report) -> Iterator[Fact]:
    yield from sentences.first_error_facts(report.first_errors)
    yield from sentences.other_facts(report)


def _listed(title: str, listed: Sequence[Fact]) -> Iterator[str]:
    if listed:
        lines = "\n".join(f"- {escaped(label)}: {escaped(said)}" for label, said in listed)
        yield f"#### {title}\n\n{lines}"


def _problems(report: Report) -> Iterator[str]:
    problems = report.origin.problems
    lines = [f"- {escaped(str(problem))}" for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"- and {len(problems) - SHOWN_PROBLEMS:,} more")
    if lines:
        yield f"#### {len(problems):,} problems in reading\n\n" + "\n".join(lines)
