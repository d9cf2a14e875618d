"""The HTML report in headless Chromium, used by mouse, by keyboard, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from report.report_fixture import report_document
from report.synthetic_runs import synthetic_runs, table_of
from turncurve import build_report
from turncurve.model import Run
from turncurve.report.details import details
from turncurve.report.html import write_html
from turncurve.report.json import to_json

pytestmark = pytest.mark.browser
Visitor = Callable[..., Any]
"""Opens a page and gives a `Visit` (tests/report/conftest.py)."""


def worst_at(runs: list[Run], turn: int) -> list[str]:
    """Ids of the runs with a quality at the turn, worst first; of equals, the worse as a whole."""

    def mean(run: Run) -> float:
        known = [t.values["quality"] for t in run.turns if "quality" in t.values]
        return sum(known) / len(known)

    there = [r for r in runs if len(r.turns) >= turn and "quality" in r.turns[turn - 1].values]
    return [
        r.id for r in sorted(there, key=lambda r: (r.turns[turn - 1].values["quality"], mean(r)))
    ]


def test_click_a_turn_to_read_the_worst_run(path: Path, visit: Visitor, runs: list[Run]) -> None:
    """A click on the curve lists the runs there worst first, and a run opens at that turn."""
    seen = visit(path)
    box = seen.walker().bounding_box()
    seen.walker().click(position={"x": box["width"] * 0.5, "y": 80})
    title = seen.page.locator("#sheet-title")
    title.wait_for()
    turn = int(title.text_content().removeprefix("Turn "))
    assert 20 < turn < 40
    names = seen.page.locator(".worst .name")
    names.first.wait_for()
    wanted = worst_at(runs, turn)
    assert names.all_text_contents() == wanted[:20]
    seen.page.locator(".worst li button").nth(3).click()
    seen.page.wait_for_function(
        "run => document.querySelector('.reader h3')?.textContent === run", arg=wanted[3]
    )
    here = seen.page.locator(".turn.here")
    assert here.get_attribute("data-turn") == str(turn)
    run = next(run for run in runs if run.id == wanted[3])
    assert here.locator(".speech pre").text_content() == run.turns[turn - 1].text
    reader = seen.page.locator(".reader").bounding_box()
    assert reader["y"] <= here.bounding_box()["y"] <= reader["y"] + 90


def test_a_click_opens_the_turn_under_the_pointer(path: Path, visit: Visitor) -> None:
    """What the readout says under the pointer is what opens."""
    seen = visit(path)
    box = seen.walker().bounding_box()
    seen.page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 60)
    said = seen.page.locator(".hero .readout strong").text_content()
    seen.page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + 60)
    seen.page.locator("#sheet-title").wait_for()
    assert seen.page.locator("#sheet-title").text_content() == said


def test_keyboard_alone_reads_a_transcript(path: Path, visit: Visitor, runs: list[Run]) -> None:
    """Tab reaches the curve, arrows move and speak, Enter opens, Escape goes back to the curve."""
    seen = visit(path)
    keys = seen.page.keyboard
    focused = "document.activeElement.matches('.hero .walker')"
    for _ in range(40):
        keys.press("Tab")
        if seen.page.evaluate(focused):
            break
    assert seen.page.evaluate(focused)
    for key in ("Home", "PageUp", "ArrowRight", "ArrowRight", "ArrowLeft"):
        keys.press(key)
    walker = seen.walker()
    assert walker.get_attribute("aria-valuetext") == "turn 12"
    assert seen.page.locator(".hero .readout").text_content().startswith("Turn 12 0.9")
    assert seen.page.locator(".hero .readout").get_attribute("aria-live") == "polite"
    keys.press("Enter")
    seen.page.wait_for_selector(".worst li button")
    assert seen.page.evaluate("document.activeElement.id") == "sheet-title"
    for _ in range(10):
        keys.press("Tab")
        if seen.page.evaluate("document.activeElement.matches('.worst li button')"):
            break
    keys.press("Tab")
    keys.press("Enter")
    second = worst_at(runs, 12)[1]
    seen.page.wait_for_function(
        "run => document.querySelector('.reader h3')?.textContent === run", arg=second
    )
    assert seen.page.evaluate("document.activeElement.textContent").startswith("Turn 12")
    keys.press("Escape")
    seen.page.wait_for_selector("dialog:not([open])", state="attached")
    assert seen.page.evaluate(focused)


def test_stepping_keeps_the_run(path: Path, visit: Visitor) -> None:
    """The next turn shows the run that is being read, at that turn."""
    seen = visit(path)
    seen.open_turn(10)
    seen.page.locator(".worst li button").nth(4).click()
    seen.page.wait_for_selector(".worst [aria-pressed=true]")
    name = seen.page.locator(".worst [aria-pressed=true] .name").text_content()
    seen.page.get_by_role("button", name="Turn after").click()
    seen.page.wait_for_selector(".turn.here[data-turn='11']")
    assert seen.page.locator(".reader h3").text_content() == name
    assert seen.page.locator("#sheet-title").text_content() == "Turn 11"


def _luminance(page: Any) -> float:
    """Mean of the page's background channels, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(",")) / 3


