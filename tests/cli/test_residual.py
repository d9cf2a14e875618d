"""`turncurve residual` and `turncurve power residual`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from experiments.studies import plain
from turncurve.cli.main import cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/stages"
TRIALS, STUDY = EXAMPLE / "trials.csv", EXAMPLE / "study.yaml"


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=stdin)


def table(n: int, passed: int, done: int, more: str = "") -> str:
    """A task of four stages that pass in so many of n trials, and whole runs."""
    rows = [f"t,s{i},{int(k < passed)}{more}" for i in range(1, 5) for k in range(n)]
    rows += [f"t,,{int(k < done)}{more}" for k in range(n)]
    return "\n".join(rows) + "\n"


HEAD = "task,stage,success"


def test_the_document() -> None:
    """Predicted, observed, residual, gamma each with error and limits; stages; verdict; hash."""
    document = json.loads(run("residual", TRIALS, "--study", STUDY, "--json", "-").stdout)
    for name in ("predicted", "observed", "residual", "gamma"):
        assert set(document[name]) >= {"value", "std_error", "low", "high"}
    gap = document["predicted"]["value"] - document["observed"]["value"]
    assert document["residual"]["value"] == pytest.approx(gap)
    assert document["verdict"] == "deficit"
    assert [row["stage"] for row in document["stages"]] == ["plan", "search", "build", "report"]
    assert document["stages"][0]["n_arrived"] == 120
    assert len(document["study"]) == len(document["conditions"]["digest"]) == 64
    assert document["study_frozen"].startswith("20")
    assert document["departed"] == []
    assert "predicted - observed" in document["sign"]
    assert [one["verdict"] for one in document["protocols"]] == ["deficit", "inconclusive"]
    assert document["protocols"][1]["judgement"]["settle"]["to_see"] > 6
    (contrast,) = document["interventions"]
    assert contrast["difference"]["low"] > 0
    assert (contrast["changed"], contrast["recorded"]) == ([], True)


def test_what_is_planted_is_found() -> None:
    """The first stage does on the way as alone; those after it pass a quarter less often."""
    document = json.loads(
        run("residual", TRIALS, "--study", STUDY, "--inference", "suite", "--json", "-").stdout
    )
    first, *others = document["stages"]
    assert first["log_ratio"]["low"] < 0 < first["log_ratio"]["high"]
    for stage in others:
        # log(1 / .75) is .288.
        assert stage["log_ratio"]["low"] < 0.288 < stage["log_ratio"]["high"]
    rates = (0.97, 0.94, 0.92, 0.88, 0.82, 0.74)  # examples/stages/agent.py
    predicted = sum(rate**4 for rate in rates) / 6
    truth = predicted * (1 - 0.75**3)
    assert document["residual"]["low"] < truth < document["residual"]["high"]


def test_text_is_80_columns_and_says_no_cause() -> None:
    """A verdict first; every line fits; what it does not say stands in it."""
    text = run("residual", TRIALS, "--study", STUDY).stdout
    assert text.startswith("The whole task succeeds less often than its stages predict")
    assert "no cause" in text
    assert "because" not in text.replace("because it stands out", "")
    assert max(map(len, text.splitlines())) <= 80
    assert run("residual", TRIALS, "--markdown", "-").stdout.startswith("### turncurve: matched")


def test_estimate_by_name_is_the_same() -> None:
    """The default command and its name give one result; options may come first."""
    plain = run("residual", TRIALS, "--json", "-").stdout
    assert run("residual", "estimate", TRIALS, "--json", "-").stdout == plain
    assert run("residual", "--json", "-", TRIALS).stdout == plain


def test_a_page(tmp_path: Path) -> None:
    """Both pictures, and names of tasks escaped."""
    path, page = tmp_path / "t.csv", tmp_path / "p.html"
    rows = table(5, 4, 1).replace("t,", "<img src=x onerror=alert(1)>,")
    path.write_text(f"{HEAD}\n{rows}")
    assert run("residual", path, "--html", page).exit_code == 0
    html = page.read_text()
    assert "Predicted and observed success by task" in html
    assert "<img" not in html
    assert run("residual", TRIALS, "--study", STUDY, "--html", page).exit_code == 0
    assert "Share that passes all stages so far" in page.read_text()


def test_enough_and_too_few_trials() -> None:
    """.41 predicted, .10 observed: 40 trials find a deficit, 10 leave it open with a number."""
    many = run("residual", "-", "--json", "-", stdin=f"{HEAD}\n{table(40, 32, 4)}")
    few = run("residual", "-", stdin=f"{HEAD}\n{table(10, 8, 1)}")
    assert json.loads(many.stdout)["verdict"] == "deficit"
    assert few.stdout.startswith("Open")
    assert "to settle it" in few.stdout
    same = run("residual", "-", "--margin", "0.1", stdin=f"{HEAD}\n{table(600, 480, 246)}")
    assert same.stdout.startswith("The whole task succeeds as often as its stages predict")


def test_other_configurations(tmp_path: Path) -> None:
    """Refused with file and record, or reported when asked to."""
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(f"{HEAD},model\n{table(5, 4, 0, ',m1')}")
    b.write_text(f"{HEAD},model\nt,,1,m2\n")
    refused = run("residual", a, b)
    assert refused.exit_code == 2
    assert "model is not the same" in refused.stderr
    assert f"{b}:2" in refused.stderr
    told = run("residual", a, b, "--differing", "report")
    assert told.exit_code == 0
    assert "model: stage trials m1 (20)" in " ".join(told.stdout.split())


def test_bad_records_are_told(tmp_path: Path) -> None:
    """By file and line; with --strict the status is 2; without a trial there is no result."""
    path = tmp_path / "t.csv"
    path.write_text(f"{HEAD}\n{table(5, 4, 1)}t,s1,maybe\n")
    done = run("residual", path)
    assert done.exit_code == 0
    assert f"{path}:27" in done.stderr
    assert run("residual", path, "--strict", "-q").exit_code == 2
    path.write_text("who,what\na,b\n")
    nothing = run("residual", path)
    assert nothing.exit_code == 2
    assert "no trial" in nothing.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.csv"], "there is no such file"),
        (
            [TRIALS, "--protocol", "oracle"],
            "unknown protocol 'oracle'; known: own_prefix, retained",
        ),
        ([TRIALS, "--margin", "1"], "--margin"),
        ([TRIALS, "--level", "0.4"], "above 0.5"),
        ([TRIALS, "--study", TRIALS], "trials.csv"),
    ],
)
def test_usage_errors(arguments: list[object], said: str) -> None:
    """Status 2 and what was wanted."""
    done = run("residual", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_study_from_its_file_to_the_verdict(tmp_path: Path) -> None:
    """An agent that tires, frozen, run, estimated: a deficit; the same one fresh: none."""
    verdicts = {}
    for name, tired in (("tired", True), ("fresh", False)):
        folder = tmp_path / name
        folder.mkdir()
        study, trials = plain(folder, tired=tired), folder / "trials.jsonl"
        assert run("residual", "check", study).exit_code == 0
        assert run("residual", "freeze", study).exit_code == 0
        assert run("residual", "run", study, "--trials", trials).exit_code == 0
        done = run("residual", trials, "--study", study, "--json", "-")
        document = json.loads(done.stdout)
        assert document["departed"] == []
        assert set(document["conditions"]["same"]) >= {"model", "agent"}
        assert len(document["conditions"]["digest"]) == 64
        assert document["stages"][0]["n_arrived"] == 60
        verdicts[name] = document["verdict"]
    assert verdicts["tired"] == "deficit"
    assert verdicts["fresh"] in ("inconclusive", "consistent")


def test_a_study_that_has_changed_is_refused(tmp_path: Path) -> None:
    """Not frozen, or changed since: status 2, and what to do."""
    path = plain(tmp_path)
    assert "freeze it first" in run("residual", TRIALS, "--study", path).stderr
    assert run("residual", "freeze", path).exit_code == 0
    path.write_text(path.read_text().replace("margin: 0.1", "margin: 0.2"))
    changed = run("residual", TRIALS, "--study", path)
    assert changed.exit_code == 2
    assert "since it was frozen" in changed.stderr


def test_trials_of_another_study(tmp_path: Path) -> None:
    """The example's trials do not belong to another study, whose tasks they do not have."""
    path = tmp_path / "stages"
    shutil.copytree(EXAMPLE, path)
    study = path / "study.yaml"
    study.write_text(study.read_text().replace("version: 1", "version: 2"))
    assert run("residual", "freeze", study).exit_code == 0
    refused = run("residual", TRIALS, "--study", study)
    assert refused.exit_code == 2
    assert "not this study" in refused.stderr


