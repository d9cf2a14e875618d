"""Predicted less observed success, paired by task: its mean and its ratio, with both sides' error.

The sign is fixed: above 0, the whole task succeeds less often than its stages predict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.cluster_bootstrap import (
    ClusterInterval,
    Draw,
    cluster_interval,
    resampled_sums,
)
from turncurve.stats.cluster_ols import LEAST_DF, cluster_ols
from turncurve.stats.mean import mean_with_interval
from turncurve.stats.quantiles import normal_quantile

FloatArray: TypeAlias = NDArray[np.float64]

TASKS_AGREE = "the tasks do not differ, so nothing says how others would"
ONE_TASK = "there is one task, which says nothing of others"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSides:
    """Both sides of each task; arrays of shape (n_tasks,).

    Attributes:
        predicted: Chance of success that the stages predict.
        predicted_variance: Of its trials.
        observed: Share of end-to-end trials that succeeded.
        observed_variance: Of its trials.
        covariance: Of the two, where trials serve both; 0 where none does.
    """

    predicted: FloatArray
    predicted_variance: FloatArray
    observed: FloatArray
    observed_variance: FloatArray
    covariance: FloatArray


def mean_over_tasks(
    values: ArrayLike, *, family: ArrayLike | None = None, level: float = 0.95
) -> ClusterInterval:
    """The mean over tasks as a sample of their kind: t, or CR2 where tasks come in families.

    A task's own trials are part of how tasks vary, so this carries both errors.

    Args:
        values: One number a task; shape (n_tasks,), no NaN.
        family: Which tasks are alike, any labels; None where each is one by itself.
        level: Confidence level.

    Raises:
        NotEnoughDataError: There is no task.

    References:
        Bell & McCaffrey (2002), Survey Methodology 28:169-181 (CR2).
    """
    given = np.asarray(values, dtype=np.float64)
    if family is not None and len(np.unique(np.asarray(family))) < len(given):
        return _over_families(given, np.asarray(family), level)
    mean = mean_with_interval(given, level=level)
    reason = None
    if mean.std_error is None:
        reason = ONE_TASK if mean.n < 2 else TASKS_AGREE
    return ClusterInterval(
        value=mean.value,
        std_error=mean.std_error,
        low=mean.low,
        high=mean.high,
        method=f"t over {mean.n:,} tasks",
        df=mean.df,
        n_clusters=mean.n,
        reason=reason,
    )


def _over_families(
    values: FloatArray, family: NDArray[np.generic], level: float
) -> ClusterInterval:
    value, n_families = float(values.mean()), len(np.unique(family))
    nothing = ClusterInterval(value=value, n_clusters=n_families)
    if n_families < 2:
        return replace(nothing, reason="there is one family of tasks, which says nothing of others")
    fit = cluster_ols(values, np.ones((len(values), 1)), family, level=level)
    if not fit.std_error[0] > 0:
        return replace(nothing, reason=TASKS_AGREE)
    df = float(fit.df[0])
    if df < LEAST_DF:
        return replace(nothing, reason=f"{n_families} families of tasks are too few (df {df:.1f})")
    return ClusterInterval(
        value=value,
        std_error=float(fit.std_error[0]),
        low=float(fit.low[0]),
        high=float(fit.high[0]),
        method=f"CR2 over {n_families:,} families of {len(values):,} tasks",
        df=df,
        n_clusters=n_families,
    )


def log_ratio_over_tasks(
    predicted: ArrayLike,
    observed: ArrayLike,
    draw: Draw,
    *,
    family: ArrayLike | None = None,
    level: float = 0.95,
) -> ClusterInterval:
    """log(mean predicted / mean observed), with tasks resampled whole, their trials with them.

    Never a mean of tasks' logarithms: one task without a success would make it infinite. Trials are
    not resampled a second time within tasks: how tasks vary holds their trials' error already.

    Args:
        predicted: One number a task; shape (n_tasks,).
        observed: Likewise.
        draw: Resamples of tasks, as `cluster_bootstrap.draws` gives them.
        family: As for `mean_over_tasks`: families are resampled whole.
        level: Confidence level.
    """
    pairs = np.stack([np.asarray(predicted), np.asarray(observed)], axis=1).astype(np.float64)
    unit = "task"
    if family is not None:
        which = np.unique(np.asarray(family), return_inverse=True)[1].reshape(-1)
        if which.max(initial=-1) + 1 < len(pairs):
            pairs, unit = _added_up(pairs, which), "task group"
    return cluster_interval(resampled_sums(pairs, draw), _log_ratio, level=level, unit=unit)


def _added_up(pairs: FloatArray, which: NDArray[np.intp]) -> FloatArray:
    return np.stack([np.bincount(which, weights=column) for column in pairs.T], axis=1)


def _log_ratio(sums: FloatArray) -> FloatArray:
    """Log of the first over the second; NaN where one of them is 0."""
    known = np.asarray((sums > 0).all(axis=-1))
    safe = np.where(known[..., None], sums, 1.0)
    return np.where(known, np.log(safe[..., 0] / safe[..., 1]), np.nan)


def residual_of_these_tasks(sides: TaskSides, *, level: float = 0.95) -> ClusterInterval:
    """The mean residual of these very tasks, were their trials run anew: normal limits.

    Raises:
        NotEnoughDataError: There is no task.
    """
    n = _n_tasks(sides)
    value = float((sides.predicted - sides.observed).mean())
    spread = sides.predicted_variance + sides.observed_variance - 2 * sides.covariance
    return _normal(value, math.sqrt(max(float(spread.sum()), 0.0)) / n, n, level)


def log_ratio_of_these_tasks(sides: TaskSides, *, level: float = 0.95) -> ClusterInterval:
    """log(mean predicted / mean observed) of these very tasks, by the delta method.

    The value is None where no end-to-end trial succeeds, or a stage never does in any task.

    Raises:
        NotEnoughDataError: There is no task.
    """
    n, p, o = _n_tasks(sides), float(sides.predicted.sum()), float(sides.observed.sum())
    if p <= 0 or o <= 0:
        return ClusterInterval(value=None, n_clusters=n)
    variance = (
        sides.predicted_variance.sum() / p**2
        + sides.observed_variance.sum() / o**2
        - 2 * sides.covariance.sum() / (p * o)
    )
    return _normal(math.log(p / o), math.sqrt(max(float(variance), 0.0)), n, level)


def mean_of_these_tasks(
    values: FloatArray, variance: FloatArray, *, level: float = 0.95
) -> ClusterInterval:
    """The mean chance of these very tasks, were their trials run anew; limits within 0 and 1."""
    n = len(values)
    if not n:
        raise NotEnoughDataError("a mean over tasks: tasks", need=1, got=0)
    error = math.sqrt(max(float(variance.sum()), 0.0)) / n
    return within_unit(_normal(float(values.mean()), error, n, level))


def within_unit(one: ClusterInterval) -> ClusterInterval:
    """The limits of a chance, kept within 0 and 1."""
    if one.low is None or one.high is None:
        return one
    return replace(one, low=max(one.low, 0.0), high=min(one.high, 1.0))


def of_draws(value: float, draws: FloatArray, *, level: float = 0.95) -> ClusterInterval:
    """A value with the quantiles of its posterior as limits.

    Args:
        value: What the trials say by themselves. Where all trials agree the posterior may lie to
            one side of it, as it never rests at 0 or 1; the limits are then widened to it.
        draws: Of the posterior; shape (n_draws,), no NaN.
        level: Credible level.

    References:
        Brown, Cai & DasGupta (2001), Statistical Science 16:101-133, section 4.1.2.
    """
    tail = (1 - level) / 2
    low, high = (float(each) for each in np.quantile(draws, [tail, 1 - tail]))
    return ClusterInterval(
        value=value,
        std_error=float(draws.std(ddof=1)),
        low=min(low, value),
        high=max(high, value),
        method=f"Jeffreys posterior, {len(draws):,} draws",
        n_clusters=1,
    )


def _normal(value: float, std_error: float, n: int, level: float) -> ClusterInterval:
    half = normal_quantile(level) * std_error
    return ClusterInterval(
        value=value,
        std_error=std_error,
        low=value - half,
        high=value + half,
        method=f"trials of these {n:,} tasks, normal",
        df=math.inf,
        n_clusters=n,
    )


def _n_tasks(sides: TaskSides) -> int:
    n = len(sides.predicted)
    if not n:
        raise NotEnoughDataError("a residual: tasks", need=1, got=0)
    return n
