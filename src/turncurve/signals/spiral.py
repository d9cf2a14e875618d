"""Spirals: a run that repeats itself more than its own actions in any order would."""

from __future__ import annotations

import numpy as np

from turncurve.signals.base import FloatArray, Signal
from turncurve.signals.repetition import WINDOW, retries, run_of, window_repeats, window_sizes
from turncurve.stats.permutation import quantile_of, window_repeats_null
from turncurve.table import SignalInfo, TurnTable

LEVEL = 0.95
"""The quantile of the run's own permutation distribution that has to be exceeded."""

HALF = WINDOW / 2
"""The repeats in the window that there have to be at least: half of it."""


def spiral(table: TurnTable) -> FloatArray:
    """1 where a run is in a spiral, 0 where it is not.

    It is at a turn if, of the 10 actions up to the turn's last one, at least half repeat an earlier
    one among these 10, and more do than in 95 % of random orders of the run's own actions. That
    distribution is worked out exactly, so there is no seed. Retries of a transient failure are left
    out. NaN in a turn without actions, and before the run's tenth.

    A run that does one thing from start to end is no spiral by this rule: no order of its actions
    repeats less. `repeated_action_consecutive` shows it.
    """
    kept = ~retries(table)
    row, key, run = table.calls.row[kept], table.calls.key[kept], run_of(table, kept)
    repeats = window_repeats(table, kept)
    full = window_sizes(table, kept) == WINDOW
    suspect = full & (repeats >= HALF)
    limit = np.full(table.n_runs, WINDOW)
    for position in np.unique(run[suspect]).tolist():
        start, end = np.searchsorted(run, [position, position + 1])
        _, counts = np.unique(key[start:end], return_counts=True)
        limit[position] = quantile_of(window_repeats_null(counts, WINDOW), LEVEL)
    marks = np.where(full, (suspect & (repeats > limit[run])).astype(np.float64), np.nan)
    values = np.full(len(table.turn), np.nan)
    values[row] = marks  # of several actions in a turn, the last one stays
    return values


SPIRAL = Signal(
    info=SignalInfo(
        name="spiral",
        title="Turns in a spiral",
        unit="share",
        better="low",
        denominator="turns with an action, from the run's tenth action on",
        low=0.0,
        high=1.0,
        curve=False,
    ),
    derive=spiral,
)
