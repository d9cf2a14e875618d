"""A signal by single turn, and how many runs are still there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.degradation import fitted, lay_out
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.run_lengths import last_turns
from turncurve.analysis.settings import Settings
from turncurve.stats.estimate import none_if_nan
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]

MOST_POINTS = 1_000
"""Points of a series; where runs have more turns, one point is over several turns."""
MAX_TURN = 2**53
"""The highest number that a turn can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSeries:
    """A signal by turn over all runs that reach it; tuples of one length, None = absent.

    `turn` rises. It holds each turn that any run has, and the ends of each gap that no run has a
    turn in, with 0 runs; the turns between these are left out, as nothing is known of them.

    Where these are more than 1,000, a point is over `every` turns from `turn` on: the mean over
    runs of each run's mean over these turns. So no turn is left out of the series.
    """

    signal: str
    every: int = 1
    """Turns that a point is over, from its `turn` on: 1, 2, 5, 10, 20, 50, ..."""
    turn: tuple[int, ...]
    n_runs: tuple[int, ...]
    n_turns: tuple[int, ...]
    value: tuple[float | None, ...]
    std_error: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How many runs are still there at each turn, from turn 1 to the last of the longest run.

    The turns are those of `TurnSeries`. Where `every` is 1, the number does not change between two
    that are named.
    """

    every: int = 1
    """Turns from one that is named to the next, gaps apart."""
    turn: tuple[int, ...]
    n_runs: tuple[int, ...]
    share: tuple[float, ...]
    """Of the runs with a turn."""


def curve_by_turn(table: TurnTable, signal: str, settings: Settings | None = None) -> TurnSeries:
    """A signal's mean at each turn up to the longest run's last, over runs that have a value.

    With more than 1,000 turns, the mean of every 2, 5, 10, ... turns; see `TurnSeries`.

    Raises:
        UnknownNameError: The table has no such column.
    """
    turns, every = _points(table)
    by_turn = replace(settings or Settings(), axis="turn", bucket=every)
    frame = lay_out(table, signal, by_turn)
    curve = fitted(frame, np.ones(len(frame.rows), dtype=np.bool_), "run")
    at = np.searchsorted(turns, curve.bucket * every + 1)

    def spread(values: FloatArray) -> tuple[float | None, ...]:
        column: list[float | None] = [None] * len(turns)
        for position, value in zip(at.tolist(), values.tolist(), strict=True):
            column[position] = none_if_nan(value)
        return tuple(column)

    def counts(values: NDArray[np.int64]) -> tuple[int, ...]:
        return tuple(int(value or 0) for value in spread(values.astype(np.float64)))

    return TurnSeries(
        signal=signal,
        every=every,
        turn=tuple(turns.tolist()),
        n_runs=counts(curve.n_runs),
        n_turns=counts(curve.n_turns),
        value=spread(curve.value),
        std_error=spread(curve.std_error),
        low=spread(curve.low),
        high=spread(curve.high),
    )


def reach(table: TurnTable) -> Reach:
    """How many runs (those of sub-agents left out) get to each turn."""
    last = last_turns(table)[own_runs(table)]
    lengths = np.sort(last[last > 0])
    turns, every = _points(table)
    still = len(lengths) - np.searchsorted(lengths, turns, side="left")
    return Reach(
        every=every,
        turn=tuple(turns.tolist()),
        n_runs=tuple(still.tolist()),
        share=tuple((still / max(len(lengths), 1)).tolist()),
    )


def _points(table: TurnTable) -> tuple[NDArray[np.int64], int]:
    """The first turn of each point, and how many turns a point is over."""
    named = _named_turns(table)
    for zeros in range(len(str(MAX_TURN))):
        for every in (10**zeros, 2 * 10**zeros, 5 * 10**zeros):
            first = np.unique((named - 1) // every) * every + 1
            if len(first) <= MOST_POINTS:
                return first, every
    raise AssertionError("turns are numbered up to 2**53")


def _named_turns(table: TurnTable) -> NDArray[np.int64]:
    """Turn 1, every turn that a run has, and its neighbours, up to the last; a gap has two ends.

    A file may number one turn 1,000,000: what lies before it must cost nothing.
    """
    turns = np.unique(table.turn[own_runs(table)[table.run]])
    if not len(turns):
        return turns
    named = np.unique(np.concatenate(([1], turns - 1, turns, turns + 1)))
    return np.asarray(named[(named >= 1) & (named <= turns[-1])])
