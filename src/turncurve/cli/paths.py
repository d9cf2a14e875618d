"""What stands on the command line for files: paths, patterns, and `-` for standard input."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

SPOOLED = "stdin"


@contextmanager
def given_paths(arguments: Sequence[str]) -> Iterator[tuple[Path, ...]]:
    """The paths that the arguments name, for as long as the context lasts.

    `-` is standard input, kept in a temporary file; a pattern that the shell left alone is expanded
    here.

    Raises:
        click.UsageError: A path does not exist, or a pattern matches nothing.
    """
    with tempfile.TemporaryDirectory(prefix="turncurve-") as folder:
        paths: list[Path] = []
        for argument in arguments:
            paths += [_spooled(Path(folder))] if argument == "-" else _named(argument)
        yield tuple(dict.fromkeys(paths))


def _spooled(folder: Path) -> Path:
    path = folder / SPOOLED
    if not path.exists():
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def _named(argument: str) -> list[Path]:
    path = Path(argument)
    if path.exists():
        return [path]
    if glob.has_magic(argument):
        found = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 -- an absolute pattern may stand there
        if found:
            return [Path(name) for name in found]
        raise click.UsageError(f"no file matches {argument!r}")
    raise click.UsageError(f"no such file or folder: {argument!r}")
