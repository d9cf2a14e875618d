"""The HTML report in headless Chromium: hostile content does not run, and no request leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.page_blocks import HOSTILE
from report.report_fixture import report_document
from report.synthetic_runs import INFO, table_of
from turncurve.model import Message, Run, ToolCall, ToolResult
from turncurve.report.details import details
from turncurve.report.html import write_html

pytestmark = pytest.mark.browser
Visitor = Callable[..., Any]
"""Opens a page and gives a `Visit` (tests/report/conftest.py)."""


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
