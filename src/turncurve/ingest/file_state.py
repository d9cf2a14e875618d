"""Whether a trace file is as it was when a store read it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from turncurve.table.store import StoredFile, digest_of

_COARSEST_CLOCK_NS = 2 * 10**9
"""Two changes of a file may bear one time if they are no further apart, on any file system."""


def times_of(now: os.stat_result) -> tuple[int, int] | None:
    """A file's times, if a later change is sure to give it others; else None."""
    if time.time_ns() - max(now.st_mtime_ns, now.st_ctime_ns) < _COARSEST_CLOCK_NS:
        return None
    return now.st_mtime_ns, now.st_ctime_ns


def is_as_it_was(file: StoredFile, place: Path) -> bool:
    """Whether the file at a place has the content that was read; hashed unless its times tell.

    Raises:
        OSError: It cannot be read.
    """
    now = place.stat()
    if now.st_size != file.size:
        return False
    times = (now.st_mtime_ns, now.st_ctime_ns)
    return times == file.times_ns or digest_of(place) == file.digest


def place_of(file: StoredFile) -> Path:
    """Where to find a file: as it was given, or, from another folder, by its whole path."""
    given = Path(file.path)
    return given if str(given.resolve()) == file.resolved else Path(file.resolved)


def why_not_as_it_was(file: StoredFile) -> str | None:
    """How a file differs from what was read, in words; None if it does not."""
    try:
        as_it_was = is_as_it_was(file, place_of(file))
    except FileNotFoundError:
        return "is no longer there"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    return None if as_it_was else "has changed since it was imported"
