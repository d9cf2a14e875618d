"""How often actions repeat earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.over_runs import ratio_over_runs
from turncurve.analysis.own_runs import SUBAGENT, own_runs
from turncurve.signals.repetition import retries
from turncurve.stats.estimate import Estimate, absent
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Spiral:
    """The first turn at which a run is marked as going round in circles."""

    run: str
    turn: int
    n_turns: int
    """Turns of the run that are marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """Shares of actions that repeat an earlier one; retries of transient errors stand apart.

    Attributes:
        rate: Share of actions seen before in their run. It grows by itself with a run's length.
        window_rate: Share of the last 10 actions that repeat one of these 10, mean over turns.
        consecutive_rate: Share equal to the action just before.
        result_rate: Share seen before with the same result.
        n_actions: Actions that the shares are of.
        n_retries: Repeats right after a transient failure, which no share counts as repeats.
        n_runs: Runs with an action.
        n_spirals: Runs marked as a spiral.
        spirals: Where each begins.
        excluded: Reason to number of runs left out.
        why: Why the shares are absent.
    """

    rate: Estimate
    window_rate: Estimate
    consecutive_rate: Estimate
    result_rate: Estimate
    n_actions: int = 0
    n_retries: int | None = None
    n_runs: int = 0
    n_spirals: int | None = None
    spirals: tuple[Spiral, ...] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None


_RATES = {
    "repeated_action": "share of actions seen before in their run",
    "repeated_action_window": "share of the last 10 actions that repeat one of these 10",
    "repeated_action_consecutive": "share of actions equal to the one just before",
    "repeated_result": "share of actions seen before with the same result",
}


def repetition(table: TurnTable, *, level: float = 0.95) -> Repetition:
    """How often actions repeat earlier ones, over all turns of all runs but those of sub-agents.

    Each share is a ratio of sums with runs as units: repeated actions over actions. The share of
    the trailing window is one number a turn, so its denominator is turns with an action.

    Args:
        table: Runs with the columns of the repetition signals; a column that is not there gives an
            absent share.
        level: Confidence level.

    Returns:
        The shares with their intervals, the retries, and the runs marked as spirals.
    """
    own = own_runs(table)
    table = table.select(own)
    retried = retries(table)
    actions = _by_turn(table, ~retried)
    with_result = _by_turn(table, ~retried & (table.calls.result_key != 0))
    turns = (actions > 0).astype(np.int64)
    spirals = _spirals(table)
    return Repetition(
        rate=_rate(table, "repeated_action", actions, level),
        window_rate=_rate(table, "repeated_action_window", turns, level),
        consecutive_rate=_rate(table, "repeated_action_consecutive", actions, level),
        result_rate=_rate(table, "repeated_result", with_result, level),
        n_actions=int(actions.sum()),
        n_retries=int(retried.sum()) if len(retried) else None,
        n_runs=len(np.unique(table.run[actions > 0])),
        n_spirals=None if spirals is None else len(spirals),
        spirals=spirals or (),
        excluded=excluded_counts({SUBAGENT: ~own}),
        why=None if len(retried) else "no turn has an action",
    )


def _by_turn(table: TurnTable, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of kept actions of each turn; shape (n_turns,)."""
    return np.bincount(table.calls.row[kept], minlength=len(table.turn)).astype(np.int64)


def _rate(table: TurnTable, name: str, weight: NDArray[np.int64], level: float) -> Estimate:
    column = table.columns.get(name)
    estimand = _RATES[name]
    if column is None:
        return absent(estimand, f"the table has no column {name}", level=level)
    used = ~np.isnan(column) & (weight > 0)
    if not used.any():
        return absent(estimand, "no turn has an action to count", level=level)
    _, unit = np.unique(table.run[used], return_inverse=True)
    repeated = np.bincount(unit, weights=column[used] * weight[used])
    rate = ratio_over_runs(estimand, repeated, np.bincount(unit, weights=weight[used]), level=level)
    return replace(
        rate,
        low=None if rate.low is None else max(0.0, rate.low),
        high=None if rate.high is None else min(1.0, rate.high),
        n_turns=int(used.sum()),
    )


def _spirals(table: TurnTable) -> tuple[Spiral, ...] | None:
    marks = table.columns.get("spiral")
    if marks is None or np.isnan(marks).all():
        return None
    rows = np.flatnonzero(marks == 1)
    runs, first, counts = np.unique(table.run[rows], return_index=True, return_counts=True)
    return tuple(
        Spiral(run=str(table.runs.id[run]), turn=int(table.turn[rows[i]]), n_turns=int(n))
        for run, i, n in zip(runs, first, counts, strict=True)
    )
