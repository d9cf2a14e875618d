"""Broken files: each fault is told with its file and record, and the other runs survive."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers import READERS, raise_problem
from turncurve.readers.stream import head

GOOD = [{"run": run, "turn": turn, "quality": 0.5} for run in "ab" for turn in (1, 2, 3)]
GOOD_LINES = "".join(json.dumps(row) + "\n" for row in GOOD).encode()
DEEP = b"[" * 10_000 + b"]" * 10_000


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., tuple[list[Run], list[ReadError]]]:
    """Reads bytes as a `turns` file; every problem must name that file."""

    def run(content: bytes, name: str = "t.jsonl") -> tuple[list[Run], list[ReadError]]:
        path = tmp_path / name
        path.write_bytes(content)
        problems: list[ReadError] = []
        runs = list(READERS["turns"].read(path, problems.append))
        assert all(str(problem).startswith(str(path)) for problem in problems)
        return runs, problems

    return run


def shape(runs: list[Run]) -> dict[str, list[int]]:
    return {run.id: [turn.index for turn in run.turns] for run in runs}


BOTH = {"a": [1, 2, 3], "b": [1, 2, 3]}


@pytest.mark.parametrize(
    ("bad", "record", "word"),
    [
        (b'{"run":"c","turn":', 7, "breaks off"),
        (b'{"run":"c","turn":}\n', 7, "no JSON"),
        (b'{"run":"c","turn":' + DEEP + b"}\n", 7, "too deep"),
        (b'{"run":"c"}\n', 7, "wanted a column `turn`"),
        (b'{"run":"a","turn":2}\n', 7, "stands already in record 2"),
        (b"[1,2]\n", 7, "object"),
        (b"\x00\x01\x02\n", 7, "no JSON"),
    ],
)
def test_bad_record_is_told_and_the_rest_survives(
    bad: bytes, record: int, word: str, read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """A record that is lost is told once, by file and line, and costs no other."""
    runs, problems = read(GOOD_LINES + bad)
    assert shape(runs) == BOTH
    assert [(problem.record, problem.kept) for problem in problems] == [(record, False)]
    assert word in problems[0].reason


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (b'{"run":"c","turn":1,"quality":NaN}\n', "NaN"),
        (b'{"run":"c","turn":1,"action":"\xff"}\n', "UTF-8"),
        (b'{"run":"c","turn":1,"quality":"x"}\n', "number"),
    ],
)
def test_faulty_part_is_told_and_the_record_kept(
    bad: bytes, word: str, read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """A record that is read with a part missing is told as kept."""
    runs, problems = read(GOOD_LINES + bad)
    assert shape(runs) == {**BOTH, "c": [1]}
    assert [(problem.record, problem.kept) for problem in problems] == [(7, True)]
    assert word in problems[0].reason


def test_null_time_is_absent(read: Callable[..., tuple[list[Run], list[ReadError]]]) -> None:
    """A null time is no fault: the turn is read, and its start is absent with a reason."""
    runs, problems = read(b'{"turn":1,"started_at":null}\n')
    assert (runs[0].turns[0].started_at, problems) == (None, [])
    assert "started_at" in runs[0].absent


def test_byte_order_mark_is_no_fault(
    read: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """A byte order mark is read over in JSON lines and in CSV."""
    mark = b"\xef\xbb\xbf"
    assert (shape(read(mark + GOOD_LINES)[0]), read(mark + GOOD_LINES)[1]) == (BOTH, [])
    runs, problems = read(mark + b"turn,quality\n1,0.5\n", "t.csv")
    assert (shape(runs), problems) == ({"t": [1]}, [])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_bomb_is_told(
    pack: Callable[[bytes], bytes], read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """A decompression bomb behind good rows is stopped and told; the rows before it are read."""
    runs, problems = read(pack(GOOD_LINES + b" " * 100_000_000))
    assert shape(runs) == BOTH
    assert ["bomb" in problem.reason for problem in problems] == [True]


@pytest.mark.parametrize("name", READERS.names())
@pytest.mark.parametrize("mark", [b"\n", b" ", b"[", b"{", b'"', b",", b"#\n", b'{"a":'])
def test_a_look_at_a_file_is_quick(name: str, mark: bytes, tmp_path: Path) -> None:
    """Whatever 64 KiB begin with, saying whether a reader takes them is a matter of a moment."""
    started = time.process_time()
    READERS[name].looks_like(mark * (65536 // len(mark)), tmp_path)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("start", [b'{"turn":1,"run":"a"}\n', b"turn,run\n1,a\n"])
def test_millions_of_blank_lines_are_passed_quickly(
    start: bytes, read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """They cost their bytes alone in JSON lines; in CSV a million of them end the reading."""
    started = time.process_time()
    runs, problems = read(start + b"\n" * 30_000_000)
    assert time.process_time() - started < 8
    assert shape(runs) == {"a": [1]}
    assert ["blank lines in a row" in problem.reason for problem in problems] == [True] * len(
        problems
    )


def test_line_numbers_count_blank_lines(
    read: Callable[..., tuple[list[Run], list[ReadError]]],
) -> None:
    """However many stand in a row, and with blanks in them or not."""
    _, problems = read(GOOD_LINES + b"\n" * 100_000 + b"  \n\n{broken\n")
    assert [problem.record for problem in problems] == [100_009]


def test_cut_off_csv_row(read: Callable[..., tuple[list[Run], list[ReadError]]]) -> None:
    """A CSV file that ends within a row loses that row alone, told by its line."""
    runs, problems = read(b"turn,x,quality\n1,1,0.5\n2,1", "t.csv")
    assert shape(runs) == {"t": [1]}
    assert [problem.record for problem in problems] == [3]


def test_csv_with_an_open_quote(read: Callable[..., tuple[list[Run], list[ReadError]]]) -> None:
    """A quote that never closes is told by the line that it opened in; the rows behind are read."""
    runs, problems = read(b'turn,x\n1,1\n2,"open\n3,1\n', "t.csv")
    assert shape(runs) == {"t": [1, 3]}
    assert [problem.record for problem in problems] == [3]
    assert "over 1 more line(s): an unclosed quote?" in problems[0].reason


def test_csv_with_invalid_utf8(read: Callable[..., tuple[list[Run], list[ReadError]]]) -> None:
    """Bytes that are no UTF-8 in a CSV cell are told by row, which is kept."""
    runs, problems = read(b"turn,action\n1,ok\n2,\xff\n", "t.csv")
    assert [turn.action for turn in runs[0].turns] == ["ok", "\ufffd"]
    assert [(problem.record, problem.kept) for problem in problems] == [(3, True)]


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.999])
def test_cut_off_parquet(
    cut: float, data: Path, read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """A Parquet file without its footer has no rows, and says that it cannot be read."""
    content = (data / "turns" / "runs.parquet").read_bytes()
    runs, problems = read(content[: int(len(content) * cut)], "t.parquet")
    assert runs == []
    assert "Parquet" in problems[0].reason


def test_damaged_parquet_page(
    data: Path, read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """A Parquet file with a spoilt page is told; no exception of its library comes through."""
    content = bytearray((data / "turns" / "runs.parquet").read_bytes())
    content[20:400] = bytes(380)
    _, problems = read(bytes(content), "t.parquet")
    assert any("the Parquet file cannot be read on" in problem.reason for problem in problems)


@pytest.mark.parametrize("name", ["claude_code", "codex", "turns"])
@pytest.mark.parametrize("line", [b"null\n", b"3\n", b'"text"\n', b"[]\n", b'{"type":"user"}\n'])
def test_json_that_is_no_record(name: str, line: bytes, tmp_path: Path) -> None:
    """A line that is JSON and no record of the format is told by its line, or means nothing."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(line)
    problems: list[ReadError] = []
    runs = list(READERS[name].read(path, problems.append))
    assert all(run.turns == () for run in runs)
    assert problems or name == "codex"
    assert all(problem.record in (1, None) for problem in problems)


