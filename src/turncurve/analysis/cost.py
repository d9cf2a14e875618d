"""What the runs cost: in all, late against early, and for each success."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.settings import Settings
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.mean import NO_SPREAD, mean_with_interval
from turncurve.stats.ratio import ratio_of_sums
from turncurve.table import TurnTable

CostSource: TypeAlias = Literal["trace", "estimated", "mixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Cost in US dollars; None where no file says it and no price is known.

    Attributes:
        total_usd: Sum over the runs with a known cost.
        source: Whether the figures come from the traces, from kept prices, or from both.
        by_turn_known: True if any turn has a cost of its own, so a curve by turn can be drawn.
        n_runs: Runs.
        n_runs_with_cost: Runs with a known cost, which all figures rest on.
        n_runs_partial: Those among them whose cost leaves out turns that have no figure.
        per_run: Mean cost of a run.
        late_turn: The turn that `late_to_turn_5` compares.
        late_to_turn_5: Mean cost at the late turn over mean cost at turn 5, in the same runs.
        per_success: Total cost over successes. With no success it has no value; `low` is then a
            one-sided lower bound.
        why: Why the cost is absent.
    """

    total_usd: float | None = None
    source: CostSource | None = None
    by_turn_known: bool = False
    n_runs: int = 0
    n_runs_with_cost: int = 0
    n_runs_partial: int = 0
    per_run: Estimate
    late_turn: int | None = None
    late_to_turn_5: Estimate
    per_success: Estimate
    why: str | None = None


_PER_RUN = "mean cost of a run in USD"
_PER_SUCCESS = "total cost in USD over number of successful runs"
_LATE = "mean cost of the late turn over mean cost of turn 5, in the same runs"
EARLY_TURN = 5
LATE_TURN = 55


