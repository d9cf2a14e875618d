"""The page of a comparison: whole without a script, safe, and readable at any width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.suites import suite_table
from analysis.test_compare import QUICK, scores
from report.page_blocks import HOSTILE, PageReader
from turncurve.analysis.compare import Comparison, compare
from turncurve.report.compare_page import compare_page

Visitor = Callable[..., Any]
"""Opens a page and gives a `Visit` (tests/report/conftest.py)."""


def compared(names: tuple[str, str] = ("old", "new"), **given: Any) -> Comparison:
    b = scores(2, at=8)
    b[:2, :6, 12:] = np.nan
    tables = suite_table(scores(1, at=14)), suite_table(b)
    return compare(*tables, replace(QUICK, **given), names=names)


@pytest.fixture(scope="module")
def page() -> str:
    return compare_page(compared(margin=0.2))


def test_the_numbers_are_in_the_page(page: str) -> None:
    """Verdict, sentence and charts need no script; each chart says what it shows."""
    read = PageReader(page)
    charts = [attrs for tag, attrs in read.tags if tag == "svg" and attrs.get("role") == "img"]
    assert len(charts) == 8  # two curves, difference, who is left, free of error; in two sizes
    assert all(attrs["aria-label"] for attrs in charts)
    assert '<p class="verdict bad">worse</p>' in page
    assert "new is worse than old at 6 of 20 turns, first at turn 8" in page
    titles = [attrs for tag, attrs in read.tags if tag == "section"]
    assert [attrs["id"] for attrs in titles] == [
        *("difference", "over", "place", "signals", "whole", "error", "turns", "compared"),
        "limits",
    ]


def test_every_turn_has_its_mark(page: str) -> None:
    """The difference has a dot a turn, the sure ones in their colour, and the margin its line."""
    wide = page.split('class="static wide"')[2].split("</svg>")[0]
    assert wide.count("<circle") == 20
    assert wide.count('class="dot worse"') == 6
    assert wide.count('class="dot better"') == 0
    assert wide.count('class="margin"') == 1
    assert wide.count("<title>") == 20
    assert "nan" not in wide
    assert "inf" not in wide


def test_the_page_asks_for_nothing(page: str) -> None:
    """No address, no attribute that runs, and a policy that allows its one script."""
    read = PageReader(page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on")]
    assert len(read.code()) == 1
    assert "script-src &#x27;sha256-" in page


def test_hostile_names_are_text() -> None:
    """What a trace is called cannot open an element."""
    read = PageReader(compare_page(compared((HOSTILE, HOSTILE + "2"))))
    plain = PageReader(compare_page(compared(("a", "b"))))
    assert {tag for tag, _ in read.tags} == {tag for tag, _ in plain.tags}
    assert len(read.scripts) == len(plain.scripts)


def test_a_comparison_without_a_difference() -> None:
    """Where the scales differ there is a page that says so, with what else is known."""
    a, b = suite_table(scores(1), scale=(0, 4)), suite_table(scores(2), scale=(0, 10))
    page = compare_page(compare(a, b, QUICK))
    assert "not comparable" in page
    assert "different scales" in page
    assert 'id="whole"' in page
    assert 'id="turns"' not in page


def test_no_spread_draws_no_band() -> None:
    """A suite against itself: lines, and no shape of width 0 or of NaN."""
    a = suite_table(scores(1, at=12))
    page = compare_page(compare(a, a, QUICK))
    assert 'class="band"' not in page
    assert "nan" not in page.lower().replace("provenance", "")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits(tmp_path: Path, visit: Visitor, page: str, width: int, scheme: str) -> None:
    """In a browser nothing complains, nothing runs over the side, and one size of a chart shows."""
    target = tmp_path / "compare.html"
    target.write_text(page, encoding="utf-8")
    seen = visit(target, width=width, color_scheme=scheme)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.page.evaluate("document.documentElement.dataset.theme") == scheme
    shown = "narrow" if width < 640 else "wide"
    hidden = "wide" if shown == "narrow" else "narrow"
    assert seen.page.locator(f"#difference svg.{shown}").first.is_visible()
    assert not seen.page.locator(f"#difference svg.{hidden}").first.is_visible()
    assert seen.requests == [seen.url]
    size = seen.page.locator(f"#difference svg.{shown} text").first.bounding_box()
    assert size["height"] >= 11
    seen.page.locator("#theme").click()
    assert seen.page.evaluate("document.documentElement.dataset.theme") != scheme


@pytest.mark.browser
def test_hostile_names_do_not_run(tmp_path: Path, visit: Visitor) -> None:
    """In a browser a hostile name opens no dialog and asks for nothing."""
    target = tmp_path / "compare.html"
    target.write_text(compare_page(compared((HOSTILE, HOSTILE + "2"))), encoding="utf-8")
    seen = visit(target)
    assert seen.requests == [seen.url]
