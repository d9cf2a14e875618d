"""Generalised estimating equations with one correlation within clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, stdtr

from turncurve.errors import FitError, InvariantError, NotEnoughDataError
from turncurve.stats.cluster_rows import cluster_rows
from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Literal["linear", "logistic"]

_MOST_STEPS = 100
_SMALL = 1e-10
_SINGULAR = 1e-10
_HUGE = 30.0
"""A log odds beyond this is none: the outcome is separated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeeFit:
    """Coefficients of estimating equations; arrays of shape (n_coefficients,).

    Attributes:
        value: Coefficients; of the log odds for the logistic family.
        std_error: With the correction of Mancl and DeRouen for few clusters.
        std_error_robust: Without it, as most software has them: for display.
        df: Of each t: clusters less coefficients.
        p: Two-sided.
        low: Lower limits at `level`.
        high: Upper limits.
        level: Confidence level.
        correlation: Of two rows of a cluster.
        n_rows: Rows with every value.
        n_clusters: Clusters among them.
    """

    value: FloatArray
    std_error: FloatArray
    std_error_robust: FloatArray
    df: float
    p: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    correlation: float
    n_rows: int
    n_clusters: int


def gee(
    y: ArrayLike,
    x: ArrayLike,
    cluster: ArrayLike,
    *,
    family: Family = "linear",
    level: float = 0.95,
) -> GeeFit:
    """Fit the mean of y given x, whatever hangs together within clusters.

    The coefficients are of the population's mean: they compare clusters as well as the rows within
    them, so that a slope mixes what happens along runs with how long and short runs differ.

    Args:
        y: Outcome, shape (n_rows,); 0 or 1 for the logistic family.
        x: Regressors, with their own column of ones; shape (n_rows, K).
        cluster: Cluster of each row; shape (n_rows,).
        family: Whether the mean or its log odds is linear.
        level: Confidence level.

    A row with a NaN is left out.

    Raises:
        NotEnoughDataError: There are no more clusters than coefficients.
        InvariantError: The regressors depend on each other.
        FitError: There is no solution: the outcome is separated, or the steps do not settle.

    References:
        Liang & Zeger (1986), Biometrika 73:13-22; Mancl & DeRouen (2001), Biometrics 57:126-134.
    """
    rows = cluster_rows(y, x, cluster)
    n, k, n_clusters = len(rows.y), rows.x.shape[1], rows.n_clusters
    if n_clusters <= k:
        raise NotEnoughDataError("GEE: clusters", need=k + 1, got=n_clusters)
    design, transform = rows.scaled(_SINGULAR)
    beta: FloatArray = np.zeros(k)
    for _ in range(_MOST_STEPS):
        residual, weighted = _standardised(rows.y, design, beta, family)
        alpha = _correlation(residual, rows.starts)
        information, score = _equations(residual, weighted, rows.starts, alpha)
        step = np.linalg.solve(information.sum(axis=0), score.sum(axis=0))
        beta = beta + step
        if np.abs(design @ beta).max() > _HUGE and family == "logistic":
            raise FitError("GEE: the outcome is separated", fix="drop a regressor that tells it")
        if np.abs(step).max() <= _SMALL * max(1.0, float(np.abs(beta).max())):
            break
    else:
        raise FitError("GEE: the steps do not settle", fix="drop regressors, or add runs")
    residual, weighted = _standardised(rows.y, design, beta, family)
    information, score = _equations(residual, weighted, rows.starts, alpha)
    bread = np.linalg.inv(information.sum(axis=0))
    inner = np.eye(k) - information @ bread
    corrected = np.linalg.solve(inner, score[:, :, None])[:, :, 0]
    errors = [
        np.sqrt(np.diag(transform @ bread @ (part.T @ part) @ bread @ transform.T))
        for part in (corrected, score)
    ]
    value, df = transform @ beta, float(n_clusters - k)
    t = np.divide(value, errors[0], out=np.full(k, np.nan), where=errors[0] > 0)
    reach = t_quantile(level, df) * errors[0]
    return GeeFit(
        value=value,
        std_error=errors[0],
        std_error_robust=errors[1],
        df=df,
        p=2 * stdtr(df, -np.abs(t)),
        low=value - reach,
        high=value + reach,
        level=level,
        correlation=alpha,
        n_rows=n,
        n_clusters=n_clusters,
    )


def _standardised(
    y: FloatArray, design: FloatArray, beta: FloatArray, family: Family
) -> tuple[FloatArray, FloatArray]:
    """Pearson's residuals, and the regressors over the standard deviation of the outcome."""
    if family == "linear":
        return y - design @ beta, design
    if not np.isin(y, (0.0, 1.0)).all():
        raise InvariantError("a logistic model needs outcomes of 0 and 1")
    mean = expit(design @ beta)
    spread = np.sqrt(np.maximum(mean * (1 - mean), _SMALL))
    return (y - mean) / spread, design * spread[:, None]


def _correlation(residual: FloatArray, starts: NDArray[np.int64]) -> float:
    """The mean product of two residuals of a cluster, over their mean square."""
    sizes = np.diff(np.append(starts, len(residual)))
    total = np.add.reduceat(residual, starts)
    square = np.add.reduceat(residual**2, starts)
    pairs = float((sizes * (sizes - 1)).sum())
    if pairs == 0 or square.sum() == 0:
        return 0.0
    alpha = float((total**2 - square).sum() / pairs / (square.sum() / len(residual)))
    lowest = -1 / (sizes.max() - 1) if sizes.max() > 1 else 0.0
    return float(np.clip(alpha, 0.99 * lowest, 0.99))


def _equations(
    residual: FloatArray, weighted: FloatArray, starts: NDArray[np.int64], alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Each cluster's share of the information and of the score."""
    sizes = np.diff(np.append(starts, len(residual)))
    taken = alpha / (1 - alpha + sizes * alpha)
    sums_x = np.add.reduceat(weighted, starts, axis=0)
    sums_r = np.add.reduceat(residual, starts)
    products = np.add.reduceat(weighted[:, :, None] * weighted[:, None, :], starts, axis=0)
    crossed = np.add.reduceat(weighted * residual[:, None], starts, axis=0)
    information = products - taken[:, None, None] * sums_x[:, :, None] * sums_x[:, None, :]
    score = crossed - (taken * sums_r)[:, None] * sums_x
    return information / (1 - alpha), score / (1 - alpha)
