"""What the page carries of a report: bounded whatever was read."""

from __future__ import annotations

from typing import Any

import pytest

from report.page_blocks import PageReader
from report.report_fixture import report_document
from report.synthetic_runs import synthetic_runs, table_of
from turncurve.report.details import details
from turncurve.report.html import MAX_BYTES, render_html
from turncurve.report.page_data import MAX_CURVES, MAX_ROWS, page_document


@pytest.fixture
def document() -> dict[str, Any]:
    return report_document()


def long_document(n_signals: int, n_turns: int, n_files: int) -> dict[str, Any]:
    """A report on very long runs with very many signals, read from very many files."""
    names = [f"signal_{i}" for i in range(n_signals)]
    turns = list(range(1, n_turns + 1))
    values = [1 / (3 + turn) for turn in turns]
    series = {"turn": turns, "value": values, "low": values, "high": values, "n_runs": turns}
    rows = [
        {"signal": name, "axis": "turn", "from": turn, "to": turn, "n_runs": 9, "n_turns": 9}
        | {"value": value, "std_error": value, "low": value, "high": value, "partial": False}
        for name in names
        for turn, value in zip(turns, values, strict=True)
    ]
    paths = [f"runs/of/a/long/name/{i}.jsonl" for i in range(n_files)]
    return report_document() | {
        "quality_signal": {"name": "signal_0", "why": "it is the first"},
        "signals": {name: {"title": name} for name in names},
        "curves": rows,
        "panels": [row | {"panel": "balanced", "min_turns": 9} for row in rows],
        "by_turn": dict.fromkeys(names, series),
        "inputs": [{"path": path, "format": "turns", "n_runs": 1} for path in paths],
        "unread": paths,
        "problems_by_file": [{"path": path, "n_problems": 9, "n_listed": 5} for path in paths],
        "conditions": [{"condition": path, "n_runs": 1, "n_trials": 1} for path in paths],
        "summary": {"n_turns": n_turns, "exits": dict.fromkeys(paths, 1)},
    }


def test_a_page_stays_below_its_size_whatever_was_read() -> None:
    """60 signals by single turn over 5,000 turns from 50,000 files make a page within its bound."""
    document = long_document(60, 5_000, 50_000)
    page = "".join(render_html(document))
    assert len(page.encode()) < MAX_BYTES
    carried = PageReader(page).block("report")
    assert {row["signal"] for row in carried["panels"]} == {"signal_0"}
    for name in ("inputs", "unread", "conditions", "problems_by_file"):
        assert len(carried[name]) == MAX_ROWS
        assert carried["left_out"][name] == 50_000 - MAX_ROWS
    assert carried["left_out"]["exits"] == 50_000 - MAX_ROWS


def test_the_first_signals_keep_their_curves() -> None:
    """Curves are kept in the report's order, quality first; those left out are named."""
    carried = page_document(long_document(60, 5_000, 1))
    drawn = {row["signal"] for row in carried["curves"]}
    absent = carried["left_out"]["curves"]
    assert "signal_0" in drawn
    assert drawn | set(absent) == {f"signal_{i}" for i in range(60)}
    assert not drawn & set(absent)
    assert set(carried["by_turn"]).isdisjoint(carried["left_out"]["by_turn"])
    assert MAX_CURVES > 0


def test_a_usual_report_is_carried_whole(document: dict[str, Any]) -> None:
    """Where nothing is long, nothing is left out, and the curves' numbers keep six digits."""
    carried = page_document(document)
    left_out = carried["left_out"]
    assert not any(left_out.values())
    assert list(carried["by_turn"]) == list(document["by_turn"])
    for kept, given in zip(carried["curves"], document["curves"], strict=True):
        assert kept["value"] == pytest.approx(given["value"], rel=5e-6)
        assert {k: kept[k] for k in ("signal", "from", "n_runs")} == {
            k: given[k] for k in ("signal", "from", "n_runs")
        }
    assert carried["summary"] == document["summary"]


def test_values_by_run_take_their_share_at_most(document: dict[str, Any]) -> None:
    """Where values by run are too many, the best runs are left out of the list with a count."""
    table = table_of(synthetic_runs(200, 60))
    whole = details(table, quality="quality")
    bound = 200_000
    page = "".join(render_html(document, details=whole, max_bytes=bound))
    kept = PageReader(page).block("details")
    assert 0 < len(kept["runs"]) < 200
    assert len(kept["runs"]) + kept["n_omitted"] == 200
    assert [run["id"] for run in kept["runs"]] == [
        run["id"] for run in whole.run_rows()[: len(kept["runs"])]
    ]
    values = sum(
        len(text) for attrs, text in PageReader(page).scripts if "values" in (attrs.get("id") or "")
    )
    assert values <= 0.4 * bound
