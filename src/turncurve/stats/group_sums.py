"""Sums of products by group: all that a linear mixed model needs of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import FitError, InvariantError
from turncurve.stats.cluster_rows import orthonormal

FloatArray: TypeAlias = NDArray[np.float64]

_SINGULAR = 1e-10
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSums:
    """Sums of products, of columns that are made orthonormal and random columns of unit size.

    Attributes:
        xx: Of the columns; shape (K, K).
        xy: Of columns and outcome; shape (K,).
        yy: Of the outcome.
        yy_within: Of the outcome net of its mean.
        zz: Of the random columns by group; shape (G, Q, Q).
        zx: Of random columns and columns by group; shape (G, Q, K).
        zy: Of random columns and outcome by group; shape (G, Q).
        z_scale: What each random column was divided by; shape (Q,).
        transform: From coefficients of the made columns to those of the given ones; shape (K, K).
        n_rows: Rows with every value.
    """

    xx: FloatArray
    xy: FloatArray
    yy: float
    yy_within: float
    zz: FloatArray
    zx: FloatArray
    zy: FloatArray
    z_scale: FloatArray
    transform: FloatArray
    n_rows: int

    @property
    def n_groups(self) -> int:
        """Groups with a row."""
        return len(self.zz)

    @property
    def n_columns(self) -> int:
        """Columns of the regressors."""
        return len(self.xx)

    @property
    def n_random(self) -> int:
        """Random effects of a group."""
        return int(self.zz.shape[1])

    def back(self, covariance: FloatArray) -> FloatArray:
        """The covariance of the coefficients of the given columns."""
        return np.asarray(self.transform @ covariance @ self.transform.T)


def group_sums(
    y: ArrayLike, x: ArrayLike, group: ArrayLike, slopes: ArrayLike | None = None
) -> GroupSums:
    """The sums of an outcome, regressors, a level by group, and a slope by group.

    Args:
        y: Outcome, shape (n_rows,).
        x: Regressors, shape (n_rows, K).
        group: Group of each row; shape (n_rows,).
        slopes: What each group has its own slope on; shape (n_rows,). None: none.

    A row with a NaN is left out.

    Raises:
        InvariantError: The regressors depend on each other, or shapes differ.
        FitError: The outcome or the slopes' column does not vary.
    """
    response = np.asarray(y, dtype=float)
    design = np.asarray(x, dtype=float)
    random = [np.ones(len(response))]
    if slopes is not None:
        random.append(np.asarray(slopes, dtype=float))
    columns = np.stack(random, axis=1)
    if design.ndim != 2 or len(design) != len(response) or len(columns) != len(response):
        raise InvariantError(f"regressors of shape {design.shape} for {len(response)} rows")
    kept = (
        np.isfinite(response) & np.isfinite(design).all(axis=1) & np.isfinite(columns).all(axis=1)
    )
    labels = np.unique(np.asarray(group)[kept], return_inverse=True)[1].ravel()
    order = np.argsort(labels, kind="stable")
    labels = labels[order]
    response, design, columns = response[kept][order], design[kept][order], columns[kept][order]
    centre = response - response.mean() if len(response) else response
    if not (centre**2).sum() > _NOTHING * (response**2).sum():
        raise FitError("mixed model: the outcome is the same in every row", fix="")
    made, transform = orthonormal(design, _SINGULAR)
    scale = np.sqrt((columns**2).mean(axis=0))
    if not (scale > 0).all():
        raise FitError("mixed model: the slopes' column is 0 in every row", fix="")
    columns = columns / scale
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    return GroupSums(
        xx=made.T @ made,
        xy=made.T @ response,
        yy=float(response @ response),
        yy_within=float(centre @ centre),
        zz=np.add.reduceat(columns[:, :, None] * columns[:, None, :], starts, axis=0),
        zx=np.add.reduceat(columns[:, :, None] * made[:, None, :], starts, axis=0),
        zy=np.add.reduceat(columns * response[:, None], starts, axis=0),
        z_scale=scale,
        transform=transform,
        n_rows=len(response),
    )
