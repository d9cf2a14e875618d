"""Where results go: standard output, or files that appear whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from turncurve.cli.main import READER_WENT_AWAY


def write_text(target: str, text: str) -> None:
    """Write to a file, or to standard output for `-`."""
    if target == "-":
        write_stdout(text)
    else:
        write_whole(Path(target), lambda path: path.write_text(text, encoding="utf-8"))


def write_stdout(text: str) -> None:
    """Write to standard output; ends quietly if its reader has gone."""
    try:
        click.echo(text, nl=not text.endswith("\n"))
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more as it ends; that must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(READER_WENT_AWAY)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place.

    Raises:
        click.ClickException: The folder does not exist or cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as problem:
        raise click.ClickException(f"cannot write {path}: {problem.strerror}") from problem
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as problem:
        raise click.ClickException(f"cannot write {path}: {problem.strerror}") from problem
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
