"""What stands on the command line for files: paths, patterns, and streams such as `-`."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

STDIN_PREFIX = "turncurve-stdin-"
SPOOLED = "stdin"
"""Name of the file that standard input is kept in; another stream's is `fd-` and its number."""
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")


@contextmanager
def given_paths(arguments: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The paths and patterns that the arguments name, for as long as the context lasts.

    `-` is standard input, and `/dev/fd/63` what a shell makes of `<(command)`. What comes from
    either is kept in a temporary file, since readers look at a file more than once.
    """
    streams = {argument: name for argument in arguments if (name := _stream(argument))}
    if not streams:
        yield tuple(arguments)
        return
    with tempfile.TemporaryDirectory(prefix=STDIN_PREFIX) as folder:
        for argument, name in streams.items():
            with Path(folder, name).open("wb") as file:
                _copy(argument, file)
        yield tuple(
            str(Path(folder, streams[argument])) if argument in streams else argument
            for argument in arguments
        )


def as_given(path: object) -> str:
    """The argument behind a path, be it that of a file that a stream was kept in."""
    parts = Path(str(path)).parts[-2:]
    if len(parts) < 2 or not parts[0].startswith(STDIN_PREFIX):
        return str(path)
    return "-" if parts[1] == SPOOLED else f"/dev/fd/{parts[1].removeprefix('fd-')}"


def _stream(argument: str) -> str | None:
    """The name of the file to keep a stream in; None for what is a path or a pattern."""
    if argument in ("-", "/dev/stdin"):
        return SPOOLED
    number = _DESCRIPTOR.fullmatch(argument)
    path = Path(argument)
    if number is None or not path.exists() or path.is_file() or path.is_dir():
        return None
    return f"fd-{number[1]}"


def _copy(argument: str, file: BinaryIO) -> None:
    if argument in ("-", "/dev/stdin"):
        shutil.copyfileobj(sys.stdin.buffer, file)
        return
    with Path(argument).open("rb") as stream:
        shutil.copyfileobj(stream, file)
