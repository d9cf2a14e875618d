"""Tables of turns as programs write them: encodings, headers, quotes, and types of Parquet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers import READERS
from turncurve.readers._csv import MOST_TAKEN_BACK
from turncurve.readers.stream import head

READER = READERS["turns"]


@pytest.fixture
def csv(tmp_path: Path) -> Callable[..., tuple[list[Run], list[ReadError]]]:
    """Reads bytes or text as a CSV file, which the reader must take for its own."""

    def read(content: bytes | str) -> tuple[list[Run], list[ReadError]]:
        path = tmp_path / "t.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        assert READER.looks_like(head(path), path)
        problems: list[ReadError] = []
        return list(READER.read(path, problems.append)), problems

    return read


@pytest.fixture
def parquet(tmp_path: Path) -> Callable[..., tuple[list[Run], list[ReadError]]]:
    """Reads columns, or a table, as a Parquet file."""

    def read(**columns: Any) -> tuple[list[Run], list[ReadError]]:
        path = tmp_path / "t.parquet"
        pq.write_table(columns.pop("table", None) or pa.table(columns), path)
        assert READER.looks_like(head(path), path)
        problems: list[ReadError] = []
        return list(READER.read(path, problems.append)), problems

    return read


def qualities(runs: list[Run]) -> dict[int, float]:
    return {turn.index: turn.values["quality"] for run in runs for turn in run.turns}


@pytest.mark.parametrize(
    "content",
    [
        "Turn,QUALITY\n1,0.5\n2,0.25\n",
        "turn|quality\n1|0.5\n2|0.25\n",
        "turn,quality\r1,0.5\r2,0.25\r",
        "# made by hand\n\n# a, b\nturn,quality\n1,0.5\n2,0.25\n",
        "# turn,quality\n1,0.5\n2,0.25\n",
        "sep=;\nturn;quality\n1;0,5\n2;0,25\n",
        "turn,quality\n1,0.5\n2,0.25\n".encode("utf-16"),
        b"\xfe\xff" + "turn,quality\n1,0.5\n2,0.25\n".encode("utf-16-be"),
        '{"turn":1,"quality":0.5}\n{"turn":2,"quality":0.25}\n'.encode("utf-16"),
    ],
)
def test_a_table_in_other_dress(
    content: bytes | str, csv: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """Capitals, bars, CR line ends, comments before the header and UTF-16 change nothing."""
    runs, problems = csv(content)
    assert (qualities(runs), problems) == ({1: 0.5, 2: 0.25}, [])


def test_lines_are_counted_from_the_top_of_the_file(
    csv: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """Comments and blank lines before the header, and quoted line breaks, count as lines."""
    runs, problems = csv('# one\n\nturn,action\n1,"a\nb"\n2\n3,c\n')
    assert [turn.record for turn in runs[0].turns] == [4, 7]
    assert [problem.record for problem in problems] == [6]


def test_two_columns_of_one_name_are_told(
    csv: Callable[..., tuple[list[Run], list[ReadError]]],
    parquet: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """The first is read, in CSV and in Parquet, and one problem says so."""
    table = pa.table(
        [pa.array([1]), pa.array([0.5]), pa.array([0.9])], names=["turn", "quality", "quality"]
    )
    for runs, problems in (csv("turn,quality, quality\n1,0.5,0.9\n"), parquet(table=table)):
        assert qualities(runs) == {1: 0.5}
        reasons = [(problem.reason, problem.kept) for problem in problems]
        assert reasons == [("the column `quality` stands twice", True)]


@pytest.mark.parametrize(
    ("rows", "turns", "told"),
    [
        ('1,"open\n2,x\n3,y\n', [2, 3], [2]),
        ('1,"open\n2,"x"\n3,y\n', [2, 3], [2]),
        ('1,"open,y\n2,","\n3,y\n', [2, 3], [2]),
        ('1,a\n2,"open\n"3",x\n4,y\n', [1, 3, 4], [3]),
        ('1,"two\nlines"\n2,x\n', [1, 2], []),
    ],
)
def test_an_unclosed_quote_costs_its_own_row(
    rows: str,
    turns: list[int],
    told: list[int],
    csv: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """The rows that it swallowed are read, and the problem names the line that it opened in."""
    (run,), problems = csv(f"turn,action\n{rows}")
    assert [turn.index for turn in run.turns] == turns
    assert [problem.record for problem in problems] == told
    assert all("unclosed quote" in problem.reason for problem in problems)


def test_a_file_of_unclosed_quotes_ends_in_time(
    csv: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """Only so many rows are read again, and what is lost behind the last of them is told."""
    _, problems = csv("turn,action\n" + '1,"open\n' * 3001)
    assert len(problems) <= 3001
    assert sum("own" in str(problem.fix) for problem in problems) <= MOST_TAKEN_BACK


@pytest.mark.parametrize("time", ["2024-13-45", "1e300", "noon", "99999999999999999999999"])
def test_an_impossible_time_is_told(
    time: str, csv: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """It is missing, by its line; 0, which writers leave for no time, is no fault."""
    (run,), problems = csv(f"turn,started_at\n1,{time}\n2,0\n3,2024-01-01\n")
    assert [turn.started_at for turn in run.turns] == [None, None, 1704067200.0]
    assert [(problem.record, problem.kept) for problem in problems] == [(2, True)]
    assert "wanted a time" in problems[0].reason


def test_parquet_texts_and_decimals_are_read_as_cells_of_csv(
    parquet: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """Numbers in texts, decimals, words for missing, durations and days mean what they say."""
    runs, problems = parquet(
        Turn=["1", "2"],
        run=pa.array([Decimal(7), Decimal(7)]),
        quality=["0.5", "NaN"],
        compaction=["true", "0"],
        context_tokens=pa.array([Decimal("100.0"), Decimal("200.0")]),
        seconds=pa.array([1500, None], pa.duration("ms")),
        started_at=pa.array([date(2024, 1, 1), None]),
        action=pa.array([b"look", b"NaN"], pa.binary()),
    )
    assert problems == []
    (run,) = runs
    assert run.id == "7"
    assert [dict(turn.values) for turn in run.turns] == [{"quality": 0.5}, {}]
    assert [turn.usage.context_tokens for turn in run.turns if turn.usage] == [100, 200]
    assert [turn.seconds for turn in run.turns] == [1.5, None]
    assert [turn.started_at for turn in run.turns] == [1704067200.0, None]
    assert [turn.action for turn in run.turns] == ["look", "NaN"]
    assert [event.turn for event in run.events] == [1]


@pytest.mark.parametrize(
    ("name", "column", "word", "first"),
    [
        ("run", pa.array([b"a", b"\xff", b"a"], pa.binary()), "invalid UTF-8", 2),
        ("action", pa.array([b"a", b"\xff", b"\xfe"], pa.binary()).view(pa.string()), "UTF-8", 2),
        ("started_at", pa.array([0, 2**61, 0], pa.timestamp("ms")), "out of the years", 2),
        ("started_at", pa.array([2**30, 1, 1], pa.date32()), "cannot be read", 1),
    ],
)
def test_a_parquet_cell_that_cannot_be_read_costs_no_row(
    name: str,
    column: pa.Array,
    word: str,
    first: int,
    parquet: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """It is told once for its column, by the first row, and every row is there."""
    runs, problems = parquet(turn=[1, 2, 3], quality=[0.5, 0.25, 1.0], **{name: column})
    assert qualities(runs) == {1: 0.5, 2: 0.25, 3: 1.0}
    assert [(problem.record, problem.kept) for problem in problems] == [(first, True)]
    assert f"column `{name}`: " in problems[0].reason
    assert word in problems[0].reason
