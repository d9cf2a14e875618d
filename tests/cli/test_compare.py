"""`turncurve compare`: what it prints, how it ends, and that every form says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from analysis.test_compare import scores
from turncurve.cli.main import cli

ASKED = ("--scale", 0, 6, "--threshold", 2.8)
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["compare", *map(str, arguments)])


def write(path: Path, values: np.ndarray, **given: object) -> Path:
    """A file of the scores, by trial, scenario and turn."""
    name = str(given.get("condition", ""))
    with path.open("w", encoding="utf-8") as out:
        for (trial, scenario, turn), score in np.ndenumerate(values):
            if not np.isnan(score):
                row = {
                    "run": f"{name}t{trial}s{scenario}",
                    "scenario": f"s{scenario}",
                    "trial": trial + 1,
                    "turn": turn + 1,
                    "quality": score,
                    "output_tokens": 100 + 10 * trial + scenario,
                }
                out.write(json.dumps({**row, **given}) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`old.jsonl` falls at turn 14, `new.jsonl` at turn 8, `same.jsonl` as old does."""
    folder = tmp_path_factory.mktemp("compare")
    write(folder / "old.jsonl", scores(1, at=14))
    write(folder / "new.jsonl", scores(2, at=8))
    write(folder / "same.jsonl", scores(3, at=14))
    one = write(folder / "a.part", scores(1, at=14), condition="v1", model="m1")
    two = write(folder / "b.part", scores(2, at=8), condition="v2", model="m1")
    (folder / "both.jsonl").write_text(one.read_text() + two.read_text())
    return folder


@pytest.fixture(scope="module")
def document(folder: Path) -> dict:
    done = run(folder / "old.jsonl", folder / "new.jsonl", *ASKED, "--json", "-", "-q")
    return json.loads(done.stdout)


def test_the_text(folder: Path) -> None:
    """The verdict, where, how much, and the cliff's movement come first; no line is too wide."""
    done = run(folder / "old.jsonl", folder / "new.jsonl", "--scale", 0, 6)
    assert done.exit_code == 0
    first = " ".join(done.stdout.split("\n\n")[0].split())
    assert "new.jsonl is worse than old.jsonl at 6 of 20 turns, first at turn 8, and in" in first
    assert "Its cliff comes 6 turns earlier: turn 8, was 14; moved by -6 [" in first
    assert max(map(len, done.stdout.splitlines())) <= 80
    for title in (
        *("WHAT WAS COMPARED", "DIFFERENCE OVER TURNS, B - A", "DIFFERENCE BY TURN"),
        *("CLIFF OR KNEE", "FIRST ERROR", "RUNS AS A WHOLE", "LIMITS"),
        "SIGNALS, THOSE THAT MOVED FIRST",
    ):
        assert f"\n{title}\n" in done.stdout


def test_json(document: dict) -> None:
    """Names are those of Python; every point has its n, its interval and its band."""
    assert document["verdict"] == "worse"
    assert document["sentence"].endswith("].")
    assert document["worse_at"] == [8, 9, 10, 11, 12, 13]
    assert (document["n_scenarios"], document["pair_by"]) == (20, "scenario")
    points = document["difference"]["points"]
    assert [point["from"] for point in points] == list(range(1, 21))
    for point in points:
        assert point["n_pairs"] == 20
        assert point["band_low"] < point["low"] < point["difference"] < point["high"]
        assert point["suite"]["n_trials_a"] == 3
    assert set(document["difference"]["area"]) >= {"value", "low", "high", "n_clusters", "df"}
    assert document["places"]["moved"]["value"] == -6
    assert document["first_error"]["ratio"]["high"] < 1
    assert document["signals"]["n_tested"] == 1
    assert {one["name"] for one in document["amounts"]} >= {"success", "cost for each success"}
    for one in document["amounts"]:
        assert (one["change"]["value"] is None) == (one["change"]["reason"] is not None)


def test_every_form_says_the_same(folder: Path, tmp_path: Path, document: dict) -> None:
    """Text, Markdown, JSON and the page have the same sentence."""
    targets = [tmp_path / name for name in ("c.txt", "c.md", "c.json")]
    outputs = [part for target in targets for part in ("-o", target)]
    page = tmp_path / "page"
    done = run(folder / "old.jsonl", folder / "new.jsonl", *ASKED, *outputs, "--html", page)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert done.stderr.count("wrote ") == 4
    sentence = document["sentence"].split(". ")[0]
    assert json.loads(targets[2].read_text())["sentence"] == document["sentence"]
    assert sentence in " ".join(targets[0].read_text().split())
    assert targets[1].read_text().startswith("### turncurve: two conditions compared")
    assert f">{sentence}.</h1>" in page.read_text()


def test_the_gate(folder: Path) -> None:
    """Worse ends with 1, no difference with 0; a margin that is not shown with 1."""
    old, new, same = (folder / f"{name}.jsonl" for name in ("old", "new", "same"))
    failed = run(old, new, "--fail-on", "worse", "-q")
    assert failed.exit_code == 1
    assert "turncurve: --fail-on worse: worse" in failed.stderr
    assert run(old, same, "--fail-on", "worse", "-q").exit_code == 0
    assert run(new, old, "--fail-on", "worse", "-q").exit_code == 0
    assert run(old, same, "--fail-on", "not-shown", "--margin", 0.5, "-q").exit_code == 0
    assert run(old, same, "--fail-on", "not-shown", "--margin", 0.001, "-q").exit_code == 1
    refused = run(old, same, "--fail-on", "not-shown")
    assert refused.exit_code == 2
    assert "--margin" in refused.stderr


