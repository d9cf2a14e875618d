"""Per-turn tables: which rows make a run, what each column becomes, and what is told."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Usage
from turncurve.readers import READERS, raise_problem
from turncurve.readers.stream import head

READER = READERS["turns"]


def runs_of(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def told(path: Path) -> tuple[list[Run], list[ReadError]]:
    problems: list[ReadError] = []
    return list(READER.read(path, problems.append)), problems


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows as JSON lines to a file named `table.jsonl`."""

    def write(*rows: dict[str, Any]) -> Path:
        path = tmp_path / "table.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def text(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a text to a file named `table.csv`."""

    def write(content: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(content)
        return path

    return write


def founding_rows() -> list[dict[str, Any]]:
    random.seed(7)
    rows = []
    for turn in range(1, 61):
        base = 0.95 if turn <= 30 else max(0.30, 0.95 - 0.02 * (turn - 30))
        quality = round(min(1, max(0, base + random.uniform(-0.05, 0.05))), 3)
        rows.append({"turn": turn, "quality": quality, "context_tokens": 3000 + 850 * turn})
        rows[-1]["action"] = f"search:q{turn % 12}"
    return rows


def test_founding_example(lines: Callable[..., Path]) -> None:
    """The founding example reads as one run named after its file, value by value."""
    rows = founding_rows()
    (run,) = runs_of(lines(*rows))
    assert run.id == "table"
    assert [turn.values["quality"] for turn in run.turns] == [row["quality"] for row in rows]
    assert [t.usage.context_tokens for t in run.turns if t.usage] == list(range(3850, 54001, 850))
    assert {turn.action for turn in run.turns} == {f"search:q{n}" for n in range(12)}


@pytest.mark.parametrize("name", ["runs.csv", "runs.tsv", "runs.parquet"])
def test_every_container_gives_the_same_runs(name: str, data: Path) -> None:
    """The same rows as JSON lines, CSV, TSV and Parquet give the same runs."""

    def content(path: Path) -> list[tuple[Any, ...]]:
        return [
            (
                (run.id, run.condition, run.scenario, run.trial, run.success, run.events),
                [(t.index, t.values, t.usage, t.cost_usd, t.action) for t in run.turns],
            )
            for run in runs_of(path)
        ]

    expected = content(data / "turns" / "runs.jsonl")
    assert len(expected) == 4
    assert content(data / "turns" / name) == expected


def test_columns_become_what_they_name(data: Path) -> None:
    """Each named column goes to its own field, every other numeric one to `values`."""
    run = runs_of(data / "turns" / "runs.jsonl")[1]
    tenth = run.turns[9]
    assert (run.id, run.condition, run.scenario, run.trial) == ("base-2", "base", "booking", 2)
    assert tenth.values == {
        "quality": 0.68,
        "tool_error": 1.0,
        "schema_valid": 1.0,
        "latency_ms": 210.0,
    }
    assert tenth.usage is not None
    assert (tenth.usage.context_tokens, tenth.usage.output) == (2000, 50)
    assert (tenth.cost_usd, tenth.action, tenth.record) == (0.01, "search:q2", 22)
    assert "quality" not in run.turns[6].values
    assert [(event.kind, event.turn) for event in run.events] == [("compaction", 10)]
    assert (run.success, run.exit_type) == (False, ExitType.UNKNOWN)


def test_success_is_a_finish() -> None:
    """Success is a finish in success; failure does not say how the run ended."""
    runs = runs_of(Path(__file__).parents[1] / "data" / "turns" / "runs.jsonl")
    assert [run.exit_type.value for run in runs] == [
        "success_finish",
        "unknown",
        "success_finish",
        "success_finish",
    ]


def test_runs_without_a_name(lines: Callable[..., Path]) -> None:
    """Without `run`, condition, scenario and trial together name it, as far as they are given."""
    path = lines(
        *[{"condition": c, "trial": n, "turn": t} for c in "ab" for n in (1, 2) for t in (1, 2)]
    )
    assert [(run.id, run.condition, run.trial) for run in runs_of(path)] == [
        ("a/1", "a", 1),
        ("a/2", "a", 2),
        ("b/1", "b", 1),
        ("b/2", "b", 2),
    ]


def test_run_names_used_again_in_each_condition(lines: Callable[..., Path]) -> None:
    """Runs counted from 1 in each condition are runs of their own, not duplicates of turns."""
    path = lines(
        *[{"condition": c, "run": n, "turn": t} for c in "ab" for n in (1, 2) for t in (1, 2)]
    )
    assert [(run.id, len(run.turns)) for run in runs_of(path)] == [
        ("1/a", 2),
        ("2/a", 2),
        ("1/b", 2),
        ("2/b", 2),
    ]


def test_condition_on_one_row_holds_for_its_run(lines: Callable[..., Path]) -> None:
    """A condition that stands on a run's first row alone is the run's, and splits nothing."""
    (run,) = runs_of(lines({"run": 1, "condition": "a", "turn": 1}, {"run": 1, "turn": 2}))
    assert (run.id, run.condition, len(run.turns)) == ("1", "a", 2)


def test_interleaved_runs_are_put_together(lines: Callable[..., Path]) -> None:
    """Runs whose rows are interleaved come out whole, in the order of their first rows, noted."""
    path = lines(*[{"run": name, "turn": turn} for turn in (1, 2, 3) for name in "ba"])
    runs = runs_of(path)
    assert [(run.id, len(run.turns)) for run in runs] == [("b", 3), ("a", 3)]
    assert all("interleaved" in run.notes[0] for run in runs)


def test_runs_that_stand_together_are_streamed(lines: Callable[..., Path]) -> None:
    """Where rows stand together a run is given before the next one's bad rows are met."""
    path = lines({"run": "a", "turn": 1}, {"run": "b", "turn": "x"}, {"run": "c", "turn": 1})
    problems: list[ReadError] = []
    runs = READER.read(path, problems.append)
    assert (next(runs).id, problems) == ("a", [])
    assert (next(runs).id, [problem.record for problem in problems]) == ("c", [2])


@settings(deadline=None)
@given(st.permutations([(run, turn) for run in "abc" for turn in (1, 2, 4)]))
def test_order_of_rows_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, order: list[tuple[str, int]]
) -> None:
    """In whatever order the rows stand, the same runs with the same turns come out; gaps stay."""
    path = tmp_path_factory.mktemp("order") / "t.jsonl"
    path.write_text("".join(json.dumps({"run": r, "turn": t, "x": t}) + "\n" for r, t in order))
    found = {run.id: [(t.index, t.values["x"]) for t in run.turns] for run in runs_of(path)}
    assert found == {run: [(1, 1), (2, 2), (4, 4)] for run in "abc"}