def test_dark_where_the_system_is_dark_until_told(path: Path, visit: Visitor) -> None:
    """The page follows the system's scheme, and its button turns it over."""
    dark = visit(path, color_scheme="dark").page
    light = visit(path, color_scheme="light").page
    assert _luminance(dark) < 40
    assert _luminance(light) > 230
    dark.get_by_role("button", name="Light page").click()
    assert _luminance(dark) > 230
    assert dark.get_by_role("button", name="Dark page").is_visible()


def test_without_text_the_page_says_so(tmp_path: Path, visit: Visitor, runs: list[Run]) -> None:
    """Where texts were left out, the worst runs are still listed and the reader says why."""
    table = table_of(runs)
    write_html(tmp_path / "bare.html", report_document(table), details=details(table))
    seen = visit(tmp_path / "bare.html")
    seen.open_turn(12)
    seen.page.locator(".worst .name").first.wait_for()
    assert seen.page.locator(".worst .name").all_text_contents()[0] == worst_at(runs, 12)[0]
    assert "left out of this page" in seen.page.locator(".reader").text_content()
    assert seen.page.locator(".turn").count() == 0


def test_without_details_the_charts_stand(tmp_path: Path, visit: Visitor) -> None:
    """A document alone makes a page with every chart, which says what it cannot list."""
    write_html(tmp_path / "bare.html", report_document())
    seen = visit(tmp_path / "bare.html")
    assert seen.page.locator(".multiples figure svg").count() == 10
    seen.open_turn(12)
    assert "no values by run" in seen.page.locator(".worst").text_content()


def test_an_empty_report_is_a_page(tmp_path: Path, visit: Visitor) -> None:
    """A report on nothing shows its headline and says that there is no curve."""
    write_html(
        tmp_path / "empty.html", {"headline": "No run has a turn.", "summary": {"n_runs": 0}}
    )
    seen = visit(tmp_path / "empty.html")
    assert seen.page.locator("h1").text_content() == "No run has a turn."
    assert "no turn with a value" in seen.page.locator("#quality").text_content()


def test_long_part_has_a_notice(tmp_path: Path, visit: Visitor) -> None:
    """A part over the cap shows its start and end and how many characters are missing between."""
    run = synthetic_runs(1, 10)[0]
    turns = (replace(run.turns[0], text="a" * 15_000 + "b" * 10_000), *run.turns[1:])
    run = replace(run, turns=turns)
    table = table_of([run])
    write_html(tmp_path / "p.html", report_document(table), [run], details=details(table))
    seen = visit(tmp_path / "p.html")
    seen.open_turn(1)
    seen.page.wait_for_selector(".turn.here")
    shown = seen.page.locator(".turn.here .speech pre").text_content()
    assert "5,000 more characters" in shown
    assert shown.startswith("aaa")
    assert shown.endswith("bbb")


def test_a_run_of_5000_turns_stays_light(tmp_path: Path, visit: Visitor) -> None:
    """A very long run is thinned for drawing, and its transcript opens around the turn only."""
    runs = synthetic_runs(2, 5_000, words=5, full=True)
    table = table_of(runs)
    write_html(tmp_path / "long.html", report_document(table), runs, details=details(table))
    seen = visit(tmp_path / "long.html")
    vertices = seen.page.evaluate(
        """() => Math.max(...[...document.querySelectorAll(".hero path")]
        .map((path) => (path.getAttribute("d") ?? "").split("L").length))"""
    )
    assert 100 < vertices < 4 * 800
    assert "5,000" in seen.page.locator("#figures").text_content()
    seen.walker().focus()
    seen.page.keyboard.press("End")
    seen.page.keyboard.press("PageDown")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector(".turn.here[data-turn='4990']")
    shown = seen.page.eval_on_selector_all(".turn", "all => all.map((e) => +e.dataset.turn)")
    assert shown == list(range(4_982, 4_999))
    seen.page.get_by_role("button", name="Earlier turns").click()
    assert seen.page.locator(".turn[data-turn='4970']").count() == 1


