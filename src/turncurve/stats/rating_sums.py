"""Ratings of items by any number of raters, as sums over items that coefficients are made of.

Coefficients of several raters need no more than sums over items: those of each run can be added
up, and resampled, without going back to the items.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.stats.confusion import share

FloatArray: TypeAlias = NDArray[np.float64]


def category_counts(ratings: ArrayLike, n_categories: int) -> FloatArray:
    """How many raters put each item in each category.

    Args:
        ratings: Categories, 0 to n_categories - 1, negative where missing; shape
            (n_items, n_raters).
        n_categories: Categories that could be given.

    Returns:
        Shape (n_items, n_categories).

    Raises:
        ValueError: A category is n_categories or more.
    """
    codes = np.asarray(ratings, dtype=np.int64)
    if codes.size and codes.max() >= n_categories:
        raise ValueError(f"wanted categories below {n_categories}, got {codes.max()}")
    item = np.broadcast_to(np.arange(len(codes))[:, None], codes.shape)
    known = codes >= 0
    flat = item[known] * n_categories + codes[known]
    counts = np.bincount(flat, minlength=len(codes) * n_categories)
    return counts.reshape(len(codes), n_categories).astype(np.float64)


def rating_sums(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """What an item adds to the sums that `observed_and_shares` reads.

    Args:
        counts: Raters by category; shape (n_items, n_categories).
        weights: Credit of each pair of categories; shape (n_categories, n_categories).

    Returns:
        Shape (n_items, 3 + n_categories): 1 if anyone rated the item, 1 if two or more did, the
        agreement among its pairs of raters, and the share of raters in each category.
    """
    raters = counts.sum(axis=1)
    several = raters >= 2
    credited = (counts * (counts @ weights - 1)).sum(axis=1)
    agreement = np.where(several, share(credited, raters * (raters - 1)), 0.0)
    shares = np.where(raters[:, None] > 0, share(counts, raters[:, None]), 0.0)
    first = [raters > 0, several, agreement]
    return np.concatenate([np.stack(first, axis=1).astype(np.float64), shares], axis=1)


def observed_and_shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean agreement of items that several rated, and the mean share of each category.

    Args:
        sums: Added up over items; shape (..., 3 + n_categories).

    Returns:
        Shape (...), NaN where no item has two ratings; and shape (..., n_categories).
    """
    return share(sums[..., 2], sums[..., 1]), share(sums[..., 3:], sums[..., :1])


def pair_sums(table: FloatArray, weights: FloatArray) -> FloatArray:
    """The same sums from confusion matrices of two raters who rated every item.

    Args:
        table: Counts; shape (..., n_categories, n_categories).
        weights: Credit of each pair of categories.

    Returns:
        Shape (..., 3 + n_categories).
    """
    n = table.sum(axis=(-2, -1))
    agreed = (table * weights).sum(axis=(-2, -1))
    shares = (table.sum(axis=-1) + table.sum(axis=-2)) / 2
    return np.concatenate([np.stack([n, n, agreed], axis=-1), shares], axis=-1)
