"""Slopes by models that compare runs too: mixed models, estimating equations, the published one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.own_runs import scenario_codes
from turncurve.analysis.slope import Slope, SlopeSettings
from turncurve.errors import FitError, InvariantError, NotEnoughDataError
from turncurve.stats.cluster_rows import independent_columns
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.gee import gee
from turncurve.stats.logistic_mixed import logistic_mixed
from turncurve.stats.mixed_model import mixed_model
from turncurve.stats.quantiles import normal_quantile, t_quantile

FloatArray: TypeAlias = NDArray[np.float64]

LEVEL_ALONE = (
    "a level a group and one slope for all takes every turn as a replicate of the slope: where "
    "runs differ in theirs, the error is too small"
)
AT_BOUND = "a random effect has no variance of its own: a model without it fits as well"
SAME = "some levels of the controls say the same as others, and are left out"
MIXES = "it compares runs as well as turns within them: long runs that differ move it"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """What a model says of the turn; `df` None goes by the normal distribution."""

    value: float
    std_error: float
    df: float | None
    n_groups: int
    warnings: tuple[str, ...]


def random_slope(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """Runs with a level and a slope of their own, independent at the first graded turn of all."""

    def fit(x: FloatArray) -> _Fitted:
        found = mixed_model(steps.fail, x, steps.run, steps.turn - steps.turn.min())
        return _Fitted(
            value=float(found.value[1]),
            std_error=float(found.std_error[1]),
            df=found.n_groups - 1,
            n_groups=found.n_groups,
            warnings=(AT_BOUND,) if found.at_bound else (),
        )

    method = "mixed model by REML: level and slope of each run, independent at the first turn; t"
    return _slope("random_slope", "random level and slope", steps, settings, (fit, method))


def generalised_equations(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """The population's mean by estimating equations, turns of a task or run exchangeable."""

    def fit(x: FloatArray) -> _Fitted:
        found = gee(steps.fail, x, steps.cluster, level=settings.level)
        return _Fitted(
            value=float(found.value[1]),
            std_error=float(found.std_error[1]),
            df=found.df,
            n_groups=found.n_clusters,
            warnings=(MIXES,),
        )

    method = f"GEE, linear, exchangeable within {steps.unit}s, Mancl-DeRouen standard error, t"
    return _slope("gee", "GEE", steps, settings, (fit, method))


def logistic_effect(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """The average marginal effect of a turn in a logistic model with a level a run."""

    def fit(x: FloatArray) -> _Fitted:
        found = logistic_mixed(steps.fail, x, steps.run)
        return _Fitted(
            value=float(found.effect[1]),
            std_error=float(found.effect_std_error[1]),
            df=None,
            n_groups=found.n_groups,
            warnings=(LEVEL_ALONE,),
        )

    method = (
        "logistic mixed model, random level a run, average marginal effect, delta method, normal"
    )
    return _slope("glmm_ame", "logistic, random level", steps, settings, (fit, method))


def published_s4(steps: GradedSteps, settings: SlopeSettings) -> Slope:
    """What older tools report: a level a task, and one slope; only to reproduce them."""

    def fit(x: FloatArray) -> _Fitted:
        found = mixed_model(steps.fail, x, scenario_codes(steps.table)[steps.run])
        return _Fitted(
            value=float(found.value[1]),
            std_error=float(found.std_error[1]),
            df=None,
            n_groups=found.n_groups,
            warnings=(LEVEL_ALONE, *((AT_BOUND,) if found.at_bound else ())),
        )

    method = "mixed model by REML, random level a task, normal: what older tools report"
    return _slope("published_s4", "as older tools report", steps, settings, (fit, method))


def _slope(
    name: str,
    title: str,
    steps: GradedSteps,
    settings: SlopeSettings,
    model: tuple[Callable[[FloatArray], _Fitted], str],
) -> Slope:
    """The slope of a model over turn and the terms of the published study, or why there is none."""
    fit, method = model
    terms = dict(_terms(steps))
    estimand = f"Change of the failing share by turn: {title}."
    x = np.column_stack([np.ones(steps.n_steps), steps.turn, *terms.values()])
    kept = [0, 1, *(number for number in independent_columns(x) if number > 1)]
    repeats = (SAME,) if len(kept) < x.shape[1] else ()
    x = x[:, kept]
    controls = tuple(dict.fromkeys(label.partition(" = ")[0] for label in terms))
    try:
        found = fit(x)
        if not found.std_error > 0:
            raise FitError("the fit leaves nothing to tell an error by", fix="")  # noqa: TRY301
    except (FitError, NotEnoughDataError, InvariantError) as problem:
        none = absent(estimand, str(problem), level=settings.level)
        return Slope(name=name, title=title, estimate=none, controls=controls)
    if found.df is None:
        p, times = 2 * ndtr(-abs(found.value) / found.std_error), normal_quantile(settings.level)
    else:
        p = 2 * stdtr(found.df, -abs(found.value) / found.std_error)
        times = float(t_quantile(settings.level, found.df))
    half = times * found.std_error
    estimate = Estimate(
        estimand=estimand,
        value=found.value,
        std_error=found.std_error,
        low=found.value - half,
        high=found.value + half,
        level=settings.level,
        method=method,
        df=found.df,
        n_turns=steps.n_steps,
        n_runs=steps.n_runs,
        n_clusters=found.n_groups,
        warnings=(*found.warnings, *repeats),
    )
    return Slope(name=name, title=title, estimate=estimate, p=float(p), controls=controls)


def _terms(steps: GradedSteps) -> Iterator[tuple[str, FloatArray]]:
    """Complexity as a number, and model, outcome and phase as levels, where there are several.

    What is not known is a level of its own; a complexity that is not known counts as low.
    """
    complexity = np.nan_to_num(steps.complexity)
    if len(np.unique(complexity)) > 1:
        yield "complexity", complexity
    runs = steps.table.runs
    yield from _levels("model", np.array([str(one) for one in runs.model])[steps.run])
    yield from _levels("outcome", np.nan_to_num(runs.success, nan=2.0)[steps.run])
    yield from _levels("phase", np.nan_to_num(steps.explore, nan=2.0))


def _levels(name: str, values: ArrayLike) -> Iterator[tuple[str, FloatArray]]:
    array = np.asarray(values)
    for level in np.unique(array)[1:]:
        yield f"{name} = {level}", (array == level).astype(np.float64)
