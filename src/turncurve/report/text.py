"""The report as plain text in 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from turncurve.analysis.degradation import Curve, CurvePoint
from turncurve.report import sentences
from turncurve.report.document import Report
from turncurve.report.figures import (
    ABSENT,
    amount,
    counted,
    interval,
    place,
    span,
    with_margin,
)
from turncurve.report.headline import curve_ends, headline
from turncurve.report.layout import WIDTH, bar, facts, paragraph, section, sparkline, table, visible

BAR = 12
COURSE = 6
TITLE = 26
SHOWN_TRENDS = 6
SHOWN_MISSING = 8
SHOWN_PROBLEMS = 5

_AXES = {"turn": "turns", "tokens": "tokens", "progress": "progress", "event": "offset"}


def to_text(report: Report) -> str:
    """The report for a terminal: the headline, the curve, then each analysis in a sentence."""
    blocks = [
        _opening(report),
        *_quality(report),
        *_segments(report),
        *_drop(report),
        *_others(report),
        *_first_errors(report),
        *_trends(report),
        *_the_rest(report),
        *_missing(report),
        *_problems(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _opening(report: Report) -> str:
    top = headline(report)
    words = [top.sentence, " ".join(top.details), sentences.what_was_read(report)]
    return "\n\n".join(paragraph(each) for each in words if each)


def _quality(report: Report) -> Iterator[str]:
    if report.quality.name is None or not report.curves:
        return
    curve, panel = report.curves[0], report.panels[0]
    info = report.signals[curve.signal]
    good = {"high": ", high is good", "low": ", low is good"}.get(report.quality.better or "", "")
    title = f"{info.title} by {_axis_word(curve)}"
    lines = [
        paragraph(f"{_sentence(report.quality.why)}", "  "),
        "",
        _curve_table(report, curve, panel),
    ]
    notes = list(curve.warnings)
    if curve.n_runs > 1 and panel.min_turns is not None:
        notes.insert(0, _panel_note(panel))
    if any(point.partial for point in curve.points):
        notes.append("* the data end before the bucket does.")
    noted = [paragraph(note, "  ") for note in notes]
    yield section(f"{title}{good}", *lines, *([""] if noted else []), *noted)


def _panel_note(panel: Curve) -> str:
    reached = {"turn": f"turn {panel.min_turns:g}", "tokens": f"{panel.min_turns:,.0f} tokens"}
    far = reached.get(panel.axis, "the end of that column")
    return (
        f"The last column is over the {panel.n_runs} runs that reach {far}: the same runs in every "
        "row, so no change in it comes from runs that dropped out."
    )


def _axis_word(curve: Curve) -> str:
    return {"turn": "turn", "tokens": "tokens sent", "progress": "progress"}.get(
        curve.axis, "turns from the event"
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "."


def _curve_table(report: Report, curve: Curve, panel: Curve) -> str:
    steady = {point.start: point for point in panel.points} if curve.n_runs > 1 else {}
    low, high = _scale(report, curve)
    percent = f"{100 * curve.level:g} % interval"
    header = [_AXES[curve.axis], "mean", percent, "runs", "turns", ""]
    extra = [f"the same {panel.n_runs}"] if steady else []
    rows = []
    for point in curve.points:
        mark = "*" if point.partial else ""
        row = [
            span(point.start, point.end, curve.axis) + mark,
            amount(point.value),
            interval(point.low, point.high),
            f"{point.n_runs:,}",
            f"{point.n_turns:,}",
            bar((point.value - low) / (high - low) if high > low else 0.0, BAR),
        ]
        rows.append(row + ([_steady(steady.get(point.start))] if steady else []))
    return table([*header, *extra], rows, ">>>>><" + (">" if steady else ""))


def _steady(point: CurvePoint | None) -> str:
    return "" if point is None else amount(point.value)


def _scale(report: Report, curve: Curve) -> tuple[float, float]:
    if report.quality.low is not None and report.quality.high is not None:
        return report.quality.low, report.quality.high
    values = [point.value for point in curve.points]
    return min(values), max(values)


def _segments(report: Report) -> Iterator[str]:
    if not report.segments:
        return
    by_start: dict[float, dict[str, CurvePoint]] = {}
    for curve in report.segments:
        for point in curve.points:
            by_start.setdefault(point.start, {})[str(curve.segment)] = point
    rows = []
    for _, points in sorted(by_start.items()):
        either = next(iter(points.values()))
        row = [span(either.start, either.end, report.segments[0].axis)]
        for name in ("without_compaction", "with_compaction"):
            there = points.get(name)
            row += [_steady(there) or ABSENT, ABSENT if there is None else f"{there.n_runs:,}"]
        rows.append(row)
    header = [_AXES[report.segments[0].axis], "before", "runs", "after", "runs"]
    yield section("before and after a run's first compaction", table(header, rows, ">>>>>"))


def _drop(report: Report) -> Iterator[str]:
    said = paragraph(report.drop.sentence, "  ")
    more = ["", facts(report.drop.facts)] if report.drop.facts else []
    yield section("is the drop real", said, *more)


def _others(report: Report) -> Iterator[str]:
    rows, places = [], []
    for curve in report.curves[1 if report.quality.name else 0 :]:
        ends = curve_ends(curve)
        if ends is None:
            continue
        cells = [
            with_margin(p.value, p.low, p.high, report.signals[curve.signal].unit) for p in ends
        ]
        if ends[0] is ends[1]:
            cells[1] = ABSENT
        course = sparkline([p.value for p in curve.points], COURSE)
        rows.append([sentences.title(report, curve.signal), *cells, course])
        places.append(tuple(_column_head(point, curve) for point in ends))
    if rows:
        usual = Counter(places).most_common(1)[0][0]
        for row, there in zip(rows, places, strict=True):
            row[0] += "" if there == usual else "\N{NO-BREAK SPACE}*"
        rows = [line for row in rows for line in _folded(row)]
        other = (
            [] if len(set(places)) == 1 else ["  * from the first to the last of its own buckets"]
        )
        usual = usual if usual[0] != usual[1] else (usual[0], "later")
        lines = table(["", *usual, "course"], rows, "<<<<")
        if max(map(len, lines.splitlines())) > WIDTH:
            lines = table(["", *usual], [row[:-1] for row in rows], "<<<")
        level = f"{100 * report.settings.level:g} %"
        yield section(f"other signals, first bucket to last (± {level} interval)", lines, *other)


def _folded(row: list[str]) -> Iterator[list[str]]:
    """A row whose long title goes on in a line below it."""
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(row[0], TITLE)]
    first, *rest = lines or [""]
    yield [first, *row[1:]]
    for more in rest:
        yield [f"  {more}", *[""] * (len(row) - 1)]


def _column_head(point: CurvePoint, curve: Curve) -> str:
    label = span(point.start, point.end, curve.axis)
    return place(point.start, point.end) if curve.axis == "turn" else label


def _first_errors(report: Report) -> Iterator[str]:
    if report.first_errors:
        lines = facts(sentences.first_error_facts(report.first_errors))
        yield section("time to first error", lines)


def _trends(report: Report) -> Iterator[str]:
    shown = report.trends[:SHOWN_TRENDS]
    if shown:
        title = "within runs, each against its own first turns"
        pairs = (
            sentences.trend_fact(trend, sentences.title(report, trend.signal)) for trend in shown
        )
        yield section(title, facts(_together(pairs)))


def _together(pairs: Iterable[sentences.Fact]) -> list[sentences.Fact]:
    """Facts that say the same under one label."""
    labels: dict[str, list[str]] = {}
    for label, said in pairs:
        labels.setdefault(said, []).append(label)
    return [(", ".join(alike), said) for said, alike in labels.items()]


def _the_rest(report: Report) -> Iterator[str]:
    yield section(
        "context, cost, actions, ends",
        facts(sentences.other_facts(report)),
    )
    if report.regrounding is not None:
        yield facts([sentences.regrounding_fact(report.regrounding)])
    if report.coverage is not None:
        yield section("coverage", paragraph(report.coverage.sentence, "  "))


def _missing(report: Report) -> Iterator[str]:
    gaps = [gap for gap in report.missing if gap.signal in report.signals]
    if not gaps:
        return
    pairs = [
        sentences.missing_fact(gap, sentences.title(report, gap.signal))
        for gap in gaps[:SHOWN_MISSING]
    ]
    yield section(
        "missing values", facts(_together(pairs)), *_more(len(gaps) - SHOWN_MISSING, "signal")
    )


def _problems(report: Report) -> Iterator[str]:
    origin = report.origin
    if origin.problems:
        shown = [
            paragraph(visible(str(p), 300) + (" [kept]" if p.kept else ""), "  ")
            for p in origin.problems[:SHOWN_PROBLEMS]
        ]
        title = f"{counted(len(origin.problems), 'problem')} in reading"
        others = len(origin.problems) - SHOWN_PROBLEMS
        rest = _more(others, "problem", "counts them by file")
        yield section(title, *shown, *rest)
    if origin.unread:
        named = ", ".join(visible(path) for path in origin.unread[:SHOWN_PROBLEMS])
        more = len(origin.unread) - SHOWN_PROBLEMS
        rest = f" and {more:,} more" if more > 0 else ""
        title = f"{counted(len(origin.unread), 'file')} that no reader knows"
        yield section(title, paragraph(named + rest, "  "))


def _more(n: int, noun: str, where: str = "lists all") -> Sequence[str]:
    return [f"  and {counted(n, f'more {noun}')}; --json {where}."] if n > 0 else []
