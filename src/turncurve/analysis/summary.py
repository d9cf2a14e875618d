"""What was read: counts and sums."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.run_amounts import run_amounts
from turncurve.model import ExitType
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts and sums over all runs; None where the files don't say.

    Runs of sub-agents count in turns, tokens, cost and tools, which they used, and in
    `n_subagent_runs`, but are no runs of their own anywhere else.
    """

    n_runs: int
    n_subagent_runs: int
    n_runs_without_turns: int
    n_turns: int
    max_turns: int | None
    median_turns: float | None
    """Over runs with a turn."""
    n_scenarios: int | None
    n_succeeded: int | None
    n_failed: int | None
    input_tokens: int | None
    """Cached tokens included."""
    cached_input_tokens: int | None
    output_tokens: int | None
    max_context_tokens: int | None
    cost_usd: float | None
    n_tool_calls: int | None
    n_tool_results: int | None
    n_tool_errors: int | None
    n_format_errors: int | None
    n_compactions: int | None
    n_missing_grades: int | None
    """Turns that were to be graded and have no grade."""
    error_rate: float | None
    """Failing turns over graded turns."""
    exits: Mapping[str, int]
    """The sources' own words for how runs ended; runs without any are left out."""
    exit_types: Mapping[str, int]


def summarise(table: TurnTable) -> Summary:
    """Count and add up what the runs hold.

    A run's tokens and cost are those of `run_amounts`.
    """
    runs, own = table.runs, own_runs(table)
    lengths = runs.n_turns[own]
    counted = lengths[lengths > 0]
    input_tokens = _spent(table, "context_tokens", runs.total_input_tokens)
    cached = _spent(table, "cached_input_tokens", runs.total_cached_input_tokens)
    output = _spent(table, "output_tokens", runs.total_output_tokens)
    return Summary(
        n_runs=int(own.sum()),
        n_subagent_runs=int((~own).sum()),
        n_runs_without_turns=int((lengths == 0).sum()),
        n_turns=len(table.turn),
        max_turns=int(counted.max()) if len(counted) else None,
        median_turns=float(np.median(counted)) if len(counted) else None,
        n_scenarios=_n_distinct(runs.scenario[own]),
        n_succeeded=_n_equal(runs.success[own], 1),
        n_failed=_n_equal(runs.success[own], 0),
        input_tokens=_whole(input_tokens),
        cached_input_tokens=_whole(cached),
        output_tokens=_whole(output),
        max_context_tokens=_whole(_highest(table, "context_tokens")),
        cost_usd=_spent(table, "cost_usd", runs.total_cost_usd),
        n_tool_calls=_whole(_added(table, "n_tool_calls")),
        n_tool_results=_whole(_added(table, "n_tool_results")),
        n_tool_errors=_whole(_added(table, "n_tool_errors")),
        n_format_errors=_whole(_added(table, "format_error")),
        n_compactions=_n_compactions(table),
        n_missing_grades=_whole(_added(table, "grade_missing")),
        error_rate=_mean(table, "error"),
        exits=dict(Counter(text for text in runs.exit_text[own] if text is not None)),
        exit_types={
            kind.value: int((runs.exit_type[own] == kind.value).sum()) for kind in ExitType
        },
    )


def _known(table: TurnTable, name: str) -> NDArray[np.float64]:
    column = table.columns.get(name, np.zeros(0))
    return column[~np.isnan(column)]


def _added(table: TurnTable, name: str) -> float | None:
    return _sum(_known(table, name))


def _sum(known: NDArray[np.float64]) -> float | None:
    """None where nothing is known, and where the sum is beyond what a number can hold."""
    with np.errstate(over="ignore"):
        total = float(known.sum())
    return total if len(known) and math.isfinite(total) else None


def _highest(table: TurnTable, name: str) -> float | None:
    known = _known(table, name)
    return float(known.max()) if len(known) else None


def _mean(table: TurnTable, name: str) -> float | None:
    known = _known(table, name)
    total = _sum(known)
    return None if total is None else total / len(known)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _spent(table: TurnTable, name: str, total: NDArray[np.float64]) -> float | None:
    spent = run_amounts(table, name, total).value
    return _sum(spent[~np.isnan(spent)])


def _n_distinct(scenarios: NDArray[np.object_]) -> int | None:
    named = {scenario for scenario in scenarios if scenario is not None}
    return len(named) or None


def _n_equal(success: NDArray[np.float64], value: int) -> int | None:
    known = ~np.isnan(success)
    return int((success[known] == value).sum()) if known.any() else None


def _n_compactions(table: TurnTable) -> int | None:
    seen = int((table.events.kind == "compaction").sum())
    can_tell = len(_known(table, "compaction")) > 0
    return seen if seen or can_tell else None
