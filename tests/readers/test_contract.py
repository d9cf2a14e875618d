"""What every reader promises, whatever its format: one suite over all that are registered."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import zstandard

from turncurve.errors import ReadError
from turncurve.model import Run, Usage
from turncurve.readers import READERS
from turncurve.readers.stream import head

DATA = Path(__file__).resolve().parents[1] / "data"
NAMES = READERS.names()
DEEP = b"[" * 10_000 + b"]" * 10_000
BINARY = (b"PK", b"PAR1")
SIGNALS = ("quality", "error", "context_tokens", "output_tokens", "cost_usd")


def fixtures(name: str) -> list[Path]:
    """The files of a format's folder that its reader takes for its own."""
    files = sorted(path for path in (DATA / name).rglob("*") if path.is_file())
    return [path for path in files if READERS[name].looks_like(head(path), path)]


CASES = [pytest.param(n, p, id=f"{n}-{p.name}") for n in NAMES for p in fixtures(n)]
TEXT_CASES = [case for case in CASES if not case.values[1].read_bytes().startswith(BINARY)]
JSON_CASES = [case for case in TEXT_CASES if case.values[1].read_bytes()[:1] in (b"{", b"[")]

TEXT = re.compile(rb'"(?:text|content|thought|action|instructions)":\s*"[\w ]')
SPOILABLE = [case for case in JSON_CASES if TEXT.search(case.values[1].read_bytes())]


def is_json_lines(path: Path) -> bool:
    return path.suffix == ".jsonl"


def read(name: str, path: Path) -> tuple[list[Run], list[ReadError]]:
    problems: list[ReadError] = []
    return list(READERS[name].read(path, problems.append)), problems


@pytest.fixture
def mutated(tmp_path: Path) -> Callable[[str, Path, bytes], Path]:
    """Gives a copy of a fixture's folder, under the same names, with other bytes in one file."""

    def copy(name: str, path: Path, content: bytes) -> Path:
        shutil.copytree(DATA / name, tmp_path / name)
        target = tmp_path / name / path.relative_to(DATA / name)
        target.write_bytes(content)
        return target

    return copy


def anywhere(runs: list[Run]) -> list[Run]:
    """The runs without their path and notes, to compare those of two copies of a file."""
    return [replace(run, path="", notes=()) for run in runs]


@pytest.mark.parametrize("name", NAMES)
def test_has_fixtures(name: str) -> None:
    """Every registered reader has at least one small trace in tests/data/<format>/."""
    assert fixtures(name)


@pytest.mark.parametrize("name", NAMES)
def test_is_named_as_registered(name: str) -> None:
    """A reader's own name is the one it is registered under."""
    assert READERS[name].name == name


@pytest.mark.parametrize(("name", "path"), CASES)
def test_runs_say_where_they_come_from(name: str, path: Path) -> None:
    """Each run carries its format and its file, and no two runs of a file share an id."""
    runs, _ = read(name, path)
    assert {run.format for run in runs} == {name}
    assert {run.path for run in runs} == {str(path)}
    assert len({run.id for run in runs}) == len(runs)


@pytest.mark.parametrize(("name", "path"), CASES)
def test_fixtures_read_without_loss(name: str, path: Path) -> None:
    """A sound fixture gives runs, and no record of it is lost."""
    runs, problems = read(name, path)
    assert runs
    assert [problem for problem in problems if not problem.kept] == []


@pytest.mark.parametrize(("name", "path"), CASES)
def test_turns_rise_and_usage_is_no_debt(name: str, path: Path) -> None:
    """Turn indices start at 1 or above and rise; no token count and no cost is below 0."""
    for run in read(name, path)[0]:
        indices = [turn.index for turn in run.turns]
        assert indices == sorted(set(indices))
        assert all(index >= 1 for index in indices)
        for turn in run.turns:
            counts = [getattr(turn.usage, f.name) for f in fields(Usage)] if turn.usage else []
            assert all(count >= 0 for count in counts if count is not None)
            assert turn.cost_usd is None or turn.cost_usd >= 0


