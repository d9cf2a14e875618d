"""Three ways to get worse, told apart: more errors, more flailing, more going round in circles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.graded_steps import PARTS, GradedSteps
from turncurve.analysis.mean_of_runs import mean_of_runs
from turncurve.analysis.within_slope import Rows, WithinSlope, within_slope
from turncurve.stats.estimate import Estimate
from turncurve.stats.holm import holm

FloatArray: TypeAlias = NDArray[np.float64]
Name: TypeAlias = Literal["errors", "flailing", "stuck"]
Verdict: TypeAlias = Literal["finding", "clean", "inconclusive", "error"]

WORDS: dict[Name, str] = {
    "errors": "turns that fail",
    "flailing": "turns that neither fail nor get on nor loop",
    "stuck": "turns that go round in circles",
}
NO_ENDS = "run without such a graded turn in its first or its last third"
MIDDLE = 0.9
"""Share of the turns, by position, whose span a change is told over for "clean"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One way to get worse.

    Attributes:
        name: errors, flailing (neutral, not looping) or stuck (looping).
        what: The turns that count, in words.
        early: Mean over runs of their share in the first third of a run.
        late: Likewise in the last third.
        change: Mean over runs of the late share less the early one.
        slope: Change of their share by turn within runs.
        p_adjusted: p of the slope with all three looked at (Holm); None where there is none.
        verdict: "finding" where the slope is told from 0; "clean" where its limits, over the middle
            90 % of positions, are within `margin`; "error" where there is no slope.
        way: "rises" or "falls" for a finding.
    """

    name: Name
    what: str
    early: Estimate
    late: Estimate
    change: Estimate
    slope: WithinSlope
    p_adjusted: float | None
    verdict: Verdict
    way: Literal["rises", "falls"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signatures:
    """The three ways; `margin` is the change over `span` turns that counts as none."""

    each: tuple[Signature, ...]
    margin: float
    span: float


def signatures(steps: GradedSteps, *, margin: float, level: float) -> Signatures:
    """Early and late thirds, and slopes, of failing, flailing and looping turns.

    Args:
        steps: Graded turns.
        margin: Change of a share over the middle 90 % of positions that does not matter.
        level: Confidence level.
    """
    tail = (1 - MIDDLE) / 2
    span = float(np.ptp(np.quantile(steps.turn, [tail, 1 - tail])))
    idle = np.where(steps.looping == 1, 0.0, steps.neutral)
    shares: list[tuple[Name, FloatArray]] = [
        ("errors", steps.fail),
        ("flailing", idle),
        ("stuck", steps.looping),
    ]
    found = [_signature(name, values, steps, level) for name, values in shares]
    adjusted = holm([one.slope.p for one in found])
    return Signatures(
        each=tuple(_judged(one, p, margin, span) for one, p in zip(found, adjusted, strict=True)),
        margin=margin,
        span=span,
    )


def _signature(name: Name, values: FloatArray, steps: GradedSteps, level: float) -> Signature:
    thirds = steps.thirds()
    early, late = (_share_of_runs(steps, values, thirds == part) for part in (0, PARTS - 1))
    both = ~np.isnan(early) & ~np.isnan(late)
    runs = np.unique(steps.run)
    cluster, what = steps.run_clusters()[runs], WORDS[name]

    def mean(estimand: str, of_runs: FloatArray) -> Estimate:
        kept = np.where(both, of_runs, np.nan)[runs]
        left_out = excluded_counts({NO_ENDS: ~both[runs]})
        found = mean_of_runs(estimand, kept, cluster, steps.unit, level=level, excluded=left_out)
        return found.estimate

    rows = Rows(steps.turn, steps.run, steps.cluster, steps.unit, steps.table.runs.id)
    return Signature(
        name=name,
        what=what,
        early=mean(f"Mean over runs of the share of {what}, first third.", early),
        late=mean(f"Mean over runs of the share of {what}, last third.", late),
        change=mean(
            f"Mean over runs of the change of {what}, last third less first.", late - early
        ),
        slope=within_slope(
            f"Change by turn, within runs, of the share of {what}.", rows, values, level=level
        ),
        p_adjusted=None,
        verdict="error",
        way=None,
    )


def _share_of_runs(steps: GradedSteps, values: FloatArray, which: NDArray[np.bool_]) -> FloatArray:
    used = which & ~np.isnan(values)
    n = np.bincount(steps.run[used], minlength=steps.table.n_runs)
    top = np.bincount(steps.run[used], weights=values[used], minlength=steps.table.n_runs)
    return np.asarray(np.divide(top, n, out=np.full(len(n), np.nan), where=n > 0))


def _judged(one: Signature, p: float | None, margin: float, span: float) -> Signature:
    slope = one.slope.estimate
    if slope.value is None:
        return one
    if p is not None and p < 1 - slope.level:
        way: Literal["rises", "falls"] = "rises" if slope.value > 0 else "falls"
        return replace(one, p_adjusted=p, verdict="finding", way=way)
    ends: Sequence[float | None] = (slope.low, slope.high)
    small = all(end is not None and abs(end) * span <= margin for end in ends)
    return replace(one, p_adjusted=p, verdict="clean" if small else "inconclusive")
