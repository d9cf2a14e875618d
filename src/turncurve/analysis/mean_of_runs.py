"""The mean of one number a run, with an error over tasks where these repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.within_slope import first_coefficient
from turncurve.errors import NotEnoughDataError
from turncurve.stats.cluster_ols import cluster_ols
from turncurve.stats.estimate import Estimate, absent

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


class MeanOfRuns(NamedTuple):
    """A mean, and the p of its being 0."""

    estimate: Estimate
    p: float | None
    no_p: str | None


def mean_of_runs(
    estimand: str,
    values: FloatArray,
    cluster: IntArray,
    unit: str,
    *,
    level: float,
    excluded: Mapping[str, int] | None = None,
) -> MeanOfRuns:
    """The mean over runs, each of which weighs the same.

    With one run a cluster it is Student's t; else CR2 with Satterthwaite's degrees of freedom.

    Args:
        estimand: What is estimated, in a sentence.
        values: One a run; NaN is left out; shape (n_runs,).
        cluster: Independent unit of each run; shape (n_runs,).
        unit: What that is: task or run.
        level: Confidence level.
        excluded: Reason to number of runs left out.
    """
    known = ~np.isnan(values)
    if not known.any():
        return MeanOfRuns(absent(estimand, "no run has a value", level=level), None, None)
    y = values[known]
    try:
        fit = cluster_ols(y, np.ones(len(y)), cluster[known], level=level)
    except NotEnoughDataError:
        why = f"no interval: one {unit}"
        mean = Estimate(
            estimand=estimand, value=float(y.mean()), level=level, n_clusters=1, warnings=(why,)
        )
        return MeanOfRuns(replace(mean, n_runs=len(y), excluded=excluded or {}), None, why)
    estimate, p, no_p = first_coefficient(estimand, fit, unit, excluded=excluded)
    method = f"mean over runs, CR2 standard error over {unit}s, Satterthwaite t"
    value = float(y.mean())  # without the rounding of a fit
    return MeanOfRuns(
        replace(estimate, value=value, n_turns=0, n_runs=len(y), method=method), p, no_p
    )
