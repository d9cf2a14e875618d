"""Bytes and JSON records of a trace file, whatever it is packed in and wherever it breaks.

Nothing here knows a format. A reader asks for records and gets every one that can be decoded; each
that cannot is told to `on_problem` with its line number, and the next one follows.
"""

from __future__ import annotations

import codecs
import io
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from turncurve.errors import ReadError
from turncurve.readers._compressed import (
    LIMITS,
    Compression,
    Limits,
    Unpacked,
    compression_of,
)
from turncurve.readers.base import OnProblem

__all__ = [
    "LIMITS",
    "Compression",
    "Limits",
    "compression",
    "head",
    "json_document",
    "json_lines",
    "json_objects",
    "open_trace",
]

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HALF_SURROGATE = re.compile("[\ud800-\udfff]")
_BUFFER = 1 << 18


def compression(path: Path) -> Compression | None:
    """How the file is packed, by its first bytes; its name is not asked."""
    with path.open("rb") as file:
        return compression_of(file.read(4))


def head(path: Path, size: int = 65536) -> bytes:
    """The first `size` bytes, unpacked, without a byte order mark; less if a stream is damaged."""
    try:
        with path.open("rb", buffering=0) as plain:
            first = plain.read(size)
    except OSError:
        return b""
    if compression_of(first) is None and not first.startswith((_BOM, *_UTF16_BOMS)):
        return first
    start = bytearray()
    try:
        with open_trace(path) as file:
            while len(start) < size and (piece := file.read1(size - len(start))):
                start += piece
    except ReadError:
        pass
    return bytes(start)


@contextmanager
def open_trace(path: Path, *, limits: Limits = LIMITS) -> Iterator[io.BufferedReader[Any]]:
    """Open a file for its bytes, unpacked and without a byte order mark.

    A file that starts with the mark of UTF-16, as PowerShell writes it, is given in UTF-8.

    Raises:
        ReadError: The file cannot be opened; or, while reading, a packed stream breaks off, is
            damaged or passes a limit. Its good part has then been given.
    """
    try:
        file: io.RawIOBase = io.FileIO(path)
    except OSError as problem:
        raise ReadError(path, f"cannot be opened: {problem.strerror}") from problem
    with file:
        packed = compression_of(file.read(4) or b"")
        file.seek(0)
        if packed:
            file = Unpacked(file, packed, path=path, limits=limits)
        content = io.BufferedReader(file, _BUFFER)
        start = _first_bytes(content)
        if start.startswith(_BOM):
            content.read(len(_BOM))
        elif start.startswith(_UTF16_BOMS):
            content = io.BufferedReader(_FromUtf16(content), _BUFFER)
        yield content


def json_lines(
    path: Path, on_problem: OnProblem, *, type: Any = Any, limits: Limits = LIMITS
) -> Iterator[tuple[int, Any]]:
    """Give (line number from 1, record) for each JSON record of a file of one record a line.

    Blank lines are skipped. Objects printed over several lines, from a line `{` to a line `}`, are
    records too, numbered by their first line. NaN and Infinity become None, bytes that are no
    UTF-8 become U+FFFD, and either is told as a problem whose record was kept.

    Args:
        path: The file.
        on_problem: Told of each record that could not be read, or was read with repairs.
        type: What each record is decoded as, in msgspec's terms: a Struct of a few fields skips
            the rest, which is faster. A record of another shape is a problem.
        limits: How much may be held or unpacked.
    """
    decoder = msgspec.json.Decoder(type)
    decode = decoder.decode
    for number, line, is_last in _records(path, on_problem, limits):
        try:
            record = decode(line)
        except (msgspec.DecodeError, RecursionError):
            try:
                record, repairs = _decode(line, decoder)
            except _UndecodableError as problem:
                on_problem(_bad_line(path, number, str(problem), breaks_off=is_last))
                continue
            if repairs:
                on_problem(ReadError(path, repairs, record=number, kept=True))
        yield number, record


def json_objects(path: Path, on_problem: OnProblem) -> Iterator[tuple[int, dict[str, Any]]]:
    """As `json_lines`, for records that must be objects; each other one is a problem."""
    for number, record in json_lines(path, on_problem):
        if isinstance(record, dict):
            yield number, record
        else:
            reason = f"wanted an object a line, got a {type(record).__name__}"
            on_problem(ReadError(path, reason, record=number))


def json_document(path: Path, on_problem: OnProblem, *, limits: Limits = LIMITS) -> Any:
    """Decode a file that is one JSON document.

    Repairs are as for `json_lines`, told to `on_problem` as kept.

    Raises:
        ReadError: It does not decode, breaks off, passes a limit, or holds several documents.
    """
    with open_trace(path, limits=limits) as file:
        text = file.read(limits.document + 1)
    if len(text) > limits.document:
        raise ReadError(path, f"wanted a JSON document of at most {limits.document:,} bytes")
    try:
        document, repairs = _decode(text)
    except _UndecodableError as problem:
        raise _bad_document(path, text, str(problem)) from problem
    if repairs:
        on_problem(ReadError(path, repairs, kept=True))
    return document


def _first_bytes(file: io.BufferedReader[Any]) -> bytes:
    try:
        return file.peek(len(_BOM))[: len(_BOM)]
    except ReadError:
        # The stream is damaged from its first byte; whoever reads it is told, not whoever opens it.
        return b""


class _FromUtf16(io.RawIOBase):
    """The text of a UTF-16 file as UTF-8; half a surrogate pair becomes U+FFFD."""

    def __init__(self, file: io.BufferedReader[Any]) -> None:
        super().__init__()
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = b"?"
        while piece and not self._rest:
            piece = self._file.read1(_BUFFER)
            self._rest = self._decoder.decode(piece, final=not piece).encode("utf-8", "replace")
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


