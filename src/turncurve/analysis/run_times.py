"""How long each run took by the clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable


def run_seconds(table: TurnTable) -> NDArray[np.float64]:
    """Seconds from the start of a run's first turn to the end of its last; shape (n_runs,).

    Where no start is known it is the sum of the model calls, which leaves out what tools took. A
    duration that a turn lacks counts as nothing at the end, and makes the sum unknown.

    Returns:
        Seconds; NaN where a file says neither, or only when a single turn started.
    """
    started, seconds = table.column("started_at"), table.column("seconds")
    first = np.full(table.n_runs, np.inf)
    last = np.full(table.n_runs, -np.inf)
    known = ~np.isnan(started)
    ends = started + np.where(np.isnan(seconds), 0.0, seconds)
    np.minimum.at(first, table.run[known], started[known])
    np.maximum.at(last, table.run[known], ends[known])
    summed = np.bincount(table.run, weights=seconds, minlength=table.n_runs)
    clock = np.where(last > first, last - np.where(np.isinf(first), 0.0, first), np.nan)
    return np.where(np.isnan(clock) & (summed > 0), summed, clock)
