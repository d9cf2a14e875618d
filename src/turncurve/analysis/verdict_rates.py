"""Verdicts of turns over runs: how many fail, when the first does, and whether more do later."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.number_rates import RunNumbers
from turncurve.analysis.over_runs import ratio_over_runs
from turncurve.analysis.over_units import mean_over_units, summed, told_units, units_of
from turncurve.analysis.trend import MIN_TURNS
from turncurve.analysis.turn_quantiles import turn_quantiles
from turncurve.model import Grade
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.slope import slopes_within
from turncurve.stats.survival import kaplan_meier


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdicts:
    """The verdicts of one run's turns, counted.

    Attributes:
        n_turns: Turns that were to be judged.
        n_fail: Those that failed; `n_neutral` and `n_pass` likewise.
        n_missing: Those without a verdict.
        n_acting: Those of which it is known whether they loop.
        n_looping: Those that do.
        first_error: The first turn that failed; None if none did.
        last_judged: The last turn with a verdict; None if none has one.
        error_slope: Least-squares slope of failing (1) or not (0) by turn; None below 8 verdicts.
    """

    n_turns: int
    n_fail: int
    n_neutral: int
    n_pass: int
    n_missing: int
    n_acting: int
    n_looping: int
    first_error: int | None
    last_judged: int | None
    error_slope: float | None

    @property
    def n_judged(self) -> int:
        """Turns with a verdict."""
        return self.n_turns - self.n_missing


def count_verdicts(grades: Sequence[Grade | None]) -> RunVerdicts:
    """Count one run's verdicts.

    Args:
        grades: Of turns 1, 2, ... in order, all by one grader; None for a turn that was not to be
            judged.
    """
    asked = {turn: grade for turn, grade in enumerate(grades, start=1) if grade is not None}
    validity = [grade.validity for grade in asked.values()]
    judged = [turn for turn, grade in asked.items() if grade.validity is not None]
    failed = [turn for turn, grade in asked.items() if grade.validity == "fail"]
    looping = [grade.looping for grade in asked.values() if grade.looping is not None]
    return RunVerdicts(
        n_turns=len(asked),
        n_fail=len(failed),
        n_neutral=validity.count("neutral"),
        n_pass=validity.count("pass"),
        n_missing=validity.count(None),
        n_acting=len(looping),
        n_looping=sum(looping),
        first_error=failed[0] if failed else None,
        last_judged=judged[-1] if judged else None,
        error_slope=_slope(judged, failed),
    )


def _slope(judged: Sequence[int], failed: Sequence[int]) -> float | None:
    one_run = np.zeros(len(judged), dtype=np.int64)
    (slope,) = slopes_within(
        one_run, judged, np.isin(judged, failed), n_units=1, min_values=MIN_TURNS
    ).tolist()
    return None if np.isnan(slope) else slope


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rate:
    estimand: str
    top: Callable[[Any], int]
    bottom: Callable[[Any], int]
    none: str
    """Why there is no rate."""


_UNJUDGED = "no turn has a verdict"
RATES: Mapping[str, _Rate] = {
    "error_rate": _Rate(
        estimand="Failing turns over turns with a verdict.",
        top=lambda run: run.n_fail,
        bottom=lambda run: run.n_judged,
        none=_UNJUDGED,
    ),
    "neutral_rate": _Rate(
        estimand="Neutral turns over turns with a verdict.",
        top=lambda run: run.n_neutral,
        bottom=lambda run: run.n_judged,
        none=_UNJUDGED,
    ),
    "productive_rate": _Rate(
        estimand="Passing turns over turns with a verdict.",
        top=lambda run: run.n_pass,
        bottom=lambda run: run.n_judged,
        none=_UNJUDGED,
    ),
    "loop_rate": _Rate(
        estimand="Looping turns over turns of which it is known whether they loop.",
        top=lambda run: run.n_looping,
        bottom=lambda run: run.n_acting,
        none="of no turn it is known whether it loops",
    ),
    "missing_rate": _Rate(
        estimand="Turns without a verdict over all turns.",
        top=lambda run: run.n_missing,
        bottom=lambda run: run.n_turns,
        none="no run has a turn",
    ),
}
"""Shares of turns, pooled over runs."""


def verdict_rate(
    name: str,
    runs: Sequence[RunVerdicts | RunNumbers],
    *,
    scenarios: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """One of the shares in `RATES`, over the turns of all runs together.

    The interval is that of a ratio of sums over independent units, kept within 0 and 1. It is
    absent where there is one unit or all units have the same share.

    Args:
        name: Which share.
        runs: One a run; a run without a turn that counts adds nothing. Of runs with numbers in
            place of verdicts only `missing_rate` can be had.
        scenarios: The scenario of each run, if scenarios are to be the units; None: runs are.
        level: Confidence level.
    """
    rate = RATES[name]
    bottom = np.array([rate.bottom(run) for run in runs], dtype=np.float64)
    top = np.array([rate.top(run) for run in runs], dtype=np.float64)
    used = bottom > 0
    if not used.any():
        return absent(rate.estimand, rate.none, level=level)
    unit = units_of(len(runs), scenarios)[used]
    found = ratio_over_runs(
        rate.estimand,
        summed(unit, top[used]),
        summed(unit, bottom[used]),
        level=level,
        excluded={"run without a turn that counts": int((~used).sum())},
    )
    return replace(
        told_units(found, scenarios, n_runs=int(used.sum())),
        low=None if found.low is None else max(found.low, 0.0),
        high=None if found.high is None else min(found.high, 1.0),
        n_turns=int(bottom.sum()),
    )


def error_rate_slope(
    runs: Sequence[RunVerdicts],
    *,
    scenarios: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The mean over runs of the change of the failing share by turn; each run weighs the same.

    Runs with fewer than 8 verdicts have no slope and are left out. With `scenarios` it is the mean
    over scenarios of their runs' mean.
    """
    estimand = "Mean over runs of the change of the failing share by turn within the run."
    slopes = np.array([np.nan if r.error_slope is None else r.error_slope for r in runs])
    return mean_over_units(
        estimand,
        slopes,
        scenarios=scenarios,
        n_turns=np.array([run.n_judged for run in runs], dtype=np.int64),
        none=f"no run has {MIN_TURNS} turns with a verdict",
        few=f"fewer than {MIN_TURNS} turns with a verdict",
        level=level,
    )


