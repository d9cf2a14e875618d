"""The Scout scanner: one result a turn, with the verdicts of the scorer."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes

from inspect_ext.offline import lookup, quiet, record, run, words
from turncurve.inspect_ext import signals_scorer


def test_a_scan_gives_the_scorers_verdicts(tmp_path: Path) -> None:
    """A row a turn of each transcript, with the verdict, why, and the turn's signals."""
    inspect_scout = pytest.importorskip("inspect_scout", reason="needs the extra `scout`")
    from turncurve.inspect_ext.scout import turn_signals  # noqa: PLC0415 - needs Scout

    task = Task(
        dataset=[Sample(input="w", target="done")],
        solver=react(tools=[lookup()]),
        scorer=[includes(), signals_scorer()],
    )
    done = run(task, words('k1 bad k2 k2 "hm k3'), tmp_path / "logs")
    with quiet():
        status = inspect_scout.scan(
            [turn_signals()],
            transcripts=inspect_scout.transcripts_from(str(tmp_path / "logs")),
            scans=str(tmp_path / "scans"),
            display="none",
            max_processes=1,
        )
        rows = inspect_scout.scan_results_df(status.location).scanners["turn_signals"]
    letters = {"fail": "F", "neutral": "N", "pass": "P", "missing": "-"}
    assert "".join(letters[label] for label in rows["label"]) == record(done)["validity"]
    assert record(done)["validity"] == "PFPN-PP"
