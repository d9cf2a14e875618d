"""Numbers that graders gave the turns of runs: how high, and whether they fall along a run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from turncurve.analysis.over_units import mean_over_units
from turncurve.analysis.trend import MIN_TURNS
from turncurve.stats.estimate import Estimate
from turncurve.stats.slope import slopes_within


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """One signal of one run's turns, counted.

    Attributes:
        signal: Its name; None where no turn has a number.
        n_turns: Turns that were to be judged.
        n_missing: Those of which no answer could be had.
        n_values: Those with a number: an answer may be that the question does not apply.
        mean: The mean of the numbers; None for none.
        slope: Least-squares slope of the number by turn; None below 8 numbers.
    """

    signal: str | None
    n_turns: int
    n_missing: int
    n_values: int
    mean: float | None
    slope: float | None


def count_numbers(turns: Sequence[Mapping[str, float] | None], signal: str | None) -> RunNumbers:
    """Count one run's numbers of one signal.

    Args:
        turns: Numbers of turns 1, 2, ... by signal name, with `grade_missing` 1 where no answer
            could be had; None for a turn that was not to be judged.
        signal: Which signal.
    """
    asked = {turn: numbers for turn, numbers in enumerate(turns, start=1) if numbers is not None}
    known = {turn: of[signal] for turn, of in asked.items() if signal is not None and signal in of}
    values = list(known.values())
    return RunNumbers(
        signal=signal,
        n_turns=len(asked),
        n_missing=sum(numbers.get("grade_missing") == 1 for numbers in asked.values()),
        n_values=len(values),
        mean=float(np.mean(values)) if values else None,
        slope=_slope(known),
    )


def _slope(known: Mapping[int, float]) -> float | None:
    one_run = np.zeros(len(known), dtype=np.int64)
    (slope,) = slopes_within(
        one_run, [*known], np.array([*known.values()]), n_units=1, min_values=MIN_TURNS
    ).tolist()
    return None if np.isnan(slope) else slope


def number_mean(
    runs: Sequence[RunNumbers],
    *,
    scenarios: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The mean over runs of the run's mean number; each run weighs the same.

    Args:
        runs: One a run; a run without a number is left out.
        scenarios: The scenario of each run, if scenarios are to be the units; None: runs are.
        level: Confidence level.
    """
    return mean_over_units(
        "Mean over runs of the mean of what the rubric gives the run's turns.",
        np.array([np.nan if run.mean is None else run.mean for run in runs]),
        scenarios=scenarios,
        n_turns=np.array([run.n_values for run in runs], dtype=np.int64),
        none="no turn has a number",
        few="run without a number",
        level=level,
    )


def number_slope(
    runs: Sequence[RunNumbers],
    *,
    scenarios: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The mean over runs of the change of the number by turn; runs with fewer than 8 are left out.

    Args:
        runs: One a run.
        scenarios: As of `number_mean`.
        level: Confidence level.
    """
    return mean_over_units(
        "Mean over runs of the change by turn of what the rubric gives, within the run.",
        np.array([np.nan if run.slope is None else run.slope for run in runs]),
        scenarios=scenarios,
        n_turns=np.array([run.n_values for run in runs], dtype=np.int64),
        none=f"no run has {MIN_TURNS} turns with a number",
        few=f"fewer than {MIN_TURNS} turns with a number",
        level=level,
    )
