"""Rows of a regression, whole ones only, sorted by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import InvariantError

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRows:
    """Rows sorted by cluster.

    Attributes:
        y: Outcome, shape (n_rows,).
        x: Regressors, shape (n_rows, K).
        starts: First row of each cluster.
        label: Number of each row's cluster, from 0.
    """

    y: FloatArray
    x: FloatArray
    starts: NDArray[np.int64]
    label: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        """Clusters with a row."""
        return len(self.starts)

    def scaled(self, singular: float) -> tuple[FloatArray, FloatArray]:
        """Regressors at right angles and of unit size, and the way back to the given ones.

        So neither a large turn index nor its unit can spoil a fit.

        Raises:
            InvariantError: The regressors depend on each other.
        """
        return orthonormal(self.x, singular)


def cluster_rows(y: ArrayLike, x: ArrayLike, cluster: ArrayLike) -> ClusterRows:
    """The rows with every value, sorted by cluster.

    Args:
        y: Outcome, shape (n_rows,).
        x: Regressors, shape (n_rows, K).
        cluster: Cluster of each row, whatever the labels; shape (n_rows,).

    Raises:
        InvariantError: Shapes differ.
    """
    response, design = np.asarray(y, dtype=float), np.asarray(x, dtype=float)
    groups = np.asarray(cluster)
    if design.ndim != 2 or not len(design) == len(response) == len(groups):
        raise InvariantError(f"regressors of shape {design.shape} for {len(response)} rows")
    kept = np.isfinite(response) & np.isfinite(design).all(axis=1)
    label = np.unique(groups[kept], return_inverse=True)[1].ravel()
    order = np.argsort(label, kind="stable")
    label = label[order]
    return ClusterRows(
        y=response[kept][order],
        x=design[kept][order],
        starts=np.flatnonzero(np.diff(label, prepend=-1)),
        label=label,
    )


def orthonormal(design: FloatArray, singular: float) -> tuple[FloatArray, FloatArray]:
    """Columns of unit size at right angles that span the same, and the way back.

    Args:
        design: Columns, shape (n_rows, K).
        singular: Share of a column that no other one explains, below which it depends on them.

    Raises:
        InvariantError: The columns depend on each other.
    """
    size = np.sqrt((design**2).sum(axis=0))
    if len(design) < design.shape[1] or not (size > 0).all():
        raise InvariantError("the regressors depend on each other: a column is 0, or rows are few")
    made, upper = np.linalg.qr(design / size)
    if np.abs(np.diag(upper)).min() < singular:
        raise InvariantError("the regressors depend on each other")
    root = np.sqrt(len(design))
    return made * root, np.linalg.inv(upper) / size[:, None] * root


def independent_columns(design: FloatArray, singular: float = 1e-8) -> NDArray[np.int64]:
    """The columns that say something that the columns before them do not; shape (n_kept,).

    Args:
        design: Columns, shape (n_rows, K).
        singular: Share of a column that those before it do not explain, below which it depends on
            them.
    """
    basis: list[FloatArray] = []
    kept = []
    for number, column in enumerate(design.T):
        size = float(np.linalg.norm(column))
        rest = column
        for one in basis:
            rest = rest - (one @ rest) * one
        left = float(np.linalg.norm(rest))
        if left > singular * size:
            basis.append(rest / left)
            kept.append(number)
    return np.array(kept, dtype=np.int64)
