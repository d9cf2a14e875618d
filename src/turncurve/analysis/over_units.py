"""Estimates over independent units: runs, or the scenarios that runs are of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.over_runs import mean_over_runs
from turncurve.stats.estimate import Estimate, absent


def mean_over_units(
    estimand: str,
    values: NDArray[np.float64],
    *,
    scenarios: Sequence[Hashable] | None,
    n_turns: NDArray[np.int64],
    none: str,
    few: str,
    level: float,
) -> Estimate:
    """The mean over units of one number a run; of a scenario's runs it is their mean that counts.

    Args:
        estimand: What is estimated, in a sentence.
        values: Shape (n_runs,); NaN for a run without a number.
        scenarios: The scenario of each run, if scenarios are the units; None: runs are.
        n_turns: Turns behind each run's number; shape (n_runs,).
        none: Why there is no estimate where no run has a number.
        few: Why a run has none.
        level: Confidence level.
    """
    used = ~np.isnan(values)
    left_out: Mapping[str, int] = {few: int((~used).sum())}
    if not used.any():
        return replace(absent(estimand, none, level=level), excluded=excluded_counts(left_out))
    unit = units_of(len(values), scenarios)[used]
    mean = summed(unit, values[used]) / summed(unit, np.ones(int(used.sum())))
    found = mean_over_runs(estimand, mean, level=level, excluded=left_out)
    told = told_units(found, scenarios, n_runs=int(used.sum()))
    return replace(told, n_turns=int(n_turns[used].sum()))


def units_of(n_runs: int, scenarios: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """The number of each run's unit: its scenario's, or its own where runs are units."""
    if scenarios is None:
        return np.arange(n_runs)
    numbered = {name: number for number, name in enumerate(dict.fromkeys(scenarios))}
    return np.array([numbered[name] for name in scenarios], dtype=np.int64)


def summed(unit: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums by unit; units without a value are left out."""
    _, position = np.unique(unit, return_inverse=True)
    return np.asarray(np.bincount(position, weights=values), dtype=np.float64)


def told_units(found: Estimate, scenarios: Sequence[Hashable] | None, *, n_runs: int) -> Estimate:
    """An estimate that says which units it is over, and how many runs are behind them."""
    if scenarios is None:
        return found
    return replace(
        found,
        n_runs=n_runs,
        method=found.method.replace("over runs", "over scenarios"),
        assumptions=("scenarios are independent",),
    )