def test_a_graph(tmp_path: Path) -> None:
    """Transition trials make a table of graphs, which says what a product would miss."""
    path = tmp_path / "t.csv"
    moves = ["a,a", "a,b", "a,b", "a,failure", "b,a", "b,success", "b,success", "b,failure"] * 10
    rows = [f"t,{move}," for move in moves] + [f"t,,,{int(k % 5 < 3)}" for k in range(40)]
    path.write_text("task,stage,next,success\n" + "\n".join(rows) + "\n")
    text = run("residual", path).stdout
    assert "GRAPHS: WHERE THE PRODUCT IS WRONG" in text
    assert max(map(len, text.splitlines())) <= 80
    document = json.loads(run("residual", path, "--json", "-").stdout)
    # x = x/4 + y/2 and y = x/4 + 1/2 give x = .4; straight through it is .25.
    assert document["predicted"]["value"] == pytest.approx(0.4)
    assert document["straight"]["value"] == pytest.approx(0.15)


def test_power_of_a_residual() -> None:
    """22 by the formula, more by the analysis itself; text in 80 columns; the inverse."""
    arguments = ("power", "residual", "--rate", "0.8", "--stages", 4, "--observed", "0.1")
    document = json.loads(run(*arguments, "--json", "-").stdout)
    (one,) = document["sized"]
    assert one["by_formula"] == 22
    assert 24 <= one["simulated"]["trials"][0] <= 30
    assert one["n_equal"] == 5 * one["simulated"]["trials"][0]
    text = run(*arguments).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "Stages of 0.8, 0.8, 0.8, 0.8 predict 0.410" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rate", "0.8", "--residual", "0.9"], "leaves a chance from 0 to 1"),
        (["--rate", "0.8", "--rate", "0.7", "--stages", "2"], "one rate for all"),
        (["--rate", "0"], "--rate"),
        ([], "--rate"),
        (["--rate", "0.8", "--power", "0.01"], "more than --alpha"),
    ],
)
def test_power_usage_errors(arguments: list[str], said: str) -> None:
    """Status 2 and what was wanted."""
    done = run("power", "residual", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_power_without_a_residual_to_see() -> None:
    """No trials tell equal chances apart; by default shares of the prediction are sized."""
    text = run("power", "residual", "--rate", "0.8", "--residual", "0").stdout
    assert "no number of trials" in " ".join(text.split())
    document = json.loads(run("power", "residual", "--rate", "0.9", "--json", "-").stdout)
    assert [one["residual"] for one in document["sized"]] == pytest.approx([0.45, 0.225, 0.675])
