"""The runs of two conditions, paired by scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.settings import PairBy
from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import NO_TURN, SUBAGENT, own_runs
from turncurve.analysis.steps import mean_of
from turncurve.analysis.suite import suite_of
from turncurve.errors import InvariantError, NotComparableError
from turncurve.stats.paired_curve import MIN_PAIRS
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

SHOWN_NAMES = 3
NO_SCENARIO = "run that names no scenario"
OTHER_SCENARIO = "run of a scenario that the other has not"
OTHER_TRIAL = "run of a trial that the other has not"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One condition's runs of the scenarios that both have.

    Attributes:
        whole: All its runs.
        runs: Positions in `whole` of the paired runs; shape (n_runs,).
        scenario: Which of the common scenarios each is of; shape (n_runs,).
        table: The paired runs alone, in the same order.
        n_scenarios: Scenarios that it has in all.
        alone: Names of those that the other has not.
        excluded: Reason to number of its runs left out.
    """

    whole: TurnTable
    runs: IntArray
    scenario: IntArray
    table: TurnTable
    n_scenarios: int
    alone: tuple[str, ...]
    excluded: Mapping[str, int]

    @property
    def n_runs(self) -> int:
        """Paired runs."""
        return len(self.runs)

    def of_scenarios(self, values: FloatArray, n: int) -> FloatArray:
        """The mean over each scenario's runs of one number a run of `whole`; shape (n,)."""
        own = values[self.runs]
        known = ~np.isnan(own)
        count = np.bincount(self.scenario[known], minlength=n)
        total = np.bincount(self.scenario[known], weights=own[known], minlength=n)
        return np.asarray(np.where(count > 0, total / np.where(count > 0, count, 1), np.nan))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Two conditions and the scenarios that both ran; S scenarios."""

    a: Side
    b: Side
    scenarios: tuple[str, ...]
    by: PairBy

    def cells(self, signal: str, bucket: int) -> Cells:
        """A signal of both, by trial, scenario and bucket."""
        found = [_cells(side, signal, bucket, len(self.scenarios)) for side in (self.a, self.b)]
        n_buckets = max(values.shape[2] for values, _, _ in found)
        a, b = ((_padded(values, n_buckets), reached, run) for values, reached, run in found)
        return Cells(
            a=a[0], b=b[0], a_reached=a[1], b_reached=b[1], a_run=a[2], b_run=b[2],
            bucket=bucket, by=self.by,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A signal of two conditions: R_a or R_b trials, S scenarios, B buckets of turns.

    Attributes:
        a: Shape (R_a, S, B), NaN where a run has no value.
        b: Shape (R_b, S, B).
        a_reached: Buckets that each run gets to, 0 where there is none; shape (R_a, S).
        b_reached: Shape (R_b, S).
        a_run: Position of each run in the table of its side, -1 where there is none.
        b_run: Likewise.
        bucket: Turns in a bucket.
        by: What is paired.
    """

    a: FloatArray
    b: FloatArray
    a_reached: IntArray
    b_reached: IntArray
    a_run: IntArray
    b_run: IntArray
    bucket: int
    by: PairBy

    def of_scenarios(self) -> tuple[FloatArray, FloatArray]:
        """Each scenario's curve on either side, NaN where it has no pair; shapes (S, B)."""
        a, b = self.a, self.b
        if self.by == "trial":
            lone = np.isnan(a) | np.isnan(b)
            a, b = np.where(lone, np.nan, a), np.where(lone, np.nan, b)
        first, second = mean_of(a, axis=0), mean_of(b, axis=0)
        lone = np.isnan(first) | np.isnan(second)
        return np.where(lone, np.nan, first), np.where(lone, np.nan, second)

    def reach(self) -> tuple[FloatArray, FloatArray]:
        """Share of each scenario's runs that get to each bucket; shapes (S, B)."""
        bucket = np.arange(1, self.a.shape[2] + 1)
        shares = []
        for reached, run in ((self.a_reached, self.a_run), (self.b_reached, self.b_run)):
            there = (reached[:, :, None] >= bucket) & (run >= 0)[:, :, None]
            shares.append(there.sum(axis=0) / np.maximum((run >= 0).sum(axis=0), 1)[:, None])
        return shares[0], shares[1]

    def kept(self, a: FloatArray, b: FloatArray) -> Cells:
        """The same cells with other values."""
        return replace(self, a=a, b=b)


