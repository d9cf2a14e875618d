"""Do failures bring each other about? Shuffles within runs, and Ljung-Box run by run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.graded_steps import PARTS, GradedSteps
from turncurve.analysis.over_runs import share_of_runs
from turncurve.analysis.within_slope import net_of_runs
from turncurve.errors import NotEnoughDataError
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.ljung_box import LjungBox, ljung_box
from turncurve.stats.slope import slopes_within
from turncurve.stats.togetherness import Togetherness, togetherness

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Kept: TypeAlias = Literal["each run's failures", "each run's failures by third and phase"]

LAGS = (3, 5)
MOST_ROWS = 30_000_000
"""Turns times shuffles, above which there are fewer shuffles."""
FEWEST = 199


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """Failing turns in a row, beside the same failures in another order.

    Attributes:
        kept: What the shuffles keep.
        found: Mean length of failing stretches, as seen and shuffled; None with `why`.
        seed: Of the shuffles.
        why: Why there is none.
    """

    kept: Kept
    found: Togetherness | None
    seed: int
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialDependence:
    """Ljung and Box's test of each run: a description, since runs are short and zeros and ones.

    Attributes:
        of: "failing" as it is, or "failing net of each run's line", which takes a drift out.
        lags: Number of lags.
        n_tested: Runs with more graded turns than lags, not all of which fail or none.
        rejected: Share of them with p below .05, which is .05 where nothing resembles.
        mean_correlation: Mean over them of the correlation of neighbours; None if none is tested.
        excluded: Runs that are not tested.
    """

    of: Literal["failing", "failing net of each run's line"]
    lags: int
    n_tested: int
    rejected: Estimate
    mean_correlation: float | None
    excluded: int


def dependence(
    steps: GradedSteps, *, level: float, seed: int, resamples: int
) -> tuple[Dependence, ...]:
    """Mean length of failing stretches against shuffles of each run, and of its thirds by phase.

    The second keeps a drift along the run, and failures that go with a phase, from being read as
    failures that follow from failures.
    """
    draws = min(resamples, max(FEWEST, MOST_ROWS // max(steps.n_steps, 1)))
    phase = np.where(np.isnan(steps.explore), 2, steps.explore > 0.5)
    block = (steps.run * PARTS + steps.thirds()) * 3 + phase
    return (
        _shuffled("each run's failures", steps, steps.run, level, (seed, draws)),
        _shuffled(
            "each run's failures by third and phase",
            steps,
            block.astype(np.int64),
            level,
            (seed, draws),
        ),
    )


def _shuffled(
    kept: Kept, steps: GradedSteps, block: IntArray, level: float, drawn: tuple[int, int]
) -> Dependence:
    seed, draws = drawn
    rng = np.random.default_rng(seed)
    try:
        found = togetherness(
            steps.fail == 1, steps.run, block=block, rng=rng, resamples=draws, level=level
        )
    except NotEnoughDataError:
        why = "no run has failing and other turns that could stand in another order"
        return Dependence(kept=kept, found=None, seed=seed, why=why)
    return Dependence(kept=kept, found=found, seed=seed)


def serial_dependence(steps: GradedSteps, *, level: float) -> tuple[SerialDependence, ...]:
    """Ljung-Box at lags 3 and 5 of each run's failing turns, and net of each run's line."""
    raw = [_tested("failing", steps, steps.fail, lags, level) for lags in LAGS]
    line = _net_of_line(steps)
    return (
        *raw,
        *(_tested("failing net of each run's line", steps, line, lags, level) for lags in LAGS),
    )


def _net_of_line(steps: GradedSteps) -> FloatArray:
    slope = slopes_within(steps.run, steps.turn, steps.fail, n_units=steps.table.n_runs)
    slope = np.where(np.isnan(slope), 0.0, slope)
    return net_of_runs(steps.fail - slope[steps.run] * steps.turn, steps.run)


def _tested(
    of: Literal["failing", "failing net of each run's line"],
    steps: GradedSteps,
    values: FloatArray,
    lags: int,
    level: float,
) -> SerialDependence:
    found: LjungBox = ljung_box(steps.run, values, n_units=steps.table.n_runs, lags=lags)
    varies = _has_both(steps)
    tested = ~np.isnan(found.p) & varies
    n, n_runs = int(tested.sum()), steps.n_runs
    estimand = f"Share of runs with p below .05 for correlation up to lag {lags} of {of}."
    if not n:
        why = f"no run has more than {lags} graded turns, some failing and some not"
        none = absent(estimand, why, level=level)
        return SerialDependence(
            of=of, lags=lags, n_tested=0, rejected=none, mean_correlation=None, excluded=n_runs
        )
    return SerialDependence(
        of=of,
        lags=lags,
        n_tested=n,
        rejected=share_of_runs(estimand, int((found.p[tested] < 0.05).sum()), n, level=level),
        mean_correlation=float(found.correlation[tested, 0].mean()),
        excluded=n_runs - n,
    )


def _has_both(steps: GradedSteps) -> NDArray[np.bool_]:
    """True for runs of which some turns fail and some do not; shape (n_runs,)."""
    n = np.bincount(steps.run, minlength=steps.table.n_runs)
    n_fail = np.bincount(steps.run, weights=steps.fail, minlength=steps.table.n_runs)
    return np.asarray((n_fail > 0) & (n_fail < n), dtype=np.bool_)
