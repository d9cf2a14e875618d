"""How many graded turns fail, wait, get on and loop: pooled, by run, and run by run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.mean_of_runs import mean_of_runs
from turncurve.analysis.verdict_rates import RATES, RunVerdicts, verdict_rate
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.proportion import Proportion, wilson
from turncurve.stats.slope import slopes_within

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

NAMES = ("error_rate", "neutral_rate", "productive_rate", "loop_rate")
SINGLE_RUN_TURNS = 2
"""Turns from which a single run has a slope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One share of the graded turns.

    Attributes:
        name: error_rate, neutral_rate, productive_rate or loop_rate.
        pooled: Over the turns of all runs together, with an interval over tasks or runs.
        wilson: The same as if turns were independent, which they are not: what published tables
            show, and only to compare with those. None where no turn has a value.
        by_run: Mean over runs of each run's share: every run weighs the same.
    """

    name: str
    pooled: Estimate
    wilson: Proportion | None
    by_run: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRates:
    """One run.

    Attributes:
        run: Its id.
        task: Its scenario, if named.
        condition: Its condition, if named.
        model: Its model, if named.
        success: Whether it succeeded; None where not known.
        n_graded: Graded turns.
        n_missing: Turns whose grade was tried and is missing.
        n_fail: Failing turns; `n_neutral` and `n_looping` likewise, None where no grade says.
        error_low: Wilson's limits of its share of failing turns, its turns taken as independent.
        error_high: Likewise.
        first_error: First failing turn; None if none failed up to `last_graded`.
        last_graded: Last graded turn.
        slope: Least-squares slope of failing by turn; None below two graded turns.
    """

    run: str
    task: str | None
    condition: str | None
    model: str | None
    success: bool | None
    n_graded: int
    n_missing: int
    n_fail: int
    n_neutral: int | None
    n_looping: int | None
    error_low: float
    error_high: float
    first_error: int | None
    last_graded: int
    slope: float | None


def rates(steps: GradedSteps, *, level: float) -> tuple[Rate, ...]:
    """The four shares, each pooled and by run."""
    verdicts = _verdicts(steps)
    return tuple(_rate(name, steps, verdicts, level) for name in NAMES)


def run_rates(steps: GradedSteps, *, level: float) -> tuple[RunRates, ...]:
    """Every run with a graded turn, in the order of the table."""
    runs = steps.table.runs
    slope = slopes_within(
        steps.run, steps.turn, steps.fail, n_units=len(runs), min_values=SINGLE_RUN_TURNS
    )
    n_missing = np.bincount(steps.table.run[steps.missing], minlength=len(runs))
    found = []
    for r, one in zip(np.unique(steps.run).tolist(), _verdicts(steps), strict=True):
        limits = wilson(one.n_fail, one.n_judged, level=level)
        success = float(runs.success[r])
        assert one.last_judged is not None
        found.append(
            RunRates(
                run=str(runs.id[r]),
                task=_named(runs.scenario[r]),
                condition=_named(runs.condition[r]),
                model=_named(runs.model[r]),
                success=None if np.isnan(success) else bool(success),
                n_graded=one.n_judged,
                n_missing=int(n_missing[r]),
                n_fail=one.n_fail,
                n_neutral=one.n_neutral if _tells_apart([one]) else None,
                n_looping=one.n_looping if one.n_acting else None,
                error_low=limits.low,
                error_high=limits.high,
                first_error=one.first_error,
                last_graded=one.last_judged,
                slope=None if np.isnan(slope[r]) else float(slope[r]),
            )
        )
    return tuple(found)


def _named(word: object) -> str | None:
    return None if word is None else str(word)


def _verdicts(steps: GradedSteps) -> list[RunVerdicts]:
    """Counts of the runs with a step, in order.

    Whether a turn that does not fail is neutral may not be known; it then counts as neither.
    """
    runs, number = np.unique(steps.run, return_inverse=True)
    number = number.ravel()

    def counted(which: NDArray[np.bool_]) -> list[int]:
        counts: list[int] = np.bincount(number[which], minlength=len(runs)).tolist()
        return counts

    fail, known = steps.fail == 1, np.ones(len(number), dtype=np.bool_)
    first = _first_turn(number, steps.turn, fail, len(runs))
    last = np.zeros(len(runs))
    last[number] = steps.turn
    columns = zip(
        counted(known),
        counted(fail),
        counted(steps.neutral == 1),
        counted((steps.neutral == 0) & ~fail),
        counted(~np.isnan(steps.looping)),
        counted(steps.looping == 1),
        first.tolist(),
        last.tolist(),
        strict=True,
    )
    return [
        RunVerdicts(
            n_turns=n,
            n_fail=n_fail,
            n_neutral=n_neutral,
            n_pass=n_pass,
            n_missing=0,
            n_acting=n_acting,
            n_looping=n_looping,
            first_error=None if np.isnan(first_error) else int(first_error),
            last_judged=int(last_judged),
            error_slope=None,
        )
        for n, n_fail, n_neutral, n_pass, n_acting, n_looping, first_error, last_judged in columns
    ]


def _first_turn(number: IntArray, turn: FloatArray, which: NDArray[np.bool_], n: int) -> FloatArray:
    first = np.full(n, np.inf)
    np.minimum.at(first, number[which], turn[which])
    return np.where(np.isfinite(first), first, np.nan)


def _tells_apart(verdicts: Sequence[RunVerdicts]) -> bool:
    """Whether of every turn that does not fail it is known whether it is neutral or passes."""
    return all(one.n_fail + one.n_neutral + one.n_pass == one.n_judged for one in verdicts)


def _rate(name: str, steps: GradedSteps, verdicts: Sequence[RunVerdicts], level: float) -> Rate:
    """A share; those of neutral and of passing turns are absent where no grade tells them apart."""
    rate = RATES[name]
    cluster = steps.run_clusters()[np.unique(steps.run)]
    if name in {"neutral_rate", "productive_rate"} and not _tells_apart(verdicts):
        none = absent(rate.estimand, "the grades say failing or not, and no more", level=level)
        return Rate(name=name, pooled=none, wilson=None, by_run=none)
    scenarios = None if steps.unit == "run" else cluster.tolist()
    pooled = verdict_rate(name, verdicts, scenarios=scenarios, level=level)
    if pooled.value is None:
        return Rate(name=name, pooled=pooled, wilson=None, by_run=pooled)
    tops = np.array([rate.top(one) for one in verdicts], dtype=np.float64)
    bottoms = np.array([rate.bottom(one) for one in verdicts], dtype=np.float64)
    share = np.divide(tops, bottoms, out=np.full(len(tops), np.nan), where=bottoms > 0)
    by_run = mean_of_runs(
        f"Mean over runs of: {rate.estimand[:1].lower()}{rate.estimand[1:]}",
        share,
        cluster,
        steps.unit,
        level=level,
    )
    return Rate(
        name=name,
        pooled=pooled,
        wilson=wilson(int(tops.sum()), int(bottoms.sum()), level=level),
        by_run=within_0_and_1(by_run.estimate),
    )


def within_0_and_1(estimate: Estimate) -> Estimate:
    """The estimate of a share, its limits kept where a share can be."""
    low, high = estimate.low, estimate.high
    return replace(
        estimate,
        low=None if low is None else max(low, 0.0),
        high=None if high is None else min(high, 1.0),
    )
