"""The stream layer: packed, marked and broken files, byte by byte and record by record."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.errors import ReadError
from turncurve.readers import READERS
from turncurve.readers.stream import (
    LIMITS,
    Limits,
    compression,
    head,
    json_document,
    json_lines,
    open_trace,
)

LINES = b'{"a":1}\n{"a":2}\n{"a":3}\n'
PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, zstandard.ZstdCompressor().compress]
packed = pytest.mark.parametrize("pack", PACKERS, ids=["gzip", "zstd"])


@pytest.fixture
def file(tmp_path: Path) -> Callable[[bytes], Path]:
    """Writes bytes to a file whose name says nothing."""

    def write(content: bytes) -> Path:
        path = tmp_path / "trace"
        path.write_bytes(content)
        return path

    return write


def read(path: Path, limits: Limits = LIMITS) -> tuple[list[tuple[int, Any]], list[ReadError]]:
    problems: list[ReadError] = []
    return list(json_lines(path, problems.append, limits=limits)), problems


def all_bytes(path: Path, limits: Limits = LIMITS) -> bytes:
    with open_trace(path, limits=limits) as stream:
        return stream.read()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (gzip.compress(b"x", mtime=0), "gzip"),
        (PACKERS[1](b"x"), "zstd"),
        (LINES, None),
        (b"", None),
    ],
)
def test_compression_is_told_by_content(
    content: bytes, expected: str | None, file: Callable[[bytes], Path]
) -> None:
    """The first bytes tell how a file is packed."""
    assert compression(file(content)) == expected


@packed
def test_several_members_are_one_stream(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """Packed files that were appended to one another read as one."""
    assert all_bytes(file(pack(LINES) + pack(b"end"))) == LINES + b"end"


def test_zero_padding_after_gzip_is_skipped(file: Callable[[bytes], Path]) -> None:
    """Zero bytes that tape and block devices leave behind a gzip stream are no damage."""
    assert all_bytes(file(gzip.compress(LINES) + b"\0" * 600)) == LINES


@packed
def test_large_packed_file_comes_out_whole(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """Buffers of any size lose and double nothing: 3 MB come out byte for byte."""
    content = b"".join(b"%d\n" % number for number in range(430_000))
    assert all_bytes(file(pack(content))) == content


@packed
def test_head_is_unpacked_and_bounded(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """The head is the unpacked start without a byte order mark, no longer than was asked."""
    assert head(file(pack(b"\xef\xbb\xbf" + LINES)), size=10) == LINES[:10]


@packed
def test_head_of_a_damaged_file_is_what_can_be_had(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """A packed file that is cut after its first bytes has an empty head and raises nothing."""
    assert head(file(pack(LINES)[:6])) == b""


@packed
def test_bomb_stops_at_its_ratio(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """A stream that unpacks to over `ratio` times its size raises, once `ratio_from` is passed."""
    bomb = file(pack(b"a" * 20_000_000))
    with pytest.raises(ReadError, match="more than 100 times as many"):
        all_bytes(bomb, Limits(ratio=100, ratio_from=1_000_000))
    assert len(all_bytes(bomb, Limits(ratio=100, ratio_from=20_000_000))) == 20_000_000


@packed
def test_bomb_stops_at_its_size(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """A stream that unpacks to more than `unpacked` bytes raises and names the limit."""
    with pytest.raises(ReadError, match="more than 5,000 bytes"):
        all_bytes(file(pack(b"a" * 20_000)), Limits(unpacked=5_000))


def test_default_limits_stop_a_real_bomb(file: Callable[[bytes], Path]) -> None:
    """200 MB of zeros packed in 200 KB are stopped by the default limits; the problem is told."""
    records, problems = read(file(gzip.compress(b"0" * 200_000_000)))
    assert records == []
    assert "bomb" in problems[0].reason


@packed
def test_good_part_of_a_cut_stream_survives(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """Of a stream that breaks off each whole line is read; one problem names the next."""
    lines = b"".join(
        json.dumps({"a": n, "b": n * 2654435761 % 2**32}).encode() + b"\n" for n in range(60_000)
    )
    content = pack(lines)
    records, problems = read(file(content[: len(content) // 2]))
    assert [record["a"] for _, record in records] == list(range(len(records)))
    assert len(records) > 1_000
    assert [problem.record for problem in problems] == [len(records) + 1]
    assert "breaks off" in problems[0].reason


@packed
def test_damaged_stream_is_told(
    pack: Callable[[bytes], bytes], file: Callable[[bytes], Path]
) -> None:
    """A stream with a spoilt byte gives a problem, not an exception of its codec."""
    content = bytearray(pack(LINES * 50))
    content[len(content) // 2] ^= 0xFF
    content[-2] ^= 0xFF
    assert read(file(bytes(content)))[1]


def test_missing_file_is_told(tmp_path: Path) -> None:
    """A file that is not there is a problem that says so."""
    with pytest.raises(ReadError, match="No such file"):
        all_bytes(tmp_path / "nowhere")


def test_lines_are_numbered_from_1_and_blank_ones_skipped(file: Callable[[bytes], Path]) -> None:
    """The number of a record is its line's in the file, blank lines counted."""
    assert read(file(b'\n{"a":1}\r\n  \n{"a":2}')) == ([(2, {"a": 1}), (4, {"a": 2})], [])


