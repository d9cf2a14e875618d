"""Runs at risk and events of groups of runs, turn by turn, within strata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumCells:
    """One cell a turn of a stratum at which some run of it had the event.

    Attributes:
        groups: Labels, in order.
        stratum: Code of each cell's stratum; shape (n_cells,).
        at_risk: Runs at risk; shape (n_groups, n_cells).
        events: Events; shape (n_groups, n_cells).
        n_runs: Runs in all.
    """

    groups: tuple[object, ...]
    stratum: IntArray
    at_risk: FloatArray
    events: FloatArray
    n_runs: int


def stratum_cells(
    time: ArrayLike,
    event: ArrayLike,
    group: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    entry: ArrayLike | None = None,
) -> StratumCells:
    """Count the runs of each group at each turn with an event.

    Args:
        time: Turn of the event, or the last turn seen; shape (n_runs,).
        event: True where the event was seen, False where the run is censored; shape (n_runs,).
        group: Which group the run belongs to, any labels; shape (n_runs,).
        stratum: Which stratum, any labels. None: all runs are of one.
        entry: The run is at risk only after this time. None: from the start.

    Raises:
        NotEnoughDataError: Fewer than two groups have a run.
        ValueError: A time is not after its entry, or not finite.
    """
    t, d = np.asarray(time, dtype=np.float64), np.asarray(event, dtype=np.bool_)
    start = np.full(len(t), -1e300) if entry is None else np.asarray(entry, dtype=np.float64)
    if not (np.isfinite(t).all() and (start < t).all()):
        raise ValueError("wanted finite times, each after its entry")
    labels, of_group = _codes(group)
    if len(labels) < 2:
        raise NotEnoughDataError("a comparison of first errors: groups", need=2, got=len(labels))
    _, of_stratum = _codes(np.zeros(len(t)) if stratum is None else stratum)
    # Stratum and rank of the turn in one number: what is below a cell's, of times and of entries,
    # counts all runs of earlier strata alike, so that the difference is of its own stratum.
    moments = np.unique(np.concatenate([t, start]))
    times = of_stratum * len(moments) + np.searchsorted(moments, t)
    entries = of_stratum * len(moments) + np.searchsorted(moments, start)
    cells = np.unique(times[d])
    at_risk, events = np.zeros((len(labels), len(cells))), np.zeros((len(labels), len(cells)))
    for code in range(len(labels)):
        mine = of_group == code
        at_risk[code] = np.searchsorted(np.sort(entries[mine]), cells) - np.searchsorted(
            np.sort(times[mine]), cells
        )
        had = np.searchsorted(cells, times[mine & d])
        events[code] = np.bincount(had, minlength=len(cells))
    return StratumCells(
        groups=tuple(labels.tolist()),
        stratum=(cells // len(moments)).astype(np.int64),
        at_risk=at_risk,
        events=events,
        n_runs=len(t),
    )


def _codes(values: ArrayLike) -> tuple[NDArray[np.generic], IntArray]:
    labels, code = np.unique(np.asarray(values), return_inverse=True)
    return labels, code.reshape(-1).astype(np.int64)
