"""Slopes of the failing share by turn, one a way to look at it, all in one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.axes import place
from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.mean_of_runs import mean_of_runs
from turncurve.analysis.settings import Axis, Settings
from turncurve.analysis.slope import Slope, SlopeSettings, as_slope
from turncurve.analysis.slope_models import (
    generalised_equations,
    logistic_effect,
    published_s4,
    random_slope,
)
from turncurve.analysis.within_slope import Rows, within_slope
from turncurve.stats.estimate import absent
from turncurve.stats.slope import slopes_within

FloatArray: TypeAlias = NDArray[np.float64]

LONG_ENOUGH = 8
"""Graded turns from which a run's own slope is more than noise."""
TOKENS = 100_000.0
"""Tokens that a slope on the axis of tokens is told for."""


Make: TypeAlias = Callable[[GradedSteps, SlopeSettings], Slope]


def within_cr2(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """Within runs, turn alone: the default."""
    found = within_slope(
        "Change of the failing share by turn within runs.",
        rows_by_turn(steps),
        steps.fail,
        level=settings.level,
    )
    return as_slope("within_cr2", "within runs", found)


def within_cr2_controlled(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """Within runs, at equal complexity and phase, as far as these are known; absent without any."""
    known = {"complexity": steps.complexity, "phase": steps.explore}
    controls = {name: column for name, column in known.items() if not np.isnan(column).all()}
    found = within_slope(
        "Change of the failing share by turn within runs, at equal complexity and phase.",
        rows_by_turn(steps),
        steps.fail,
        controls,
        level=settings.level,
    )
    unknown = [f"no turn has a {name}: it is no control" for name in known if name not in controls]
    estimate = replace(found.estimate, warnings=(*unknown, *found.estimate.warnings))
    if estimate.value is not None and not found.controls:
        why = "no complexity or phase is known that varies within runs"
        estimate = absent(estimate.estimand, why, level=settings.level)
        found = replace(found, p=None, no_p=None, weight=None)
    title = f"{' and '.join(found.controls or known)} held"
    return as_slope("within_cr2_controlled", title, replace(found, estimate=estimate))


def mean_of_slopes(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """The mean of every run's own least-squares slope: a different estimand, of short runs too."""
    own = own_slopes(steps, settings.min_turns)
    runs = np.unique(steps.run)
    few = {f"run with fewer than {settings.min_turns} graded turns": np.isnan(own[runs])}
    mean = mean_of_runs(
        "Mean over runs of the change of the failing share by turn, each run weighing the same.",
        own[runs],
        steps.run_clusters()[runs],
        steps.unit,
        level=settings.level,
        excluded=excluded_counts(few),
    )
    n_turns = int((~np.isnan(own[steps.run])).sum())
    n_graded = np.bincount(steps.run, minlength=len(own))
    short = int(((n_graded < LONG_ENOUGH) & ~np.isnan(own)).sum())
    said = f"{short:,} runs of fewer than {LONG_ENOUGH} graded turns weigh as much as the longest"
    warnings = (*mean.estimate.warnings, *([said] if short else []))
    return Slope(
        name="mean_of_slopes",
        title="mean of runs' own slopes",
        estimate=replace(mean.estimate, n_turns=n_turns, warnings=warnings),
        p=mean.p,
        no_p=mean.no_p,
    )


MODELS: Mapping[str, Make] = {
    "within_cr2": within_cr2,
    "within_cr2_controlled": within_cr2_controlled,
    "mean_of_slopes": mean_of_slopes,
    "random_slope": random_slope,
    "gee": generalised_equations,
    "glmm_ame": logistic_effect,
    "published_s4": published_s4,
}
"""Every slope by turn, in the order of the list; a further model is one more line."""


def slopes(steps: GradedSteps, settings: SlopeSettings) -> tuple[Slope, ...]:
    """Every slope by turn; turns and runs that are no step count among what each leaves out."""
    found = [make(steps, settings) for make in MODELS.values()]
    return tuple(
        replace(one, estimate=replace(one.estimate, excluded={**steps.excluded, **own}))
        for one, own in ((one, one.estimate.excluded) for one in found)
    )


def slopes_on_axes(steps: GradedSteps, settings: SlopeSettings) -> tuple[Slope, ...]:
    """The default slope along tokens sent so far, and along the share of the run."""
    axes: tuple[tuple[Axis, str, str, float], ...] = (
        ("tokens", "within runs, by tokens sent so far", "100k tokens", TOKENS),
        ("progress", "within runs, from start to end", "run", 1.0),
    )
    found = []
    for axis, title, per, size in axes:
        where = place(steps.table, Settings(axis=axis))
        rows = rows_by_turn(steps)._replace(at=where.x[steps.row] / size)
        estimand = f"Change of the failing share by {per} within runs."
        slope = within_slope(estimand, rows, steps.fail, level=settings.level)
        if np.isnan(rows.at).all():
            why = where.reason or "no turn has a place on this axis"
            slope = replace(slope, estimate=absent(estimand, why, level=settings.level))
        found.append(as_slope(f"within_cr2_{axis}", title, slope, per=per))
    return tuple(found)


def rows_by_turn(steps: GradedSteps) -> Rows:
    """All graded turns, laid along turns."""
    return Rows(steps.turn, steps.run, steps.cluster, steps.unit, steps.table.runs.id)


def own_slopes(steps: GradedSteps, min_turns: int) -> FloatArray:
    """Each run's least-squares slope; shape (n_runs,), NaN where it has too few graded turns."""
    return slopes_within(
        steps.run, steps.turn, steps.fail, n_units=steps.table.n_runs, min_values=min_turns
    )