def pair_up(a: TurnTable, b: TurnTable, *, by: PairBy, names: tuple[str, str]) -> Pairs:
    """Find the scenarios that both conditions ran.

    Args:
        a: Runs of one condition.
        b: Runs of the other.
        by: What is paired.
        names: What the two are called in messages.

    Raises:
        NotComparableError: A side holds several conditions, or names no scenario, or the two have
            fewer than 5 scenarios in common.
        InvariantError: Trials are to be paired, and a scenario has one twice.
    """
    for table, name in zip((a, b), names, strict=True):
        _one_condition(table, name)
    known = [_known(table) for table in (a, b)]
    named = [list(dict.fromkeys(_scenarios(t)[k])) for t, k in zip((a, b), known, strict=True)]
    for name, scenarios in zip(names, named, strict=True):
        if not scenarios:
            raise NotComparableError(
                f"no run of {name} names its scenario, so runs cannot be paired",
                "give each run its task, as `scenario` in records of your own, the same in both",
            )
    shared = set(named[0]) & set(named[1])
    used = [k & _among(_scenarios(t), shared) for t, k in zip((a, b), known, strict=True)]
    if by == "trial":
        used = _same_trials((a, b), used, names)
    of_a, of_b = (set(_scenarios(t)[u].tolist()) for t, u in zip((a, b), used, strict=True))
    common = [scenario for scenario in named[0] if scenario in of_a & of_b]
    if len(common) < MIN_PAIRS:
        raise NotComparableError(_too_few(common, named, names, by), _WHAT_TO_DO[by])
    sides = [
        _side(table, mask, common, theirs)
        for table, mask, theirs in zip((a, b), used, named, strict=True)
    ]
    return Pairs(a=sides[0], b=sides[1], scenarios=tuple(common), by=by)


_WHAT_TO_DO: Mapping[PairBy, str] = {
    "scenario": f"run both on the same scenarios, at least {MIN_PAIRS}, or give the same task the "
    "same name in both",
    "trial": "pair by scenario, or number the trials that share a seed alike in both",
}


def _too_few(common: list[str], named: list[list[str]], names: tuple[str, str], by: PairBy) -> str:
    lists = (
        f"{name} has {len(theirs):,} ({', '.join(map(repr, theirs[:SHOWN_NAMES]))}"
        f"{', ...' if len(theirs) > SHOWN_NAMES else ''})"
        for name, theirs in zip(names, named, strict=True)
    )
    what = "scenarios" if by == "scenario" else "scenarios with the same trial"
    return (
        f"{names[0]} and {names[1]} have {len(common):,} {what} in common and a comparison needs "
        f"{MIN_PAIRS}: {', '.join(lists)}"
    )


def _one_condition(table: TurnTable, name: str) -> None:
    known = [str(one) for one in dict.fromkeys(table.runs.condition.tolist()) if one is not None]
    if len(known) > 1:
        raise NotComparableError(
            f"{name} holds {len(known):,} conditions ({', '.join(map(repr, known[:SHOWN_NAMES]))})",
            "choose the runs of one",
        )


def _scenarios(table: TurnTable) -> NDArray[np.object_]:
    return np.array([None if s is None else str(s) for s in table.runs.scenario], dtype=object)


def _known(table: TurnTable) -> BoolArray:
    named = np.array([s is not None for s in table.runs.scenario], dtype=np.bool_)
    return own_runs(table) & (table.runs.n_turns > 0) & named