def test_points_over_several_turns_open_their_first_turn(tmp_path: Path, visit: Visitor) -> None:
    """Where runs are long the fine line has a point every 5 turns; the page says so, and opens any
    turn between."""
    runs = synthetic_runs(6, 2_500, words=2, full=True)
    table = table_of(runs)
    write_html(tmp_path / "p.html", to_json(build_report(table)), runs, details=details(table))
    seen = visit(tmp_path / "p.html")
    assert "every 5 turns, where 5 runs or more are" in seen.page.locator(".key").first.inner_text()
    seen.walker().focus()
    seen.page.keyboard.press("Home")
    seen.page.keyboard.press("ArrowRight")
    assert seen.walker().get_attribute("aria-valuetext").startswith("turns 6")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector(".turn.here[data-turn='6']")
    seen.page.get_by_role("button", name="Turn after").click()
    seen.page.wait_for_selector(".turn.here[data-turn='7']")
    assert "mean over turns 6" in seen.page.locator(".sheet-head").inner_text()


def test_the_page_says_of_how_many_runs_it_has_text(tmp_path: Path, visit: Visitor) -> None:
    """Where not every run has room, the page says of how many it has values and text."""
    runs = synthetic_runs(60, 40, words=60)
    table = table_of(runs)
    values = details(table, quality="quality", max_cells=6_000)
    write_html(tmp_path / "p.html", report_document(table), runs, details=values, max_bytes=700_000)
    seen = visit(tmp_path / "p.html")
    note = seen.page.locator("#method .note").last.inner_text()
    index = seen.page.evaluate("JSON.parse(document.getElementById('transcript-index').innerText)")
    listed, kept = len(values.positions), len(index["runs"])
    assert 0 < kept < listed < 60
    assert f"the values of {listed}, and the text of {kept} of 60 runs" in note
    write_html(tmp_path / "all.html", report_document(table), runs, details=details(table))
    assert "To stay small" not in visit(tmp_path / "all.html").page.locator("#method").inner_text()


def test_narrow_page_does_not_scroll_sideways(path: Path, visit: Visitor) -> None:
    """At 360 pixels nothing is wider than the page, in the report and in the sheet."""
    seen = visit(path, width=360)
    assert seen.page.evaluate("document.documentElement.scrollWidth") == 360
    seen.open_turn(12)
    seen.page.wait_for_selector(".worst li button")
    assert seen.page.evaluate("document.querySelector('dialog').scrollWidth") <= 360