def test_duplicate_turn_names_both_records(lines: Callable[..., Path]) -> None:
    """A second row of one turn is told with both records; the first counts, the rest survives."""
    path = lines(
        {"run": 1, "turn": 1, "quality": 0.1},
        {"run": 1, "turn": 2, "quality": 0.2},
        {"run": 1, "turn": 1, "quality": 0.9},
        {"run": 2, "turn": 1, "quality": 0.5},
    )
    runs, problems = told(path)
    assert [[t.values["quality"] for t in run.turns] for run in runs] == [[0.1, 0.2], [0.5]]
    assert [problem.record for problem in problems] == [3]
    assert "record 1" in problems[0].reason


@pytest.mark.parametrize("turn", [None, 1.5, -1, "first", True, 10**30])
def test_turn_that_is_none(turn: object, lines: Callable[..., Path]) -> None:
    """A row whose turn is missing, or no whole number from 1, is told; the run goes on."""
    (run,), problems = told(lines({"turn": 1}, {"turn": turn}, {"turn": 3}))
    assert [one.index for one in run.turns] == [1, 3]
    assert [(problem.record, problem.kept) for problem in problems] == [(2, False)]


def test_turn_0_is_not_shifted(lines: Callable[..., Path]) -> None:
    """A turn 0 is left out with a word on what to do; the other turns keep their numbers."""
    (run,), problems = told(lines({"turn": 0}, {"turn": 1}, {"turn": 2}))
    assert [one.index for one in run.turns] == [1, 2]
    assert [problem.record for problem in problems] == [1]
    assert "add 1 to every `turn`" in str(problems[0])


