"""The HTML report in headless Chromium: safe, silent, and usable by mouse and by keyboard."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from report.page_blocks import HOSTILE
from report.report_fixture import report_document
from report.synthetic_runs import INFO, synthetic_runs, table_of
from turncurve.model import Message, Run, ToolCall, ToolResult
from turncurve.report.details import details
from turncurve.report.html import write_html

pytestmark = pytest.mark.browser
REQUIRED = os.environ.get("TURNCURVE_REQUIRE_BROWSER") == "1"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _absent(reason: str) -> None:
    if REQUIRED:
        pytest.fail(f"TURNCURVE_REQUIRE_BROWSER=1, and {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        _absent("no chromium is on the PATH")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an optional test tool
    except ModuleNotFoundError:
        _absent("playwright is not installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@dataclass
class Visit:
    """An open page and all that it did that a reader might not see."""

    page: Any
    url: str
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def walker(self, figure: str = ".hero") -> Any:
        return self.page.locator(f"{figure} .walker")

    def open_turn(self, turn: int) -> None:
        """Go to the turn on the main chart by keyboard and open it."""
        self.walker().focus()
        self.page.keyboard.press("Home")
        for _ in range((turn - 1) // 10):
            self.page.keyboard.press("PageUp")
        for _ in range((turn - 1) % 10):
            self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("dialog[open] .worst h3")


Visitor = Callable[..., Visit]


@pytest.fixture
def visit(browser: Any) -> Iterator[Visitor]:
    """Opens a page in a fresh context; at the end, nothing may have complained."""
    visits: list[Visit] = []

    def open_page(path: Path, *, width: int = 1200, **options: Any) -> Visit:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        seen = Visit(page=context.new_page(), url=path.as_uri())
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on(
            "dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.accept())
        )
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.goto(seen.url)
        seen.page.wait_for_selector("html[data-ready]")
        visits.append(seen)
        return seen

    yield open_page
    for seen in visits:
        seen.page.context.close()
        assert seen.complaints == []
        assert seen.dialogs == []


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return synthetic_runs(30, 60)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, runs: list[Run]) -> Path:
    """The page of 30 made-up runs, with text."""
    target = tmp_path_factory.mktemp("page") / "report.html"
    table = table_of(runs)
    write_html(target, report_document(table), runs, details=details(table, quality="quality"))
    return target


def worst_at(runs: list[Run], turn: int) -> list[str]:
    """Ids of the runs with a quality at the turn, worst first; of equals, the worse as a whole."""

    def mean(run: Run) -> float:
        known = [t.values["quality"] for t in run.turns if "quality" in t.values]
        return sum(known) / len(known)

    there = [r for r in runs if len(r.turns) >= turn and "quality" in r.turns[turn - 1].values]
    return [
        r.id for r in sorted(there, key=lambda r: (r.turns[turn - 1].values["quality"], mean(r)))
    ]


def _hostile_run(run: Run) -> Run:
    turns = tuple(
        replace(
            turn,
            text=HOSTILE + turn.text,
            before=(Message(role="user", text=HOSTILE),),
            tool_calls=(ToolCall(id="c", name=HOSTILE, arguments={HOSTILE: HOSTILE}),),
            tool_results=(
                ToolResult(call_id="c", text=HOSTILE, error=True, detector="return_code"),
            ),
            values={**turn.values, HOSTILE: 1.0, "__proto__": 2.0},
        )
        for turn in run.turns
    )
    return replace(
        run,
        id=HOSTILE + run.id,
        turns=turns,
        scenario=HOSTILE,
        condition=HOSTILE,
        model=HOSTILE,
        exit_text=HOSTILE,
    )


def _hostile_page(target: Path, runs: list[Run]) -> None:
    """Every string that a trace or a user can choose, hostile; one signal is named by it too."""
    bad = [_hostile_run(run) for run in runs]
    table = table_of(bad)
    info = replace(INFO["quality"], name=HOSTILE, title=HOSTILE, unit=HOSTILE, denominator=HOSTILE)
    proto = replace(INFO["cost_usd"], name="__proto__")
    table = table.with_columns(
        {HOSTILE: table.columns["quality"], "__proto__": table.columns["cost_usd"]},
        {HOSTILE: info, "__proto__": proto},
    )
    text = json.dumps(report_document(table))
    for name in ("quality", "Quality", "score", "the files carry a rubric score for each turn"):
        text = text.replace(json.dumps(name), json.dumps(HOSTILE))
    text = text.replace('"cost_usd"', '"__proto__"')
    for words in ("traces", "Submitted", "copy the file again", "wanted a JSON object"):
        text = text.replace(words, json.dumps(HOSTILE)[1:-1])
    document = {**json.loads(text), "headline": HOSTILE, "turncurve_version": HOSTILE}
    write_html(target, document, bad, details=details(table, quality=HOSTILE))


def test_hostile_content_does_not_run(tmp_path: Path, visit: Visitor, runs: list[Run]) -> None:
    """Hostile ids, names, texts, arguments and exits are shown as they are, and nothing runs."""
    _hostile_page(tmp_path / "hostile.html", runs)
    seen = visit(tmp_path / "hostile.html")
    page = seen.page
    assert page.locator("h1").text_content().startswith("</script><script>window.hacked=1")
    for button in page.locator("figure button").all():
        button.click()
    seen.open_turn(5)
    page.locator(".worst li button").nth(1).click()
    page.wait_for_selector(".turn.here")
    assert page.locator(".turn.here .speech pre").text_content().startswith(HOSTILE[:40])
    assert HOSTILE[:30] in page.locator(".turn.here").text_content()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("({}).polluted") is None
    assert page.locator("img, iframe, object, embed, [onerror], [onload]").count() == 0
    assert page.locator("script:not([type])").count() == 2
    assert seen.dialogs == []


ATTEMPTS = """async () => {
  const tries = {
    markup: () => { document.body.innerHTML = "<b>x</b>"; },
    handler: () => document.body.setAttribute("onclick", "window.hacked = 1"),
    script: () => { document.createElement("script").text = "window.hacked = 1"; },
    request: () => fetch("http://127.0.0.1:9/"),
  };
  const said = {};
  for (const [name, attempt] of Object.entries(tries)) {
    try { await attempt(); said[name] = "went through"; } catch (e) { said[name] = e.name; }
  }
  return said;
}"""


def test_policy_stops_what_escaping_would_let_through(path: Path, visit: Visitor) -> None:
    """Markup, handlers, scripts and requests are refused by the browser itself."""
    seen = visit(path)
    said = seen.page.evaluate(ATTEMPTS)
    assert set(said.values()) == {"TypeError"}, said
    assert [url for url in seen.requests if url.startswith("http")] == []
    assert any(
        "connect" in complaint or "default-src" in complaint for complaint in seen.complaints
    )
    seen.complaints.clear()


def test_no_request_leaves_the_page(path: Path, visit: Visitor) -> None:
    """Through loading, opening a turn and reading a run, the only request is for the file."""
    seen = visit(path)
    seen.open_turn(20)
    seen.page.locator(".worst li button").nth(2).click()
    seen.page.wait_for_selector(".turn.here")
    seen.page.wait_for_timeout(200)
    assert [url for url in seen.requests if not url.startswith("data:")] == [seen.url]


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
    assert seen.page.locator(".turn").count() <= 17
    seen.page.get_by_role("button", name="Earlier turns").click()
    assert seen.page.locator(".turn[data-turn='4970']").count() == 1


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


def test_band_reaches_from_low_to_high(tmp_path: Path, visit: Visitor) -> None:
    """The numbers of the table are those of the document, interval and n included."""
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


def test_paper_has_the_charts_and_no_controls(path: Path, visit: Visitor) -> None:
    """In print the page is light, charts are drawn, and buttons and links are gone."""
    seen = visit(path, color_scheme="dark")
    seen.page.emulate_media(media="print")
    assert _luminance(seen.page) == 255
    assert seen.page.locator("figure svg").first.is_visible()
    assert not seen.page.locator("#theme").is_visible()
    assert not seen.page.locator("figure button").first.is_visible()
    assert seen.page.pdf()[:5] == b"%PDF-"
