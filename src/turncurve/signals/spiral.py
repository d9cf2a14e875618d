"""Spirals: a run that goes round in circles."""

from __future__ import annotations

import numpy as np

from turncurve.signals.base import FloatArray
from turncurve.signals.twins import WINDOW, Actions, BoolArray, IntArray, Twins
from turncurve.stats.permutation import quantiles_of_repeats

LEVEL = 0.95
"""The quantile of the run's own permutation distribution that has to be exceeded."""

HALF = WINDOW / 2
"""The repeats in the window that there have to be at least: half of it."""


FEW = 2
"""Distinct actions in a full window that are a spiral in any run."""


class SpiralMarks:
    """1 where a run is in a spiral, 0 where it is not, collected over blocks of whole runs.

    It is at a turn if, of the 10 actions up to the turn's last one,

    - at least half repeat an earlier one among these 10, and more do than in 95 % of random orders
      of the run's own actions, or
    - at most 2 are distinct, which finds a run that is stuck for most of its length, so that its
      own actions in any order repeat as much.

    An action is the same only if its result is too, where it has one: polling that returns
    something new each time is no spiral. The distribution over random orders is worked out exactly,
    so there is no seed; it is needed only in runs with such a window, and for all of them at once.
    Retries of a transient failure are left out. NaN in a turn without actions, and before the run's
    tenth.
    """

    def __init__(self, n_turns: int) -> None:
        self._marks = np.full(n_turns, np.nan)
        self._row: list[IntArray] = []
        self._run: list[IntArray] = []
        self._repeats: list[IntArray] = []
        self._kind_run: list[IntArray] = []
        self._kind_size: list[IntArray] = []

    def add(
        self, actions: Actions, twins: Twins, last: IntArray, sizes: IntArray, repeats: IntArray
    ) -> None:
        """Take in a block.

        Args:
            actions: The block's actions, without retries.
            twins: Which of them are the same, results included.
            last: Position of the last action of each turn that has one; shape (n_acting_turns,).
            sizes: Actions in the trailing window at each of `last`.
            repeats: Repeats in it.
        """
        full = sizes == WINDOW
        row, run = actions.row[last] + actions.rows.start, actions.run[last]
        stuck = full & (repeats >= WINDOW - FEW)
        self._marks[row[full]] = stuck[full]
        open_ = full & (repeats >= HALF) & ~stuck
        if not open_.any():
            return
        suspect = np.zeros(actions.n_runs, dtype=np.bool_)
        suspect[run[open_]] = True
        self._row.append(row[open_])
        self._run.append(run[open_] + actions.runs.start)
        self._repeats.append(repeats[open_])
        kind_run, kind_size = _kinds(actions, twins, suspect)
        self._kind_run.append(kind_run + actions.runs.start)
        self._kind_size.append(kind_size)

    def marks(self) -> FloatArray:
        """The signal; shape (n_turns,)."""
        if self._row:
            limits = quantiles_of_repeats(
                np.concatenate(self._kind_run),
                np.concatenate(self._kind_size),
                window=WINDOW,
                level=LEVEL,
            )
            suspects, position = np.unique(np.concatenate(self._run), return_inverse=True)
            assert len(suspects) == len(limits)
            self._marks[np.concatenate(self._row)] = (
                np.concatenate(self._repeats) > limits[position]
            )
        return self._marks


def _kinds(actions: Actions, twins: Twins, suspect: BoolArray) -> tuple[IntArray, IntArray]:
    """The run of each kind of action in the suspect runs, and how often it occurs there."""
    starts = np.flatnonzero(np.diff(twins.kind, prepend=-1))
    sizes = np.diff(starts, append=len(twins.kind))
    run = actions.run[twins.order[starts]]
    chosen = suspect[run]
    return run[chosen], sizes[chosen]
