"""`turncurve first-error`: what it prints, and that its JSON holds what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import turncurve
from stats.first_error_runs import EVENT, MODEL, TASK, TIME
from turncurve.cli.main import cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/long-agent"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["first-error", *map(str, arguments)])


def write(path: Path, *, names: tuple[str, str] = ("A", "B"), scenarios: bool = True) -> Path:
    """The 24 runs of the oracles as graded turns, under two conditions."""
    with path.open("w") as out:
        for i, (last, event) in enumerate(zip(TIME, EVENT, strict=True)):
            for turn in range(1, last + 1):
                row = {
                    "run": f"r{i}",
                    "turn": turn,
                    "error": int(event and turn == last),
                    "condition": names[MODEL[i] == "B"],
                    **({"scenario": f"task {TASK[i]}"} if scenarios else {}),
                }
                out.write(json.dumps(row) + "\n")
    return path


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_example() -> None:
    """Median with limits, both sets of them, the three curves and the verdict, in 80 columns."""
    text = run(EXAMPLE, "--rule", "low_quality").stdout
    first = squeezed(text.split("\n\n")[0])
    assert first.startswith("First low quality: median turn 37 [21, 43]")
    assert "seen in 24 of 24 runs" in first
    assert "the chance of a first error rises along the run: times 4.23" in first
    assert "95 %, others" in text
    assert "not in error  all runs" in text
    assert "the verdict goes by it alone" in squeezed(text)
    assert "No run ended badly without one" in text
    assert max(map(len, text.splitlines())) <= 80


def test_all_rules_that_apply() -> None:
    """Without --rule each rule that applies has its part."""
    document = json.loads(run(EXAMPLE, "--json", "-").stdout)
    assert [rule["rule"] for rule in document["rules"]] == [
        "rolling_quality",
        "low_quality",
        "tool_error",
    ]
    assert document["rules"][0]["groups"][0]["delay"]["n_runs"] == 18
    assert document["rules"][0]["hazard"]["from_turn"] == 9


def test_two_conditions_in_json(tmp_path: Path) -> None:
    """R's log-rank test, ratio, spans, and the sentence; the names are those of the library."""
    document = json.loads(run(write(tmp_path / "a.jsonl"), "--json", "-", "-q").stdout)
    (rule,) = (each for each in document["rules"] if each["rule"] == "failing_grade")
    assert rule["tests"]["by_turn"]["statistic"] == pytest.approx(1.490915, abs=5e-7)
    assert rule["tests"]["ratios"][0]["ratio"]["n_compared"] == 8
    assert set(rule["hazard"]) >= {"verdict", "why", "within", "without_first", "pooled", "spans"}
    assert set(rule["hazard"]["spans"][0]) >= {"from", "to", "hazard", "accuracy", "within"}
    assert rule["sentence"].startswith("First failing grade (A): ")
    assert "First failing grade (B): " in rule["sentence"]
    assert [group["condition"] for group in rule["groups"]] == ["A", "B"]
    assert document["settings"]["reading"]["level"] == 0.95


def test_two_conditions_in_words(tmp_path: Path) -> None:
    """The tests between them, and each condition's own table."""
    path = write(tmp_path / "a.jsonl")
    text = squeezed(run(path, "--rule", "failing_grade").stdout)
    assert "chi-squared 1.49, df 1, p 0.2221; all runs, taken as independent, 24 runs." in text
    assert "runs of the same of 8 scenarios" in text
    assert "B over A: 1.69 [0.37, 7.71], within 8 scenarios" in text
    assert "Runs of A." in text
    assert "Runs of B." in text
    plain = write(tmp_path / "b.jsonl", scenarios=False)
    text = squeezed(run(plain, "--rule", "failing_grade").stdout)
    assert "B over A: 1.79 [0.69, 4.66], over all runs, taken as independent" in text
    assert "run each scenario several times" in text


def test_options(tmp_path: Path) -> None:
    """Ties, horizon, alike, level: each changes what it is for."""
    path = write(tmp_path / "a.jsonl", names=("A", "A"), scenarios=False)

    def rule(*arguments: object) -> dict[str, object]:
        done = run(path, "--json", "-", "--rule", "failing_grade", *arguments)
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)["rules"][0]

    def median(found: dict) -> float:
        return found["groups"][0]["times"]["quantiles"][2]["turn"]

    assert (median(rule()), median(rule("--tie", "midpoint"))) == (9, 10)
    mean = rule("--horizon", 20)["groups"][0]["mean_turns"]
    assert (mean["value"], mean["std_error"]) == pytest.approx((9.725694, 1.172121), abs=5e-7)
    alike = rule("--alike", "condition")["hazard"]
    assert (alike["n_strata"], alike["within"]["n_clusters"]) == (1, 24)
    assert rule("--level", 0.9)["hazard"]["within"]["level"] == 0.9
    refused = run(path, "--flat", 1)
    assert refused.exit_code == 2
    assert "--flat" in refused.stderr


def test_competing_exits() -> None:
    """Without --competing bad ends compete; with it, those that are named."""
    named = json.loads(
        run(EXAMPLE, "--rule", "tool_error", "--competing", "success_finish", "--json", "-").stdout
    )
    ends = named["rules"][0]["groups"][0]["incidence"]["ends"]
    assert ends == {"success_finish": 2}
    text = run(EXAMPLE, "--rule", "tool_error", "--competing", "success_finish").stdout
    assert "as runs end" in text
    assert "2 runs ended badly without one (success_finish 2)" in squeezed(text)
    assert max(map(len, text.splitlines())) <= 80


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """A condition's name is escaped in the terminal and in Markdown."""
    path = write(tmp_path / "a.jsonl", names=("\x1b[31mred", "<b>|bold|</b>"))
    text = run(path).stdout
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    markdown = run(path, "--markdown", "-").stdout
    assert "<b>" not in markdown
    assert markdown.startswith("### turncurve: first errors")


def test_nothing_to_go_by(tmp_path: Path) -> None:
    """Status 2 and what is needed; a rule by name without values says why, with status 0."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"run": "r", "turn": 1, "output_tokens": 5}\n')
    done = run(path)
    assert done.exit_code == 2
    assert "scores, grades, checked rules or tool results" in done.stderr
    named = run(path, "--rule", "tool_error")
    assert named.exit_code == 0
    assert "not known: no turn has what the rule goes by" in squeezed(named.stdout)


def test_in_python(tmp_path: Path) -> None:
    """The same through the library."""
    table = turncurve.read([write(tmp_path / "a.jsonl")])
    settings = turncurve.FirstErrorSettings(rules=("failing_grade",))
    found = turncurve.first_error_study(table, settings).rules[0]
    assert found.tests.by_turn.p == pytest.approx(0.2220745, abs=5e-8)
