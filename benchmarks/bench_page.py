"""Size of the HTML report and time to its first curve, on 500 runs of 100 turns with text.

Run with `python benchmarks/bench_page.py`; needs Chromium and playwright. Targets: at most 15 MB,
and the first curve on screen within 1 s of the start of loading (median of 5).
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright
from timing import peak_megabytes

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from report.conftest import FLAGS  # noqa: E402
from report.report_fixture import report_document  # noqa: E402 - after the path is set
from report.synthetic_runs import synthetic_runs, table_of  # noqa: E402
from turncurve.report.details import details  # noqa: E402
from turncurve.report.html import write_html  # noqa: E402

WORDS = 120
"""Words of an answer; a result has twice as many, so a turn holds about 2,200 characters."""


def first_curve_seconds(page_path: Path, times: int = 5) -> list[float]:
    """Seconds from the start of loading to the frame after the first curve was drawn."""
    seconds = []
    with sync_playwright() as playwright:
        for _ in range(times):
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=FLAGS
            )
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.goto(page_path.as_uri())
            page.wait_for_selector("html[data-ready]")
            mark = "performance.getEntriesByName('turncurve:first-curve')[0].startTime"
            seconds.append(page.evaluate(mark) / 1000)
            browser.close()
    return seconds


def main() -> None:
    """Write the page, measure it, print one JSON object."""
    runs = synthetic_runs(500, 100, words=WORDS, full=True)
    table = table_of(runs)
    document = report_document(table)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "report.html"
        start = time.perf_counter()
        write_html(target, document, runs, details=details(table, quality="quality"))
        write_seconds = time.perf_counter() - start
        seconds = first_curve_seconds(target)
        size = target.stat().st_size
    characters = sum(
        len(t.text) + sum(len(r.text) for r in t.tool_results) for run in runs for t in run.turns
    )
    print(
        json.dumps(
            {
                "runs": len(runs),
                "turns": len(table.turn),
                "text_mb": round(characters / 1e6, 1),
                "page_mb": round(size / 1e6, 2),
                "write_seconds": round(write_seconds, 1),
                "first_curve_seconds": [round(s, 3) for s in seconds],
                "median_seconds": round(statistics.median(seconds), 3),
                "peak_memory_mb": round(peak_megabytes()),
            }
        )
    )


if __name__ == "__main__":
    main()