def test_a_gate_with_nothing_to_judge(tmp_path: Path) -> None:
    """What cannot be compared neither passes nor fails: status 2."""
    a = write(tmp_path / "a.jsonl", scores(1, shape=(1, 8, 6)))
    b = write(tmp_path / "b.jsonl", scores(2, shape=(1, 8, 6)))
    b.write_text(b.read_text().replace('"quality"', '"other"'))
    done = run(a, b, "--fail-on", "worse", "-q")
    assert done.exit_code == 2
    assert "nothing to judge" in done.stderr
    assert run(a, b, "-q").exit_code == 0


def test_two_conditions_of_one_path(folder: Path) -> None:
    """They are A and B in the order of the runs; --a and --b choose."""
    both = folder / "both.jsonl"
    assert run(both, "-q").stdout.startswith("v2 is worse than v1")
    assert run(both, "--a", "v2", "--b", "v1", "-q").stdout.startswith("v1 is better than v2")
    assert run(both, "--b", "v1", "-q").stdout.startswith("v1 is better than v2")
    refused = run(both, "--a", "v3", "--b", "v1")
    assert refused.exit_code == 2
    assert "--a: no run with the condition 'v3'; there are: v1, v2" in refused.stderr


def test_two_models_of_one_path(tmp_path: Path) -> None:
    """--by model takes A and B by their model."""
    a = write(tmp_path / "a.jsonl", scores(1, shape=(1, 8, 6)))
    done = run(a, "--by", "model")
    assert done.exit_code == 2
    assert "the runs name no model" in done.stderr


def test_what_cannot_be_told_apart(folder: Path, tmp_path: Path) -> None:
    """Several conditions on one side, one path without conditions, three paths: each is refused."""
    several = run(folder / "both.jsonl", folder / "old.jsonl")
    assert several.exit_code == 2
    assert "A holds 2 conditions; name one with --a: v1, v2" in several.stderr
    assert "the runs name no condition" in run(folder / "old.jsonl").stderr
    three = run(*[folder / "old.jsonl"] * 3)
    assert "wanted one path or two, got 3" in three.stderr
    other = write(tmp_path / "few.jsonl", scores(1, shape=(1, 4, 6)))
    few = run(folder / "old.jsonl", other, "-q")
    assert few.exit_code == 2
    assert "old.jsonl and few.jsonl have" in few.stderr
    assert "4 scenarios in common and a comparison needs 5" in few.stderr
    assert "Traceback" not in few.stderr


def test_folders_and_stores(folder: Path, tmp_path: Path) -> None:
    """A store is a side like a file, and gives the same numbers."""
    store = tmp_path / "store"
    done = CliRunner().invoke(cli, ["import", str(folder / "old.jsonl"), "--store", str(store)])
    assert done.exit_code == 0
    kept = json.loads(run(store, folder / "new.jsonl", "--json", "-", "-q").stdout)
    plain = json.loads(run(folder / "old.jsonl", folder / "new.jsonl", "--json", "-", "-q").stdout)
    assert kept["difference"] == plain["difference"]


def test_names_of_traces_are_made_visible(tmp_path: Path) -> None:
    """A condition's name can neither colour the terminal nor put an element into the page."""
    a = write(tmp_path / "a.jsonl", scores(1, shape=(1, 8, 6)), condition=HOSTILE)
    b = write(tmp_path / "b.jsonl", scores(2, shape=(1, 8, 6)), condition="plain")
    page = tmp_path / "page.html"
    text = run(a, b, "-q").stdout
    assert "\x1b" not in text
    assert run(a, b, "-q", "--html", page).exit_code == 0
    assert "<img" not in page.read_text()
    assert "&lt;img" in page.read_text()
    assert "<img" not in run(a, b, "-q", "--markdown", "-").stdout.replace("\\<img", "")


def test_standard_input_is_one_side_only() -> None:
    """Both sides cannot come from it."""
    done = run("-", "-")
    assert done.exit_code == 2
    assert "only one side can come from standard input" in done.stderr


def test_in_python(folder: Path) -> None:
    """The same through the library."""
    import turncurve  # noqa: PLC0415 - what a user would write

    found = turncurve.compare(
        turncurve.read([folder / "old.jsonl"]),
        turncurve.read([folder / "new.jsonl"]),
        turncurve.CompareSettings(resamples=499),
    )
    assert found.judged.verdict == "worse"
    assert (found.a.name, found.b.name) == ("a", "b")


@pytest.mark.corpus
def test_two_graders_of_the_same_runs(corpus: Callable[[str], Path]) -> None:
    """Thirty SWE-agent runs graded twice: over turns 1 to 25 the second grader fails more."""
    paths = [corpus(f"graded/nebius-llama70b{kind}.jsonl") for kind in ("", ".haiku")]
    document = json.loads(run(*paths, "--json", "-", "-q").stdout)
    assert (document["n_scenarios"], document["signal"]) == (30, "error")
    assert document["over_turns"] == "worse"
    area = document["difference"]["area"]
    assert area["value"] == pytest.approx(0.125, abs=0.001)
    assert [area["low"], area["high"]] == pytest.approx([0.038, 0.211], abs=0.001)
    assert document["difference"]["no_area_suite"] is not None
    assert document["first_error"]["ratio"]["high"] < 1
