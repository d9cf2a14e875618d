"""Confusion matrices of a grader against a reference, and what can be read off them.

A matrix has the grader's category in its rows and the reference's in its columns. Every function
takes one matrix or many: shape (..., n_categories, n_categories), and gives shape (...), NaN where
the share has nothing below its line.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def confusion_counts(
    graded: ArrayLike,
    reference: ArrayLike,
    *,
    n_categories: int,
    cluster: ArrayLike | None = None,
    n_clusters: int = 1,
) -> FloatArray:
    """Count the pairs of categories, in each cluster.

    Args:
        graded: The grader's category of each item, 0 to n_categories - 1; shape (n_items,).
        reference: The reference's; shape (n_items,).
        n_categories: Categories that could be given.
        cluster: Which cluster each item is in, 0 to n_clusters - 1; None puts all in one.
        n_clusters: Number of clusters.

    Returns:
        Shape (n_clusters, n_categories, n_categories): rows are the grader's.
    """
    rows, columns = np.asarray(graded, dtype=np.int64), np.asarray(reference, dtype=np.int64)
    group = np.zeros(len(rows), np.int64) if cluster is None else np.asarray(cluster, np.int64)
    cells = n_categories * n_categories
    flat = group * cells + rows * n_categories + columns
    counts = np.bincount(flat, minlength=n_clusters * cells)
    return counts.reshape(n_clusters, n_categories, n_categories).astype(np.float64)


def observed_agreement(table: FloatArray) -> FloatArray:
    """Share of items in the same category for both."""
    return share(np.trace(table, axis1=-2, axis2=-1), _total(table))


def sensitivity(table: FloatArray, category: int) -> FloatArray:
    """Of the items that the reference puts in a category, the share that the grader does too."""
    return share(table[..., category, category], table[..., :, category].sum(axis=-1))


def specificity(table: FloatArray, category: int) -> FloatArray:
    """Of the items that the reference puts elsewhere, the share that the grader does too."""
    hits = table[..., category, category]
    row, column = table[..., category, :].sum(axis=-1), table[..., :, category].sum(axis=-1)
    total = _total(table)
    return share(total - row - column + hits, total - column)


def prevalence(table: FloatArray, category: int) -> FloatArray:
    """Share of items that the reference puts in a category."""
    return share(table[..., :, category].sum(axis=-1), _total(table))


def graded_rate(table: FloatArray, category: int) -> FloatArray:
    """Share of items that the grader puts in a category."""
    return share(table[..., category, :].sum(axis=-1), _total(table))


def prevalence_index(table: FloatArray, category: int) -> FloatArray:
    """Share of items that both put in a category, less that which both put elsewhere.

    At 0 the category is as frequent as its absence; near 1 or -1 kappa is low however good the
    agreement.

    References:
        Byrt, Bishop & Carlin (1993), Journal of Clinical Epidemiology 46:423-429.
    """
    both = table[..., category, category]
    row, column = table[..., category, :].sum(axis=-1), table[..., :, category].sum(axis=-1)
    total = _total(table)
    return share(both - (total - row - column + both), total)


def bias_index(table: FloatArray, category: int) -> FloatArray:
    """Share of items that the grader puts in a category, less the reference's share.

    References:
        Byrt, Bishop & Carlin (1993), Journal of Clinical Epidemiology 46:423-429.
    """
    return graded_rate(table, category) - prevalence(table, category)


def pabak(table: FloatArray) -> FloatArray:
    """Agreement over what equal use of all categories gives: 2 p - 1 for two categories.

    This is the kappa that the same agreement would have if categories were equally frequent and
    neither side favoured one.

    References:
        Byrt, Bishop & Carlin (1993), Journal of Clinical Epidemiology 46:423-429; for more than two
        categories Bennett, Alpert & Goldstein (1954), Public Opinion Quarterly 18:303-308.
    """
    q = table.shape[-1]
    return np.asarray((q * observed_agreement(table) - 1) / (q - 1))


def share(part: ArrayLike, whole: ArrayLike) -> FloatArray:
    """A part of a whole; NaN where the whole is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    divided = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
    return np.asarray(divided)


def _total(table: FloatArray) -> FloatArray:
    return np.asarray(table.sum(axis=(-2, -1)))