@pytest.mark.parametrize(("name", "path"), CASES)
def test_absent_signals_have_a_reason(name: str, path: Path) -> None:
    """Of the core signals `absent` gives a reason for those that no turn has, and for no other."""
    for run in read(name, path)[0]:
        given = {
            "quality": any("quality" in turn.values for turn in run.turns),
            "error": any(turn.grades or "error" in turn.values for turn in run.turns),
            "context_tokens": any(
                turn.usage and turn.usage.context_tokens is not None for turn in run.turns
            ),
            "output_tokens": any(
                turn.usage and turn.usage.output is not None for turn in run.turns
            ),
            "cost_usd": any(turn.cost_usd is not None for turn in run.turns),
        }
        for signal in SIGNALS:
            if run.turns:
                assert bool(run.absent.get(signal)) != given[signal], (run.id, signal)


@pytest.mark.parametrize(("name", "path"), CASES)
def test_no_earlier_reader_claims_the_file(name: str, path: Path) -> None:
    """Of the built-in readers, in their order, the format's own is the first to claim its file."""
    start = head(path)
    claims = [other for other in NAMES if READERS[other].looks_like(start, path)]
    assert claims[0] == name


@pytest.mark.parametrize(("name", "path"), CASES)
def test_content_decides_not_the_name(name: str, path: Path, tmp_path: Path) -> None:
    """Under a name that says nothing, a file is still claimed by its own reader first."""
    copy = tmp_path / "trace.bin"
    shutil.copyfile(path, copy)
    start = head(copy)
    assert next(other for other in NAMES if READERS[other].looks_like(start, copy)) == name


@pytest.mark.parametrize(("name", "path"), CASES)
def test_reading_twice_gives_equal_runs(name: str, path: Path) -> None:
    """A reader keeps nothing from one reading to the next."""
    assert read(name, path)[0] == read(name, path)[0]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize(("name", "path"), CASES)
def test_packed_copy_gives_the_same_runs(
    name: str,
    path: Path,
    pack: Callable[[bytes], bytes],
    mutated: Callable[[str, Path, bytes], Path],
) -> None:
    """A gzip or zstd copy is claimed by the same reader and gives the same runs."""
    copy = mutated(name, path, pack(path.read_bytes()))
    assert READERS[name].looks_like(head(copy), copy)
    assert anywhere(read(name, copy)[0]) == anywhere(read(name, path)[0])


@pytest.mark.parametrize(("name", "path"), TEXT_CASES)
def test_byte_order_mark_changes_nothing(
    name: str, path: Path, mutated: Callable[[str, Path, bytes], Path]
) -> None:
    """A UTF-8 byte order mark in front of a text format is read over."""
    copy = mutated(name, path, b"\xef\xbb\xbf" + path.read_bytes())
    runs, problems = read(name, copy)
    assert READERS[name].looks_like(head(copy), copy)
    assert anywhere(runs) == anywhere(read(name, path)[0])
    assert [problem for problem in problems if not problem.kept] == []


def cut_in_a_record(content: bytes) -> bytes:
    """The first 70 % or a little less: up to some bytes after a line began."""
    cut = int(len(content) * 0.7)
    line_start = content.rfind(b"\n", 0, cut) + 1
    return content[: line_start + 4 if line_start > 1 else cut]


@pytest.mark.parametrize(("name", "path"), CASES)
def test_cut_off_file_is_told(
    name: str, path: Path, mutated: Callable[[str, Path, bytes], Path]
) -> None:
    """A file cut off at 70 % raises nothing; the problem names it, and what stands survives."""
    copy = mutated(name, path, cut_in_a_record(path.read_bytes()))
    runs, problems = read(name, copy)
    assert problems
    assert all(str(copy) in str(problem) for problem in problems)
    if is_json_lines(path):
        assert runs
        n_lines = copy.read_bytes().count(b"\n") + 1
        assert n_lines in {problem.record for problem in problems}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize(("name", "path"), CASES)
