"""`turncurve reliability` and `turncurve horizon`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turncurve.cli.main import cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/long-agent"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def test_reliability_of_the_example() -> None:
    """14 of 24 runs of 8 scenarios succeed; the JSON has a row a k."""
    done = run("reliability", EXAMPLE, "--json", "-")
    document = json.loads(done.stdout)
    assert [row["k"] for row in document["pass_hat_k"]] == [1, 2, 3]
    assert document["pass_hat_k"][0]["value"] == pytest.approx(14 / 24)
    assert set(document["pass_hat_k"][0]) >= {"k", "value", "std_error", "low", "high"}
    assert document["pass_at_k"][2]["value"] == pytest.approx(0.75)
    assert document["n_runs"] == 24


def test_reliability_as_text_and_markdown() -> None:
    """A sentence, a table in 80 columns, and what was left out."""
    text = run("reliability", EXAMPLE).stdout
    assert text.startswith(
        "A trial succeeds with a chance of 0.583 [0.259, 0.908] over 8 scenarios"
    )
    assert "C(c, k) / C(n, k)" in text
    assert max(map(len, text.splitlines())) <= 80
    assert run("reliability", EXAMPLE, "--markdown", "-").stdout.startswith("### turncurve: rel")


def test_a_hostile_condition_stays_text(tmp_path: Path) -> None:
    """A condition's name is escaped in the terminal and in Markdown."""
    rows = [
        {"run": f"{i}", "turn": 1, "quality": 1, "scenario": "s", "success": True, "condition": c}
        for i, c in enumerate(["\x1b[31mred", "<b>|bold|</b>"])
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = run("reliability", path).stdout
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text
    markdown = run("reliability", path, "--markdown", "-").stdout
    assert "<b>" not in markdown
    assert "|bold|" not in markdown


def test_runs_that_say_nothing_are_an_error(tmp_path: Path) -> None:
    """Status 2 and what is needed."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"run": "r", "turn": 1, "quality": 1}\n')
    done = run("reliability", path)
    assert done.exit_code == 2
    assert "runs with a scenario and a known success" in done.stderr


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Two agents on 12 tasks of 1 to 2,048 minutes; the second never succeeds."""
    path = tmp_path / "scores.csv"
    lines = ["agent,task,score,minutes"]
    for i in range(12):
        lines += [f"<i>x</i>,t{i},{int(i + run < 7)},{2**i}" for run in range(4)]
        lines.append(f"never,t{i},0,{2**i}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_horizon_of_a_table(scores: Path) -> None:
    """Hours by agent in JSON; a reason where there is none; text in 80 columns."""
    done = run("horizon", scores, "--json", "-", "--resamples", 200)
    horizons = json.loads(done.stdout)["horizons"]
    assert horizons["<i>x</i>"]["p50"]["value"] == pytest.approx(2**5 / 60, rel=0.25)
    assert horizons["never"]["p50"]["value"] is None
    assert "no run succeeds" in horizons["never"]["p50"]["reason"]
    text = run("horizon", scores, "--resamples", 200).stdout
    assert "no run succeeds" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "<i>" not in run("horizon", scores, "--resamples", 200, "--markdown", "-").stdout


def test_horizon_with_times_beside(scores: Path, tmp_path: Path) -> None:
    """Times of a file stand over those in the scores, and a bad row is told."""
    times = tmp_path / "times.csv"
    times.write_text("task,hours\n" + "".join(f"t{i},{2**i}\n" for i in range(12)) + "t3,soon\n")
    done = run("horizon", scores, "--times", times, "--json", "-", "--resamples", 200)
    assert json.loads(done.stdout)["horizons"]["<i>x</i>"]["p50"]["value"] > 10
    assert "times.csv:14" in done.stderr
    assert run("horizon", scores, "--times", times, "--strict", "--resamples", 200).exit_code == 2


def test_horizon_without_any_time(tmp_path: Path) -> None:
    """Status 2 and what is needed."""
    path = tmp_path / "a.csv"
    path.write_text("agent,task,score\na,t,1\n")
    done = run("horizon", path)
    assert done.exit_code == 2
    assert "scores of tasks with a time" in done.stderr