class _UndecodableError(Exception):
    """The text is no JSON value; the message says why."""


_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def _decode(text: bytes, decoder: msgspec.json.Decoder[Any] = _ANY) -> tuple[Any, str]:
    """Decode one JSON value; also says what had to be repaired, or ''."""
    try:
        return decoder.decode(text), ""
    except RecursionError as problem:
        raise _UndecodableError("nested too deep to read safely") from problem
    except msgspec.DecodeError as problem:
        value, repairs = _decode_with_repairs(text, problem)
    try:
        return msgspec.convert(value, decoder.type), repairs
    except msgspec.ValidationError as problem:
        raise _UndecodableError(f"is not of the wanted shape: {problem}") from problem


def _decode_with_repairs(text: bytes, problem: msgspec.DecodeError) -> tuple[Any, str]:
    """Decode what the strict decoder refuses: NaN, bytes that are no UTF-8, half surrogates."""
    repairs: list[str] = []
    non_finite: list[str] = []

    def no_constant(literal: str) -> None:
        non_finite.append(literal)

    def finite(literal: str) -> float | None:
        value = float(literal)
        if math.isfinite(value):
            return value
        non_finite.append(literal)
        return None

    try:
        string = text.decode("utf-8")
    except UnicodeDecodeError as bad:
        string = text.decode("utf-8", "replace")
        repairs.append(f"invalid UTF-8 at byte {bad.start + 1}, read as U+FFFD")
    try:
        value = json.loads(string, parse_constant=no_constant, parse_float=finite)
        whole = _without_half_surrogates(value)
    except RecursionError as deep:
        raise _UndecodableError("nested too deep to read safely") from deep
    except ValueError as bad:
        raise _UndecodableError(f"is no JSON: {_reason(bad, problem)}") from bad
    if non_finite:
        repairs.append(f"{', '.join(sorted(set(non_finite)))} is no JSON number, read as missing")
    if whole is not value:
        repairs.append("half of a surrogate pair, read as U+FFFD")
    return whole, "; ".join(repairs) or f"not strict JSON ({problem}), read all the same"


def _without_half_surrogates(value: Any) -> Any:
    """The value itself where no text in it holds half of a surrogate pair, else a mended copy."""
    text = json.dumps(value, ensure_ascii=False)
    if not _HALF_SURROGATE.search(text):
        return value
    return json.loads(_HALF_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text))


def _reason(bad: ValueError, problem: msgspec.DecodeError) -> str:
    if isinstance(bad, json.JSONDecodeError):
        return f"{bad.msg.removesuffix(' at')} at character {bad.pos + 1}"
    return str(problem)


def _records(
    path: Path, on_problem: OnProblem, limits: Limits
) -> Iterator[tuple[int, bytes, bool]]:
    """Give (number of the first line, text, whether the file ends in it) of each record."""
    opened, parts = 0, list[bytes]()
    for number, line in _lines(path, on_problem, limits):
        if not parts and line.startswith(b'{"'):  # as nearly every line does
            yield number, line, not line.endswith(b"\n")
            continue
        bare = line.strip()
        if parts and line.startswith(b"{"):  # a nested object is indented, so this is the next one
            yield opened, b"".join(parts), False
            parts = []
        if parts:
            parts.append(line)
            if bare == b"}" and line.startswith(b"}"):
                yield opened, b"".join(parts), False
                parts = []
        elif bare == b"{":
            opened, parts = number, [line]
        elif bare:
            yield number, line, not line.endswith(b"\n")
    if parts:
        yield opened, b"".join(parts), True


def _lines(path: Path, on_problem: OnProblem, limits: Limits) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        with open_trace(path, limits=limits) as file:
            while line := file.readline(limits.line + 1):
                number += 1
                if len(line) <= limits.line or line.endswith(b"\n"):
                    yield number, line
                    if line == b"\n":
                        number += _skip_blank_lines(file)
                    continue
                on_problem(ReadError(path, f"line over {limits.line:,} bytes", record=number))
                while (line := file.readline(limits.line)) and not line.endswith(b"\n"):
                    pass
    except ReadError as problem:
        if problem.record is not None:
            raise
        on_problem(ReadError(path, problem.reason, record=number + 1, fix=problem.fix))


def _skip_blank_lines(file: io.BufferedReader[Any]) -> int:
    """Skip the blank lines that follow, many at a time; gives how many they were."""
    n_lines = 0
    while (ahead := file.peek()) and ahead.startswith(b"\n"):
        n_blank = len(ahead) - len(ahead.lstrip(b"\n"))
        file.read(n_blank)
        n_lines += n_blank
    return n_lines


def _bad_line(path: Path, number: int, reason: str, *, breaks_off: bool) -> ReadError:
    if breaks_off:
        return ReadError(
            path,
            f"the file breaks off in this record, which {reason}",
            record=number,
            fix="a run still being written reads whole once it is done",
        )
    return ReadError(path, f"the line {reason}", record=number, fix="the other lines were read")


def _bad_document(path: Path, text: bytes, reason: str) -> ReadError:
    lines = [line for line in text[: LIMITS.line].splitlines() if line.strip()][:2]
    if len(lines) > 1 and all(_is_object(line) for line in lines):
        return ReadError(
            path,
            "wanted one JSON document, got one record a line",
            fix="it may be a file of JSON lines under another name",
        )
    return ReadError(path, f"wanted one JSON document; the file {reason}")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(_decode(line)[0], dict)
    except _UndecodableError:
        return False