@pytest.mark.parametrize("name", ["claude_code", "codex", "turns"])
def test_caller_may_stop_at_the_first_problem(name: str, tmp_path: Path) -> None:
    """`raise_problem` stops a reader at the first record that cannot be read."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"{broken\n" + GOOD_LINES)
    with pytest.raises(ReadError) as caught:
        list(READERS[name].read(path, raise_problem))
    assert (caught.value.path, caught.value.record) == (path, 1)


@pytest.mark.parametrize("name", READERS.names())
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{}",
        b"[]",
        b"null",
        b"{}\n{}\n",
        b"[[]]",
        b"\xff\xfe{\x00}\x00",
        b"PK\x03\x04",
        b"PAR1",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"{}", mtime=0)[:9],
    ],
)
def test_no_reader_breaks_on_what_is_not_its_own(name: str, content: bytes, tmp_path: Path) -> None:
    """Forced on a file of another kind, a reader finds no turn and raises nothing."""
    path = tmp_path / "t.json"
    path.write_bytes(content)
    assert READERS[name].looks_like(head(path), path) in (True, False)
    problems: list[ReadError] = []
    runs = list(READERS[name].read(path, problems.append))
    assert all(run.turns == () for run in runs)


def test_a_parquet_column_whose_name_is_no_text(
    data: Path, read: Callable[..., tuple[list[Run], list[ReadError]]]
) -> None:
    """A spoilt byte in a column's name is told, and raises nothing."""
    content = (data / "turns" / "runs.parquet").read_bytes()
    assert b"quality" in content
    _, problems = read(content.replace(b"quality", b"qu\xf3lity"), "t.parquet")
    assert any("the Parquet file cannot be read on" in problem.reason for problem in problems)
