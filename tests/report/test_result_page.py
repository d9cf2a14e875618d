"""The page of a result, in headless Chromium too: hostile names, light and dark, wide and small."""

from __future__ import annotations

import json
"""A result as one page: all of its words, whole without a script, and safe."""
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from report.page_blocks import HOSTILE
from turncurve.cli.main import cli
from turncurve.report.blocks import Facts, Picture, Said, Table, as_markdown, as_text
from turncurve.report.result_page import as_page

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/grader"


def test_every_kind_of_block() -> None:
    """Sentences, facts, tables with notes and pictures are on the page, in order and escaped."""
    blocks = (
        Said("first <1>"),
        Said("second & more"),
        Facts(title="facts", pairs=(("label", HOSTILE),)),
        Table(title="table", header=("a", "b"), rows=(("<x>", "1"),), align="<>", notes=("<n>",)),
        Picture(title="picture", svg="<svg></svg>", caption="<c>"),
    )
    page = as_page("what <it> is", blocks)
    assert '<h1 class="long">first &lt;1&gt;</h1>' in page
    assert "what &lt;it&gt; is" in page
    shown = [
        "second &amp; more",
        "<h2>facts</h2>",
        "&lt;x&gt;",
        "&lt;n&gt;",
        "<svg></svg>",
        "&lt;c&gt;",
    ]
    places = [page.index(each) for each in shown]
    assert places == sorted(places)
    assert HOSTILE not in page
    assert "picture" not in as_text(blocks)
    assert "<svg></svg>" not in as_markdown("what", blocks)


def test_dark_colours_follow_the_system() -> None:
    """Without a script the dark colours of the report hang on the reader's preference."""
    page = as_page("t", (Said("s"),))
    assert "@media (prefers-color-scheme: dark) { :root {" in page
    assert 'data-theme="dark"' not in page


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1_200, "light"), (390, "dark")])
def test_in_a_browser(tmp_path: Path, browser: Any, width: int, scheme: str) -> None:
    """Hostile names do not run, nothing is asked of the network, and nothing sticks out."""
    lines = []
    for line in (EXAMPLE / "grades.jsonl").read_text().splitlines():
        record = json.loads(line)
        for step in record["steps"]:
            step["grader_model"] = HOSTILE
        lines.append(json.dumps(record) + "\n")
    grades, page = tmp_path / "grades.jsonl", tmp_path / "v.html"
    grades.write_text("".join(lines))
    asked = ["validate", str(grades), str(EXAMPLE / "labels.csv"), "-q", "-o", str(page)]
    assert CliRunner().invoke(cli, asked).exit_code == 0
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    seen, requests, told = context.new_page(), [], []
    seen.on("request", lambda request: requests.append(request.url))
    seen.on("dialog", lambda dialog: (told.append(dialog.message), dialog.accept()))
    seen.on("console", lambda message: told.append(message.text))
    seen.goto(page.as_uri())
    assert requests == [page.as_uri()]
    assert told == []
    assert seen.locator("svg").count() == 2
    assert seen.locator("svg circle").count() == 2 + 2 * 4
    assert seen.evaluate("document.documentElement.scrollWidth") <= width
    dark = seen.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"
    assert dark == (scheme == "dark")
    texts = seen.locator("svg text").all_text_contents()
    assert "turns 11+" in texts
    context.close()
from report.page_blocks import HOSTILE, PageReader
from turncurve.analysis.step_power import StepPowerSettings, step_power
from turncurve.report.blocks import Block, Facts, Said, Table
from turncurve.report.result_page import result_page
from turncurve.report.step_power import TITLE, step_power_blocks
Visitor = Callable[..., Any]
"""Opens a page and gives a `Visit` (tests/report/conftest.py)."""
def blocks(name: str) -> list[Block]:
    return [
        Said(f"Found in {name}."),
        Facts(title="What it rests on", pairs=((name, name),)),
        Said(name),
        Table(title="Numbers", header=("a", "b"), rows=((name, "-1"),), align="<>", notes=(name,)),
        Table(title="None", header=("a",), rows=(), align="<"),
@pytest.fixture(scope="module")
def sized() -> str:
    settings = StepPowerSettings(steps=(0.2,), sd=0.1, n_positions=11)
    return result_page(TITLE, step_power_blocks(step_power(None, settings)))
def test_everything_is_in_the_page(sized: str) -> None:
    """The sentence on top, a section for each part, each cell of each table."""
    read = PageReader(sized)
    assert "A step of 0.2 at any of 11 turns needs 8 trials" in sized
    assert [attrs["id"] for tag, attrs in read.tags if tag == "section"] == [
        f"part-{n}" for n in range(1, 5)
    for title in ("Trials that a step needs", "The smallest step that trials see"):
        assert f">{title}</h2>" in sized
    assert '<td class="num">p&lt;0.00455</td>' in sized
def test_the_page_asks_for_nothing(sized: str) -> None:
    """No address, no attribute that runs, and a policy that allows its one script."""
    read = PageReader(sized)
    assert "http://" not in sized.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in sized
    assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on")]
    assert len(read.code()) == 1
    assert "script-src &#x27;sha256-" in sized
def test_hostile_words_are_text() -> None:
    """What a trace says cannot open an element; a table without rows says so."""
    read, plain = (PageReader(result_page("title", blocks(n))) for n in (HOSTILE, "x"))
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in plain.tags]
    assert len(read.scripts) == len(plain.scripts)
    assert '<p class="absent">Nothing.</p>' in result_page("title", blocks("x"))
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits(visit: Visitor, sized: str, tmp_path: Path, width: int) -> None:
    """In a browser nothing complains, nothing runs over the side, nothing is asked for."""
    target = tmp_path / "power.html"
    target.write_text(sized, encoding="utf-8")
    seen = visit(target, width=width)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.requests == [seen.url]
def test_hostile_words_do_not_run(visit: Visitor, tmp_path: Path) -> None:
    """In a browser a hostile text opens no dialog and asks for nothing."""
    target = tmp_path / "hostile.html"
    target.write_text(result_page("title", blocks(HOSTILE)), encoding="utf-8")
    assert visit(target).requests == ["file://" + str(target)]
