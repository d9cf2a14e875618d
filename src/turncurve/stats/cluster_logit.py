"""How the log odds of a yes change with a number, where values of a cluster hang together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from turncurve.errors import NotEnoughDataError
from turncurve.stats.horizon import logistic_fits


@dataclass(frozen=True, slots=True, kw_only=True)
class LogitSlope:
    """The slope of a logistic curve.

    Attributes:
        value: Change of the log odds for one more of x; None where there is no best curve: all say
            yes, all say no, or some x parts the two.
        std_error: Over clusters (CR1); None with `value`.
        df: Clusters less one.
    """

    value: float | None
    std_error: float | None
    df: int
    n_clusters: int


def cluster_logit_slope(x: ArrayLike, yes: ArrayLike, cluster: ArrayLike) -> LogitSlope:
    """The slope of a logistic curve of yes over x, with a standard error over clusters.

    The variance is c B (sum_g s_g s_g') B with s_g a cluster's score, B the inverse information and
    c = G / (G - 1) * (n - 1) / (n - 2).

    Args:
        x: Shape (n_values,); no NaN.
        yes: 0 or 1; shape (n_values,).
        cluster: Which cluster each value is of; shape (n_values,).

    Raises:
        NotEnoughDataError: There are fewer than 2 clusters, or 3 values.

    References:
        Liang & Zeger (1986), Biometrika 73:13-22.
    """
    at, answer = np.asarray(x, dtype=np.float64), np.asarray(yes, dtype=np.float64)
    group = np.unique(np.asarray(cluster), return_inverse=True)[1].ravel()
    n, n_clusters = len(at), int(group.max()) + 1 if len(group) else 0
    if n_clusters < 2:
        raise NotEnoughDataError("cluster_logit_slope: clusters", need=2, got=n_clusters)
    if n < 3:
        raise NotEnoughDataError("cluster_logit_slope: values", need=3, got=n)
    fit = logistic_fits(at, answer, np.ones(n))
    level, slope = float(fit.intercept[0]), float(fit.slope[0])
    if math.isnan(slope) or np.ptp(at) == 0:
        return LogitSlope(value=None, std_error=None, df=n_clusters - 1, n_clusters=n_clusters)
    chance = 1 / (1 + np.exp(-(level + slope * at)))
    design = np.stack([np.ones(n), at - at.mean()], axis=1)
    inverse = np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))
    scores = np.zeros((n_clusters, 2))
    np.add.at(scores, group, design * (answer - chance)[:, None])
    along = scores @ inverse[:, 1]
    correction = n_clusters / (n_clusters - 1) * (n - 1) / (n - 2)
    return LogitSlope(
        value=slope,
        std_error=math.sqrt(correction * float(along @ along)),
        df=n_clusters - 1,
        n_clusters=n_clusters,
    )
