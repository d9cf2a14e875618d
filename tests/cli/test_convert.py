"""`turncurve convert`: what comes out reads back as what went in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from turncurve.cli.convert_files import file_name
from turncurve.ingest import import_files, iter_runs, read_table
from turncurve.model import Run

DATA = Path(__file__).resolve().parents[1] / "data"
SOURCES = [DATA / name for name in ("claude_code", "otel", "tau2", "opencode", "graded")]


def convert(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turncurve", "convert", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_turns_read_back_as_the_same_columns(tmp_path: Path, ending: str) -> None:
    """Every observed signal of every turn comes back, and each run with its id and trial."""
    target = tmp_path / f"all.{ending}"
    done = convert(*SOURCES, "--to", "turns", "-o", target)
    assert done.returncode == 0, done.stderr
    before, after = read_table(SOURCES).table, read_table([target]).table
    with_turns = [i for i, n in enumerate(before.runs.n_turns) if n]
    assert after.runs.id.tolist() == before.runs.id[with_turns].tolist()
    np.testing.assert_array_equal(after.turn, before.turn)
    kept = {n for n in before.columns if not np.isnan(before.columns[n]).all()}
    for name in kept & {
        *("quality", "error", "context_tokens", "cached_input_tokens", "output_tokens"),
        *("cost_usd", "started_at", "seconds", "n_tool_calls", "n_tool_errors", "tool_error"),
        "repeated_action",
    }:
        np.testing.assert_allclose(
            after.columns[name], before.columns[name], rtol=1e-9, err_msg=name
        )


def whole(run: Run) -> list[tuple[object, ...]]:
    """What a turn holds that ATIF has a place for."""
    return [
        (
            turn.text,
            turn.usage,
            turn.cost_usd,
            turn.model,
            turn.started_at and round(turn.started_at, 5),
            [(call.id, call.name, call.arguments) for call in turn.tool_calls],
            [(result.call_id, result.text, result.error) for result in turn.tool_results],
        )
        for turn in run.turns
    ]


@pytest.mark.parametrize("source", ["claude_code", "otel", "opencode", "claude_managed_agents"])
def test_atif_reads_back_as_the_same_turns(tmp_path: Path, source: str) -> None:
    """Texts, tools, results, usage, cost, times and compactions are the same after a round trip."""
    done = convert(DATA / source, "--to", "atif", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    before = {run.id: run for run in iter_runs([DATA / source]) if run.turns}
    after = {run.id: run for run in iter_runs([tmp_path / "out"]) if run.turns}
    assert set(after) == set(before)
    for name, run in before.items():
        ours, theirs = whole(after[name]), whole(run)
        for mine, given in zip(ours, theirs, strict=True):
            assert mine[:2] == given[:2]
            assert mine[2] == pytest.approx(given[2])
            assert mine[3:5] == given[3:5]
            assert mine[5] == given[5]
            assert [r for r in mine[6] if r[2] is not None] == [
                r for r in given[6] if r[2] is not None
            ]
        compactions = [e.turn for e in run.events if e.kind == "compaction"]
        assert [e.turn for e in after[name].events if e.kind == "compaction"] == compactions


def test_atif_is_valid_and_holds_the_signals(tmp_path: Path) -> None:
    """The format's own models accept every file; signals and grades stand in `extra`."""
    trajectory = pytest.importorskip(
        "atif", reason="the second opinion is not installed"
    ).Trajectory
    convert(DATA / "graded", DATA / "mt_bench", "--to", "atif", "-o", tmp_path / "out")
    paths = sorted((tmp_path / "out").iterdir())
    assert paths
    grades = []
    for path in paths:
        document = json.loads(path.read_text())
        trajectory.model_validate(document)
        for step in document["steps"]:
            own = step.get("extra", {}).get("turncurve", {})
            grades += own.get("grades", [])
            assert all(isinstance(v, float | int) for v in own.get("signals", {}).values())
    assert any("validity" in grade and "grader" in grade for grade in grades)
    assert any("missing_reason" in grade and "validity" not in grade for grade in grades)


def events(path: Path) -> list[dict]:
    return [
        record
        for line in path.read_text().splitlines()
        for resource in json.loads(line)["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def attributes(record: dict) -> dict[str, object]:
    return {one["key"]: next(iter(one["value"].values())) for one in record["attributes"]}


def test_events_join_the_spans_they_are_about(tmp_path: Path) -> None:
    """A signal of a turn that was a span has that span's trace and id."""
    convert(DATA / "otel/requests.jsonl", "--to", "otel-events", "-o", tmp_path / "e.jsonl")
    records = events(tmp_path / "e.jsonl")
    assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
    assert {record["traceId"] for record in records} == {"a" * 31 + "1"}
    assert {record["spanId"] for record in records} == {f"{n:016x}" for n in (2, 6, 7)}
    context = {
        record["spanId"]: attributes(record)["gen_ai.evaluation.score.value"]
        for record in records
        if attributes(record)["gen_ai.evaluation.name"] == "context_tokens"
    }
    assert context == {f"{2:016x}": 100.0, f"{6:016x}": 30.0, f"{7:016x}": 200.0}


def test_grades_are_labels_and_missing_ones_say_why(tmp_path: Path) -> None:
    """A grade is a label without a number; one that is missing has its reason and no label."""
    convert(DATA / "graded", DATA / "mt_bench", "--to", "otel-events", "-o", tmp_path / "e.jsonl")
    graded = [attributes(r) for r in events(tmp_path / "e.jsonl")]
    grades = [a for a in graded if a["gen_ai.evaluation.name"] == "validity"]
    labels = [a.get("gen_ai.evaluation.score.label") for a in grades]
    assert {"pass", "fail"} <= set(labels)
    missing = [a for a in grades if "gen_ai.evaluation.score.label" not in a]
    assert missing
    assert all(a["gen_ai.evaluation.explanation"] for a in missing)
    assert all("gen_ai.evaluation.score.value" not in a for a in grades)


def test_a_store_converts_as_its_files_do(tmp_path: Path) -> None:
    """From a store the same records come out."""
    shutil.copytree(DATA / "claude_code", tmp_path / "in")
    import_files([tmp_path / "in"], tmp_path / "store")
    convert(tmp_path / "in", "--to", "turns", "-o", tmp_path / "a.jsonl")
    convert(tmp_path / "store", "--to", "turns", "-o", tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_ids_are_no_paths() -> None:
    """Whatever a trace calls its run, its file lies in the folder, under a name of its own."""
    names = [file_name(run) for run in ("../../etc/passwd", "a/b", "a_b", "", "x" * 500, "ü\0")]
    assert len(set(names)) == len(names)
    for name in names:
        assert "/" not in name
        assert not name.startswith(".")
        assert len(name) < 120


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "turns", "-o", "x.xlsx"], "ends in .jsonl, .csv, .parquet"),
        (["--to", "otel-events", "-o", "no/such/e.jsonl"], "there is no such folder"),
        (["--to", "atif", "-o", __file__], "wanted a folder"),
        (["--to", "spreadsheet", "-o", "x"], "is not one of"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    """A target that cannot be written ends with status 2 and says what would work."""
    words = [
        word if word.startswith(("-", "/")) or "." not in word else str(tmp_path / word)
        for word in words
    ]
    done = convert(DATA / "claude_code", *words)
    assert done.returncode == 2
    assert said in done.stderr