def test_bad_line_is_told_and_the_next_read(file: Callable[[bytes], Path]) -> None:
    """A line that is no JSON goes to `on_problem` with its number; its neighbours are read."""
    path = file(b'{"a":1}\n{"a":\n{"a":3}\n')
    records, problems = read(path)
    assert records == [(1, {"a": 1}), (3, {"a": 3})]
    assert [(p.path, p.record, p.kept) for p in problems] == [(path, 2, False)]


def test_cut_off_last_line_is_called_so(file: Callable[[bytes], Path]) -> None:
    """A last line without an end that does not decode is told as the place where it breaks off."""
    records, problems = read(file(LINES + b'{"a":'))
    assert len(records) == 3
    assert [problem.record for problem in problems] == [4]
    assert "breaks off" in problems[0].reason


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_json_lacks_become_none(literal: str, file: Callable[[bytes], Path]) -> None:
    """NaN, infinities and numbers beyond a double are None in a record that is kept."""
    records, problems = read(file(f'{{"a":{literal},"b":1.5}}\n'.encode()))
    assert records == [(1, {"a": None, "b": 1.5})]
    assert [(problem.record, problem.kept) for problem in problems] == [(1, True)]
    assert literal in problems[0].reason


def test_invalid_utf8_is_replaced_and_told(file: Callable[[bytes], Path]) -> None:
    """Bytes that are no UTF-8 become U+FFFD; the record is kept, the place told."""
    records, problems = read(file(b'{"a":"x\xff\xfey"}\n'))
    assert records == [(1, {"a": "x\ufffd\ufffdy"})]
    assert [(problem.record, problem.kept) for problem in problems] == [(1, True)]
    assert "byte 8" in problems[0].reason


