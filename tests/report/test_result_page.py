"""The page of a result, in headless Chromium too: hostile names, light and dark, wide and small."""

from __future__ import annotations

import json
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
