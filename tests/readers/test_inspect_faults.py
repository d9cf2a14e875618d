"""Damaged and hostile Inspect logs: what is wrong is named, and the other samples survive."""

from __future__ import annotations

import gzip
import json
import re
import time
import zipfile
from pathlib import Path

import pytest

from readers.inspect_logs import call, log, read_all, sample, write_eval, write_json
from turncurve.errors import ReadError
from turncurve.readers._inspect.archive import ArchiveLimits, batches, sample_members
from turncurve.readers.base import raise_problem
from turncurve.readers.inspect_log import read

TWO = (sample(call("one")), sample(call("two"), id="s2"))


def add(path: Path, name: str, content: str) -> None:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)


@pytest.mark.parametrize(
    "name",
    [
        "samples/../../evil_epoch_1.json",
        "/samples/evil_epoch_1.json",
        "samples\\..\\e_epoch_1.json",
    ],
)
def test_a_member_that_leads_out(tmp_path: Path, name: str) -> None:
    """A member whose path leads out of the archive is named and not opened."""
    path = write_eval(tmp_path, log(*TWO))
    add(path, name, json.dumps(sample(call("evil"))))
    runs, (problem,) = read_all(path)
    assert [run.scenario for run in runs] == ["desk/s1", "desk/s2"]
    assert "leads out of the archive" in problem.reason
    assert (problem.path, problem.record) == (path, name)


def test_a_bomb(tmp_path: Path) -> None:
    """A member that would unpack to far more than it holds is refused by the directory alone."""
    path = write_eval(tmp_path, log(*TWO))
    add(path, "samples/bomb_epoch_1.json", " " * (1 << 27))
    runs, (problem,) = read_all(path)
    assert len(runs) == 2
    assert "134,217,728" in problem.reason
    assert problem.record == "samples/bomb_epoch_1.json"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (ArchiveLimits(members=3), "at most 3 members, got 4"),
        (ArchiveLimits(total=100), "at most 100 unpacked bytes"),
    ],
)
def test_too_much_altogether(tmp_path: Path, limits: ArchiveLimits, reason: str) -> None:
    """Too many members or bytes fail the archive before any is unpacked."""
    path = write_eval(tmp_path, log(*TWO))
    with zipfile.ZipFile(path) as archive, pytest.raises(ReadError, match=reason):
        list(sample_members(path, archive, raise_problem, limits=limits))


def test_a_member_over_the_limit(tmp_path: Path) -> None:
    """A member over the limit is told, and the smaller ones are given."""
    small, large = sample(call()), sample(call("x" * 5000), id="s2")
    path = write_eval(tmp_path, log(small, large))
    problems: list[ReadError] = []
    limits = ArchiveLimits(member=4000)
    with zipfile.ZipFile(path) as archive:
        found = list(sample_members(path, archive, problems.append, limits=limits))
    assert [member.sample_id for member in found] == ["s1"]
    assert [problem.record for problem in problems] == ["samples/s2_epoch_1.json"]


def test_damaged_bytes_of_one_sample(tmp_path: Path) -> None:
    """A member whose bytes were changed is named; the others survive."""
    path = write_eval(tmp_path, log(*TWO))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("samples/s1_epoch_1.json")
    raw = bytearray(path.read_bytes())
    middle = info.header_offset + 30 + len(info.filename) + info.compress_size // 2
    raw[middle : middle + 8] = b"\xff" * 8
    path.write_bytes(raw)
    runs, (problem,) = read_all(path)
    assert [run.scenario for run in runs] == ["desk/s2"]
    assert problem.record == "samples/s1_epoch_1.json"


@pytest.mark.parametrize(
    "content", ["{", '{"id": 3}', "[" * 10_000 + "]" * 10_000], ids=["cut", "short", "deep"]
)
def test_a_sample_that_is_none(tmp_path: Path, content: str) -> None:
    """A sample that breaks off, lacks parts or nests 10,000 deep is named; the others survive."""
    path = write_eval(tmp_path, log(*TWO))
    add(path, "samples/bad_epoch_1.json", content)
    runs, (problem,) = read_all(path)
    assert len(runs) == 2
    assert problem.record == "samples/bad_epoch_1.json"
    with pytest.raises(ReadError):
        list(read(path, raise_problem))


def test_a_killed_evaluation(tmp_path: Path) -> None:
    """A log without a header, as a kill leaves it, gives the samples that were done."""
    path = write_eval(tmp_path, log(*TWO, status="started"), header=False)
    runs, problems = read_all(path)
    assert problems == []
    assert [run.scenario for run in runs] == ["desk/s1", "desk/s2"]


def test_an_archive_without_any_header(tmp_path: Path) -> None:
    """An archive with neither header nor journal says what could rebuild it."""
    path = tmp_path / "log.eval"
    add(path, "samples/s1_epoch_1.json", json.dumps(TWO[0]))
    runs, (problem,) = read_all(path)
    assert runs == []
    assert re.search(r"header\.json or _journal/start\.json.*recover", str(problem))


def test_an_archive_that_breaks_off(tmp_path: Path) -> None:
    """An archive cut in its middle has no directory, and says what could rebuild it."""
    path = write_eval(tmp_path, log(*TWO))
    path.write_bytes(path.read_bytes()[:-200])
    runs, (problem,) = read_all(path)
    assert runs == []
    assert re.search(r"whole zip archive.*recover", str(problem))
    with pytest.raises(ReadError, match="whole zip archive"):
        list(read(path, raise_problem))


