"""One step of a suite, from plain scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.paired_step import paired_step, std_dev_interval

FloatArray: TypeAlias = NDArray[np.float64]
Trial: TypeAlias = Mapping[Any, Sequence[float | None]] | Sequence[Sequence[float | None]]
"""The scores by turn of each scenario, under its name or in the same order in every trial."""


def drop_report(runs: Sequence[Trial] | FloatArray, turn: int) -> dict[str, Any]:
    """The change at one turn, by the spread of paired trials of the same scenarios.

    A scenario counts in a trial where it has a score at both turns. The standard deviation between
    scenarios is there to be looked at: nothing is divided by it.

    Args:
        runs: One entry a trial (a run of the whole suite): scores by turn of each scenario, as a
            mapping by name or a sequence; an array of shape (n_trials, n_scenarios, n_turns) will
            do. None and NaN are missing, and a scenario may end early.
        turn: The later turn, counted from 1: the change is from `turn` - 1 to `turn`.

    Returns:
        `delta` (mean over trials of each trial's mean change), `sd_of_paired_delta`, `ratio` (the
        size of the one over the other; infinite where the trials agree on a change, None with a
        single trial), `t`, `df`, `p`, `std_error`, `low` and `high` of the suite (95 %),
        `sd_interval`, `n_trials`, `n_pairs`, `n_before_only`, `n_after_only`,
        `scenario_delta_mean`, `scenario_se`, `population_se` and `between_scenario_sd`; None where
        there is no such number.

    Raises:
        ValueError: `turn` is below 2, or later than the last.
        NotEnoughDataError: No scenario has both turns.
    """
    scores = _array(runs)
    if not 2 <= turn <= scores.shape[2]:
        raise ValueError(f"turn: wanted 2 to {scores.shape[2]}, got {turn!r}")
    before, after = scores[:, :, turn - 2], scores[:, :, turn - 1]
    step = paired_step(before, after)
    suite, spread = step.suite, step.suite.std_dev
    levels = np.nanmean(before[:, ~np.isnan(before).all(axis=0)], axis=0)
    return {
        "delta": suite.delta,
        "sd_of_paired_delta": spread,
        "ratio": step.ratio,
        "t": suite.t,
        "df": suite.df,
        "p": suite.p,
        "std_error": suite.std_error,
        "low": suite.low,
        "high": suite.high,
        "sd_interval": std_dev_interval(spread, suite.n) if spread else None,
        "n_trials": suite.n,
        "n_pairs": step.n_pairs,
        "n_before_only": step.n_before_only,
        "n_after_only": step.n_after_only,
        "scenario_delta_mean": step.scenarios.delta,
        "scenario_se": step.scenarios.std_error,
        "population_se": None if step.population is None else step.population.std_error,
        "between_scenario_sd": float(levels.std(ddof=1)) if len(levels) > 1 else None,
    }


def _array(runs: Sequence[Trial] | FloatArray) -> FloatArray:
    """Scores by trial, scenario and turn, with NaN where there are none."""
    if isinstance(runs, np.ndarray):
        return np.asarray(runs, dtype=np.float64)
    trials: list[Mapping[Any, Sequence[float | None]]] = [
        trial if isinstance(trial, Mapping) else dict(enumerate(trial)) for trial in runs
    ]
    names = list(dict.fromkeys(name for trial in trials for name in trial))
    n_turns = max((len(scores) for trial in trials for scores in trial.values()), default=0)
    if not names or not n_turns:
        raise NotEnoughDataError("drop_report: scenarios with a score", need=1, got=0)
    array = np.full((len(trials), len(names), n_turns), np.nan)
    for number, trial in enumerate(trials):
        for position, name in enumerate(names):
            scores = np.array(trial.get(name, ()), dtype=np.float64)
            array[number, position, : len(scores)] = scores
    return array
