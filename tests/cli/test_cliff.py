"""`turncurve cliff`: what it prints, and that its JSON holds what it says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import turncurve
from analysis.test_steps import founding
from turncurve.cli.main import cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/long-agent"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["cliff", *map(str, arguments)])


def write(path: Path, scores: np.ndarray, **given: object) -> Path:
    """A file of the scores, by trial, scenario and turn."""
    with path.open("w") as out:
        for (trial, scenario, turn), score in np.ndenumerate(scores):
            if not np.isnan(score):
                row = {
                    "run": f"t{trial}s{scenario}",
                    "scenario": f"s{scenario}",
                    "trial": trial + 1,
                    "turn": turn + 1,
                    "quality": score,
                }
                out.write(json.dumps({**row, **given}) + "\n")
    return path


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """5 trials of 40 scenarios with a drop of .66 at turn 8."""
    return write(tmp_path_factory.mktemp("suite") / "suite.jsonl", founding())


def test_the_sentence_of_a_real_drop(suite: Path) -> None:
    """It says how much, at which turn, in how many trials, and what it survives."""
    text = run(suite, "--scale", 0, 6).stdout
    first = " ".join(text.split("\n\n")[0].split())
    assert first.startswith("Quality falls 0.77 ± 0.04 at turn 8")
    assert "at turn 8 in all five trials" in first
    assert "it survives the balanced panel" in first
    assert "The curve has a cliff of" in first
    assert max(map(len, text.splitlines())) <= 80


def test_json(suite: Path) -> None:
    """Every part is there, under its name."""
    document = json.loads(run(suite, "--json", "-", "--scale", 0, 6).stdout)
    by_turn = {step["turn"]: step for step in document["steps"]}
    names = {"turn", "delta", "paired_sd", "ratio", "t", "df", "p", "p_adjusted", "state"}
    assert names | {"n_pairs"} <= set(by_turn[8])
    assert (by_turn[8]["state"], by_turn[4]["state"]) == ("finding", "noise")
    shape = document["shape"]
    assert shape["verdict"] in ("cliff", "cliff on a slope")
    assert shape["turn"] == 8
    assert shape["turns_confidence_set"] == [8]
    assert shape["step"]["value"] == pytest.approx(-0.66, abs=0.12)
    assert shape["slope"]["low"] < shape["slope"]["value"] < shape["slope"]["high"]
    assert document["composition"]["verdict"] == "none seen"
    assert set(document["composition"]) >= {"active", "balanced", "ipcw", "composite"}
    assert document["event"] is None
    assert "no run has an event" in document["no_event"]
    assert document["family"]["units"] == "scenarios"
    assert document["screening"]["n_turns"] == 12
    assert document["screening"]["sup_f_turn"] == 8
    assert document["sentence"].startswith("Quality falls")


def test_a_step_to_watch_says_what_would_settle_it(tmp_path: Path) -> None:
    """How many runs more, and that a test repeated as they come in is none; the same in JSON."""
    rng = np.random.default_rng(8)
    scores = rng.normal(3, 0.05, (2, 6, 6))
    scores[:, ::2, 3:] -= 1.0
    path = write(tmp_path / "watch.jsonl", scores)
    text = " ".join(run(path, "--scale", 0, 6).stdout.split())
    document = json.loads(run(path, "--scale", 0, 6, "--json", "-").stdout)
    step = next(step for step in document["steps"] if step["turn"] == 4)
    assert step["state"] == "watch"
    settle = step["to_settle"]
    assert f"Turn 4 is to be watched: {settle['words']}." in text
    assert f"{settle['more_runs']} runs more" in settle["words"]
    assert "A test that is repeated as runs are added finds steps that are not there" in text


def test_the_example_falls_at_its_compaction() -> None:
    """The shipped example has its planted cliff at turn 42 to 44, and lines up on compactions."""
    document = json.loads(run(EXAMPLE, "--json", "-").stdout)
    assert document["shape"]["verdict"].startswith("cliff")
    assert set(document["shape"]["turns_confidence_set"]) & {42, 43, 44}
    event = document["event"]
    assert event["event"] == "compaction"
    assert event["n_excluded"] == 6
    assert set(event) >= {"step_by_turn", "step_by_offset", "n_excluded"}
    assert event["steps_by_offset"][1]["delta"] == pytest.approx(-0.22, abs=0.03)
    assert event["steps_by_offset"][1]["placebo_p"] < 0.1
    text = run(EXAMPLE).stdout
    assert "is no proof that it is the cause" in " ".join(text.split())


def test_runs_of_several_conditions_need_a_name(tmp_path: Path) -> None:
    """Status 2, and the names; hostile ones are escaped."""
    a = write(tmp_path / "a.jsonl", founding()[:2, :6], condition="a")
    b = write(tmp_path / "b.jsonl", founding()[:2, :6], condition="\x1b[31mb")
    done = run(a, b)
    assert done.exit_code == 2
    assert "2 conditions; name one with --condition: a, \\x1b[31mb" in done.stderr
    assert run(a, b, "--condition", "a", "-q").exit_code == 0
    assert "no run of the condition 'c'" in run(a, b, "--condition", "c").stderr


def test_options(suite: Path) -> None:
    """A stated size, buckets, another signal, an event that is none."""
    small = json.loads(run(suite, "--json", "-", "--size", 5).stdout)
    assert {step["state"] for step in small["steps"]} <= {"watch", "noise"}
    wide = json.loads(run(suite, "--json", "-", "--bucket", 4).stdout)
    assert [step["turn"] for step in wide["steps"]] == [5, 9]
    assert "at least 6" in wide["no_shape"]
    assert "no such signal" in run(suite, "--signal", "nonsense").stderr or (
        run(suite, "--signal", "nonsense").exit_code == 2
    )
    refused = run(suite, "--event", "quality")
    assert refused.exit_code == 2
    assert "it is a score" in refused.stderr


def test_markdown_and_files(suite: Path, tmp_path: Path) -> None:
    """Markdown and JSON go to files by their ending."""
    done = run(suite, "-o", tmp_path / "c.md", "-o", tmp_path / "c.json")
    assert done.exit_code == 0
    assert (tmp_path / "c.md").read_text().startswith("### turncurve: is the drop real")
    assert json.loads((tmp_path / "c.json").read_text())["shape"]["turn"] == 8


def test_one_run(tmp_path: Path) -> None:
    """A single run is no suite: everything is absent with a reason, nothing fails."""
    path = write(tmp_path / "one.jsonl", founding()[:1, :1])
    document = json.loads(run(path, "--json", "-").stdout)
    assert document["shape"] is None
    assert "got 1" in document["no_shape"]
    assert document["steps"] == []
    assert run(path).exit_code == 0


def test_in_python(suite: Path) -> None:
    """The same through the library."""
    table = turncurve.read([suite])
    found = turncurve.cliff(table, turncurve.CliffSettings(n_flips=999))
    assert found.shape.turn == 8
    assert {step.turn for step in found.steps.steps if step.state == "finding"} == {8}
    assert turncurve.drop_report(founding(), 8)["delta"] == pytest.approx(
        next(step.delta for step in found.steps.steps if step.turn == 8)
    )
