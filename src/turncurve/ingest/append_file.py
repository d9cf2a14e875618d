"""A file of lines that one process appends to, each on disk before it counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.ingest.lock import take_lock

HEAD_BYTES = 65_536


class AppendFile:
    """An open file whose last line is whole; see `open_append`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle

    def append(self, line: bytes) -> None:
        """Write a line, with its newline; it is on disk when this returns."""
        data = memoryview(line)
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)


@contextmanager
def open_append(
    path: Path,
    what: str,
    *,
    is_own: Callable[[bytes], bool],
    first_words: bytes,
    is_line: Callable[[bytes], bool],
) -> Iterator[AppendFile]:
    """Open a file for this process alone, made where there is none.

    What a process that was killed left unfinished at the end is removed; a whole last line that
    lacks its newline is kept.

    Args:
        path: The file.
        what: What it is, for people.
        is_own: Whether a file that starts with these bytes is one.
        first_words: How its first line starts, for one that was cut off there.
        is_line: Whether these bytes are a whole line.

    Raises:
        ReadError: It is something else, cannot be written, or another process writes to it.
    """
    try:
        file = path.open("a+b", buffering=0)
    except OSError as problem:
        raise ReadError(path, f"cannot be written: {problem.strerror}") from problem
    with file:
        take_lock(file, path, what)
        start = os.pread(file.fileno(), HEAD_BYTES, 0)
        if start and not is_own(start) and not first_words.startswith(start):
            fix = "name a new file, or one that turncurve made"
            raise ReadError(path, f"the file is no {what}", fix=fix)
        _mend_end(file.fileno(), is_line)
        _sync_folder(path)
        yield AppendFile(path, file.fileno())


def _mend_end(handle: int, is_line: Callable[[bytes], bool]) -> None:
    """Have the file end with a whole line."""
    at = size = os.fstat(handle).st_size
    end = bytearray()
    while at > 0 and b"\n" not in end:
        step = min(HEAD_BYTES, at)
        at -= step
        end[:0] = os.pread(handle, step, at)
    last = bytes(end[end.rfind(b"\n") + 1 :])
    if not last:
        return
    if is_line(last):
        os.write(handle, b"\n")
    else:
        os.ftruncate(handle, size - len(last))


def _sync_folder(path: Path) -> None:
    handle = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