@pytest.mark.parametrize("quality", ["null", "NaN", "Infinity"])
def test_missing_quality(quality: str, tmp_path: Path) -> None:
    """A quality of null or NaN is missing: no value, neither 0 nor 1."""
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"turn":1,"quality":{quality}}}\n{{"turn":2,"quality":0.5}}\n')
    (run,), problems = told(path)
    assert [dict(turn.values) for turn in run.turns] == [{}, {"quality": 0.5}]
    assert all(problem.kept for problem in problems)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("quality", "good"),
        ("cost_usd", -0.1),
        ("context_tokens", -5),
        ("tool_error", 1.5),
        ("tool_error", "timeout"),
        ("error", -0.25),
        ("error", 7),
        ("adherence", 95),
        ("format_error", 2),
        ("schema_valid", "maybe"),
        ("schema_valid", 0.5),
        ("success", 2),
        ("compaction", 3),
        ("quality", 1.1e100),
        ("quality", -1.1e100),
        ("cost_usd", 1e101),
        ("context_tokens", 2**53 + 1),
        ("output_tokens", 1e308),
        ("mine", 1e101),
        ("mine", -1e308),
        ("mine", 10**400),
        ("seconds", "long"),
    ],
)
def test_value_of_the_wrong_kind(column: str, value: object, lines: Callable[..., Path]) -> None:
    """A value that its column cannot hold is missing and told; the turn is kept."""
    (run,), problems = told(lines({"turn": 1, column: value, "x": 2}))
    assert (dict(run.turns[0].values), run.turns[0].cost_usd) == ({"x": 2.0}, None)
    assert [(problem.record, problem.kept) for problem in problems] == [(1, True)]
    assert f"`{column}`" in problems[0].reason


@pytest.mark.parametrize(("value", "expected"), [(True, 1.0), (0, 0.0), ("true", 1.0), (1.0, 1.0)])
def test_flags(value: object, expected: float, lines: Callable[..., Path]) -> None:
    """A flag is true or false in any of its spellings."""
    (run,) = runs_of(lines({"turn": 1, "tool_error": value}))
    assert run.turns[0].values == {"tool_error": expected}


@pytest.mark.parametrize("column", ["error", "tool_error", "adherence", "format_error"])
@pytest.mark.parametrize(
    ("value", "expected"), [(True, 1.0), (0, 0.0), ("no", 0.0), (0.25, 0.25), (1.0, 1.0)]
)
def test_shares(column: str, value: object, expected: float, lines: Callable[..., Path]) -> None:
    """What can be a share of several is a share, or true or false in any spelling."""
    (run,) = runs_of(lines({"turn": 1, column: value}))
    assert run.turns[0].values == {column: expected}


def test_words_of_an_error_are_no_share(lines: Callable[..., Path]) -> None:
    """A column `error` that holds messages is left out with a note, as any column of words."""
    (run,) = runs_of(lines({"turn": 1, "error": "timed out"}, {"turn": 2, "error": None}))
    assert run.notes == ("columns that hold no numbers were left out: error",)
    assert [dict(turn.values) for turn in run.turns] == [{}, {}]


def test_the_largest_numbers_that_are_read(lines: Callable[..., Path]) -> None:
    """Tokens up to 2**53 and numbers up to 1e100 are values; beyond, the limit is told."""
    (run,) = runs_of(lines({"turn": 1, "context_tokens": 2**53, "mine": -1e100}))
    assert run.turns[0].usage is not None
    assert (run.turns[0].usage.context_tokens, run.turns[0].values["mine"]) == (2**53, -1e100)
    _, problems = told(lines({"turn": 1, "context_tokens": 1e308, "mine": -2e100}))
    assert {problem.reason.partition(",")[0] for problem in problems} == {
        "wanted a number from 0 to 9.007e+15 as `context_tokens`",
        "wanted a number from -1e+100 to 1e+100 as `mine`",
    }


