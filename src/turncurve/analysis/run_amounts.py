"""What each run spent: by its turns, or as its file says of it as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAmounts:
    """An amount of each run of the table, its own turns alone; arrays of shape (n_runs,)."""

    value: NDArray[np.float64]
    """NaN where unknown."""
    is_total: NDArray[np.bool_]
    """True if it is the file's own figure for the run as a whole."""
    is_partial: NDArray[np.bool_]
    """True if turns without a figure are left out of the sum."""


def run_amounts(table: TurnTable, name: str, total: NDArray[np.float64]) -> RunAmounts:
    """The sum over a run's turns where all have a figure, else its total, else what sum there is.

    Args:
        table: The runs.
        name: Column of the turns' figures.
        total: What the file says of each run as a whole; shape (n_runs,), NaN where it doesn't.
    """
    by_turn = table.column(name)
    known = ~np.isnan(by_turn)
    n_known = np.bincount(table.run[known], minlength=table.n_runs)
    summed = np.bincount(table.run[known], weights=by_turn[known], minlength=table.n_runs)
    some, complete = n_known > 0, n_known == np.bincount(table.run, minlength=table.n_runs)
    is_total = ~(some & complete) & ~np.isnan(total)
    return RunAmounts(
        value=np.where(is_total, total, np.where(some, summed, np.nan)),
        is_total=is_total,
        is_partial=~is_total & ~complete & some,
    )
