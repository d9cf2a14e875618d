"""Runs as trials of scenarios: a signal by trial, scenario and turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import NO_TURN, SUBAGENT, own_runs
from turncurve.analysis.run_lengths import last_turns
from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

MOST_CELLS = 50_000_000
"""Trials x scenarios x buckets that are held at once, 0.4 GB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A signal of the runs of a suite; R trials, S scenarios, B buckets of turns.

    Attributes:
        signal: Name of the column.
        better: The signal's good direction.
        bucket: Turns in a bucket.
        values: Mean of the signal in each bucket; shape (R, S, B), NaN where a run has none.
        run: Position of each run in the table that the suite was made of; shape (R, S), -1 where
            there is none.
        n_turns: Last turn of each run; shape (R, S), 0 where there is none.
        scenarios: Names, shape (S,).
        excluded: Reason to number of runs left out.
    """

    signal: str
    better: Literal["high", "low"] | None
    bucket: int
    values: FloatArray
    run: IntArray
    n_turns: IntArray
    scenarios: tuple[str, ...]
    excluded: Mapping[str, int]

    @property
    def starts(self) -> IntArray:
        """First turn of each bucket, shape (B,)."""
        return np.arange(self.values.shape[2]) * self.bucket + 1

    @property
    def n_runs(self) -> int:
        """Runs in the suite."""
        return int((self.run >= 0).sum())

    @property
    def is_repeated(self) -> bool:
        """Whether some scenario has more than one trial."""
        return bool(((self.run >= 0).sum(axis=0) > 1).any())


def suite_of(table: TurnTable, signal: str, *, bucket: int = 1) -> Suite:
    """The runs of a table as trials of scenarios.

    A run that names no scenario is one by itself. Runs of sub-agents and runs without a turn are
    left out.

    Args:
        table: Runs of one condition, in which a scenario has each trial once.
        signal: Column of the turn table.
        bucket: Turns whose mean is one value.

    Raises:
        NotEnoughDataError: No run has a turn.
        InvariantError: A scenario has a trial twice, or the suite does not fit into memory.
    """
    own, last = own_runs(table), last_turns(table)
    used = own & (last > 0)
    if not used.any():
        raise NotEnoughDataError("suite_of: runs with a turn", need=1, got=0)
    runs = np.flatnonzero(used)
    names = [_scenario(table, int(run)) for run in runs]
    numbered = {name: position for position, name in enumerate(dict.fromkeys(names))}
    scenario = np.array([numbered[name] for name in names], dtype=np.int64)
    trials, trial = np.unique(table.runs.trial[runs], return_inverse=True)
    trial = np.asarray(trial).ravel()
    n_buckets = (int(last[used].max()) - 1) // bucket + 1
    shape = (len(trials), len(numbered), n_buckets)
    if np.prod(shape, dtype=np.float64) > MOST_CELLS:
        raise InvariantError(
            f"a suite of {shape[0]:,} trials, {shape[1]:,} scenarios and {shape[2]:,} turns is too "
            "large to look at turn by turn; take wider buckets"
        )
    where = np.full(shape[:2], -1, dtype=np.int64)
    where[trial, scenario] = runs
    if (where >= 0).sum() < len(runs):
        raise InvariantError("suite_of: a scenario has the same trial twice")
    return Suite(
        signal=signal,
        better=table.info[signal].better if signal in table.info else None,
        bucket=bucket,
        values=_filled(table, signal, bucket, shape, (runs, trial, scenario)),
        run=where,
        n_turns=np.where(where >= 0, last[where], 0),
        scenarios=tuple(numbered),
        excluded=excluded_counts({SUBAGENT: ~own, NO_TURN: own & (last == 0)}),
    )


def _scenario(table: TurnTable, run: int) -> str:
    named = table.runs.scenario[run]
    return f"run {table.runs.id[run]}" if named is None else str(named)


def _filled(
    table: TurnTable,
    signal: str,
    bucket: int,
    shape: tuple[int, ...],
    places: tuple[IntArray, IntArray, IntArray],
) -> FloatArray:
    """The mean of each cell's turns that have a value; NaN in cells without."""
    runs, trial, scenario = places
    cell_of_run = np.full(len(table.runs), -1, dtype=np.int64)
    cell_of_run[runs] = (trial * shape[1] + scenario) * shape[2]
    column = table.columns[signal]
    known = ~np.isnan(column) & (cell_of_run[table.run] >= 0)
    cell = cell_of_run[table.run[known]] + (table.turn[known] - 1) // bucket
    size = int(np.prod(shape))
    n = np.bincount(cell, minlength=size)
    total = np.bincount(cell, weights=column[known], minlength=size)
    return np.where(n > 0, total / np.where(n > 0, n, 1), np.nan).reshape(shape)
