"""Estimates with runs as their independent units."""

from __future__ import annotations

import math
from collections.abc import Mapping

from numpy.typing import ArrayLike

from turncurve.analysis.excluded import excluded_counts
from turncurve.stats.estimate import Estimate
from turncurve.stats.mean import NO_SPREAD, mean_with_interval
from turncurve.stats.proportion import wilson
from turncurve.stats.ratio import IntervalScale, ratio_of_sums

_INDEPENDENT = ("runs are independent",)
_NOTHING: Mapping[str, int] = {}


def share_of_runs(
    estimand: str,
    n_with: int,
    n_runs: int,
    *,
    level: float,
    excluded: Mapping[str, int] = _NOTHING,
) -> Estimate:
    """The share of runs with some property, with Wilson's interval.

    Args:
        estimand: What is estimated, in a sentence.
        n_with: Runs that have it.
        n_runs: Runs of which it is known.
        level: Confidence level.
        excluded: Reason to number of runs left out; a 0 is no reason.

    Raises:
        NotEnoughDataError: `n_runs` is 0.
    """
    share = wilson(n_with, n_runs, level=level)
    return Estimate(
        estimand=estimand,
        value=share.value,
        low=share.low,
        high=share.high,
        level=level,
        method="Wilson",
        n_runs=n_runs,
        n_clusters=n_runs,
        excluded=excluded_counts(excluded),
        assumptions=_INDEPENDENT,
    )


def mean_over_runs(
    estimand: str,
    values: ArrayLike,
    *,
    level: float,
    lowest: float = -math.inf,
    excluded: Mapping[str, int] = _NOTHING,
) -> Estimate:
    """The mean of one number a run, with a t interval.

    Args:
        estimand: What is estimated, in a sentence.
        values: Shape (n_runs,); NaN is left out.
        level: Confidence level.
        lowest: What no value can be below; the lower limit is kept from going there.
        excluded: Reason to number of runs left out; a 0 is no reason.

    Raises:
        NotEnoughDataError: No run has a value.
    """
    mean = mean_with_interval(values, level=level)
    return Estimate(
        estimand=estimand,
        value=mean.value,
        std_error=mean.std_error,
        low=None if mean.low is None else max(mean.low, lowest),
        high=mean.high,
        level=level,
        method="t over runs",
        df=mean.df,
        n_runs=mean.n,
        n_clusters=mean.n,
        excluded=excluded_counts(excluded),
        assumptions=_INDEPENDENT,
        warnings=() if mean.low is not None else (NO_SPREAD,),
    )


def ratio_over_runs(
    estimand: str,
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    level: float,
    scale: IntervalScale = "linear",
    excluded: Mapping[str, int] = _NOTHING,
) -> Estimate:
    """A sum over runs over another sum over the same runs, with a delta-method interval.

    Args:
        estimand: What is estimated, in a sentence.
        numerator: One number a run; shape (n_runs,), no NaN.
        denominator: Likewise; its sum is not 0.
        level: Confidence level.
        scale: "log" keeps the interval of a positive ratio positive.
        excluded: Reason to number of runs left out; a 0 is no reason.

    Raises:
        NotEnoughDataError: There is no run, or the denominators sum to 0.
    """
    ratio = ratio_of_sums(numerator, denominator, level=level, scale=scale)
    on_scale = " on the log scale" if scale == "log" else ""
    return Estimate(
        estimand=estimand,
        value=ratio.value,
        std_error=ratio.std_error,
        low=ratio.low,
        high=ratio.high,
        level=level,
        method=f"ratio of sums, delta method{on_scale}, t over runs",
        df=ratio.df,
        n_runs=ratio.n,
        n_clusters=ratio.n,
        excluded=excluded_counts(excluded),
        assumptions=_INDEPENDENT,
        warnings=() if ratio.low is not None else (NO_SPREAD,),
    )
