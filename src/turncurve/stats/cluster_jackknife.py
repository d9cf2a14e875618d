"""Least-squares coefficients without each cluster in turn, from sums alone."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import InvariantError
from turncurve.stats.cluster_ols import prepared

FloatArray: TypeAlias = NDArray[np.float64]

_SINGULAR = 1e-10


def without_each_cluster(
    y: ArrayLike, x: ArrayLike, cluster: ArrayLike, *, absorb: ArrayLike | None = None
) -> FloatArray:
    """The coefficients of y on x with one cluster left out, for each cluster.

    Args:
        y: Outcome, shape (n_rows,).
        x: Regressors, shape (n_rows, K).
        cluster: Cluster of each row; shape (n_rows,).
        absorb: Group of each row whose mean is taken off y and x; groups lie within clusters.

    Returns:
        Shape (n_clusters, K), by the clusters' sorted labels. Rows with a NaN in y or x count
        nowhere.

    Raises:
        InvariantError: Without some cluster the regressors depend on each other.
    """
    response, design, group, _ = prepared(y, x, cluster, absorb)
    scale = np.sqrt((design**2).sum(axis=0))
    if not scale.all():
        raise InvariantError("without_each_cluster: a regressor does not vary")
    unit = design / scale
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    cross = np.add.reduceat(unit[:, :, None] * unit[:, None, :], starts, axis=0)
    moment = np.add.reduceat(unit * response[:, None], starts, axis=0)
    rest = cross.sum(axis=0) - cross
    if np.linalg.eigvalsh(rest)[:, 0].min() < _SINGULAR:
        raise InvariantError("without_each_cluster: one cluster alone tells the regressors apart")
    left = np.linalg.solve(rest, (moment.sum(axis=0) - moment)[:, :, None])[:, :, 0]
    return np.asarray(left / scale)


def jackknife_covariance(without: ArrayLike) -> FloatArray:
    """Covariance of estimates from their values without each cluster; shape (K, K).

    Args:
        without: One row a cluster; shape (n_clusters, K).

    References:
        Efron (1982), The Jackknife, the Bootstrap and Other Resampling Plans, equation 3.5.
    """
    values = np.asarray(without, dtype=np.float64)
    apart = values - values.mean(axis=0)
    n = len(values)
    return np.asarray((n - 1) / n * apart.T @ apart)
