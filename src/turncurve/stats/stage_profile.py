"""Where a long run departs from its stages: each stage by itself against the same stage on the way.

Both rates of a stage are of the same mix of tasks, that which arrived there: hard tasks arrive less
often, so a stage's rate over all tasks is of another mix than the runs that reach it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from turncurve.stats.mean import mean_with_interval
from turncurve.stats.quantiles import normal_quantile
from turncurve.stats.sign_flips import sign_flips
from turncurve.stats.stage_product import smoothed

FloatArray: TypeAlias = NDArray[np.float64]
Over: TypeAlias = Literal["tasks", "trials"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageProfile:
    """Stages in order; arrays of shape (n_stages,).

    Attributes:
        alone: Share of stage trials that pass, tasks weighed by their arrivals; NaN without any.
        on_the_way: Share of the end-to-end runs that arrived which pass.
        log_ratio: log(alone / on_the_way): above 0, the stage is worse on the way; NaN where one
            of the two is 0 or unknown.
        std_error: Of the log ratio; NaN where the units do not differ, or are fewer than two.
        low: Lower limit of each stage by itself.
        high: Upper limit.
        p_adjusted: Two-sided, for a stage chosen because it stands out (largest |t| of all).
        n_arrived: End-to-end runs that arrived at the stage.
        n_tasks: Tasks that they are of.
    """

    alone: FloatArray
    on_the_way: FloatArray
    log_ratio: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_adjusted: FloatArray
    n_arrived: NDArray[np.int64]
    n_tasks: NDArray[np.int64]


def stage_profile(
    arrived: ArrayLike,
    passed: ArrayLike,
    stage_trials: tuple[ArrayLike, ArrayLike],
    *,
    over: Over,
    rng: np.random.Generator,
    level: float = 0.95,
) -> StageProfile:
    """Compare each stage by itself with the same stage among the runs that reached it.

    Args:
        arrived: End-to-end runs that reached a stage, 0 where none did or the task has no such
            stage; shape (n_tasks, n_stages).
        passed: Those of them that passed it.
        stage_trials: Successes and trials of the stage by itself; same shape each. A task without
            trials of a stage counts at that stage for nothing.
        over: "tasks": other tasks of the kind, the limits are t over tasks, and signs of whole
            tasks are flipped for the largest |t|. "trials": these tasks, were the trials run anew;
            normal limits, and Šidák's correction.
        rng: Source of random flips.
        level: Confidence level.
    """
    succeeded, n = (np.asarray(each, dtype=np.float64) for each in stage_trials)
    came = np.where(n > 0, np.asarray(arrived, dtype=np.float64), 0.0)
    went = np.where(n > 0, np.asarray(passed, dtype=np.float64), 0.0)
    expected = came * succeeded / np.maximum(n, 1)
    total, a, b = came.sum(axis=0), expected.sum(axis=0), went.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        alone, on_the_way = a / total, b / total
        log_ratio = np.where((a > 0) & (b > 0), np.log(a / b), np.nan)
    if over == "tasks":
        with np.errstate(invalid="ignore", divide="ignore"):
            each = log_ratio + (came > 0).sum(axis=0) * (expected / a - went / b)
        error, low, high, p = _over_tasks(np.where(came > 0, each, np.nan), rng, level)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            of_alone = (came**2 * smoothed(succeeded, n)[1]).sum(axis=0) / a**2
            of_way = (came * (came + 1) * smoothed(went, came)[1]).sum(axis=0) / b**2
        error, low, high, p = _over_trials(log_ratio, np.sqrt(of_alone + of_way), level)
    return StageProfile(
        alone=alone,
        on_the_way=on_the_way,
        log_ratio=log_ratio,
        std_error=error,
        low=low,
        high=high,
        p_adjusted=p,
        n_arrived=total.astype(np.int64),
        n_tasks=(came > 0).sum(axis=0).astype(np.int64),
    )


def _over_tasks(
    values: FloatArray, rng: np.random.Generator, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Error, limits and adjusted p of the log ratio, from what each task adds to it."""
    found = np.full((3, values.shape[1]), np.nan)
    for number, column in enumerate(values.T):
        known = column[~np.isnan(column)]
        if not len(known):
            continue
        mean = mean_with_interval(known, level=level)
        if mean.std_error is not None and mean.low is not None and mean.high is not None:
            found[:, number] = mean.std_error, mean.low, mean.high
    flips = sign_flips(values, rng=rng)
    return found[0], found[1], found[2], flips.p_adjusted


def _over_trials(
    log_ratio: FloatArray, error: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Error, limits and adjusted p of the log ratio, from the trials of these tasks."""
    known = np.where(np.isnan(log_ratio), np.nan, error)
    half = normal_quantile(level) * known
    n_tested = max(1, int((~np.isnan(log_ratio)).sum()))
    p = 1 - (1 - 2 * ndtr(-np.abs(log_ratio / known))) ** n_tested
    return known, log_ratio - half, log_ratio + half, p
