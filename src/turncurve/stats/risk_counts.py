"""Runs at risk and runs that end at each turn, in all and by cluster of runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_CELLS = 4_000_000
"""Clusters times turns that are held at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """How far runs were followed, sorted by cluster; arrays of shape (n_runs,).

    A run is at risk after `entry` and up to `time`; `kind` says how that ended: 0 censored, 1 the
    event, 2 and above for other ends. `cluster` holds codes 0, 1, 2, ... that never fall.
    """

    time: FloatArray
    kind: IntArray
    entry: FloatArray
    cluster: IntArray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster[-1]) + 1

    @property
    def end_times(self) -> FloatArray:
        """Distinct times at which a run was not merely censored; rising."""
        return np.unique(self.time[self.kind > 0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Runs at risk, events, and ends of any kind; arrays whose last axis is time."""

    at_risk: FloatArray
    events: FloatArray
    ends: FloatArray


def followed(
    time: ArrayLike,
    kind: ArrayLike,
    *,
    entry: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Followed:
    """Check and sort.

    Args:
        time: Turn of the event, or the last turn seen; shape (n_runs,), finite.
        kind: 0 or False censored, 1 or True the event, 2 and above other ends; shape (n_runs,).
        entry: The run is at risk only after this time; None: from the start.
        cluster: Which cluster the run belongs to, any codes; None: each run is one by itself.

    Raises:
        NotEnoughDataError: No run.
        ValueError: A time is not after its entry, or not finite.
    """
    t, k = np.asarray(time, dtype=np.float64), np.asarray(kind, dtype=np.int64)
    start = np.full(len(t), -np.inf) if entry is None else np.asarray(entry, dtype=np.float64)
    if len(t) == 0:
        raise NotEnoughDataError("times to an event: runs", need=1, got=0)
    if not (np.isfinite(t).all() and (start < t).all()):
        raise ValueError("wanted finite times, each after its entry")
    own = np.arange(len(t)) if cluster is None else np.asarray(cluster)
    code = np.unique(own, return_inverse=True)[1].reshape(-1)
    order = np.argsort(code, kind="stable")
    return Followed(time=t[order], kind=k[order], entry=start[order], cluster=code[order])


def counts(runs: Followed, grid: FloatArray) -> Counts:
    """Counts of all runs at some times; shapes (n_times,).

    Args:
        runs: The runs.
        grid: Times, rising, those of every end among them; shape (n_times,).
    """
    whole = _counts(runs, np.zeros(len(runs.time), dtype=np.int64), slice(None), 1, grid)
    return Counts(at_risk=whole.at_risk[0], events=whole.events[0], ends=whole.ends[0])


def counts_by_cluster(runs: Followed, grid: FloatArray) -> Iterator[Counts]:
    """Counts of each cluster, some clusters at once; shapes (n_clusters_in_part, n_times)."""
    at_once = max(1, _CELLS // max(len(grid), 1))
    for start in range(0, runs.n_clusters, at_once):
        stop = min(start + at_once, runs.n_clusters)
        rows = slice(*np.searchsorted(runs.cluster, [start, stop]).tolist())
        yield _counts(runs, runs.cluster[rows] - start, rows, stop - start, grid)


def _counts(runs: Followed, row: IntArray, rows: slice, n_rows: int, grid: FloatArray) -> Counts:
    time, kind = runs.time[rows], runs.kind[rows]
    n = len(grid)
    came = _tally(row, np.searchsorted(grid, runs.entry[rows], side="right"), n_rows, n + 1)
    went = _tally(row, np.searchsorted(grid, time, side="right"), n_rows, n + 1)
    place = np.searchsorted(grid, time)
    had, ended = kind == 1, kind > 0
    return Counts(
        at_risk=np.cumsum(came - went, axis=1)[:, :-1],
        events=_tally(row[had], place[had], n_rows, n),
        ends=_tally(row[ended], place[ended], n_rows, n),
    )


def _tally(row: IntArray, column: IntArray, n_rows: int, n_columns: int) -> FloatArray:
    flat = np.bincount(row * n_columns + column, minlength=n_rows * n_columns)
    return flat.reshape(n_rows, n_columns).astype(np.float64)
