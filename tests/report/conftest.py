"""Headless Chromium for the tests of the HTML report, and a page to visit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from report.report_fixture import report_document
from report.synthetic_runs import synthetic_runs, table_of
from turncurve.model import Run
from turncurve.report.details import details
from turncurve.report.html import write_html

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
        seen.page.wait_for_selector("html[data-ready]", timeout=120_000)
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