def _among(scenarios: NDArray[np.object_], chosen: set[str]) -> BoolArray:
    return np.array([scenario in chosen for scenario in scenarios], dtype=np.bool_)


def _same_trials(
    tables: tuple[TurnTable, TurnTable], used: list[BoolArray], names: tuple[str, str]
) -> list[BoolArray]:
    """The runs whose scenario and trial both sides have."""
    keys = [
        [
            (scenario, int(trial))
            for scenario, trial in zip(_scenarios(t), t.runs.trial, strict=True)
        ]
        for t in tables
    ]
    own = [
        [key for key, used_run in zip(theirs, mask, strict=True) if used_run]
        for theirs, mask in zip(keys, used, strict=True)
    ]
    for side, name in zip(own, names, strict=True):
        if len(set(side)) < len(side):
            raise InvariantError(
                f"{name}: a scenario has the same trial twice, so trials cannot be paired; "
                "number them, or pair by scenario"
            )
    both = set(own[0]) & set(own[1])
    return [
        mask & np.array([key in both for key in theirs], dtype=np.bool_)
        for theirs, mask in zip(keys, used, strict=True)
    ]


def _side(table: TurnTable, paired: BoolArray, common: list[str], theirs: list[str]) -> Side:
    position = {scenario: i for i, scenario in enumerate(common)}
    of_run = _scenarios(table)
    paired = paired & _among(of_run, set(common))
    own, some_turn = own_runs(table), table.runs.n_turns > 0
    named = own & some_turn & np.array([s is not None for s in of_run], dtype=np.bool_)
    other = named & ~_among(of_run, set(common))
    runs = np.flatnonzero(paired)
    return Side(
        whole=table,
        runs=runs,
        scenario=np.array([position[s] for s in of_run[runs]], dtype=np.int64),
        table=table.select(paired),
        n_scenarios=len(theirs),
        alone=tuple(scenario for scenario in theirs if scenario not in position),
        excluded=excluded_counts(
            {
                SUBAGENT: ~own,
                NO_TURN: own & ~some_turn,
                NO_SCENARIO: own & some_turn & ~named,
                OTHER_SCENARIO: other,
                OTHER_TRIAL: named & ~other & ~paired,
            }
        ),
    )


def _cells(
    side: Side, signal: str, bucket: int, n_scenarios: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Values, buckets reached and runs of one side, its scenarios in the common order."""
    table = side.table
    keys = np.stack([side.scenario, table.runs.trial], axis=1)
    if len(np.unique(keys, axis=0)) < len(keys):
        table = replace(table, runs=replace(table.runs, trial=_numbered(side.scenario)))
    suite = suite_of(table, signal, bucket=bucket)
    names = {str(s): int(i) for s, i in zip(_scenarios(table), side.scenario, strict=True)}
    at = np.array([names[scenario] for scenario in suite.scenarios], dtype=np.int64)
    n_trials, _, n_buckets = suite.values.shape
    values = np.full((n_trials, n_scenarios, n_buckets), np.nan)
    reached = np.zeros((n_trials, n_scenarios), dtype=np.int64)
    run = np.full((n_trials, n_scenarios), -1, dtype=np.int64)
    values[:, at], run[:, at] = suite.values, suite.run
    reached[:, at] = -(-suite.n_turns // bucket)
    return values, reached, run


def _numbered(scenario: IntArray) -> IntArray:
    """Trials 1, 2, ... of each scenario in the order of its runs."""
    seen: dict[int, int] = {}
    trials = []
    for one in scenario.tolist():
        seen[one] = seen.get(one, 0) + 1
        trials.append(seen[one])
    return np.array(trials, dtype=np.int64)


def _padded(values: FloatArray, n_buckets: int) -> FloatArray:
    room = n_buckets - values.shape[2]
    return np.pad(values, ((0, 0), (0, 0), (0, room)), constant_values=np.nan)
