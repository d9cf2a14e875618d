"""Success of short and of long runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.run_lengths import last_turns
from turncurve.analysis.settings import Settings
from turncurve.stats.proportion import wilson
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBin:
    """Success among the runs of `start` to `end` turns; JSON writes "from" and "to".

    Attributes:
        start: Fewest turns of a run in the bin.
        end: Most turns.
        n_runs: Runs of that length whose outcome is known.
        n_succeeded: Those that succeeded.
        n_unknown: Runs of that length whose outcome is not known; they are in no share.
        value: Share that succeeded; None if no outcome is known.
        low: Lower end of its Wilson interval.
        high: Upper end.
    """

    start: int
    end: int
    n_runs: int
    n_succeeded: int
    n_unknown: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


MOST_BINS = 5
RUNS_A_BIN = 10


def success_by_length(table: TurnTable, settings: Settings) -> tuple[LengthBin, ...]:
    """Share of runs that succeeded, from the shortest runs to the longest.

    The bins hold about as many runs with a known outcome each: at most 5 bins, of 10 runs or more
    where there are so many. Length is an outcome itself: hard scenarios make runs both long and
    likely to fail, so a falling share does not say that length causes failure.

    Args:
        table: Runs; those without a turn and those of sub-agents are left out.
        settings: Its `level` is that of every interval.

    Returns:
        Bins without a gap, from the shortest run to the longest; empty if no outcome is known.
    """
    table = table.select(own_runs(table))
    turns = last_turns(table)
    success = table.runs.success
    known = (turns > 0) & ~np.isnan(success)
    if not known.any():
        return ()
    edges = _edges(turns[known], turns[turns > 0])
    return tuple(
        _bin(turns, success, (int(start), int(stop) - 1), settings.level)
        for start, stop in pairwise(edges)
    )


def _edges(known: NDArray[np.int64], every: NDArray[np.int64]) -> NDArray[np.int64]:
    """First turn count of each bin, and one past the last; shape (n_bins + 1,)."""
    n_bins = min(MOST_BINS, max(1, len(known) // RUNS_A_BIN))
    inner = np.sort(known)[[len(known) * i // n_bins for i in range(1, n_bins)]]
    shortest, longest = every.min(), every.max()
    inner = inner[(inner > known.min()) & (inner <= longest)]
    return np.unique(np.concatenate([[shortest], inner, [longest + 1]]))


def _bin(
    turns: NDArray[np.int64], success: NDArray[np.float64], span: tuple[int, int], level: float
) -> LengthBin:
    inside = (turns >= span[0]) & (turns <= span[1])
    outcome = success[inside & ~np.isnan(success)]
    n, n_succeeded = len(outcome), int(outcome.sum())
    share = wilson(n_succeeded, n, level=level) if n else None
    return LengthBin(
        start=span[0],
        end=span[1],
        n_runs=n,
        n_succeeded=n_succeeded,
        n_unknown=int((inside & np.isnan(success)).sum()),
        value=share.value if share else None,
        low=share.low if share else None,
        high=share.high if share else None,
    )
