"""Where, within the window that alarmed, quality began to be bad."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def window_onset(
    values: ArrayLike, run: ArrayLike, turn: ArrayLike, alarm: ArrayLike, *, window: int,
    threshold: float,
) -> FloatArray:  # fmt: skip
    """The turn at which each run's alarm window turns bad.

    An alarm comes late: the rolling mean must fill with bad turns before it falls. Of the window's
    values y, the onset is where the sum of (threshold - y) from there to the window's end is
    largest, which is where the CUSUM of the window against the threshold stands lowest; of equals
    the latest. It cannot lie before the window.

    Args:
        values: Quality, high is good; shape (n_turns,), NaN where a turn has none.
        run: Position of a turn's run, 0 to n_runs - 1; each run's turns together and in order.
        turn: Turn numbers; shape (n_turns,).
        alarm: Turn of each run's alarm; shape (n_runs,), NaN where there is none.
        window: Number of graded turns in the rolling mean, >= 1.
        threshold: The mean below which the rule fires.

    Returns:
        Shape (n_runs,); NaN without an alarm, or with fewer values up to it than the window.

    References:
        Page (1954), Biometrika 41:100-115.
    """
    y, owner = np.asarray(values, dtype=np.float64), np.asarray(run, dtype=np.int64)
    at, alarms = np.asarray(turn, dtype=np.float64), np.asarray(alarm, dtype=np.float64)
    known = ~np.isnan(y) & (at <= alarms[owner])
    y, owner, at = y[known], owner[known], at[known]
    ends = np.searchsorted(owner, np.arange(len(alarms)), side="right")
    starts = np.searchsorted(owner, np.arange(len(alarms)), side="left")
    full = (ends - starts >= window) & ~np.isnan(alarms)
    onset = np.full(len(alarms), np.nan)
    if not full.any():
        return onset
    rows = ends[full][:, None] - 1 - np.arange(window)
    badness = np.cumsum(threshold - y[rows], axis=1)
    onset[full] = at[rows[np.arange(len(rows)), badness.argmax(axis=1)]]
    return onset
