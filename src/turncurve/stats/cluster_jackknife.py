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
    unit, scale, response, group = _scaled(y, x, cluster, absorb)
    rest = _rest(unit, group)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    moment = np.add.reduceat(unit * response[:, None], starts, axis=0)
    if np.linalg.eigvalsh(rest)[:, 0].min() < _SINGULAR:
        raise InvariantError("without_each_cluster: one cluster alone tells the regressors apart")
    left = np.linalg.solve(rest, (moment.sum(axis=0) - moment)[:, :, None])[:, :, 0]
    return np.asarray(left / scale)


def told_without(
    x: ArrayLike, cluster: ArrayLike, *, absorb: ArrayLike | None = None
) -> FloatArray:
    """Share of what tells the first coefficient that is left without each cluster.

    Where it is 0 for some cluster, that one alone tells the coefficient: an error over clusters,
    CR2 among them, then knows nothing of how far another such cluster would move it.

    Args:
        x: Regressors, each of which varies, shape (n_rows, K).
        cluster: Cluster of each row; shape (n_rows,).
        absorb: Group of each row whose mean is taken off x.

    Returns:
        Shape (n_clusters,), by the clusters' sorted labels.
    """
    design = np.asarray(x, dtype=np.float64)
    unit, _, _, group = _scaled(np.zeros(len(design)), design, cluster, absorb)
    rest = _rest(unit, group)
    whole = _net_of_others((unit.T @ unit)[None])[0]
    return np.asarray(np.clip(_net_of_others(rest) / whole, 0.0, None))


def _net_of_others(cross: FloatArray) -> FloatArray:
    """Square of the first regressor net of the others, for each of several cross products."""
    across, others = cross[:, 0, 1:], cross[:, 1:, 1:]
    inverse = np.linalg.pinv(others, rcond=_SINGULAR, hermitian=True)
    return np.asarray(cross[:, 0, 0] - np.einsum("gk,gkl,gl->g", across, inverse, across))


def _scaled(
    y: ArrayLike, x: ArrayLike, cluster: ArrayLike, absorb: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int64]]:
    """Regressors of length 1, their lengths, outcome and clusters, net of absorbed groups."""
    response, design, group, _ = prepared(y, x, cluster, absorb)
    scale = np.sqrt((design**2).sum(axis=0))
    if not scale.all():
        raise InvariantError("a regressor does not vary within what is absorbed")
    return design / scale, scale, response, group


def _rest(unit: FloatArray, group: NDArray[np.int64]) -> FloatArray:
    """Cross products without each cluster; shape (n_clusters, K, K)."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    cross = np.add.reduceat(unit[:, :, None] * unit[:, None, :], starts, axis=0)
    return np.asarray(cross.sum(axis=0) - cross)


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
