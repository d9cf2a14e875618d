"""What the runs cost: in all, late against early, and for each success."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.over_runs import mean_over_runs, ratio_over_runs
from turncurve.analysis.own_runs import own_runs, root_of
from turncurve.analysis.run_amounts import RunAmounts, run_amounts
from turncurve.analysis.settings import Settings
from turncurve.stats.estimate import Estimate, absent
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
    by_run = run_amounts(table, "cost_usd", table.runs.total_cost_usd)
    own = own_runs(table)
    usd = with_subagents(table, by_run.value)[own]
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
        source=_source(table, by_run),
        by_turn_known=bool((~np.isnan(table.column("cost_usd"))).any()),
        n_runs=len(usd),
        n_runs_with_cost=int(known.sum()),
        n_runs_partial=int((known & by_run.is_partial[own]).sum()),
        per_run=mean_over_runs(
            _PER_RUN,
            usd,
            level=level,
            lowest=0.0,
            excluded={"cost not known": int((~known).sum())},
        ),
        late_turn=late_turn,
        late_to_turn_5=late,
        per_success=_per_success(usd, table.runs.success[own], level),
    )


def with_subagents(table: TurnTable, amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each run's amount with that of the sub-agents under it; shape (n_runs,)."""
    whole = amount.copy()
    for run, top in enumerate(root_of(table).tolist()):
        if top != run and not np.isnan(amount[run]):
            whole[top] = amount[run] + np.nan_to_num(whole[top])
    return whole


def _source(table: TurnTable, by_run: RunAmounts) -> CostSource:
    """Where the runs' figures come from; a run's own total stands in place of its turns' sum."""
    counted = ~by_run.is_total[table.run] & ~np.isnan(table.column("cost_usd"))
    priced = counted & (table.column("cost_estimated") == 1)
    if not priced.any():
        return "trace"
    return "mixed" if by_run.is_total.any() or (counted & ~priced).any() else "estimated"


def _late_to_early(table: TurnTable, level: float) -> tuple[int | None, Estimate]:
    by_turn = table.column("cost_usd")
    late_turn = _late_turn(table, by_turn)
    if late_turn is None:
        why = f"no turn after {EARLY_TURN} has a cost in half of the runs"
        return None, absent(_LATE, why, level=level)
    early, late = _at_turn(table, by_turn, EARLY_TURN), _at_turn(table, by_turn, late_turn)
    both = ~np.isnan(early) & ~np.isnan(late)
    if not both.any() or early[both].sum() == 0:
        why = f"no run has a cost above 0 at turn {EARLY_TURN} and one at turn {late_turn}"
        return late_turn, absent(_LATE, why, level=level)
    n = int(both.sum())
    ratio = ratio_over_runs(
        f"mean cost of turn {late_turn} over mean cost of turn {EARLY_TURN}, same runs",
        late[both],
        early[both],
        level=level,
        scale="log",
        excluded={f"no cost at turn {EARLY_TURN} or {late_turn}": table.n_runs - n},
    )
    return late_turn, replace(ratio, n_turns=2 * n)


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
        {"outcome not known": ~np.isnan(usd) & np.isnan(success), "cost not known": np.isnan(usd)}
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
            reason=f"no run succeeded, of {n} in all",
        )
    return ratio_over_runs(
        _PER_SUCCESS, usd[used], success[used], level=level, scale="log", excluded=excluded
    )
