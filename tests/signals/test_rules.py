"""Rule files and the adherence that follows from them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from signals.hand_made import run_of, turn
from turncurve.errors import ReadError, RuleError
from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Run, ToolCall, Turn
from turncurve.table import TurnTable


def checked(tmp_path: Path, rules: str, *runs: Run) -> tuple[TurnTable, list[ReadError]]:
    """The table of these runs under these rules, and the problems met."""
    path = tmp_path / "rules.yaml"
    path.write_text(rules)
    problems: list[ReadError] = []
    options = ReadOptions(rules=path, prices=False)
    return table_from_runs(runs, options=options, on_problem=problems.append), problems


def says(*texts: str) -> Run:
    """A run whose turns say these texts."""
    return run_of([turn(i, text=text) for i, text in enumerate(texts, 1)])


def test_adherence_is_kept_over_applicable_rules(tmp_path: Path) -> None:
    """Each turn's denominator is the rules that apply to it; none gives NaN."""
    rules = """
    rules:
      - {id: polite, must_match: "(?i)please"}
      - {id: no-shouting, must_not_match: "[A-Z]{5,}"}
      - {id: short, max_length: 20, when: "^summary"}
    """
    run = says("please", "no", "PLEASE NOW", "summary of far more than twenty letters", "")
    table, problems = checked(tmp_path, rules, run)
    assert_array_equal(table.columns["n_rules_applicable"], [2, 2, 2, 3, 0])
    assert_allclose(table.columns["adherence"], [1, 1 / 2, 1 / 2, 1 / 3, np.nan])
    assert problems == []


@pytest.mark.parametrize(
    ("check", "kept", "broken"),
    [
        ("must_match: '^ok'", "ok then", "not ok"),
        ("must_not_match: 'sorry'", "fine", "sorry!"),
        ("max_length: 3", "abc", "abcd"),
        ("min_length: 3", "abc", "ab"),
        ("canary: 'TEAL-7'", "x TEAL-7 y", "x teal-7 y"),
        ("json_schema: {type: object, required: [a]}", '{"a": 1}', "{}"),
        ("json_schema: {type: object}", " {} ", "no JSON"),
        ("json_schema: {type: string, pattern: '^a+$'}", '"aa"', '"b"'),
    ],
)
def test_each_kind_of_rule(tmp_path: Path, check: str, kept: str, broken: str) -> None:
    """It is kept by one text and broken by another."""
    table, _ = checked(tmp_path, f"rules: [{{id: r, {check}}}]", says(kept, broken))
    assert_array_equal(table.columns["adherence"], [1, 0])


def test_rules_on_tool_calls(tmp_path: Path) -> None:
    """A rule on a tool applies to turns that call it, and all of its calls have to keep it."""
    rules = """
    rules:
      - {id: no-force, applies_to: bash, must_not_match: "rm -rf"}
      - {id: any-call, applies_to: tool_calls, json_schema: {required: [command]}}
    """

    def call(name: str, command: str) -> ToolCall:
        return ToolCall(name=name, arguments={"command": command})

    run = run_of(
        [
            turn(1, tool_calls=(call("bash", "ls"), call("bash", "rm -rf /"))),
            turn(2, tool_calls=(call("read", "rm -rf"),)),
            turn(3),
        ]
    )
    table, _ = checked(tmp_path, rules, run)
    assert_array_equal(table.columns["adherence"], [0.5, 1, np.nan])
    assert_array_equal(table.columns["n_rules_applicable"], [2, 1, 0])


def every_other_turn(looked_at: Turn) -> bool | None:
    """Kept on odd turns; does not apply to turn 2; fails on turn 4."""
    if looked_at.index == 4:
        raise ZeroDivisionError
    return None if looked_at.index == 2 else looked_at.index % 2 == 1


def test_a_python_rule(tmp_path: Path) -> None:
    """True keeps, False breaks, None does not apply; an exception is a problem and no verdict."""
    rules = f"rules: [{{id: odd, python: '{__name__}:every_other_turn'}}]"
    table, problems = checked(tmp_path, rules, says(*"abcdef"))
    assert_array_equal(table.columns["adherence"], [1, np.nan, 1, np.nan, 1, 0])
    assert [str(p.record) for p in problems] == ["run turn 4"]
    assert "rule 'odd'" in problems[0].reason


def test_a_regular_expression_out_of_time_is_no_verdict(tmp_path: Path) -> None:
    """It counts as not applicable and is told; after three times the rule is not checked again.

    All of it takes less than ten seconds of processor time.
    """
    began = time.process_time()
    rules = "rules: [{id: slow, must_match: '^(a|aa)+$'}, {id: quick, min_length: 1}]"
    hostile = "a" * 5_000 + "b"
    table, problems = checked(tmp_path, rules, says(hostile, hostile, hostile, hostile, "aa"))
    assert_array_equal(table.columns["adherence"], [1, 1, 1, 1, 1])
    assert_array_equal(table.columns["n_rules_applicable"], [1, 1, 1, 1, 1])
    assert time.process_time() - began < 10
    assert len(problems) == 3
    assert "not checked any more" in problems[-1].reason
    assert all(problem.kept for problem in problems)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("rules: []", "wanted a list of rules under the key 'rules'"),
        ("no: rules", "wanted a list of rules under the key 'rules'"),
        ("rules: [3]", "rule 1: wanted keys and values, got 3"),
        ("rules: [{must_match: a}]", "rule 1, key 'id': wanted a name, got None"),
        ("rules: [{id: r}]", "rule 'r': wanted exactly one of must_match, .*got none"),
        ("rules: [{id: r, canary: a, must_match: a}]", "got must_match, canary"),
        ("rules: [{id: r, must_macth: a}]", "rule 'r', key 'must_macth': wanted one of"),
        ("rules: [{id: r, must_match: '('}]", "rule 'r', key 'must_match': wanted a regular"),
        ("rules: [{id: r, must_match: 3}]", "key 'must_match': wanted a text, got 3"),
        ("rules: [{id: r, max_length: -1}]", "key 'max_length': wanted a number of characters"),
        ("rules: [{id: r, json_schema: {type: 5}}]", "key 'json_schema': wanted a valid JSON Sch"),
        ("rules: [{id: r, json_schema: {pattern: '('}}]", "wanted a valid JSON Schema; at "),
        ("rules: [{id: r, json_schema: {$ref: 'http://x/y'}}]", "which is not fetched"),
        ("rules: [{id: r, python: nowhere:f}]", "key 'python': wanted an importable"),
        ("rules: [{id: r, python: f}]", "key 'python': wanted 'module:function'"),
        ("rules: [{id: r, python: 'os:sep'}]", "key 'python': wanted the name of a function"),
        ("rules: [{id: r, python: 'os:getcwd', when: a}]", "key 'when': wanted no such key"),
        ("rules: [{id: r, canary: a}, {id: r, canary: b}]", "wanted a name used once"),
        ("rules: [{id: r, canary: !!python/name:os.system ''}]", "cannot be read as YAML"),
        ("rules: [", "cannot be read as YAML"),
    ],
)
def test_a_rule_file_that_is_wrong(tmp_path: Path, rules: str, message: str) -> None:
    """The error names the rule, the key and what was wanted."""
    with pytest.raises(RuleError, match=message):
        checked(tmp_path, rules, says("x"))


def test_without_a_rule_file_the_reason_is_given() -> None:
    """Adherence is NaN and the run says that no rule file was given."""
    table = table_from_runs([says("x")], options=ReadOptions(prices=False))
    assert np.isnan(table.columns["adherence"]).all()
    assert table.runs.absent[0]["adherence"] == "no rule file is given"