def test_text_columns_are_named_once(lines: Callable[..., Path]) -> None:
    """Columns that hold no numbers are left out, named in one note of the run."""
    (run,) = runs_of(lines({"turn": 1, "b": "x", "a": [1], "n": 1}, {"turn": 2, "b": "y", "n": 2}))
    assert run.notes == ("columns that hold no numbers were left out: a, b",)
    assert [dict(turn.values) for turn in run.turns] == [{"n": 1.0}, {"n": 2.0}]


def test_contradicting_success_is_unknown(lines: Callable[..., Path]) -> None:
    """Rows that contradict each other on success leave it unknown, with both records named."""
    (run,), problems = told(lines({"turn": 1, "success": True}, {"turn": 2, "success": False}))
    assert run.success is None
    assert [(problem.record, problem.kept) for problem in problems] == [(2, True)]
    assert "record 1" in problems[0].reason


def test_absent_compaction_is_no_zero(lines: Callable[..., Path]) -> None:
    """Without the column nobody knows of compactions; with it and none, there were none."""
    (without,) = runs_of(lines({"turn": 1}))
    assert "compaction" in without.absent
    (none,) = runs_of(lines({"turn": 1, "compaction": 0}, {"turn": 2, "compaction": 0}))
    assert ("compaction" in none.absent, none.events) == (False, ())


def test_cached_tokens_are_inside_the_context(lines: Callable[..., Path]) -> None:
    """Cached tokens are a part of the context; without a context size they make none."""
    row = {"context_tokens": 100, "cached_input_tokens": 70}
    alone = {"cached_input_tokens": 70, "output_tokens": 5}
    (run,) = runs_of(lines({"turn": 1, **row}, {"turn": 2, **alone}))
    assert run.turns[0].usage is not None
    assert (run.turns[0].usage.context_tokens, run.turns[0].usage.cache_read) == (100, 70)
    assert run.turns[1].usage == Usage(output=5)


def test_csv_cells(text: Callable[[str], Path]) -> None:
    """Quoted cells keep delimiters and line ends, empty ones are missing, `007` stays a name."""
    path = text(
        'run,turn,quality,action,note,x\n007,1,.5,"a, ""b""\nc",,NA\n007,2,,null,"1,2",1e2\n'
    )
    (run,) = runs_of(path)
    assert run.id == "007"
    assert [turn.action for turn in run.turns] == ['a, "b"\nc', "null"]
    assert [dict(turn.values) for turn in run.turns] == [{"quality": 0.5}, {"x": 100.0}]
    assert [turn.record for turn in run.turns] == [2, 4]


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_csv_delimiters(mark: str, text: Callable[[str], Path]) -> None:
    """Comma, tab and semicolon are told by the header."""
    path = text(f"turn{mark}quality\n1{mark}0.5\n")
    assert READER.looks_like(head(path), path)
    assert runs_of(path)[0].turns[0].values == {"quality": 0.5}


def test_csv_decimal_comma(text: Callable[[str], Path]) -> None:
    """Beside semicolons a comma is a decimal comma; beside commas it cannot be."""
    assert runs_of(text("turn;quality\n1;0,5\n"))[0].turns[0].values == {"quality": 0.5}


def test_csv_row_of_another_length(text: Callable[[str], Path]) -> None:
    """A row with other than the header's number of cells is told by its line."""
    (run,), problems = told(text("turn,x\n1,1\n2\n3,3,3\n4,4\n"))
    assert [turn.index for turn in run.turns] == [1, 4]
    assert [problem.record for problem in problems] == [3, 4]


@pytest.mark.parametrize("content", ["run,turn\n", "turn\n", ""])
def test_table_without_rows_is_told(content: str, text: Callable[[str], Path]) -> None:
    """A header alone, or nothing, gives no run and one problem that says so."""
    runs, problems = told(text(content))
    assert runs == []
    assert ["no row" in problem.reason for problem in problems] == [True]