def test_one_bad_sample_of_a_document(tmp_path: Path) -> None:
    """A document with a sample that can't be one is read sample by sample."""
    runs, (problem,) = read_all(write_json(tmp_path, log(TWO[0], {"id": 3, "epoch": "x"}, TWO[1])))
    assert [run.scenario for run in runs] == ["desk/s1", "desk/s2"]
    assert problem.record == "samples[1]"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"version": 2, "eval": {',
        '{"version": 2, "eval": {"task": 3}}',
        "[1]",
        "[" * 10_000,
    ],
)
def test_a_document_that_is_no_log(tmp_path: Path, text: str) -> None:
    """A document that breaks off, or has no header, is an error that names the file."""
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    runs, problems = read_all(path)
    assert runs == []
    assert [(problem.path, problem.kept) for problem in problems] == [(path, False)]


def test_a_mark_and_bad_bytes(tmp_path: Path) -> None:
    """A byte order mark is no fault; bytes that are no UTF-8 are replaced, and told as kept."""
    text = json.dumps(log(*TWO)).encode()
    path = tmp_path / "log.json"
    path.write_bytes(b"\xef\xbb\xbf" + text)
    assert len(read_all(path)[0]) == 2
    path.write_bytes(text.replace(b'"one"', b'"on\xff"'))
    runs, (problem,) = read_all(path)
    assert problem.kept
    assert runs[0].turns[0].text == "on\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("write", [write_eval, write_json], ids=["eval", "json"])
def test_packed_logs(tmp_path: Path, write: object) -> None:
    """A gzipped log, archive or document, reads as the log itself."""
    assert callable(write)
    plain = write(tmp_path, log(*TWO))
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    runs, problems = read_all(packed)
    assert problems == []
    assert [(run.scenario, run.path) for run in runs] == [
        ("desk/s1", str(packed)),
        ("desk/s2", str(packed)),
    ]


def test_a_sample_run_again_counts_once(tmp_path: Path) -> None:
    """Of two members under one name the last is the sample."""
    path = write_eval(tmp_path, log(*TWO))
    with pytest.warns(UserWarning, match="Duplicate name"):
        add(path, "samples/s1_epoch_1.json", json.dumps(sample(call("again"))))
    runs, problems = read_all(path)
    assert problems == []
    assert [run.turns[0].text for run in runs] == ["again", "two"]


def test_samples_are_held_in_batches_of_bounded_size(tmp_path: Path) -> None:
    """A batch holds as many samples as unpack to its size, and never fewer than one."""
    samples = [sample(call("x" * 1000), id=f"s{n}") for n in range(7)]
    path = write_eval(tmp_path, log(*samples))
    with zipfile.ZipFile(path) as archive:
        members = list(sample_members(path, archive, raise_problem))
    sizes = [[member.size for member in batch] for batch in batches(members, size=4000)]
    assert [sum(batch) <= 4000 for batch in sizes] == [True] * len(sizes)
    assert sum(map(len, sizes)) == 7
    assert 1 < len(sizes) < 7
    assert [len(batch) for batch in batches(members, size=1)] == [1] * 7


def test_an_impossible_turn_number_loses_its_sample_only(tmp_path: Path) -> None:
    """A sample that breaks a rule of the data model is a problem with its record."""
    usage = {"input_tokens": -5, "output_tokens": 1, "total_tokens": 1}
    runs, (problem,) = read_all(write_json(tmp_path, log(sample(call(usage=usage)), TWO[1])))
    assert [run.scenario for run in runs] == ["desk/s2"]
    assert problem.record == "s1_epoch_1"


def processor_seconds(path: Path, n_problems: int) -> float:
    started = time.process_time()
    assert len(read_all(path)[1]) == n_problems
    return time.process_time() - started


def test_bad_samples_take_time_in_proportion(tmp_path: Path) -> None:
    """Five times as many bad members take about five times as long, and not twenty-five times."""
    seconds = []
    for n_bad in (1, 250, 1250):
        path = write_eval(tmp_path, log(*TWO))
        with zipfile.ZipFile(path, "a") as archive:
            for number in range(n_bad):
                archive.writestr(f"samples/x{number}_epoch_1.json", "{}")
        seconds.append(processor_seconds(path, n_bad))
    assert seconds[2] < 8 * seconds[1]


def test_two_thousand_small_samples_take_seconds(tmp_path: Path) -> None:
    """Samples are read together, so that each costs what it holds."""
    path = write_eval(tmp_path, log(*[sample(call(), id=f"s{n}") for n in range(2000)]))
    assert processor_seconds(path, 0) < 15


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "not as Inspect writes it: id: Field required; epoch: Field required; and 2 more"),
        ("{", "is no JSON: Expecting property name"),
        ("[" * 5000 + "]" * 5000, "nested too deep to read safely"),
    ],
)
def test_faults_of_a_sample_are_told_in_words(tmp_path: Path, content: str, words: str) -> None:
    """No class of an exception, no address and no dump stands in the problem."""
    path = write_eval(tmp_path, log(*TWO))
    add(path, "samples/x_epoch_1.json", content)
    runs, (problem,) = read_all(path)
    assert len(runs) == 2
    assert problem.reason.startswith(words)
    assert "Error" not in problem.reason
    assert "http" not in problem.reason
