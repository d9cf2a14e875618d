"""Gzip and Zstandard, read through in bounded memory and within limits."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import zstandard

from turncurve.errors import ReadError

Compression: TypeAlias = Literal["gzip", "zstd"]

_MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_GZIP_IN, _GZIP_OUT = 1 << 16, 1 << 20
# One block of a Zstandard frame takes 4 bytes and gives up to 128 KiB, so that the piece fed at a
# time bounds the memory: 1 KiB gives at most 32 MiB.
_ZSTD_IN = 1 << 10
_ZSTD_WINDOW = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one file may make a reader hold or unpack.

    Attributes:
        unpacked: Bytes that a compressed file may unpack to.
        ratio: Unpacked bytes for each packed byte, once `ratio_from` bytes are out.
        ratio_from: Unpacked bytes below which any ratio is let pass.
        document: Bytes of a file that is read as one JSON document.
        line: Bytes of one line.
    """

    unpacked: int = 1 << 36
    ratio: int = 500
    ratio_from: int = 1 << 26
    document: int = 1 << 31
    line: int = 1 << 27


LIMITS = Limits()


def compression_of(start: bytes) -> Compression | None:
    """The compression that a file's first bytes give away."""
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


class Unpacked(io.RawIOBase):
    """The unpacked bytes of a compressed file; raises `ReadError` where a limit is passed.

    A stream that breaks off, or is damaged, gives all its good bytes before it raises.
    """

    def __init__(
        self, file: io.RawIOBase, compression: Compression, *, path: Path, limits: Limits
    ) -> None:
        super().__init__()
        unpack = _gunzip if compression == "gzip" else _unzstd
        self._file = io.BufferedReader(file, _GZIP_IN)
        self._path, self._limits = path, limits
        self._pieces = unpack(self._file, path)
        self._problem: ReadError | None = None
        self._rest = memoryview(b"")
        self._out = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            piece = self._next_piece()
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n

    def _next_piece(self) -> bytes | None:
        if self._problem:  # a buffer that peeked has swallowed it; who reads on is told again
            raise self._problem
        try:
            piece = next(self._pieces, None)
            self._out += len(piece or b"")
            self._check_limits()
        except ReadError as problem:
            self._problem = problem
            raise
        return piece

    def _check_limits(self) -> None:
        limits, packed = self._limits, max(1, self._file.tell())
        if self._out > limits.unpacked:
            reason = f"unpacks to more than {limits.unpacked:,} bytes"
        elif self._out > limits.ratio_from and self._out > limits.ratio * packed:
            reason = f"{packed:,} packed bytes unpack to more than {limits.ratio} times as many"
        else:
            return
        raise ReadError(
            self._path,
            f"{reason}; reading stopped there (a decompression bomb?)",
            fix="if the file is sound, unpack it and read the unpacked file",
        )


def _gunzip(file: BinaryIO, path: Path) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    packed = file.read(_GZIP_IN)
    while packed:
        try:
            piece = member.decompress(packed, _GZIP_OUT)
        except zlib.error as problem:
            raise _damaged(path, "gzip", problem) from problem
        if piece:
            yield piece
        packed = member.unconsumed_tail
        if member.eof:
            packed = member.unused_data.lstrip(b"\0") or file.read(_GZIP_IN).lstrip(b"\0")
            if not packed:
                return
            member = zlib.decompressobj(wbits=31)
        packed = packed or file.read(_GZIP_IN)
    raise _breaks_off(path, "gzip")


def _unzstd(file: BinaryIO, path: Path) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    frame = decompressor.decompressobj()
    packed = file.read(_ZSTD_IN)
    while packed:
        try:
            piece = frame.decompress(packed)
        except zstandard.ZstdError as problem:
            raise _damaged(path, "zstd", problem) from problem
        if piece:
            yield piece
        packed = b""
        if frame.eof:
            packed = frame.unused_data or file.read(_ZSTD_IN)
            if not packed:
                return
            frame = decompressor.decompressobj()
        packed = packed or file.read(_ZSTD_IN)
    raise _breaks_off(path, "zstd")


def _breaks_off(path: Path, compression: Compression) -> ReadError:
    return ReadError(
        path,
        f"the {compression} stream breaks off before its end",
        fix="what stands before was read; copy the file again for the rest",
    )


def _damaged(path: Path, compression: Compression, problem: Exception) -> ReadError:
    return ReadError(path, f"the {compression} stream is damaged: {problem}")
