"""Files of numbers, read by columns: the same table as read row by row, or not read so at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from table.same_table import assert_same
from turncurve.errors import ReadError
from turncurve.ingest import ReadOptions, read_table
from turncurve.ingest.options import Problems
from turncurve.ingest.rows import Rows
from turncurve.readers import READERS
from turncurve.table import TurnTable

TURNS = READERS["turns"]

NUMBER = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "quality": NUMBER,
    "context_tokens": st.integers(500, 200_000),
    "cached_input_tokens": st.integers(0, 500),
    "output_tokens": st.integers(0, 5_000),
    "reasoning_tokens": st.integers(0, 100),
    "cost_usd": st.floats(0, 5),
    "seconds": st.floats(0, 100),
    "tool_error": st.booleans(),
    "action": st.sampled_from(["search:a", "ls -la", "edit x", "rm b", "ü"]),
    "speed of thought": NUMBER,
}
ODD = st.sampled_from([None, "x", "", -1, 2**60, 1e300, [], {"a": 1}, True, "nan", 0])


def row_by_row(path: Path) -> tuple[TurnTable, list[ReadError]]:
    problems = Problems()
    rows = Rows(ReadOptions(), problems)
    for run in TURNS.read(path, problems.report):
        rows.add(run)
    return rows.table(), problems.found


def by_columns(path: Path) -> TurnTable | None:
    rows = Rows(ReadOptions(), Problems())
    plain = TURNS.read_plain(path) if TURNS.read_plain else None
    return rows.table() if plain is not None and rows.add_plain(plain) else None


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of some runs in order, all with the same columns."""
    names = draw(st.lists(st.sampled_from(list(CELLS)), unique=True))
    of_run = draw(
        st.lists(st.sampled_from(["scenario", "condition", "trial", "success"]), unique=True)
    )
    rows = []
    for run in range(draw(st.integers(1, 4))):
        fixed = {
            "scenario": draw(st.sampled_from(["s", "t"])),
            "condition": draw(st.sampled_from(["new", "old"])),
            "trial": draw(st.integers(0, 3)),
            "success": draw(st.booleans()),
        }
        turns = sorted(draw(st.sets(st.integers(1, 9), min_size=1)))
        for turn in turns:
            cells = {name: draw(CELLS[name]) for name in names}
            rows.append({"run": f"r{run}", "turn": turn, **{n: fixed[n] for n in of_run}, **cells})
    return rows


@given(records())
@settings(deadline=None, max_examples=120)
def test_columns_give_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    """Whatever columns a sound file has, both ways give every cell alike."""
    path = write(tmp_path_factory.mktemp("plain") / "a.jsonl", rows)
    expected, problems = row_by_row(path)
    found = by_columns(path)
    given = set(rows[0])
    lacks_input = "cached_input_tokens" in given and "context_tokens" not in given
    tokens = {"context_tokens", "output_tokens"}
    if lacks_input or ("reasoning_tokens" in given and not tokens <= given):
        assert found is None
    else:
        assert problems == []
        assert found is not None
        assert_same(found, expected)


@given(records(), st.data())
@settings(deadline=None, max_examples=120)
def test_what_is_odd_is_left_or_read_alike(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    """With a cell spoiled, dropped, added or a row moved, it is left, or both ways agree."""
    at = data.draw(st.integers(0, len(rows) - 1))
    name = data.draw(st.sampled_from([*rows[at], "more"]))
    way = data.draw(st.sampled_from(["cell", "drop", "move", "double"]))
    if way == "cell":
        rows[at][name] = data.draw(ODD)
    elif way == "drop":
        rows[at].pop(name, None)
    elif way == "move":
        rows.insert(data.draw(st.integers(0, len(rows) - 1)), rows.pop(at))
    else:
        rows.append(dict(rows[at]))
    path = write(tmp_path_factory.mktemp("odd") / "a.jsonl", rows)
    found = by_columns(path)
    if found is not None:
        expected, problems = row_by_row(path)
        assert problems == []
        assert_same(found, expected)


@pytest.mark.parametrize(
    "text",
    [
        '{"run": "a", "turn": 1}\n\n{"run": "a", "turn": 2}\n',
        '{"run": "a", "turn": 1}, {"run": "a", "turn": 2}\n',
        '{\n"run": "a", "turn": 1\n}\n',
        '[{"run": "a", "turn": 1}]\n',
        '{"run": "a", "turn": 1}\n{"run": "a", "turn": 2',
        '{"run": "a", "turn": 1, "quality": NaN}\n',
        '{"run": "a", "turn": 1, "error": 1}\n',
        '{"run": "a", "turn": 1, "repeated_action": 1}\n',
        '{"run": "a", "turn": 1, "n_tool_calls": 1}\n',
        '{"run": " a", "turn": 1}\n',
        '{"run": "a", "turn": 0}\n',
        '{"run": "a", "turn": 1}\n{"run": "b", "turn": 1}\n{"run": "a", "turn": 2}\n',
        "",
    ],
)
def test_what_needs_words_is_left_to_the_reading_row_by_row(tmp_path: Path, text: str) -> None:
    """Blank lines, lists, several records a line, columns with rules of their own."""
    path = tmp_path / "a.jsonl"
    path.write_text(text, encoding="utf-8")
    assert by_columns(path) is None


def test_a_file_of_many_blocks(tmp_path: Path) -> None:
    """Runs that cross the blocks of lines are whole, and the records are their line numbers."""
    rows = [
        {
            "run": f"run-{r}",
            "turn": t,
            "quality": (r * t) % 7 / 7,
            "action": f"look {t % 5} " + "x" * 90,
        }
        for r in range(150)
        for t in range(1, 101)
    ]
    path = write(tmp_path / "a.jsonl", rows)
    assert path.stat().st_size > 2 * 2**20
    found = by_columns(path)
    assert found is not None
    assert_same(found, row_by_row(path)[0])


def test_reading_takes_the_columns(tmp_path: Path) -> None:
    """A folder of plain and other files gives the runs of both, in the files' order."""
    write(tmp_path / "a.jsonl", [{"run": "a", "turn": 1, "quality": 0.5}])
    write(tmp_path / "b.jsonl", [{"run": "b", "turn": 1, "quality": None}])
    write(tmp_path / "c.jsonl", [{"run": "c", "turn": 1, "quality": 1}])
    ingested = read_table([tmp_path])
    assert ingested.table.runs.id.tolist() == ["a", "b", "c"]
    assert [i.n_runs for i in ingested.inputs] == [1, 1, 1]
    assert by_columns(tmp_path / "a.jsonl") is not None
    assert by_columns(tmp_path / "b.jsonl") is None


@pytest.mark.parametrize("name", ['say "hi"', "a\\b", "a\x01b", "\ud800"])
def test_a_column_with_any_name_is_read(tmp_path: Path, name: str) -> None:
    """A quote, a backslash, a control character or half a character in a name stops nothing."""
    path = tmp_path / "odd.jsonl"
    rows = [{"run": "a", "turn": turn, "quality": 0.5, name: turn} for turn in (1, 2)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = read_table([path]).table
    assert table.turn.tolist() == [1, 2]
    assert table.columns["quality"].tolist() == [0.5, 0.5]