def cost(table: TurnTable, settings: Settings) -> Cost:
    """What the runs cost in all, late against early, and for each success.

    A run's cost is the sum over its turns where all have one, else what its file says of the run as
    a whole, else the sum over the turns that have one. What sub-agents cost counts with the run
    that started them.

    Args:
        table: Runs; cost is read from `cost_usd`, `cost_estimated` and `runs.total_cost_usd`.
        settings: Its `level` is that of every interval.

    Returns:
        The figures, each with its interval or the reason why it is absent.
    """
    level = settings.level
    runs, own = run_costs(table), own_runs(table)
    usd = _with_subagents(table, runs.usd)[own]
    known = ~np.isnan(usd)
    if not known.any():
        why = "no file gives a cost, and no price is known for its model"
        return Cost(
            n_runs=len(usd),
            per_run=absent(_PER_RUN, why, level=level),
            late_to_turn_5=absent(_LATE, why, level=level),
            per_success=absent(_PER_SUCCESS, why, level=level),
            why=why,
        )
    late_turn, late = _late_to_early(table.select(own), level)
    return Cost(
        total_usd=float(np.nansum(usd)),
        source=_source(runs),
        by_turn_known=bool((~np.isnan(_column(table, "cost_usd"))).any()),
        n_runs=len(usd),
        n_runs_with_cost=int(known.sum()),
        n_runs_partial=int((known & runs.partial[own]).sum()),
        per_run=_per_run(usd, level),
        late_turn=late_turn,
        late_to_turn_5=late,
        per_success=_per_success(usd, table.runs.success[own], level),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCosts:
    """Cost of each run of the table, its own turns alone; arrays of shape (n_runs,)."""

    usd: NDArray[np.float64]
    """NaN where unknown."""
    estimated: NDArray[np.bool_]
    """True if some of it comes from kept prices."""
    from_trace: NDArray[np.bool_]
    """True if some of it comes from the trace."""
    partial: NDArray[np.bool_]
    """True if turns without a figure are left out of the sum."""


def run_costs(table: TurnTable) -> RunCosts:
    """The cost of each run.

    The sum over its turns where all have a cost, else what its file says of the run as a whole,
    else the sum over the turns that have one.
    """
    by_turn = _column(table, "cost_usd")
    known = ~np.isnan(by_turn)
    n_known = _count(table, known)
    n_priced = _count(table, known & (_column(table, "cost_estimated") == 1))
    summed = np.bincount(table.run[known], weights=by_turn[known], minlength=table.n_runs)
    total = table.runs.total_cost_usd
    complete = (n_known > 0) & (n_known == _count(table, np.ones_like(known)))
    by_total = ~complete & ~np.isnan(total)
    return RunCosts(
        usd=np.where(by_total, total, np.where(n_known > 0, summed, np.nan)),
        estimated=~by_total & (n_priced > 0),
        from_trace=by_total | (n_known > n_priced),
        partial=~by_total & ~complete & (n_known > 0),
    )


def _with_subagents(table: TurnTable, usd: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each run's cost with that of the sub-agents under it; shape (n_runs,)."""
    position = {name: i for i, name in enumerate(table.runs.id.tolist())}
    whole = usd.copy()
    for run in np.flatnonzero(~own_runs(table)):
        top, seen = int(run), {int(run)}
        while (parent := position.get(table.runs.parent[top])) is not None and parent not in seen:
            top = parent
            seen.add(top)
        if not np.isnan(usd[run]):
            whole[top] = usd[run] + np.nan_to_num(whole[top])
    return whole


def _column(table: TurnTable, name: str) -> NDArray[np.float64]:
    column = table.columns.get(name)
    return np.full(len(table.turn), np.nan) if column is None else column


def _count(table: TurnTable, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.bincount(table.run[rows], minlength=table.n_runs)


def _source(runs: RunCosts) -> CostSource:
    if not runs.estimated.any():
        return "trace"
    return "mixed" if runs.from_trace.any() else "estimated"


def _per_run(usd: NDArray[np.float64], level: float) -> Estimate:
    mean = mean_with_interval(usd, level=level)
    return Estimate(
        estimand=_PER_RUN,
        value=mean.value,
        std_error=mean.std_error,
        low=mean.low,
        high=mean.high,
        level=level,
        method="t over runs",
        df=mean.df,
        n_runs=mean.n,
        n_clusters=mean.n,
        excluded=excluded_counts({"cost not known": len(usd) - mean.n}),
        assumptions=("runs are independent",),
        warnings=() if mean.low is not None else (NO_SPREAD,),
    )


def _late_to_early(table: TurnTable, level: float) -> tuple[int | None, Estimate]:
    by_turn = _column(table, "cost_usd")
    late_turn = _late_turn(table, by_turn)
    if late_turn is None:
        why = f"no turn after {EARLY_TURN} has a cost in half of the runs"
        return None, absent(_LATE, why, level=level)
    early, late = _at_turn(table, by_turn, EARLY_TURN), _at_turn(table, by_turn, late_turn)
    both = ~np.isnan(early) & ~np.isnan(late)
    if not both.any() or early[both].sum() == 0:
        why = f"no run has a cost above 0 at turn {EARLY_TURN} and one at turn {late_turn}"
        return late_turn, absent(_LATE, why, level=level)
    ratio = ratio_of_sums(late[both], early[both], level=level, scale="log")
    return late_turn, Estimate(
        estimand=f"mean cost of turn {late_turn} over mean cost of turn {EARLY_TURN}, same runs",
        value=ratio.value,
        std_error=ratio.std_error,
        low=ratio.low,
        high=ratio.high,
        level=level,
        method="ratio of means, delta method on the log scale, t over runs",
        df=ratio.df,
        n_turns=2 * ratio.n,
        n_runs=ratio.n,
        n_clusters=ratio.n,
        excluded=excluded_counts(
            {f"no cost at turn {EARLY_TURN} or {late_turn}": table.n_runs - ratio.n}
        ),
        assumptions=("runs are independent",),
        warnings=() if ratio.low is not None else (NO_SPREAD,),
    )


def _at_turn(table: TurnTable, column: NDArray[np.float64], turn: int) -> NDArray[np.float64]:
    values = np.full(table.n_runs, np.nan)
    rows = table.turn == turn
    values[table.run[rows]] = column[rows]
    return values


def _late_turn(table: TurnTable, by_turn: NDArray[np.float64]) -> int | None:
    """Turn 55, or the last turn before it, with a cost in half of the runs that have any."""
    known = ~np.isnan(by_turn)
    n_runs = len(np.unique(table.run[known]))
    need = min(n_runs, max(2, -(-n_runs // 2)))
    reached = np.bincount(table.turn[known])
    turns = np.flatnonzero(reached >= need)
    turns = turns[(turns > EARLY_TURN) & (turns <= LATE_TURN)]
    return int(turns[-1]) if n_runs and len(turns) else None


def _per_success(usd: NDArray[np.float64], success: NDArray[np.float64], level: float) -> Estimate:
    used = ~np.isnan(usd) & ~np.isnan(success)
    excluded = excluded_counts(
        {
            "outcome not known": int((~np.isnan(usd) & np.isnan(success)).sum()),
            "cost not known": int(np.isnan(usd).sum()),
        }
    )
    n, n_succeeded, total = int(used.sum()), float(success[used].sum()), float(usd[used].sum())
    if n == 0:
        return replace(
            absent(_PER_SUCCESS, "no run has both a cost and an outcome", level=level),
            excluded=excluded,
        )
    if n_succeeded == 0:
        most = n * (1 - (1 - level) ** (1 / n))
        return Estimate(
            estimand=_PER_SUCCESS,
            value=None,
            low=total / most,
            level=level,
            method="one-sided lower bound: total cost over the Clopper-Pearson upper bound",
            n_runs=n,
            n_clusters=n,
            excluded=excluded,
            reason=f"none of {n} runs succeeded",
        )
    ratio = ratio_of_sums(usd[used], success[used], level=level, scale="log")
    return Estimate(
        estimand=_PER_SUCCESS,
        value=ratio.value,
        std_error=ratio.std_error,
        low=ratio.low,
        high=ratio.high,
        level=level,
        method="ratio of sums, delta method on the log scale, t over runs",
        df=ratio.df,
        n_runs=n,
        n_clusters=n,
        excluded=excluded,
        assumptions=("runs are independent",),
        warnings=() if ratio.low is not None else (NO_SPREAD,),
    )
