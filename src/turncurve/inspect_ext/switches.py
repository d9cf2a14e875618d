"""The environment variables that switch the hook on, and how it behaves."""

from __future__ import annotations

import os
from pathlib import Path

LIVE = "TURNCURVE_LIVE"
"""Folder in which the hook records turns as they happen; unset: it records nothing."""
STOP = "TURNCURVE_STOP_SPIRAL"
"""Turns in a spiral, in a row, after which the hook ends a run; unset: it ends none."""


def is_on() -> bool:
    """Whether the hook has anything to do."""
    return bool(os.environ.get(LIVE) or os.environ.get(STOP))


def live_folder() -> Path | None:
    """Where turns are recorded; None: nowhere."""
    given = os.environ.get(LIVE)
    return Path(given) if given else None


def most_turns_in_spiral() -> int | None:
    """Turns in a spiral after which a run is ended; None: it never is.

    Raises:
        ValueError: The switch is no whole number from 1.
    """
    given = os.environ.get(STOP)
    if not given:
        return None
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(f"{STOP}: wanted a number of turns from 1, as 5, got {given!r}")
    return int(given)
