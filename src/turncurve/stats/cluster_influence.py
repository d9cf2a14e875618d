"""Variance of a survival curve or a cumulative incidence where runs of a cluster resemble.

The derivative of an estimate by a cluster's weight is the cluster's influence, which is what the
jackknife's pseudo-values tend to (less the estimate). The squares of the influences add up to a
variance that holds whatever the dependence within clusters: the infinitesimal jackknife, as R's
`survfit(..., cluster=)` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.risk_counts import Counts, Followed, counts, counts_by_cluster

FloatArray: TypeAlias = NDArray[np.float64]
Influence: TypeAlias = Callable[[Counts, Counts], FloatArray]
"""Counts by cluster and in all to each cluster's influence; shape (n_clusters, n_times)."""


def cluster_variance(
    influence: Influence, runs: Followed, grid: FloatArray, *, widths: FloatArray | None = None
) -> FloatArray:
    """Sum of squared influences, times n_clusters / (n_clusters - 1).

    Args:
        influence: `survival_influence` or `incidence_influence`.
        runs: The runs.
        grid: Times of the estimate, those of every end; shape (n_times,).
        widths: Weights of the times, for a weighted sum of the estimates; shape (n_times,).

    Returns:
        One variance a time, or of shape () with `widths`; NaN for a single cluster.

    References:
        Efron (1981), Biometrika 68:589-599; Andersen & Klein (2007), Scandinavian Journal of
        Statistics 34:3-16 (pseudo-values).
    """
    n = runs.n_clusters
    if n < 2:
        return np.full(() if widths is not None else len(grid), np.nan)
    whole = counts(runs, grid)
    total: FloatArray = np.zeros(() if widths is not None else len(grid))
    for part in counts_by_cluster(runs, grid):
        found = influence(part, whole)
        summed = found if widths is None else found @ widths
        total = total + (summed**2).sum(axis=0)
    return total * n / (n - 1)


def survival_influence(each: Counts, whole: Counts) -> FloatArray:
    """On the share of runs free of any end just after each time; 0 where that share is 0."""
    share = whole.ends / whole.at_risk
    rest = (each.ends - each.at_risk * share) / whole.at_risk
    left = np.where(share < 1, 1 - share, 1.0)
    return np.asarray(-np.cumprod(1 - share) * np.cumsum(rest / left, axis=-1), dtype=np.float64)


def incidence_influence(each: Counts, whole: Counts) -> FloatArray:
    """On the share of runs that have had the event by each time."""
    hazard = whole.events / whole.at_risk
    before = np.cumprod(np.concatenate([[1.0], (1 - whole.ends / whole.at_risk)[:-1]]))
    moved = survival_influence(each, whole)
    moved_before = np.concatenate([np.zeros((len(moved), 1)), moved[:, :-1]], axis=1)
    rest = (each.events - each.at_risk * hazard) / whole.at_risk
    return np.asarray(np.cumsum(moved_before * hazard + before * rest, axis=-1), dtype=np.float64)