def test_half_surrogate_is_replaced(file: Callable[[bytes], Path]) -> None:
    """Half of a surrogate pair, as text cut in JavaScript has it, becomes U+FFFD; a pair stays."""
    records, problems = read(file(rb'{"a":"\ud83d\ude00 \ud83d"}' + b"\n"))
    assert records == [(1, {"a": "\U0001f600 \ufffd"})]
    assert [problem.kept for problem in problems] == [True]
    json.dumps(records[0][1], ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("bracket", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [10_000, 200_000])
def test_deep_nesting_is_a_problem_not_a_crash(
    bracket: bytes, depth: int, file: Callable[[bytes], Path]
) -> None:
    """Nesting 10,000 and 200,000 deep is refused in a sentence; the next line is read."""
    records, problems = read(file(b'{"a":' + bracket * depth + b'\n{"a":1}\n'))
    assert records == [(2, {"a": 1})]
    assert [problem.record for problem in problems] == [1]
    assert "too deep" in problems[0].reason


def test_over_long_line_is_skipped(file: Callable[[bytes], Path]) -> None:
    """A line over the limit is told and skipped to its end; one of just that length is read."""
    just = b'{"a":"' + b"x" * 12 + b'"}'
    path = file(just + b"\n" + b'{"a":"' + b"x" * 500 + b'"}\n' + LINES)
    records, problems = read(path, Limits(line=len(just)))
    assert [number for number, _ in records] == [1, 3, 4, 5]
    assert [problem.record for problem in problems] == [2]


def test_objects_over_several_lines_are_records(file: Callable[[bytes], Path]) -> None:
    """Pretty-printed objects one after another are records, numbered by their first line."""
    objects = [{"a": {"b": [1, {"c": 2}]}}, {"a": {}}, {"a": 3}]
    text = "\n".join(json.dumps(one, indent=2) for one in objects)
    assert read(file(text.encode())) == ([(1, objects[0]), (11, objects[1]), (14, objects[2])], [])


def test_unclosed_object_swallows_no_other(file: Callable[[bytes], Path]) -> None:
    """A lone opening brace is one problem; the records after it are read."""
    records, problems = read(file(b"{\n" + LINES))
    assert [number for number, _ in records] == [2, 3, 4]
    assert [problem.record for problem in problems] == [1]


def test_wanted_shape_is_checked(file: Callable[[bytes], Path]) -> None:
    """A record that does not fit the wanted type is told; NaN in it is mended first."""
    wanted = msgspec.defstruct("Wanted", [("a", int | None)])
    problems: list[ReadError] = []
    path = file(b'{"a":1,"b":[2]}\n{"a":NaN}\n{"a":"x"}\n[]\n')
    records = list(json_lines(path, problems.append, type=wanted))
    assert [(number, record.a) for number, record in records] == [(1, 1), (2, None)]
    assert [problem.record for problem in problems] == [2, 3, 4]


def test_document_is_decoded(file: Callable[[bytes], Path]) -> None:
    """A document is decoded whole, with the repairs that lines have, told as kept."""
    problems: list[ReadError] = []
    assert json_document(file(b'\xef\xbb\xbf{"a":[1,NaN]}\n'), problems.append) == {"a": [1, None]}
    assert [problem.kept for problem in problems] == [True]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (LINES, "one record a line"),
        (b'{"a":1', "no JSON"),
        (b"", "no JSON"),
        (b"[" * 10_000, "too deep"),
        (b"[1]\n[2]\n", "no JSON"),
    ],
)
def test_document_says_what_it_is_not(
    content: bytes, reason: str, file: Callable[[bytes], Path]
) -> None:
    """What is no single document raises, and lines of JSON are recognised as such."""
    path = file(content)
    with pytest.raises(ReadError, match=reason) as caught:
        json_document(path, lambda _: None)
    assert str(path) in str(caught.value)


def test_document_is_bounded(file: Callable[[bytes], Path]) -> None:
    """A document over the limit is refused before it is decoded."""
    with pytest.raises(ReadError, match="at most 10 bytes"):
        json_document(file(b'{"a":"0123456789"}'), lambda _: None, limits=Limits(document=10))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def without_nan(value: object) -> object:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return {k: without_nan(v) for k, v in value.items()} if isinstance(value, dict) else value


@settings(deadline=None)
@given(st.lists(JSON, max_size=5))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, values: list[object]) -> None:
    """Whatever Python's own encoder writes, NaN and all, comes back, with NaN and infinity None."""
    path = tmp_path_factory.mktemp("round") / "trace"
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    records, problems = read(path)
    assert [record for _, record in records] == [without_nan(value) for value in values]
    assert all(problem.kept for problem in problems)


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_crash_it(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Any bytes whatever give records and problems, never another exception."""
    path = tmp_path_factory.mktemp("any") / "trace"
    for start in (b"", b"{", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"):
        path.write_bytes(start + content)
        read(path)
        head(path)


def test_where_text_breaks_off_is_said_once(tmp_path: Path) -> None:
    """Python's message ends in "at", as ours goes on."""
    path = tmp_path / "cut.jsonl"
    path.write_text('{"run": "a", "turn": 1}\n{"run": "b')
    problems: list[ReadError] = []
    list(READERS["turns"].read(path, problems.append))
    assert problems
    assert not any("at at" in str(problem) for problem in problems)
