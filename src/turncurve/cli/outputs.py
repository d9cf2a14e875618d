"""Where results go: standard output, or files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

PIECE = 65_536
"""Bytes handed to standard output at once."""


def write_text(target: str, text: str) -> None:
    """Write to a file, or to standard output for `-`."""
    if target == "-":
        write_stdout(text)
    else:
        write_whole(Path(target), lambda path: path.write_text(text, encoding="utf-8"))


def write_stdout(text: str) -> None:
    """Write to standard output, whole, with one newline at its end.

    A character that its encoding does not have becomes a question mark.

    Raises:
        BrokenPipeError: Whoever read it has gone.
        click.ClickException: It cannot be written, as where the disk is full.
    """
    whole = text if text.endswith("\n") else text + "\n"
    stream = sys.stdout.buffer
    data = whole.encode(sys.stdout.encoding or "utf-8", "replace")
    written = 0
    try:
        while written < len(data):
            # Without a buffer, as under PYTHONUNBUFFERED, one write may take a part only.
            written += stream.write(data[written : written + PIECE])
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        give_up_stdout()
        raise click.ClickException(
            f"cannot write to standard output: {problem.strerror}"
        ) from problem


def give_up_stdout() -> None:
    """Point standard output nowhere: the interpreter flushes it once more as it ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place.

    Raises:
        click.ClickException: The folder does not exist or cannot be written.
    """
    from turncurve.ingest import whole_file  # noqa: PLC0415 -- --help is light

    try:
        whole_file.write_whole(path, write)
    except OSError as problem:
        raise click.ClickException(f"cannot write {path}: {problem.strerror}") from problem
