"""Least squares whose errors hold for clusters: CR2 with its own degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

LEAST_DF = 4.0
"""With fewer degrees of freedom the distribution of t is not known well enough for a p value."""

_SATURATED = 1e-10
_SINGULAR = 1e-10
_ROUNDING = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFit:
    """Coefficients of a linear model; arrays of shape (n_coefficients,).

    Attributes:
        value: Coefficients.
        std_error: CR2 standard errors.
        std_error_cr1: The older ones, with the factor G / (G - 1) (N - 1) / (N - K): for display.
        df: Satterthwaite degrees of freedom of each t.
        t: Coefficient over its CR2 error; NaN where that is 0.
        p: Two-sided; NaN with fewer than 4 degrees of freedom.
        low: Lower limits at `level`.
        high: Upper limits.
        level: Confidence level of the limits.
        n_rows: Rows with every value.
        n_clusters: Clusters among them.
        weight: Share of each cluster in the spread of each regressor net of the others; shape
            (n_clusters, n_coefficients). A few clusters may own a coefficient.
    """

    value: FloatArray
    std_error: FloatArray
    std_error_cr1: FloatArray
    df: FloatArray
    t: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    n_rows: int
    n_clusters: int
    weight: FloatArray

    @property
    def effective_clusters(self) -> FloatArray:
        """How many clusters of equal weight would tell as much; shape (n_coefficients,)."""
        return np.asarray(1 / (self.weight**2).sum(axis=0))


def cluster_ols(
    y: ArrayLike,
    x: ArrayLike,
    cluster: ArrayLike,
    *,
    absorb: ArrayLike | None = None,
    level: float = 0.95,
) -> ClusterFit:
    """Fit y on x by least squares, with errors that hold where rows of a cluster hang together.

    CR2 makes the variance unbiased where errors are independent and equal, and takes the degrees of
    freedom from the regressors: with few clusters, or a few that own the regressor, CR1 with a
    normal or t distribution of G - 1 degrees of freedom rejects far too often.

    Args:
        y: Outcome, shape (n_rows,).
        x: Regressors, with their own column of ones where one is wanted; shape (n_rows, K).
        cluster: Cluster of each row, whatever the labels; shape (n_rows,).
        absorb: Group of each row whose mean is taken off y and x (a run, for a slope within runs);
            groups lie within clusters. None for none.
        level: Confidence level.

    A row with a NaN in y or x is left out.

    Raises:
        NotEnoughDataError: There are fewer than two clusters, or no more rows than coefficients.
        InvariantError: The regressors depend on each other, or an absorbed group lies in two
            clusters.

    References:
        Bell & McCaffrey (2002), Survey Methodology 28:169-181; Pustejovsky & Tipton (2018), Journal
        of Business & Economic Statistics 36:672-683 (singular clusters, absorbed effects).
    """
    response, design, group, n_absorbed = prepared(y, x, cluster, absorb)
    n, k = design.shape
    n_clusters = int(group.max(initial=-1)) + 1
    if n_clusters < 2:
        raise NotEnoughDataError("cluster_ols: clusters", need=2, got=n_clusters)
    if n <= k + n_absorbed:
        raise NotEnoughDataError("cluster_ols: rows", need=k + n_absorbed + 1, got=n)
    bread = _bread(design)
    value = bread @ (design.T @ response)
    residual = response - design @ value
    if np.abs(residual).max() <= _ROUNDING * np.abs(response).max():
        residual[:] = 0.0
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    adjusted, own = _by_cluster(design, bread, starts)
    scores = np.add.reduceat(adjusted * residual[:, None], starts, axis=0)
    plain = np.add.reduceat(design * residual[:, None], starts, axis=0)
    cr2 = np.einsum("gk,gl->kl", scores, scores)
    cr1 = np.einsum("gk,gl->kl", plain, plain)
    factor = n_clusters / (n_clusters - 1) * (n - 1) / (n - k - n_absorbed)
    std_error = np.sqrt(np.maximum(np.diag(bread @ cr2 @ bread), 0.0))
    df = _satterthwaite(own, bread)
    usable = std_error > 0
    t = np.divide(value, std_error, out=np.full(k, np.nan), where=usable)
    p = np.where(df >= LEAST_DF, 2 * stdtr(np.where(df > 0, df, 1.0), -np.abs(t)), np.nan)
    reach = t_quantile(level, df) * std_error
    return ClusterFit(
        value=value,
        std_error=std_error,
        std_error_cr1=np.sqrt(np.maximum(np.diag(bread @ cr1 @ bread) * factor, 0.0)),
        df=df,
        t=t,
        p=p,
        low=value - reach,
        high=value + reach,
        level=level,
        n_rows=n,
        n_clusters=n_clusters,
        weight=own.weight,
    )


def prepared(
    y: ArrayLike, x: ArrayLike, cluster: ArrayLike, absorb: ArrayLike | None
) -> tuple[FloatArray, FloatArray, IntArray, int]:
    """Rows without a gap, sorted by cluster, net of the means of absorbed groups.

    Returns:
        Outcome, shape (n,); regressors, shape (n, K); cluster from 0, shape (n,); absorbed groups.
    """
    response = np.asarray(y, dtype=np.float64)
    design = np.asarray(x, dtype=np.float64)
    design = design[:, None] if design.ndim == 1 else design
    known = ~np.isnan(response) & ~np.isnan(design).any(axis=1)
    group = _numbered(np.asarray(cluster)[known])
    order = np.argsort(group, kind="stable")
    response, design, group = response[known][order], design[known][order], group[order]
    if absorb is None:
        return response, design, group, 0
    absorbed = _numbered(np.asarray(absorb)[known])[order]
    n_groups = int(absorbed.max(initial=-1)) + 1
    first = np.full(n_groups, -1, dtype=np.int64)
    first[absorbed[::-1]] = group[::-1]
    if (first[absorbed] != group).any():
        raise InvariantError("cluster_ols: an absorbed group lies in two clusters")
    n = np.bincount(absorbed, minlength=n_groups)

    def centred(values: FloatArray) -> FloatArray:
        mean = np.bincount(absorbed, weights=values, minlength=n_groups) / n
        return np.asarray(values - mean[absorbed])

    columns = [centred(column) for column in design.T]
    return centred(response), np.column_stack(columns), group, n_groups


def _numbered(labels: NDArray[np.generic]) -> IntArray:
    return np.asarray(np.unique(labels, return_inverse=True)[1].ravel(), dtype=np.int64)


def _bread(design: FloatArray) -> FloatArray:
    scale = np.sqrt((design**2).sum(axis=0))
    if not scale.all():
        raise InvariantError("cluster_ols: a regressor does not vary within what is absorbed")
    unit = design / scale
    cross = unit.T @ unit
    if np.linalg.eigvalsh(cross)[0] < _SINGULAR:
        raise InvariantError("cluster_ols: the regressors depend on each other")
    return np.asarray(np.linalg.inv(cross) / np.outer(scale, scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """What Satterthwaite's degrees of freedom need of each cluster g and coefficient c.

    With u = A_g X_g B c: `square` is u'u, shape (G, K); `cross` is X_g'u, shape (G, K, K), the
    coefficients in the last place. `weight` is the cluster's share in what tells c.
    """

    square: FloatArray
    cross: FloatArray
    weight: FloatArray


def _by_cluster(design: FloatArray, bread: FloatArray, starts: IntArray) -> tuple[FloatArray, _Own]:
    """A_g X_g for all rows, and what the degrees of freedom need.

    With B = L L', H_gg = (X_g L)(X_g L)' has rank K at most, so A_g = (I - H_gg)^-1/2 is the
    identity but for K directions, and A_g X_g = X_g F_g for a K x K matrix F_g: cost grows with
    rows, not with their square. A direction that a cluster determines alone (H has 1 there) gets
    0, as in the pseudo-inverse.
    """
    half = np.linalg.cholesky(bread)
    inner = np.add.reduceat(design[:, :, None] * design[:, None, :], starts, axis=0)
    within, vectors = np.linalg.eigh(half.T @ inner @ half)
    left = 1 - within
    free = left > _SATURATED
    root = np.where(free, 1 / np.sqrt(np.where(free, left, 1.0)), 0.0)
    turned = half @ vectors
    factor = turned * root[:, None, :] @ vectors.transpose(0, 2, 1) @ np.linalg.inv(half)
    cluster = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(design))))
    adjusted = np.einsum("nk,nkl->nl", design, factor[cluster])
    toward = factor @ bread
    cross = inner @ toward
    own = _Own(
        square=np.einsum("gkc,gkc->gc", toward, cross),
        cross=cross,
        weight=np.einsum("kc,gkl,lc->gc", bread, inner, bread) / np.diag(bread),
    )
    return adjusted, own


def _satterthwaite(own: _Own, bread: FloatArray) -> FloatArray:
    """(tr M)**2 / tr(M**2) for M = diag(square) - W B W', without ever holding its G x G cells."""
    df = np.empty(own.square.shape[1])
    for c in range(len(df)):
        d, w = own.square[:, c], own.cross[:, :, c]
        taken = np.einsum("gk,kl,gl->g", w, bread, w)
        inner = w.T @ w @ bread
        whole = (d**2).sum() - 2 * (d * taken).sum() + np.trace(inner @ inner)
        df[c] = (d - taken).sum() ** 2 / whole if whole > 0 else 0.0
    return df
