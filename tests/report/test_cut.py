"""The report of very many files and runs: its JSON stays small and says what it left out."""

from __future__ import annotations

import numpy as np
from jsonschema import Draft202012Validator

from table_factory import make_table
from turncurve import build_report
from turncurve.ingest import Ingested, Input
from turncurve.report.cut import MOST_ROWS
from turncurve.report.json import schema, to_json
from turncurve.report.page_data import page_document
from turncurve.report.plain import dump

N = 1_500


def many_runs() -> Ingested:
    """As many runs as files, each with its own condition and end, and each a spiral."""
    names = [f"r{i}" for i in range(N)]
    spiral = np.array([0.0, 1.0])
    table = make_table(
        {name: {"quality": [0.5, 0.4], "spiral": spiral} for name in names},
        condition={name: f"condition {max(i, 2)}" for i, name in enumerate(names)},
        exit_text={name: f"end {min(i, N - 3)}" for i, name in enumerate(names)},
    )
    inputs = tuple(Input(path=f"{name}.jsonl", format="turns", n_runs=1) for name in names)
    unread = tuple(f"{name}.txt" for name in names)
    return Ingested(table=table, inputs=inputs, unread=unread, problems=())


def test_long_lists_are_cut_and_told() -> None:
    """Each list with an entry a file or run has 1,000; `cut` says of how many, and which."""
    document = to_json(build_report(many_runs()))
    Draft202012Validator(schema()).validate(document)
    lists = {
        "inputs": document["inputs"],
        "unread": document["unread"],
        "conditions": document["conditions"],
        "summary.exits": document["summary"]["exits"],
        "repetition.spirals": document["repetition"]["spirals"],
    }
    assert {name: len(rows) for name, rows in lists.items()} == dict.fromkeys(lists, MOST_ROWS)
    assert {name: (each["listed"], each["of"]) for name, each in document["cut"].items()} == {
        "inputs": (MOST_ROWS, N),
        "unread": (MOST_ROWS, N),
        "conditions": (MOST_ROWS, N - 2),
        "summary.exits": (MOST_ROWS, N - 2),
        "repetition.spirals": (MOST_ROWS, N),
    }


def test_what_is_most_often_is_kept() -> None:
    """The condition and the end that three runs share come first."""
    document = to_json(build_report(many_runs()))
    assert document["conditions"][0]["condition"] == "condition 2"
    assert next(iter(document["summary"]["exits"].items())) == (f"end {N - 3}", 3)


def test_counts_are_of_all() -> None:
    """What is counted is not cut."""
    document = to_json(build_report(many_runs()))
    assert document["repetition"]["n_spirals"] == document["summary"]["n_runs"] == N


def test_short_lists_are_whole() -> None:
    """A report of one run cuts nothing, and says so by an empty `cut`."""
    document = to_json(build_report(make_table({"r": {"quality": [0.5, 0.4]}})))
    assert document["cut"] == {}


def test_the_page_counts_what_the_json_cut() -> None:
    """The page's own shorter lists say how many of all are missing."""
    page = page_document(to_json(build_report(many_runs())))
    assert page["left_out"]["inputs"] == N - len(page["inputs"])
    assert page["left_out"]["exits"] == N - 2 - len(page["summary"]["exits"])


def test_a_report_of_long_runs_with_many_signals_stays_small() -> None:
    """5,000 turns and 60 signals are below 15 MB of JSON."""
    rng = np.random.default_rng(1)
    columns = {f"signal_{i}": rng.random(5_000) for i in range(60)}
    table = make_table({"a": columns, "b": {k: v[:4_000] for k, v in columns.items()}})
    assert len(dump(to_json(build_report(table)))) < 15_000_000
