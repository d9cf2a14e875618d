"""Graded steps of a table: who failed, loops and waits at which turn, and what has no grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import NO_TURN, SUBAGENT, own_runs, scenario_codes
from turncurve.analysis.run_lengths import last_turns
from turncurve.errors import NotEnoughDataError
from turncurve.table import TurnTable

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
MissingGrades: TypeAlias = Literal["excluded", "neutral"]
Unit: TypeAlias = Literal["task", "run"]

TRIED = "turn whose grade was tried and is missing"
UNTRIED = "turn that nobody graded"
TIED = "turn whose graders tie"
NO_GRADE = "run without a graded turn"
PARTS = 3
"""Parts of a run that early and late are the first and the last of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedSteps:
    """The graded turns of agents' own runs; arrays of shape (n_steps,) but where said.

    Attributes:
        table: The runs, those of sub-agents left out; its column `error` is 0, 1 or NaN.
        row: Row of the table.
        run: Position in the run table, never falling.
        turn: From 1.
        fail: 1 failing, 0 not.
        neutral: 1 neutral, 0 not; NaN where the grades say failing or not, and no more.
        looping: 1 where the turn goes round in circles, 0 where not, NaN where no grade says.
        complexity: 0 low, 1 medium, 2 high, NaN where no grade says.
        dependent: Of a failing turn 1 where it follows from an earlier failure, 0 where it starts
            anew, NaN where no grade says.
        explore: 1 where the turn only looks, 0 where it acts, NaN where that is not known.
        cluster: The independent unit that the turn's run belongs to: its task where tasks repeat.
        unit: What the clusters are.
        missing: Of every turn of the table, whether a grade was tried and is missing; (n_turns,).
        excluded: Reason to number of turns, or runs, that are no step.
        warnings: What to know before reading any of it.
    """

    table: TurnTable
    row: IntArray
    run: IntArray
    turn: FloatArray
    fail: FloatArray
    neutral: FloatArray
    looping: FloatArray
    complexity: FloatArray
    dependent: FloatArray
    explore: FloatArray
    cluster: IntArray
    unit: Unit
    missing: BoolArray
    excluded: Mapping[str, int]
    warnings: tuple[str, ...]

    @property
    def n_steps(self) -> int:
        """Graded turns."""
        return len(self.row)

    @property
    def n_runs(self) -> int:
        """Runs with a graded turn."""
        return len(np.unique(self.run))

    @property
    def n_clusters(self) -> int:
        """Independent units."""
        return len(np.unique(self.cluster))

    def thirds(self) -> IntArray:
        """0, 1, 2 for turns in the first, second and last third of their run; shape (n_steps,)."""
        length = last_turns(self.table)[self.run]
        return np.minimum((self.turn - 1) * PARTS // length, PARTS - 1).astype(np.int64)

    def of_runs(self, chosen: BoolArray) -> GradedSteps:
        """The steps of some runs, of the same table; `chosen` has shape (n_runs,)."""
        kept = chosen[self.run]
        columns = ("row", "run", "turn", "fail", "neutral", "looping", "complexity", "dependent")
        others = ("explore", "cluster")
        return replace(self, **{name: getattr(self, name)[kept] for name in (*columns, *others)})

    def run_clusters(self) -> IntArray:
        """The cluster of every run of the table; shape (n_runs,), -1 for a run without a step."""
        found = np.full(self.table.n_runs, -1, dtype=np.int64)
        found[self.run] = self.cluster
        return found


def graded_steps(table: TurnTable, *, missing: MissingGrades = "excluded") -> GradedSteps:
    """The graded turns of a table.

    A turn that several graders judged counts as what more than half of them say. The independent
    units are tasks (scenarios) where some task has several runs, else runs; where there is one task
    alone they are its runs.

    Args:
        table: Runs of any number of conditions.
        missing: "neutral" counts a grade that was tried and is missing as neutral and of low
            complexity, as older tools do; only to reproduce them.

    Raises:
        NotEnoughDataError: No turn is graded.
    """
    own = own_runs(table)
    left_out = int((~own).sum())
    table = table.select(own)
    failing, neutral = table.column("error"), _half(table.column("grade_neutral"))
    tried = np.isnan(failing) & (table.column("grade_missing") == 1)
    fail, complexity = _half(failing), table.column("grade_complexity")
    if missing == "neutral":
        fail, neutral = np.where(tried, 0.0, fail), np.where(tried, 1.0, neutral)
        complexity = np.where(tried & np.isnan(complexity), 0.0, complexity)
    tied = np.isnan(fail) & ~np.isnan(failing)
    row = np.flatnonzero(~np.isnan(fail))
    if not len(row):
        raise NotEnoughDataError(
            "the battery: turns with a grade, or an error of 0 or 1", need=1, got=0
        )
    cluster, unit = _clusters(table, np.unique(table.run[row]))
    graded_runs = np.zeros(table.n_runs, dtype=np.bool_)
    graded_runs[table.run[row]] = True
    n_turns = np.diff(table.offsets)
    return GradedSteps(
        table=table.with_columns({"error": fail}, {}),
        row=row,
        run=table.run[row],
        turn=table.turn[row].astype(np.float64),
        fail=fail[row],
        neutral=np.where(fail[row] == 1, 0.0, neutral[row]),
        looping=_half(table.column("grade_looping"))[row],
        complexity=complexity[row],
        dependent=np.where(fail[row] == 1, _half(table.column("grade_dependent"))[row], np.nan),
        explore=table.column("phase_explore")[row],
        cluster=cluster[table.run[row]],
        unit=unit,
        missing=tried,
        excluded=excluded_counts(
            {
                TRIED: tried if missing == "excluded" else 0,
                TIED: tied,
                UNTRIED: np.isnan(failing) & ~tried,
                NO_GRADE: ~graded_runs & (n_turns > 0),
                NO_TURN: n_turns == 0,
                SUBAGENT: left_out,
            }
        ),
        warnings=_warnings(failing, tried, missing),
    )


def _half(share: FloatArray) -> FloatArray:
    """1 where more than half say so, 0 where fewer do, NaN at a tie and where nobody says."""
    said = np.where(share > 0.5, 1.0, 0.0)
    return np.where(np.isnan(share) | (share == 0.5), np.nan, said)


def _clusters(table: TurnTable, used: IntArray) -> tuple[IntArray, Unit]:
    task = scenario_codes(table)
    n_tasks = len(np.unique(task[used]))
    if 1 < n_tasks < len(used):
        return task, "task"
    return np.arange(table.n_runs), "run"


def _warnings(failing: FloatArray, tried: BoolArray, missing: MissingGrades) -> tuple[str, ...]:
    said = []
    n_several = int(((failing > 0) & (failing < 1)).sum())
    if n_several:
        said.append(f"in {n_several:,} turns graders disagree: what most of them say counts")
    if missing == "neutral" and tried.any():
        said.append(
            f"{int(tried.sum()):,} missing grades are counted as neutral, which makes an agent "
            "look better the worse its grader works"
        )
    return tuple(said)
