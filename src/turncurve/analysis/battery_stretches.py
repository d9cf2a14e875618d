"""Cascades, failing stretches and loops: how long they last, with those cut off by a run's end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.battery_rates import within_0_and_1
from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.mean_of_runs import mean_of_runs
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.stretches import Stretches, stretches
from turncurve.stats.survival import kaplan_meier, quantile

FloatArray: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["cascades", "failing_stretches", "loops"]

WHAT: Mapping[Kind, str] = {
    "cascades": "a failure and those that follow from it",
    "failing_stretches": "failing turns in a row",
    "loops": "looping turns in a row",
}
LONG = 0.9
"""Share of stretches whose length is given as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchLengths:
    """Stretches of one kind.

    Attributes:
        kind: cascades, failing_stretches or loops.
        what: What one is.
        n: How many there are.
        n_runs_with: Runs with one.
        n_censored: Those that hold their run's last graded turn, and may have gone on.
        mean_length: Turns a stretch as far as seen: too low where many are cut off.
        share_longer: Share of the stretches that last more than one turn, those of one turn that
            were cut off left out.
        median: Length that half of the stretches end by, by Kaplan and Meier.
        long: Length that nine tenths of them end by; None where that is not reached.
        longest: The longest seen.
        counts: Length to number of stretches.
        why: Why there is none; None where there is one.
    """

    kind: Kind
    what: str
    n: int
    n_runs_with: int
    n_censored: int
    mean_length: Estimate
    share_longer: Estimate
    median: float | None
    long: float | None
    longest: int | None
    counts: Mapping[int, int]
    why: str | None = None


def stretch_lengths(steps: GradedSteps, *, level: float) -> tuple[StretchLengths, ...]:
    """Cascades, failing stretches and loops.

    A cascade starts at a failure that is said to be independent of earlier ones; failures that
    are not said to be so extend it, or start one where none is open; any other graded turn closes
    it. A loop is closed by a graded turn that is not said to loop. Turns without a grade neither
    extend nor close.
    """
    fail = steps.fail == 1
    said = fail & ~np.isnan(steps.dependent)
    known = ~np.isnan(steps.looping)
    cascades = stretches(steps.run, fail, begins=steps.dependent == 0)
    loops = stretches(steps.run, steps.looping == 1)
    none_said = "no grade says which failure follows from which" if not said.any() else None
    never = None if fail.any() else "no turn fails"
    unknown = None if known.any() else "no grade says which turns loop"
    never_loops = None if len(loops.length) else "no turn loops"
    return (
        _lengths("cascades", cascades, steps, level, never or none_said),
        _lengths("failing_stretches", stretches(steps.run, fail), steps, level, never),
        _lengths("loops", loops, steps, level, unknown or never_loops),
    )


def _lengths(
    kind: Kind, found: Stretches, steps: GradedSteps, level: float, why: str | None
) -> StretchLengths:
    what, n = WHAT[kind], len(found.length)
    mean, longer = f"Turns of {what}.", f"Share, of {what}, that lasts more than one turn."
    if why is not None:
        return StretchLengths(
            kind=kind, what=what, n=0, n_runs_with=0, n_censored=0,
            mean_length=absent(mean, why, level=level),
            share_longer=absent(longer, why, level=level),
            median=None, long=None, longest=None, counts={}, why=why,
        )  # fmt: skip
    curve = kaplan_meier(found.length, ~found.censored, cluster=found.unit, level=level)
    sure = ~(found.censored & (found.length == 1))
    length, times = np.unique(found.length, return_counts=True)
    return StretchLengths(
        kind=kind,
        what=what,
        n=n,
        n_runs_with=len(np.unique(found.unit)),
        n_censored=int(found.censored.sum()),
        mean_length=_mean(mean, found.length.astype(np.float64), found, steps, level),
        share_longer=within_0_and_1(
            _mean(longer, np.where(sure, found.length > 1, np.nan), found, steps, level)
        ),
        median=quantile(curve, 0.5).time,
        long=quantile(curve, LONG).time,
        longest=int(found.length.max()),
        counts=dict(zip(length.tolist(), times.tolist(), strict=True)),
    )


def _mean(
    estimand: str, values: FloatArray, found: Stretches, steps: GradedSteps, level: float
) -> Estimate:
    """The mean over stretches, with an error over the units of their runs."""
    known = ~np.isnan(values)
    cluster = steps.run_clusters()[found.unit]
    mean = mean_of_runs(estimand, values, cluster, steps.unit, level=level).estimate
    method = mean.method.replace("mean over runs", "mean over stretches")
    return replace(mean, n_runs=len(np.unique(found.unit[known])), method=method)
