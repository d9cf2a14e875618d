"""What real files of each format say, through `turncurve report DIR --json -`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from turncurve.cli.main import cli
from turncurve.report.json import schema

pytestmark = pytest.mark.corpus

Report = Callable[..., dict[str, Any]]


@cache
def _report(path: Path, *options: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, ["report", str(path), "--json", "-", *options])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def report(corpus: Callable[[str], Path]) -> Report:
    """Gives the JSON report on a part of the collection."""
    return lambda name, *options: _report(corpus(name), *options)


def test_mini_swe_agent_gemini(report: Report) -> None:
    """80 runs of mini-swe-agent: turns, results, tokens, cost and outcomes to the last digit."""
    found = report("mini_swe_agent/gemini-3-pro")
    summary = found["summary"]
    expected = {
        "n_runs": 80,
        "n_turns": 3_270,
        "max_turns": 97,
        "median_turns": 37,
        "n_succeeded": 58,
        "n_failed": 22,
        "input_tokens": 56_405_220,
        "cached_input_tokens": 47_507_971,
        "output_tokens": 923_921,
        "max_context_tokens": 95_507,
        "n_tool_results": 3_043,
        "n_tool_errors": 195,
        "n_format_errors": 139,
    }
    assert {name: summary[name] for name in expected} == expected
    assert round(summary["cost_usd"], 4) == 38.3629
    assert found["unread"] == []
    assert found["problems"] == []


def test_mini_swe_agent_repeats(report: Report) -> None:
    """Runs without a turn are kept and counted, and the exits keep the source's own words."""
    found = report("mini_swe_agent/deepseek-repeats")
    summary = found["summary"]
    assert (summary["n_runs"], summary["n_scenarios"], summary["n_turns"]) == (39, 8, 2_848)
    assert summary["n_runs_without_turns"] == 2
    assert summary["exits"] == {"Submitted": 34, "InternalServerError": 4, "Timeout": 1}
    assert sum(summary["exit_types"].values()) == 39


def test_condition_from_folder(report: Report, corpus: Callable[[str], Path]) -> None:
    """Each folder is a condition, and a rerun's folder adds trials to the one that it repeats."""
    name = "mini_swe_agent/deepseek-repeats"
    found = report(name, "--condition-from", "folder")
    folders = Counter(
        Path(file["path"]).relative_to(corpus(name)).parts[0].removesuffix("_rerun")
        for file in found["inputs"]
    )
    assert {c["condition"]: c["n_runs"] for c in found["conditions"]} == folders
    rerun = next(
        c
        for c in found["conditions"]
        if f"{c['condition']}_rerun"
        in {Path(file["path"]).relative_to(corpus(name)).parts[0] for file in found["inputs"]}
    )
    assert rerun["n_trials"] >= 2


def test_swe_agent(report: Report) -> None:
    """SWE-agent says tokens and cost for a run, not by turn: totals are there, curves are not."""
    found = report("swe_agent/claude-3.5-sonnet-verified")
    summary = found["summary"]
    assert (summary["n_runs"], summary["n_turns"], summary["max_turns"]) == (30, 843, 78)
    assert (summary["input_tokens"], summary["output_tokens"]) == (13_391_725, 133_614)
    assert round(summary["cost_usd"], 4) == 42.1794
    assert summary["max_context_tokens"] is None
    assert sum(n for text, n in summary["exits"].items() if "cost" in text) == 3
    assert "context_tokens" not in found["by_turn"]
    gap = next(gap for gap in found["missing"] if gap["signal"] == "context_tokens")
    assert gap["n_missing"] == 843


def test_claude_code(report: Report) -> None:
    """Lines of one message count once; the compaction stands between turns 83 and 84."""
    found = report("claude_code/session-with-compaction.jsonl")
    summary = found["summary"]
    expected = {
        "n_runs": 1,
        "n_turns": 184,
        "output_tokens": 107_597,
        "n_tool_calls": 133,
        "n_tool_errors": 6,
        "max_context_tokens": 166_609,
        "n_compactions": 1,
    }
    assert {name: summary[name] for name in expected} == expected
    compactions = [e for e in found["events"] if e["kind"] == "compaction"]
    assert compactions == [{"kind": "compaction", "turn": 84, "n_runs": 1}]


def test_codex(report: Report) -> None:
    """Cumulative counts are differenced, and repeated ones count once."""
    summary = report("codex/rollout.jsonl")["summary"]
    expected = {
        "n_turns": 18,
        "n_tool_calls": 38,
        "input_tokens": 1_257_132,
        "cached_input_tokens": 1_160_576,
        "output_tokens": 19_360,
    }
    assert {name: summary[name] for name in expected} == expected


def test_tau_bench(report: Report) -> None:
    """200 runs are 50 scenarios, each in 4 trials."""
    found = report("tau_bench")
    summary = found["summary"]
    assert (summary["n_runs"], summary["n_scenarios"], summary["n_turns"]) == (200, 50, 2_454)
    (condition,) = found["conditions"]
    assert condition["n_trials"] == 4


def test_graded(report: Report) -> None:
    """Grades that did not parse are missing, and the error rate is over the graded turns."""
    found = report("graded/nebius-long.jsonl")
    summary = found["summary"]
    assert (summary["n_runs"], summary["n_turns"], summary["n_missing_grades"]) == (50, 3_800, 9)
    assert round(summary["error_rate"], 5) == 0.28726
    assert found["quality_signal"]["source"] == "grades"


@pytest.mark.parametrize(
    "name",
    [
        "mini_swe_agent/gemini-3-pro",
        "mini_swe_agent/deepseek-repeats",
        "swe_agent/claude-3.5-sonnet-verified",
        "claude_code",
        "codex",
        "tau_bench",
        "graded",
        "inspect",
    ],
)
def test_schema_and_text(report: Report, corpus: Callable[[str], Path], name: str) -> None:
    """Every collection's report follows the schema, and its text fits 80 columns."""
    Draft202012Validator(schema()).validate(report(name))
    text = CliRunner().invoke(cli, ["report", str(corpus(name)), "--quiet"])
    assert text.exit_code == 0
    assert max(map(len, text.stdout.splitlines())) <= 80
    assert text.stdout.split("\n\n")[0].replace("\n", " ") == report(name)["headline"]
