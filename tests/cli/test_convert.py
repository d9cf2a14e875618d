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
from turncurve.ingest import import_files, read_table
from turncurve.table import TurnTable

DATA = Path(__file__).resolve().parents[1] / "data"
SOURCES = sorted(path for path in DATA.iterdir() if path.is_dir())
"""Every format's fixtures."""


def convert(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turncurve", "convert", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


NOT_IN_TURNS = {
    *("n_actions", "n_actions_counted"),  # several calls of a turn are one action
    *("n_actions_with_result", "repeated_result"),
}
"""Columns that a record of a turn has no place for, as the docs say."""


def by_run(table: TurnTable) -> dict[str, tuple[int, slice]]:
    """Position and rows of each run that has a turn, by its id."""
    ends = zip(table.runs.id.tolist(), table.offsets[:-1], table.offsets[1:], strict=True)
    return {
        run: (position, slice(start, stop))
        for position, (run, start, stop) in enumerate(ends)
        if stop > start
    }


def same_columns(before: TurnTable, after: TurnTable, *, apart: set[str], runs: set[str]) -> None:
    rows, again = by_run(before), by_run(after)
    assert set(before.columns) == set(after.columns)
    for name in set(before.columns) - apart:
        for run in runs:
            np.testing.assert_allclose(
                after.columns[name][again[run][1]],
                before.columns[name][rows[run][1]],
                rtol=1e-9,
                err_msg=f"{name} of {run}",
            )


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_turns_read_back_as_the_same_columns(tmp_path: Path, ending: str) -> None:
    """Of every format's fixtures every signal comes back, but for those of actions' results."""
    target = tmp_path / f"all.{ending}"
    done = convert(*SOURCES, "--to", "turns", "-o", target)
    assert done.returncode == 0, done.stderr
    before, after = read_table(SOURCES).table, read_table([target])
    assert after.problems == ()
    assert set(by_run(after.table)) == set(by_run(before))
    passing = {"demo__product-2"}  # its one repeat is a retry after a passing error
    runs = set(by_run(before)) - passing
    same_columns(before, after.table, apart=NOT_IN_TURNS, runs=runs)


def test_atif_reads_back_as_the_same_table(tmp_path: Path) -> None:
    """Of every format's fixtures every signal of every turn, and what is known of every run."""
    done = convert(*SOURCES, "--to", "atif", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    before, after = read_table(SOURCES).table, read_table([tmp_path / "out"])
    assert after.problems == ()
    assert sorted(after.table.runs.id) == sorted(before.runs.id)
    same_columns(before, after.table, apart=set(), runs=set(by_run(before)))
    position = {name: i for i, name in enumerate(after.table.runs.id.tolist())}
    order = [position[name] for name in before.runs.id.tolist()]
    for field in ("scenario", "trial", "condition", "parent", "success", "exit_type", "model"):
        theirs = np.asarray(getattr(after.table.runs, field))[order].tolist()
        ours = np.asarray(getattr(before.runs, field)).tolist()
        assert [*map(str, theirs)] == [*map(str, ours)], field  # NaN is not equal to itself


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


def test_losses_are_counted(tmp_path: Path) -> None:
    """How many runs lose what is said on stderr, and only runs with a record count as written."""
    done = convert(
        DATA / "terminal_bench", DATA / "tau2", "--to", "turns", "-o", tmp_path / "t.csv"
    )
    table = read_table([DATA / "terminal_bench", DATA / "tau2"]).table
    n_empty = int((table.runs.n_turns == 0).sum())
    assert n_empty > 1
    assert f"{n_empty} runs have no turn, and so no record" in done.stderr
    assert f"wrote {table.n_runs - n_empty} runs" in done.stderr


def test_a_run_that_went_is_told(tmp_path: Path) -> None:
    """A store whose file is gone gives no text: its runs are counted, and --strict fails."""
    shutil.copytree(DATA / "claude_code", tmp_path / "in")
    import_files([tmp_path / "in"], tmp_path / "store")
    shutil.rmtree(tmp_path / "in")
    words = (tmp_path / "store", "--to", "turns", "-o", tmp_path / "t.jsonl")
    done = convert(*words)
    n_runs = read_table([tmp_path / "store"]).table.n_runs
    assert done.returncode == 0
    assert f"left out {n_runs} runs" in done.stderr
    assert "wrote 0 runs" in done.stderr
    assert convert(*words, "--strict").returncode == 2


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    """The file that is read, and the folder of it, are refused and stay as they were."""
    source = tmp_path / "t.jsonl"
    shutil.copyfile(DATA / "turns" / "compacted.jsonl", source)
    for words in (["turns", "-o", source], ["atif", "-o", tmp_path]):
        done = convert(tmp_path, "--to", *words)
        assert done.returncode == 2
        assert "it is read, or holds files that are" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    assert source.read_bytes() == (DATA / "turns" / "compacted.jsonl").read_bytes()


@pytest.mark.parametrize("form", ["turns", "otel-events"])
def test_standard_output_takes_what_a_file_does(tmp_path: Path, form: str) -> None:
    """`-o -` gives the same lines."""
    convert(DATA / "otel", "--to", form, "-o", tmp_path / "a.jsonl")
    done = convert(DATA / "otel", "--to", form, "-o", "-")
    assert done.stdout == (tmp_path / "a.jsonl").read_text()
    assert done.stdout.endswith("}\n")


def test_long_runs_are_many_requests(tmp_path: Path) -> None:
    """No request holds many more than a thousand events, and none is lost or doubled."""
    rows = [{"run": "r", "turn": n, "quality": 1.0, "cost_usd": 0.5} for n in range(1, 2001)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    convert(tmp_path / "t.jsonl", "--to", "otel-events", "-o", tmp_path / "e.jsonl")
    lines = (tmp_path / "e.jsonl").read_text().splitlines()
    sizes = [line.count("gen_ai.evaluation.result") for line in lines]
    assert len(sizes) > 2
    assert max(sizes) < 1_100
    named = [attributes(record) for record in events(tmp_path / "e.jsonl")]
    quality = [a["turncurve.turn"] for a in named if a["gen_ai.evaluation.name"] == "quality"]
    assert quality == [str(n) for n in range(1, 2001)]


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