def test_cut_off_packed_file_is_told(
    name: str,
    path: Path,
    pack: Callable[[bytes], bytes],
    mutated: Callable[[str, Path, bytes], Path],
) -> None:
    """A packed file that breaks off raises nothing and is told."""
    packed = pack(path.read_bytes())
    copy = mutated(name, path, packed[: int(len(packed) * 0.7)])
    assert read(name, copy)[1]


@pytest.mark.parametrize(("name", "path"), JSON_CASES)
def test_nesting_too_deep_is_told(
    name: str, path: Path, mutated: Callable[[str, Path, bytes], Path]
) -> None:
    """JSON nested 10,000 deep gives a problem at its record; what stands before survives."""
    content = path.read_bytes()
    if is_json_lines(path):
        copy = mutated(name, path, content + b'{"turn":' + DEEP + b"}\n")
        runs, problems = read(name, copy)
        assert content.count(b"\n") + 1 in {problem.record for problem in problems}
        assert anywhere(runs) == anywhere(read(name, path)[0])
    else:
        more = b"," if content.startswith(b"[") else b',"deep":'
        copy = mutated(name, path, content.rstrip()[:-1] + more + DEEP + content.rstrip()[-1:])
        runs, problems = read(name, copy)
        assert anywhere(runs) == anywhere(read(name, path)[0])[: len(runs)]
        assert all(str(copy) in str(problem) for problem in problems)
    assert any("deep" in problem.reason for problem in problems)


@pytest.mark.parametrize(("name", "path"), JSON_CASES)
def test_nan_reads_as_missing(
    name: str, path: Path, mutated: Callable[[str, Path, bytes], Path]
) -> None:
    """NaN where a format has null gives the same runs, told as records that were kept."""
    content = path.read_bytes()
    copy = mutated(name, path, re.sub(rb":\s*null\b", b":NaN", content))
    runs, problems = read(name, copy)
    assert anywhere(runs) == anywhere(read(name, path)[0])
    assert [problem for problem in problems if not problem.kept] == []


@pytest.mark.parametrize(("name", "path"), SPOILABLE)
def test_invalid_utf8_loses_no_run(
    name: str, path: Path, mutated: Callable[[str, Path, bytes], Path]
) -> None:
    """A byte that is no UTF-8 within a text is told with its file; no run or turn goes with it."""
    content = path.read_bytes()
    spot = TEXT.search(content)
    assert spot
    copy = mutated(name, path, content[: spot.end()] + b"\xff" + content[spot.end() :])
    runs, problems = read(name, copy)
    assert problems
    assert all(str(copy) in str(problem) for problem in problems)
    expected = read(name, path)[0]
    assert [len(run.turns) for run in runs] == [len(run.turns) for run in expected]


@pytest.mark.parametrize(("name", "path"), JSON_CASES)
def test_null_times_read_as_absent(
    name: str, path: Path, mutated: Callable[[str, Path, bytes], Path]
) -> None:
    """With every time null the same turns come out, each without a start."""
    names = (
        rb"timestamp|created|time|started_at|completed|processed_at|start_time|startTime"
        rb"|startTimeUnixNano"
    )
    times = rb'"(' + names + rb')":\s*(?:"[^"]*"|[\d.]+)'
    copy = mutated(name, path, re.sub(times, rb'"\1":null', path.read_bytes()))
    runs, _ = read(name, copy)
    expected = read(name, path)[0]
    assert [len(run.turns) for run in runs] == [len(run.turns) for run in expected]
    assert all(turn.started_at is None for run in runs for turn in run.turns)


@pytest.mark.parametrize("name", NAMES)
def test_random_bytes_are_nobodys(name: str, tmp_path: Path) -> None:
    """No reader claims random bytes, an empty file or plain prose."""
    rng = np.random.default_rng(20260203)
    path = tmp_path / "noise"
    for content in [rng.bytes(5000) for _ in range(50)] + [b"", b"It is your turn, my friend.\n"]:
        path.write_bytes(content)
        assert not READERS[name].looks_like(head(path), path)
