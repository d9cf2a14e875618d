"""The report as JSON."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from table_factory import make_table
from turncurve import build_report
from turncurve.errors import ReadError
from turncurve.ingest import Ingested, Input
from turncurve.model import ExitType
from turncurve.report.json import schema, to_json
from turncurve.report.plain import dump, plain

ROOT = Path(__file__).resolve().parents[2]

SUMMARY_KEYS = [
    "n_runs",
    "n_turns",
    "max_turns",
    "median_turns",
    "n_scenarios",
    "n_succeeded",
    "n_failed",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "max_context_tokens",
    "cost_usd",
    "n_tool_calls",
    "n_tool_results",
    "n_tool_errors",
    "n_format_errors",
    "n_compactions",
    "n_missing_grades",
    "error_rate",
    "exits",
    "exit_types",
]


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


def strictly_parsed(text: str) -> dict:
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def tables():
    """Tables of different kinds, from nothing to everything."""
    quality = {
        f"r{r}": {"quality": [1 - 0.03 * t * (r + 1) / 3 for t in range(30)]} for r in range(5)
    }
    full = {
        name: columns
        | {
            "tool_error_rate": [0.0, 1.0, None] * 10,
            "n_tool_errors": [0.0, 1.0, 0.0] * 10,
            "context_tokens": [4000.0 * t for t in range(30)],
            "cost_usd": [0.01 * t for t in range(30)],
            "adherence": [1.0] * 20 + [0.5] * 10,
        }
        for name, columns in quality.items()
    }
    return {
        "nothing": make_table({}),
        "a run without a turn": make_table({"r": {}}),
        "one run": make_table({"r": quality["r0"]}),
        "several": make_table(quality, success=dict.fromkeys(quality, True)),
        "no quality": make_table({"r": {"context_tokens": [1.0, 2.0]}}),
        "everything": make_table(
            full,
            success={"r0": True, "r1": False, "r2": True, "r3": None, "r4": False},
            scenario={"r0": "a", "r1": "a", "r2": "b", "r3": "b", "r4": "b"},
            compaction_turns={"r0": [12], "r1": [12, 20]},
            actions={name: ["look", "look", "act"] * 10 for name in full},
            exit_type={"r0": "success_finish", "r1": "budget", "r4": "crash"},
            exit_text={"r0": "done", "r1": "limit"},
            quality_scale=(-1.0, 1.0),
        ),
    }


@pytest.mark.parametrize("kind", list(tables()))
def test_every_report_follows_the_schema(kind):
    """Whatever the runs hold, the report has every key and only those, with the types promised."""
    table = tables()[kind]
    report = build_report(table, target=0.7, production=table)
    validator().validate(strictly_parsed(dump(to_json(report))))


def test_schema_refuses_what_it_does_not_know():
    """A key too many, one too few, or a number as text is an error."""
    document = to_json(build_report(tables()["one run"]))
    assert not list(validator().iter_errors(document))
    for wrong in (
        document | {"extra": 1},
        {key: value for key, value in document.items() if key != "summary"},
        document | {"summary": document["summary"] | {"n_runs": "1"}},
        document | {"curves": [row | {"value": None} for row in document["curves"]]},
    ):
        assert list(validator().iter_errors(wrong))


def test_schema_and_page_are_fresh():
    """The packaged schema and the reference page are what the result types give today."""
    spec = importlib.util.spec_from_file_location("t", ROOT / "tools/make_report_schema_docs.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.SCHEMA.read_text("utf-8") == tool.schema_text(), "run: make docs"
    assert tool.PAGE.read_text("utf-8") == tool.page(), "run: make docs"


def test_promised_keys():
    """`summary` and the blocks beside it have the promised keys; exit types are all seven."""
    report = to_json(build_report(tables()["everything"]))
    assert set(report["summary"]) >= set(SUMMARY_KEYS)
    assert list(report["summary"]["exit_types"]) == [kind.value for kind in ExitType]
    row = {"signal", "axis", "from", "to", "n_runs", "n_turns", "value", "std_error", "low", "high"}
    assert all(row <= set(point) for point in report["curves"])
    assert {"rule", "n_events", "n_censored", "quantiles"} <= set(report["time_to_first_error"])
    quantile = report["time_to_first_error"]["quantiles"][0]
    assert set(quantile) == {"p", "turn", "low", "high"}
    keys = {"start_tokens", "end_tokens", "tokens_per_turn", "crosses_100k", "crosses_200k"}
    assert keys <= set(report["context"])


def test_what_the_files_do_not_say_is_null():
    """Unknown counts and sums are null, never 0."""
    summary = to_json(build_report(tables()["one run"]))["summary"]
    unknown = [
        "n_scenarios",
        "n_succeeded",
        "n_failed",
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "max_context_tokens",
        "cost_usd",
        "n_tool_calls",
        "n_tool_results",
        "n_tool_errors",
        "n_format_errors",
        "n_compactions",
        "n_missing_grades",
        "error_rate",
    ]
    assert {name: summary[name] for name in unknown} == dict.fromkeys(unknown)


def test_problems_and_sources():
    """Where the runs came from and what could not be read stands in the report."""
    runs = Ingested(
        table=tables()["one run"],
        inputs=(Input(path="a.jsonl", format="turns", n_runs=1),),
        unread=("b.txt",),
        problems=(ReadError("a.jsonl", "wanted a number", record=7, fix="mend it", kept=True),),
    )
    report = to_json(build_report(runs))
    assert report["inputs"] == [{"path": "a.jsonl", "format": "turns", "n_runs": 1}]
    assert report["unread"] == ["b.txt"]
    assert report["problems"] == [
        {
            "path": "a.jsonl",
            "record": 7,
            "reason": "wanted a number",
            "fix": "mend it",
            "kept": True,
        }
    ]


def test_problems_are_bounded_and_counted():
    """However many records are bad, few of each kind in a file are listed and all are counted."""
    problems = [
        ReadError("a.jsonl", f"wanted a number, got 'x{i}' in column {i}", record=i)
        for i in range(50_000)
    ]
    problems += [ReadError("a.jsonl", "wanted " + "x" * 100_000), ReadError("b.jsonl", "no run")]
    runs = Ingested(table=tables()["one run"], inputs=(), unread=(), problems=tuple(problems))
    report = to_json(build_report(runs))
    validator().validate(report)
    assert [problem["record"] for problem in report["problems"]] == [0, 1, 2, 3, 4, None, None]
    assert report["n_problems"] == 50_002
    assert report["n_files_with_problems"] == 2
    assert report["problems_by_file"] == [
        {"path": "a.jsonl", "n_problems": 50_001, "n_listed": 6},
        {"path": "b.jsonl", "n_problems": 1, "n_listed": 1},
    ]
    assert len(dump(report["problems"])) < 3_000


def test_problems_of_many_files_are_bounded():
    """A problem in each of very many files is listed for the first of them only."""
    problems = tuple(ReadError(f"{i}.jsonl", f"fault {'x' * (i % 7)}") for i in range(3_000))
    runs = Ingested(table=tables()["one run"], inputs=(), unread=(), problems=problems)
    report = to_json(build_report(runs))
    assert len(report["problems"]) == len(report["problems_by_file"]) == 1_000
    assert (report["n_problems"], report["n_files_with_problems"]) == (3_000, 3_000)


columns = st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(st.lists(columns, min_size=1, max_size=4))
def test_json_is_never_nan(runs):
    """Whatever numbers a custom signal holds, the JSON is what strict parsers accept."""
    table = make_table({f"r{i}": {"custom": values} for i, values in enumerate(runs)})
    validator().validate(strictly_parsed(dump(to_json(build_report(table)))))


def test_nan_is_refused_where_it_slips_through():
    """`dump` refuses NaN rather than write what no other program reads; `plain` makes it null."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"value": float("nan")})
    assert plain([float("nan"), float("inf"), 1.5]) == [None, None, 1.5]


def test_half_a_surrogate_pair_can_be_written():
    """Text that no encoding has, as real traces hold, does not stop the report."""
    table = make_table({"r\ud83d": {"context_tokens": [1.0]}}, exit_text={"r\ud83d": "\udc00"})
    dump(to_json(build_report(table))).encode("utf-8")


def test_unknown_kind_of_result_is_an_error():
    """A value that is no plain result is refused, not written as its `repr`."""
    with pytest.raises(TypeError, match="wanted a result of plain values, got object"):
        plain(object())
