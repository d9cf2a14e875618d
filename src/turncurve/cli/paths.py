"""What stands on the command line for files: paths, patterns, and `-` for standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

STDIN_PREFIX = "turncurve-stdin-"
SPOOLED = "stdin"
"""Name of the file that standard input is kept in."""


@contextmanager
def given_paths(arguments: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The paths and patterns that the arguments name, for as long as the context lasts.

    `-` is standard input, kept in a temporary file, since readers look at a file more than once.
    """
    if "-" not in arguments:
        yield tuple(arguments)
        return
    with tempfile.TemporaryDirectory(prefix=STDIN_PREFIX) as folder:
        spooled = Path(folder, SPOOLED)
        with spooled.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield tuple(str(spooled) if argument == "-" else argument for argument in arguments)
