"""`turncurve battery`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turncurve.cli.main import cli
from turncurve.ingest import import_files


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["battery", *map(str, arguments)])


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Twelve graded traces of ten steps that fail more and more, in the format `graded`."""
    lines = []
    for i in range(12):
        steps = [
            {
                "step_index": j,
                "validity": "fail" if (7 * i + 3 * j) % 10 < j else "neutral",
                "dependency": "independent",
                "complexity": ("low", "medium", "high")[(i + j) % 3],
                "is_looping": (i + j) % 4 == 0,
                "grader_model": "g",
                "raw": {"step_phase": "act" if (i * j) % 2 else "explore"},
            }
            for j in range(10)
        ]
        trace = {"trace_id": f"t{i}", "task_id": f"k{i}", "model": "m", "success": None}
        lines.append(json.dumps({**trace, "source": "s", "steps": steps, "metadata": {}}))
    path = tmp_path / "graded.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_json_text_markdown_and_page(graded: Path, tmp_path: Path) -> None:
    """The same finding in each form."""
    done = run(graded, "--json", "-", "--resamples", 99)
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["n_turns"] == 120
    assert document["slopes"][0]["name"] == "within_cr2"
    assert document["slopes"][0]["value"] > 0
    page = tmp_path / "page.html"
    text = run(graded, "--resamples", 99).stdout
    assert text.startswith("Errors rise by")
    assert max(map(len, text.splitlines())) <= 80
    assert run(graded, "--markdown", "-", "--resamples", 99).stdout.startswith(
        "### turncurve: does"
    )
    assert run(graded, "-o", page, "--resamples", 99).exit_code == 0
    assert "<svg" in page.read_text("utf-8")


def test_the_same_seed_gives_the_same_numbers(graded: Path) -> None:
    """And another seed other shuffles."""
    one, two = (run(graded, "--json", "-", "--resamples", 99).stdout for _ in range(2))
    assert one == two
    other = run(graded, "--json", "-", "--resamples", 99, "--seed", 5).stdout
    key = "dependence"
    assert json.loads(one)[key][0]["found"] != json.loads(other)[key][0]["found"]


def test_grades_beside_traces_and_in_a_store(graded: Path, tmp_path: Path) -> None:
    """--grades FILE on traces, and a store of graded files, give what the graded file gives."""
    rows = [
        {"run": f"t{i}", "turn": j, "text": "x", "scenario": f"k{i}"}
        for i in range(12)
        for j in range(1, 11)
    ]
    traces = tmp_path / "traces.jsonl"
    traces.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_files([graded], tmp_path / "s.store")
    wanted = json.loads(run(graded, "--json", "-", "--resamples", 99).stdout)
    beside = json.loads(run(traces, "--grades", graded, "--json", "-", "--resamples", 99).stdout)
    stored = json.loads(run(tmp_path / "s.store", "--json", "-", "--resamples", 99).stdout)
    for other in (beside, stored):
        assert other["slopes"][0]["value"] == pytest.approx(wanted["slopes"][0]["value"])
        assert [r["value"] for r in other["rates"]] == [r["value"] for r in wanted["rates"]]
        assert other["stretches"][0]["n"] == wanted["stretches"][0]["n"]


def test_marks_of_errors_are_enough(tmp_path: Path) -> None:
    """A table with a column `error` of 0 and 1."""
    path = tmp_path / "marks.csv"
    lines = [f"r{i},{j},{int((i * j) % 7 < j / 3)}" for i in range(8) for j in range(1, 15)]
    path.write_text("run,turn,error\n" + "\n".join(lines) + "\n")
    done = run(path, "--json", "-", "--resamples", 99)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rates"][1]["reason"].startswith("the grades say failing")


def test_nothing_graded_and_wrong_options_are_usage_errors(tmp_path: Path) -> None:
    """Status 2, and what is wanted."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"run": "r", "turn": 1, "quality": 1}\n')
    done = run(path)
    assert done.exit_code == 2
    assert "turns with a grade" in done.stderr
    assert run(path, "--margin", "nan").exit_code == 2
    assert run(path, "--min-turns", 1).exit_code == 2
