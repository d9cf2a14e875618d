"""A comparison as one HTML page: before and after, and the difference below.

The page is written here as text, so every name of a trace or folder goes through `escape`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from turncurve import __version__
from turncurve.analysis.compare import Comparison
from turncurve.analysis.comparison.difference import Difference
from turncurve.report import compare_words as words
from turncurve.report.block_html import facts as _facts
from turncurve.report.block_html import section as _section
from turncurve.report.block_html import table
from turncurve.report.block_html import words as _text
from turncurve.report.blocks import Table
from turncurve.report.compare import amounts_table, by_turn_table, signals_table
from turncurve.report.compare_charts import (
    before_after,
    difference_chart,
    error_free,
    still_running,
)
from turncurve.report.figures import counted, interval, signed
from turncurve.report.layout import visible
from turncurve.report.page_parts import page_part, page_policy
from turncurve.report.static_chart import Chart, svg
from turncurve.stats.estimate import Estimate

STYLES = ("base", "charts", "compare", "print")
_WIDE = (1000, 330)
_NARROW = (340, 250)
_LOW = (1000, 240)
_HALF = (460, 230)
_TONES = {"worse": " bad", "mixed": " bad", "better": " good"}
_LONG = 70
_TIMES = "\N{MULTIPLICATION SIGN}"


def compare_page(result: Comparison) -> str:
    """The page, whole."""
    parts = "\n".join(page_part(f"js/{name}.js") for name in ("dom", "theme"))
    ready = 'document.documentElement.dataset.ready = "true";'
    script = f'(() => {{\n"use strict";\n{parts}\nstartTheme();\n{ready}\n}})();\n'
    first, rest = words.headline_parts(result)
    slots = {
        "policy": escape(page_policy([script])),
        "title": escape(f"turncurve: {visible(first)}"),
        "styles": "\n".join(page_part(f"css/{name}.css") for name in STYLES),
        "version": escape(__version__),
        "masthead": _masthead(result, first, rest),
        "main": "\n".join(_sections(result)),
        "script": script,
    }
    pieces = re.split(r"\{\{(\w+)\}\}", page_part("compare.html"))
    page = "".join(slots[piece] if i % 2 else piece for i, piece in enumerate(pieces))
    return page.encode("utf-8", "replace").decode()


def _masthead(result: Comparison, first: str, rest: str) -> str:
    verdict = result.judged.verdict
    size = ' class="long"' if len(first) > _LONG else ""
    more = f'<p class="standfirst">{_text(rest)}</p>' if rest else ""
    figures = "".join(
        f'<div><dt>{_text(name)}</dt><dd><span class="number">{_text(value)}</span> '
        f'<span class="aside">{_text(aside)}</span></dd></div>'
        for name, value, aside in _figures(result)
    )
    return (
        f'<p class="verdict{_TONES.get(verdict, "")}">{escape(verdict)}</p>\n'
        f"<h1{size}>{_text(first)}</h1>\n{more}\n"
        + (f'<dl class="figures">{figures}</dl>' if figures else "")
    )


def _figures(result: Comparison) -> Iterator[tuple[str, str, str]]:
    difference, places = result.difference, result.places
    if difference is not None and difference.area.value is not None:
        area = difference.area
        limits = interval(area.low, area.high)
        n = counted(area.n_clusters, "scenario")
        yield f"{result.signal} over turns", signed(area.value), f"{limits}, {n}"
    if places is not None and places.moved.value is not None:
        moved = places.moved
        limits = interval(moved.low, moved.high, digits=0)
        yield f"{places.what} moved", f"{moved.value:+.0f} turns", limits
    yield from _ratio("turns to first error", result.first_error.ratio)
    for one in result.amounts:
        if one.name == "success" and one.change.value is not None:
            yield "success", signed(one.change.value), interval(one.change.low, one.change.high)
        if one.name == "cost for each success":
            yield from _ratio(one.name, one.change)


def _ratio(name: str, ratio: Estimate) -> Iterator[tuple[str, str, str]]:
    if ratio.value is not None:
        yield name, f"{_TIMES}{ratio.value:.2f}", interval(ratio.low, ratio.high, digits=2)


def _sections(result: Comparison) -> Iterator[str]:
    difference = result.difference
    if difference is None:
        why = f'<p class="absent">{_text(result.no_difference or result.judged.why)}.</p>'
        yield _section("difference", "Before and after", why)
    else:
        yield _section("difference", "Before and after", *_curves(result, difference))
        running = still_running(result, difference)
        yield _section(
            "over",
            "Over turns, B less A",
            _beside(
                _facts(words.over_turns(result)),
                _half(running, "Runs that get to each turn", result),
            ),
        )
    if result.places is not None:
        yield _section("place", "Cliff or knee", _facts(words.places(result)))
    yield _section("signals", "Which signal moved first", _table(signals_table(result)))
    yield _section("whole", "Runs as a whole", _table(amounts_table(result)))
    free = _half(error_free(result), "Runs without an error, by turn", result)
    yield _section("error", "First error", _beside(_facts(words.first_error(result)), free))
    if difference is not None:
        numbers = _table(by_turn_table(difference))
        opened = f"<details><summary>Show the numbers</summary>{numbers}</details>"
        yield _section("turns", "Every turn", opened)
    yield _section("compared", "What was compared", _facts(words.compared(result)))
    yield _section("limits", "Limits", _facts(words.limits(result)))


def _beside(facts: str, figure: str) -> str:
    return f'<div class="columns">{facts}{figure}</div>' if figure else facts


def _curves(result: Comparison, difference: Difference) -> Iterator[str]:
    signal = _text(visible((result.signal or "").replace("_", " ")))
    better = "" if result.better is None else f" ({result.better} is good)"
    yield '<div class="charts">'
    yield (
        f"<figure><figcaption><h3>{signal[:1].upper()}{signal[1:]} by turn{better}</h3>"
        "Mean over the scenarios that both have; shaded, the interval of each turn by itself."
        f"</figcaption>{_sizes(before_after(result, difference), _WIDE)}{_key(result)}</figure>"
    )
    yield (
        "<figure><figcaption><h3>Difference, B less A</h3>"
        "Where the wide band leaves 0 out, the two differ: it holds at all turns together. The "
        f"inner band is that of each turn by itself.</figcaption>"
        f"{_sizes(difference_chart(result, difference), _LOW)}{_key_of_difference(difference)}"
        "</figure></div>"
    )


def _sizes(chart: Chart, wide: tuple[int, int]) -> str:
    """The chart in two sizes, of which the style shows the one that fits."""
    return svg(chart, width=wide[0], height=wide[1], css="wide") + svg(
        chart, width=_NARROW[0], height=_NARROW[1], css="narrow"
    )


def _half(chart: Chart | None, title: str, result: Comparison) -> str:
    if chart is None:
        return ""
    drawn = _sizes(chart, _HALF)
    return (
        f'<figure class="half"><figcaption><h3>{escape(title)}</h3></figcaption>{drawn}'
        f"{_key(result)}</figure>"
    )


def _key(result: Comparison) -> str:
    entries = [
        f'<li><svg aria-hidden="true" viewBox="0 0 26 10"><line class="{css}" x1="0" x2="26" '
        f'y1="5" y2="5"/></svg>{letter}: {_text(words.name_of(side))}</li>'
        for css, letter, side in (("of-a", "A", result.a), ("of-b", "B", result.b))
    ]
    return f'<ul class="key">{"".join(entries)}</ul>'


def _key_of_difference(difference: Difference) -> str:
    dot = '<svg aria-hidden="true" viewBox="0 0 26 10"><circle class="dot{}" cx="13" cy="5" r="4"/>'
    box = (
        '<svg aria-hidden="true" viewBox="0 0 26 10"><rect class="swatch{}" width="26" '
        'height="10"/>'
    )
    level = f"{100 * difference.level:g} %"
    entries = [
        (dot.format(" worse"), "surely worse"),
        (dot.format(" better"), "surely better"),
        (dot.format(""), "not sure"),
        (box.format(""), f"{level}, all turns together"),
        (box.format(" twice"), f"{level}, one turn alone"),
    ]
    return (
        f'<ul class="key">{"".join(f"<li>{mark}</svg>{said}</li>" for mark, said in entries)}</ul>'
    )


def _table(of: Table) -> str:
    return table(of, empty="Nothing is known of them in both.")