def test_every_chart_can_be_read_without_seeing_it(path: Path, visit: Visitor) -> None:
    """Each chart has words, an n strip, a slider and its numbers as a table."""
    seen = visit(path)
    figures = seen.page.locator("figure").all()
    assert len(figures) >= 9
    for figure in figures:
        words = figure.locator("svg[role=img]").get_attribute("aria-label")
        assert "run" in words
        assert figure.locator("svg").count() == 2
        assert figure.locator("[role=slider]").get_attribute("aria-label")
        figure.get_by_role("button", name="Numbers").click()
        assert figure.locator("table tbody tr").count() > 0
    levels = seen.page.eval_on_selector_all(
        "h1, h2, h3", "all => all.map((each) => Number(each.tagName[1]))"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert seen.page.locator("main, nav, header, footer").count() == 4


def test_few_runs_make_hollow_points(tmp_path: Path, visit: Visitor) -> None:
    """A point is hollow exactly where fewer than five runs are behind it; events are marked."""
    document = report_document()
    rows = [row for row in document["curves"] if row["signal"] == "quality"]
    few = [row["n_runs"] < 5 for row in rows]
    assert any(few)
    assert not all(few)
    write_html(tmp_path / "p.html", document)
    seen = visit(tmp_path / "p.html")
    fills = seen.page.eval_on_selector_all(
        ".hero .plot svg:first-child circle", "all => all.map((each) => each.getAttribute('fill'))"
    )
    assert [fill == "var(--paper)" for fill in fills] == few
    ticks = seen.page.locator(".hero .plot svg:first-child line[stroke='var(--event)']").count()
    ticks += seen.page.locator(".hero g[stroke='var(--event)'] line").count()
    assert ticks == len(document["events"])


PATH_NUMBERS = "(each) => each.getAttribute('d').match(/[\\d.]+/g).map(Number)"


def test_band_and_strip_are_drawn_to_scale(tmp_path: Path, visit: Visitor) -> None:
    """The band reaches from low to high, the line goes through the value, the strip names its n."""
    row = {"signal": "quality", "axis": "turn", "n_turns": 70, "std_error": 0.1, "partial": False}
    rows = [
        {**row, "from": 1, "to": 10, "n_runs": 7, "value": 0.5, "low": 0.25, "high": 0.75},
        {**row, "from": 11, "to": 20, "n_runs": 6, "value": 0.5, "low": 0.25, "high": 0.75},
    ]
    document = {**report_document(), "curves": rows, "by_turn": {}}
    write_html(tmp_path / "p.html", document)
    seen = visit(tmp_path / "p.html")
    band, line = seen.page.eval_on_selector_all(
        ".hero .plot svg:first-child path",
        f"all => all.map({PATH_NUMBERS})",
    )
    top, floor = 12, 380 - 6
    at = {value: floor - value * (floor - top) for value in (0.25, 0.5, 0.75)}
    assert {min(band[1::2]), max(band[1::2])} == {at[0.75], at[0.25]}
    assert set(line[1::2]) == {at[0.5]}
    strip = seen.page.locator(".hero .plot svg").nth(1)
    heights = strip.locator("path").nth(1).evaluate(PATH_NUMBERS)[1::2]
    assert (max(heights), min(heights)) == (round(8 + 32 / 7, 3), 8)
    assert "7 runs" in strip.text_content()


def test_numbers_are_those_of_the_document(tmp_path: Path, visit: Visitor) -> None:
    """The table under a chart gives value, interval and n as the document does."""
    document = report_document()
    write_html(tmp_path / "p.html", document)
    seen = visit(tmp_path / "p.html")
    seen.page.locator(".hero").get_by_role("button", name="Numbers").click()
    row = next(row for row in document["curves"] if row["signal"] == "quality")
    shown = seen.page.locator(".hero tbody tr").first.locator("td").all_text_contents()
    assert shown == [f"{row[k]:.3f}" for k in ("value", "low", "high")] + [
        str(row["n_runs"]),
        str(row["n_turns"]),
    ]


def test_a_column_of_numbers_has_one_number_of_decimals(path: Path, visit: Visitor) -> None:
    """Value, low and high under every chart are written with the same number of decimals."""
    seen = visit(path)
    for button in seen.page.get_by_role("button", name="Numbers").all():
        button.click()
    tables = seen.page.eval_on_selector_all(
        ".numbers table",
        """all => all.map((table) => [...table.tBodies[0].rows].flatMap((row) =>
            [...row.cells].slice(1, 4).map((cell) => cell.textContent)))""",
    )
    assert len(tables) > 5
    for cells in tables:
        numbers = [cell for cell in cells if any(c.isdigit() for c in cell)]
        assert len({len(n.strip(" %kM\u202f").partition(".")[2]) for n in numbers}) == 1, cells


def test_bands_of_enough_runs_lie_inside_the_chart(tmp_path: Path, visit: Visitor) -> None:
    """However wide, the band of a bucket with five runs is drawn whole; one of few may be cut."""
    row = {"signal": "seconds", "axis": "turn", "n_turns": 70, "std_error": 1, "partial": False}
    rows = [
        {**row, "from": 1, "to": 10, "n_runs": 7, "value": 1.0, "low": 0.1, "high": 6.0},
        {**row, "from": 11, "to": 20, "n_runs": 5, "value": 1.0, "low": 0.2, "high": 5.0},
        {**row, "from": 21, "to": 30, "n_runs": 2, "value": 1.0, "low": 0.0, "high": 90.0},
    ]
    document = {**report_document(), "curves": rows, "by_turn": {}, "panels": [], "segments": []}
    document["quality_signal"] = {"name": "seconds", "why": "it is there"}
    document["signals"] = {"seconds": {"title": "Seconds", "unit": "seconds"}}
    write_html(tmp_path / "p.html", document)
    seen = visit(tmp_path / "p.html")
    band = seen.page.eval_on_selector_all(
        ".hero .plot svg:first-child path", f"all => all.map({PATH_NUMBERS})"
    )[0]
    heights = sorted(set(band[1::2]))
    assert heights[0] == 12
    assert heights[1] > 12
    assert len(heights) == 6


def test_narrow_transcript_has_its_way_back(path: Path, visit: Visitor) -> None:
    """At 360 pixels a button leads from the text to the list of runs, another to the chart."""
    seen = visit(path, width=360)
    seen.open_turn(12)
    chosen = seen.page.locator(".worst li button").nth(2)
    chosen.click()
    seen.page.wait_for_selector(".turn.here")
    seen.page.get_by_role("button", name="Back to the runs").click()
    assert chosen.evaluate("button => document.activeElement === button")
    assert chosen.evaluate("b => b.getBoundingClientRect().top < innerHeight")
    seen.page.get_by_role("button", name="Back to the chart").click()
    seen.page.wait_for_selector("dialog:not([open])", state="attached")


def test_paper_has_the_charts_and_no_controls(path: Path, visit: Visitor) -> None:
    """In print the page is light, charts are drawn, and buttons and links are gone."""
    seen = visit(path, color_scheme="dark")
    seen.page.emulate_media(media="print")
    assert _luminance(seen.page) == 255
    assert seen.page.locator("figure svg").first.is_visible()
    assert not seen.page.locator("#theme").is_visible()
    assert not seen.page.locator("figure button").first.is_visible()
    assert seen.page.pdf()[:5] == b"%PDF-"
