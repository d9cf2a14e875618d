"""The HTML page of whole reports, from a trace file to the browser, on every axis."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turncurve import Settings, build_report, read_table
from turncurve.report.details import details
from turncurve.report.html import write_html
from turncurve.report.json import to_json

pytestmark = pytest.mark.browser
Visitor = Callable[..., Any]
"""Opens a page and gives a `Visit` (tests/report/conftest.py)."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs of up to 40 turns in the `turns` format, with a compaction at turn 20."""
    path = tmp_path_factory.mktemp("traces") / "turns.jsonl"
    with path.open("w") as file:
        for run in range(12):
            for turn in range(1, 29 + run):
                row = {
                    "run": f"run-{run}",
                    "scenario": f"task-{run % 4}",
                    "turn": turn,
                    "quality": round(0.9 - 0.01 * turn + 0.02 * ((run + turn) % 3), 3),
                    "context_tokens": 2_000 + 900 * (turn % 20),
                    "output_tokens": 100 + run,
                    "cost_usd": 0.01,
                    "action": f"search:q{turn % 9}",
                    "tool_error": int((run + turn) % 7 == 0),
                    "compaction": int(turn == 20),
                    "success": run % 2 == 0,
                }
                file.write(json.dumps(row) + "\n")
    return path


@pytest.mark.parametrize("axis", ["turn", "tokens", "progress", "event"])
def test_whole_report_is_drawn(axis: Any, traces: Path, tmp_path: Path, visit: Visitor) -> None:
    """On every axis the page draws quality, names the runs at a turn, and complains of nothing."""
    ingested = read_table([traces])
    report = build_report(ingested, settings=Settings(axis=axis))
    table, quality = ingested.table, report.quality
    values = details(table, quality=quality.name, better=quality.better)
    write_html(tmp_path / "page.html", to_json(report), details=values)
    seen = visit(tmp_path / "page.html")
    hero = seen.page.locator(".hero")
    assert hero.locator("circle").count() > 2
    figure = hero if axis == "turn" else seen.page.locator("#quality figure").nth(1)
    walker = figure.locator(".walker")
    walker.focus()
    seen.page.keyboard.press("End")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector(".worst li button")
    assert seen.page.locator("#sheet-title").text_content() == "Turn 39"
    assert seen.page.locator(".worst .name").all_text_contents() == ["run-11"]
    seen.page.keyboard.press("Escape")
    sections = seen.page.eval_on_selector_all("main > section", "all => all.map((e) => e.id)")
    assert {"quality", "signals", "context", "cost", "completion", "method"} <= set(sections)


def test_every_kind_of_curve_has_its_runs(traces: Path) -> None:
    """Each signal that the document draws a curve of has values by run on the page."""
    ingested = read_table([traces])
    report = build_report(ingested)
    values = details(ingested.table, quality=report.quality.name)
    assert set(to_json(report)["signals"]) <= set(values.signals)
