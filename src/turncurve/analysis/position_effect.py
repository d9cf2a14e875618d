"""Whether a grader errs more as a run goes on, and what that does to slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.grader_slopes import Slopes, slopes_of
from turncurve.analysis.line_over_turns import TURNS, line_over_turns, too_little
from turncurve.analysis.over_clusters import Resampling
from turncurve.stats.cluster_logit import cluster_logit_slope
from turncurve.stats.cluster_ols import LEAST_DF
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.holm import holm
from turncurve.stats.proportion import clopper_pearson
from turncurve.stats.quantiles import t_quantile

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Verdict: TypeAlias = Literal["finding", "clean", "inconclusive"]

MIDDLE = 0.9
"""Share of the turns, by position, whose span a change is told over for "clean"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionEffect:
    """How a share of right judgements changes with the turn.

    Attributes:
        of: What the share is.
        change: Change of the share in 10 turns, on a straight line.
        p: Two-sided, for no change; None where the runs are too few for one.
        p_adjusted: The same with both shares looked at (Holm).
        log_odds: Change of the log odds in 10 turns, on a logistic curve: a second look.
    """

    of: Literal["sensitivity", "specificity"]
    change: Estimate
    p: float | None
    p_adjusted: float | None
    log_odds: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionTest:
    """Whether one sensitivity and one specificity can stand for all turns.

    Attributes:
        sensitivity: Its change with the turn.
        specificity: Its change with the turn.
        verdict: "finding" where one changes; "clean" where neither can change by more than
            `margin` over `span` turns; else "inconclusive".
        margin: Largest change that counts as none.
        span: Turns over which it counts: the middle 90 % of the compared turns by position.
        n_runs_needed: About so many labelled runs of this kind would settle it, where it is
            inconclusive.
        slopes: What the grader's errors do to the slope of the error rate.
    """

    sensitivity: PositionEffect
    specificity: PositionEffect
    verdict: Verdict
    margin: float
    span: float
    n_runs_needed: int | None
    slopes: Slopes


def position_test(
    run: IntArray,
    turn: IntArray,
    graded: BoolArray,
    labelled: BoolArray,
    *,
    margin: float,
    resampling: Resampling,
) -> PositionTest:
    """Test whether sensitivity and specificity change with the turn, runs being the clusters.

    Args:
        run: Which run each turn is of; shape (n_turns,).
        turn: From 1.
        graded: Whether the grader calls the turn failing.
        labelled: Whether the reference does.
        margin: Change over the compared turns that does not matter.
        resampling: Level of the intervals, and draws behind the divided slope.
    """
    level = resampling.level
    tail = (1 - MIDDLE) / 2
    span = float(np.ptp(np.quantile(turn, [tail, 1 - tail]))) if len(turn) else 0.0
    caught, spared = _holm(
        _effect("sensitivity", (run, turn, graded, labelled), span, level),
        _effect("specificity", (run, turn, ~graded, ~labelled), span, level),
    )
    verdict = _verdict((caught, spared), span, margin, level)
    return PositionTest(
        sensitivity=caught,
        specificity=spared,
        verdict=verdict,
        margin=margin,
        span=span,
        n_runs_needed=_needed((caught, spared), span, margin)
        if verdict == "inconclusive"
        else None,
        slopes=slopes_of(
            run, turn, graded, labelled, changes=verdict == "finding", resampling=resampling
        ),
    )


def _effect(
    of: Literal["sensitivity", "specificity"],
    turns: tuple[IntArray, IntArray, BoolArray, BoolArray],
    span: float,
    level: float,
) -> PositionEffect:
    """The change of a share, from run, turn, who is right where that is so, and where it counts."""
    run, turn, right, among = turns
    runs, at, yes = run[among], turn[among] / TURNS, right[among].astype(np.float64)
    estimand = f"change of {of} in {TURNS} turns"
    change, p = line_over_turns(estimand, runs, at, yes, level)
    if len(yes) and yes.all() and change.value is not None and span > 0:
        change = _without_error(change, span)
    return PositionEffect(
        of=of,
        change=change,
        p=p,
        p_adjusted=None,
        log_odds=_log_odds(of, runs, at, yes, level),
    )


def _without_error(change: Estimate, span: float) -> Estimate:
    """No error was seen: over the span the share can have changed by no more than there may be."""
    most = 1 - clopper_pearson(change.n_runs, change.n_runs, level=change.level).low
    return replace(
        change,
        low=-most * TURNS / span,
        high=most * TURNS / span,
        method=f"Clopper-Pearson for {change.n_runs:,} runs: no error was seen",
        warnings=(),
    )


def _log_odds(of: str, run: IntArray, at: FloatArray, yes: FloatArray, level: float) -> Estimate:
    estimand = f"change of the log odds of {of} in {TURNS} turns"
    why = too_little(run, at)
    if why is not None:
        return absent(estimand, why, level=level)
    slope = cluster_logit_slope(at, yes, run)
    if slope.value is None or slope.std_error is None:
        why = "all judgements are right, all wrong, or a turn parts right from wrong"
        return absent(estimand, why, level=level)
    half = float(t_quantile(level, slope.df)) * slope.std_error
    return Estimate(
        estimand=estimand,
        value=slope.value,
        std_error=slope.std_error,
        low=slope.value - half,
        high=slope.value + half,
        level=level,
        method="logistic curve, CR1 standard error over runs, t",
        df=slope.df,
        n_turns=len(at),
        n_runs=slope.n_clusters,
        n_clusters=slope.n_clusters,
    )


def _holm(one: PositionEffect, other: PositionEffect) -> tuple[PositionEffect, PositionEffect]:
    """Both with p values that count both looks."""
    adjusted = holm([one.p, other.p])
    return replace(one, p_adjusted=adjusted[0]), replace(other, p_adjusted=adjusted[1])


def _verdict(
    effects: tuple[PositionEffect, ...], span: float, margin: float, level: float
) -> Verdict:
    if any(one.p_adjusted is not None and one.p_adjusted < 1 - level for one in effects):
        return "finding"
    for one in effects:
        low, high = one.change.low, one.change.high
        if low is None or high is None or max(-low, high) * span / TURNS > margin:
            return "inconclusive"
    return "clean"


def _needed(effects: tuple[PositionEffect, ...], span: float, margin: float) -> int | None:
    """Runs by which the wider interval would reach no further than the margin, to either side.

    None where the runs are too few to know how wide it is.
    """
    needed = []
    for one in effects:
        low, high = one.change.low, one.change.high
        if low is None or high is None or (one.change.df or LEAST_DF) < LEAST_DF:
            return None
        half = (high - low) / 2 * span / TURNS
        needed.append(math.ceil(one.change.n_runs * max(1.0, (half / margin) ** 2)))
    return max(needed)
