"""A result as one page: all of its words, whole without a script, and safe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from report.page_blocks import HOSTILE, PageReader
from turncurve.analysis.step_power import StepPowerSettings, step_power
from turncurve.cli.main import cli
from turncurve.report.blocks import Block, Facts, Picture, Said, Table, as_markdown, as_text
from turncurve.report.result_page import result_page
from turncurve.report.step_power import TITLE, step_power_blocks

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/grader"
Visitor = Callable[..., Any]
"""Opens a page and gives a `Visit` (tests/report/conftest.py)."""


def blocks(name: str) -> list[Block]:
    return [
        Said(f"Found in {name}."),
        Facts(title="What it rests on", pairs=((name, name),)),
        Said(name),
        Table(title="Numbers", header=("a", "b"), rows=((name, "-1"),), align="<>", notes=(name,)),
        Table(title="None", header=("a",), rows=(), align="<"),
    ]


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
    ]
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


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits(visit: Visitor, sized: str, tmp_path: Path, width: int) -> None:
    """In a browser nothing complains, nothing runs over the side, nothing is asked for."""
    target = tmp_path / "power.html"
    target.write_text(sized, encoding="utf-8")
    seen = visit(target, width=width)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.requests == [seen.url]


@pytest.mark.browser
def test_hostile_words_do_not_run(visit: Visitor, tmp_path: Path) -> None:
    """In a browser a hostile text opens no dialog and asks for nothing."""
    target = tmp_path / "hostile.html"
    target.write_text(result_page("title", blocks(HOSTILE)), encoding="utf-8")
    assert visit(target).requests == ["file://" + str(target)]


def test_pictures_are_on_the_page_alone() -> None:
    """A drawing stands over its caption; text and Markdown, whose tables say the same, lack it."""
    drawn = (Said("first"), Picture(title="picture", svg="<svg></svg>", caption="<c>"))
    page = result_page("what it is", drawn)
    assert "<svg></svg><figcaption>&lt;c&gt;</figcaption>" in page
    assert "picture" not in as_text(drawn)
    assert "<svg></svg>" not in as_markdown("what", drawn)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1_200])
def test_a_grader_with_a_hostile_name(tmp_path: Path, visit: Visitor, width: int) -> None:
    """Its name does not run, its pictures are there, and nothing sticks out."""
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
    seen = visit(page, width=width)
    assert seen.requests == [seen.url]
    assert seen.page.locator("svg").count() == 2
    assert seen.page.locator("svg circle").count() == 2 + 2 * 4
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert "turns 11+" in seen.page.locator("svg text").all_text_contents()


@pytest.mark.parametrize(
    "command",
    [["cliff"], ["first-error"], ["reliability"], ["power", "steps"]],
    ids=lambda words: " ".join(words),
)
def test_every_result_has_a_page(command: list[str], tmp_path: Path) -> None:
    """`--html` of each command holds what its text says first."""
    runs = Path(__file__).resolve().parents[2] / "examples/long-agent"
    page = tmp_path / "page.html"
    done = CliRunner().invoke(cli, [*command, str(runs), "-q", "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert '<h1 class="long">' in page.read_text("utf-8")