def test_json_list_is_a_table(tmp_path: Path) -> None:
    """A JSON list of rows is read as the same rows on lines are; a record is a place in it."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(founding_rows(), indent=1))
    assert READER.looks_like(head(path), path)
    (run,) = runs_of(path)
    assert (len(run.turns), run.turns[-1].record) == (60, 60)


@pytest.mark.parametrize("turn", [1_000_001, 1718000000, 10**18, 10**30, 1.7e300])
def test_a_turn_that_counts_no_calls_is_told(turn: float, lines: Callable[..., Path]) -> None:
    """A time or a row's id as `turn` is refused by its record; the other rows are read."""
    runs, problems = told(lines({"turn": 1_000_000}, {"turn": turn}))
    assert [t.index for run in runs for t in run.turns] == [1_000_000]
    assert [problem.record for problem in problems] == [2]
    assert "at most 1,000,000" in problems[0].reason
    assert "a time or a row's id" in str(problems[0].fix)


@pytest.mark.parametrize("trial", [2**63, "9" * 30, "\u0663"])
def test_a_trial_that_no_table_holds_is_missing(trial: object, lines: Callable[..., Path]) -> None:
    """A trial of more than 18 digits, or in digits that are not ASCII, is told; the run is read."""
    run, other = told(
        lines({"run": "a", "turn": 1, "trial": trial}, {"run": "b", "turn": 1, "trial": 10**17})
    )[0]
    assert (run.trial, other.trial) == (None, 10**17)
    problems = told(lines({"run": "a", "turn": 1, "trial": trial}))[1]
    assert [(problem.record, problem.kept) for problem in problems] == [(1, True)]
    assert "`trial`" in problems[0].reason


def test_parquet_types(tmp_path: Path) -> None:
    """Decimals, timestamps, bools and NaN of Parquet are read by what they mean."""
    table = pa.table(
        {
            "turn": pa.array([1, 2], pa.int8()),
            "cost_usd": pa.array(["0.10", "0.25"]).cast(pa.decimal128(5, 2)),
            "started_at": pa.array([1704067200, None], pa.timestamp("s", tz="UTC")),
            "quality": pa.array([float("nan"), 0.5], pa.float32()),
            "tool_error": [True, False],
            "mood": pa.array([float("nan"), float("nan")]),
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    (run,) = runs_of(path)
    assert [turn.cost_usd for turn in run.turns] == [0.1, 0.25]
    assert [turn.started_at for turn in run.turns] == [1704067200.0, None]
    assert [dict(turn.values) for turn in run.turns] == [
        {"tool_error": 1.0},
        {"tool_error": 0.0, "quality": 0.5},
    ]
    assert run.notes == ()


def test_parquet_is_claimed_by_its_columns(tmp_path: Path) -> None:
    """A Parquet file is claimed if its footer names a column `turn`, and not another's."""
    claimed = {}
    for column in ("turn", "turns", "return", "tur"):
        path = tmp_path / column
        pq.write_table(pa.table({column: [1], "quality": [0.5]}), path)
        claimed[column] = READER.looks_like(head(path), path)
    assert claimed == {"turn": True, "turns": False, "return": False, "tur": False}


@pytest.mark.parametrize(
    "content",
    ['{"step": 1}\n', "step,quality\n1,2\n", '{"a": {"turn": 1}}\n', "your turn\n", "[1, 2]", "{"],
)
def test_other_tables_are_not_claimed(content: str, text: Callable[[str], Path]) -> None:
    """A table without a column `turn` is nobody's."""
    path = text(content)
    assert not READER.looks_like(head(path), path)


def test_first_row_may_lack_its_turn(lines: Callable[..., Path]) -> None:
    """A table is claimed by any of its first rows, so that a bad first row can be told."""
    path = lines({"quality": 1}, {"turn": 2})
    assert READER.looks_like(head(path), path)
