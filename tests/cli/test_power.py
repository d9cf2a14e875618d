"""`turncurve power steps`: what it prints, its JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cli.test_cliff import write
from turncurve.cli.main import cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/long-agent"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["power", "steps", *map(str, arguments)])


def scores(n_trials: int, n_scenarios: int, seed: int = 1) -> np.ndarray:
    return 2 + np.random.default_rng(seed).normal(0, 0.3, (n_trials, n_scenarios, 6))


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3 trials of 6 scenarios over 6 turns."""
    return write(tmp_path_factory.mktemp("pilot") / "pilot.jsonl", scores(3, 6))


def test_without_a_pilot() -> None:
    """--sd and --step are enough: 5 trials at one turn, 8 at any of 11, and what these see."""
    text = run("--sd", 0.1, "--step", 0.2, "--positions", 11).stdout
    assert text.startswith(
        "A step of 0.2 at any of 11 turns needs 8 trials to be seen with a chance of 80\n%."
    )
    assert "same    0.2      1     p<0.05       5" in text
    assert "same    0.2     11  p<0.00455       8" in text
    assert "not known: no pilot" in text
    assert max(map(len, text.splitlines())) <= 80
    one = run("--sd", 0.1, "--step", 0.2).stdout
    assert one.startswith("A step of 0.2 at one turn chosen beforehand needs 5 trials")


def test_json() -> None:
    """Every part is there under its name; an infinite critical |t| is null."""
    document = json.loads(
        run("--sd", 0.1, "--step", 0.2, "--positions", 11, "--trials", 3, "--json", "-").stdout
    )
    assert document["schema_version"] == "1.0"
    last = document["needed"][-1]
    assert set(last) >= {
        *("estimand", "step", "alpha", "n_positions", "power", "n_trials", "n_trials_low"),
        *("n_trials_high", "n_runs", "cost_usd", "hours", "why", "in_paired_sds"),
    }
    assert last["n_trials"] == 8
    visible = document["visible"][-1]
    assert visible["n_trials"] == 3
    assert visible["exaggeration"] >= 1
    assert 0 <= visible["wrong_sign"] < 0.5
    assert document["top_up"]["critical"]["3"] is None
    assert document["adjusted_for"] == {
        "n_positions": 11,
        "method": "bonferroni",
        "alpha": pytest.approx(0.05 / 11),
        "critical": None,
    }


def test_a_pilot(pilot: Path) -> None:
    """Runs, the range by the pilot's SD, all three claims, and designs, in 80 columns."""
    done = run(pilot, "--step", 0.4, "--trials", 10)
    text = " ".join(done.stdout.split())
    assert "by the 95 % interval of the spread) to be seen" in text
    assert "For an adjusted p of turncurve cliff below 0.05" in text
    assert "More trials or more scenarios: a step of 0.4".upper() in done.stdout
    assert "Fewest runs for other scenarios like these" in text
    assert "cost not known; time not known; of 18 runs" in text
    assert max(map(len, done.stdout.splitlines())) <= 80
    document = json.loads(run(pilot, "--step", 0.4, "--json", "-").stdout)
    assert {row["estimand"] for row in document["needed"]} == {"suite", "population", "cliff"}
    assert document["n_trials"] == 3
    assert document["components"]["paired_sd_low"] < document["components"]["paired_sd"]
    assert {row["n_scenarios"] for row in document["designs"]} == {3, 6, 12, 24}


def test_the_example_has_a_price() -> None:
    """Cost and time of the shipped example's runs are those of its files."""
    document = json.loads(run(EXAMPLE, "--step", 0.2, "--json", "-").stdout)
    price = document["price"]
    assert (price["n_runs"], price["n_runs_with_cost"], price["n_runs_with_time"]) == (24, 24, 24)
    row = document["needed"][1]
    assert row["cost_usd"] == pytest.approx(row["n_runs"] * price["usd_per_run"])
    assert row["hours"] == pytest.approx(row["n_runs"] * price["seconds_per_run"] / 3_600)


def test_one_trial(tmp_path: Path) -> None:
    """It says how many scenarios one trial needs, and why there is no more."""
    path = write(tmp_path / "one.jsonl", scores(1, 8))
    text = " ".join(run(path, "--step", 0.4).stdout.split())
    assert text.startswith("A step of 0.4 at any of 5 turns needs one trial of ")
    assert "For the same scenarios it cannot be sized: one trial" in text
    assert "of the scenarios' changes" in text
    assert run(write(tmp_path / "run.jsonl", scores(1, 1)), "--step", 0.4).exit_code == 0


def test_markdown_and_files(pilot: Path, tmp_path: Path) -> None:
    """Markdown and JSON go to files by their ending, and a page is one file."""
    done = run(pilot, "--step", 0.4, "-o", tmp_path / "p.md", "-o", tmp_path / "p.json")
    assert done.exit_code == 0
    assert (tmp_path / "p.md").read_text().startswith("### turncurve: how many trials a step needs")
    assert json.loads((tmp_path / "p.json").read_text())["steps"] == [0.4]
    assert run(pilot, "--step", 0.4, "--html", tmp_path / "p.html").exit_code == 0
    assert "<h2" in (tmp_path / "p.html").read_text()


def test_what_is_refused(pilot: Path) -> None:
    """Status 2, and what would work."""
    for arguments, said in (
        ((), "wanted a PATH to a pilot, or both --sd and --step"),
        (("--sd", 0.1), "wanted a PATH to a pilot, or both --sd and --step"),
        (("--sd", 0.1, "--step", "nan"), "wanted a finite number"),
        (("--sd", 0.1, "--step", 0.2, "--trials", 1), "wanted a whole number, at least 2"),
        (("--sd", 0.1, "--step", 0.2, "--power", 0.04), "--power: wanted more than --alpha"),
        ((pilot,), "a step to size for"),
        ((pilot, "--step", 0.2, "--turn", 60), "a value at turn 60 and the one before"),
        ((pilot, "--step", 0.2, "--condition", "x"), "no run of the condition 'x'"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2, arguments
        assert said in " ".join(done.stderr.split()), arguments


def test_a_hostile_signal_stays_text(tmp_path: Path) -> None:
    """The name of a signal is escaped in Markdown."""
    name = "<b>|bold|</b>"
    rows = [
        {"run": f"{t}{s}", "scenario": f"s{s}", "trial": t + 1, "turn": n + 1, name: value}
        for (t, s, n), value in np.ndenumerate(scores(2, 2))
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run(path, "--signal", name, "--step", 0.4)
    assert f"{name}: the signal that was asked for" in " ".join(done.stdout.split())
    markdown = run(path, "--signal", name, "--step", 0.4, "--markdown", "-").stdout
    assert "the signal that was asked for" in markdown
    assert "<b>" not in markdown
    assert "|bold|" not in markdown
