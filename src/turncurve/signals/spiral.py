"""Spirals: a run that goes round in circles."""

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


FEW = 2
"""Distinct actions in a full window that are a spiral in any run."""


def spiral(table: TurnTable) -> FloatArray:
    """1 where a run is in a spiral, 0 where it is not.

    It is at a turn if, of the 10 actions up to the turn's last one,

    - at least half repeat an earlier one among these 10, and more do than in 95 % of random orders
      of the run's own actions, or
    - at most 2 are distinct, which finds a run that is stuck for most of its length, so that its
      own actions in any order repeat as much.

    An action is the same only if its result is too, where it has one: polling that returns
    something new each time is no spiral. The distribution over random orders is worked out exactly,
    so there is no seed. Retries of a transient failure are left out. NaN in a turn without actions,
    and before the run's tenth.
    """
    kept = ~retries(table)
    keys = np.where(table.calls.result_key != 0, table.calls.result_key, table.calls.key)
    row, key, run = table.calls.row[kept], keys[kept], run_of(table, kept)
    repeats = window_repeats(table, kept, keys)
    full = window_sizes(table, kept) == WINDOW
    stuck = full & (repeats >= WINDOW - FEW)
    suspect = full & (repeats >= HALF)
    limit = np.full(table.n_runs, WINDOW)
    for position in np.unique(run[suspect & ~stuck]).tolist():
        start, end = np.searchsorted(run, [position, position + 1])
        _, counts = np.unique(key[start:end], return_counts=True)
        limit[position] = quantile_of(window_repeats_null(counts, WINDOW), LEVEL)
    marked = stuck | (suspect & (repeats > limit[run]))
    values = np.full(len(table.turn), np.nan)
    # Of several actions in a turn, the last one stays.
    values[row] = np.where(full, marked.astype(np.float64), np.nan)
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