def median_time_to_first_error(runs: Sequence[RunVerdicts], *, level: float = 0.95) -> Estimate:
    """The turn by which half of the runs have had their first failing turn.

    Kaplan-Meier, with runs that never failed followed to their last turn with a verdict, and
    Brookmeyer and Crowley's limits. Absent where fewer than half are known to have failed.
    """
    estimand = "Turn by which half of the runs have had their first failing turn."
    judged = [run for run in runs if run.last_judged is not None]
    left_out = {"run without a verdict": len(runs) - len(judged)}
    if not judged:
        return replace(absent(estimand, _UNJUDGED, level=level), excluded=excluded_counts(left_out))
    failed = np.array([run.first_error is not None for run in judged])
    time = np.array([run.first_error or run.last_judged for run in judged], dtype=np.float64)
    curve = kaplan_meier(time, failed, entry=np.zeros(len(judged)), level=level)
    (median,) = turn_quantiles(curve, (0.5,), first_possible=1)
    return Estimate(
        estimand=estimand,
        value=median.turn,
        low=median.low,
        high=median.high,
        level=level,
        method="Kaplan-Meier, Brookmeyer-Crowley limits",
        n_turns=sum(run.n_judged for run in judged),
        n_runs=len(judged),
        n_clusters=len(judged),
        excluded=excluded_counts(left_out),
        assumptions=("runs are independent", "runs that end early would have gone on like others"),
        warnings=(f"{curve.n_events} of {len(judged)} runs had a failing turn",),
        reason=None if median.turn is not None else "fewer than half of the runs failed",
    )
