"""One writer at a time: a lock that falls with the process that holds it."""

from __future__ import annotations

from typing import IO, Any

from turncurve.errors import ReadError


def take_lock(file: IO[Any], path: object, what: str) -> None:
    """Lock an open file for this process alone.

    Raises:
        ReadError: Another process holds it; `path` and `what` name what it writes to.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system; without it there is no lock
    except ModuleNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        fix = "wait until it is done"
        raise ReadError(path, f"another process writes to this {what}", fix=fix) from problem
