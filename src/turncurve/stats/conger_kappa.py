"""Conger's kappa: agreement of several raters beyond each rater's own habit."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.stats.chance_corrected import beyond_chance
from turncurve.stats.confusion import share

FloatArray: TypeAlias = NDArray[np.float64]


def rater_counts(ratings: ArrayLike, n_categories: int) -> FloatArray:
    """Which category each rater gave each item: what an item adds to the raters' habits.

    Args:
        ratings: Categories, negative where missing; shape (n_items, n_raters).
        n_categories: Categories that could be given.

    Returns:
        Shape (n_items, n_raters, n_categories), of 0 and 1.
    """
    codes = np.asarray(ratings, dtype=np.int64)
    return np.asarray(codes[..., None] == np.arange(n_categories), dtype=np.float64)


def conger_kappas(sums: FloatArray, habits: FloatArray, weights: FloatArray) -> FloatArray:
    """Conger's kappa of each of many groups of items, with missing ratings.

    Chance lets each rater follow its own habit; with two raters who rated all items this is
    Cohen's kappa.

    Args:
        sums: `rating_sums` with the same weights, added up over items; shape
            (..., 3 + n_categories).
        habits: `rater_counts`, added up over items; shape (..., n_raters, n_categories).
        weights: Credit of each pair of categories.

    Returns:
        Shape (...); NaN where no item has two ratings, or fewer than two raters rated.

    References:
        Conger (1980), Psychological Bulletin 88:322-328; Gwet (2014), Handbook of Inter-Rater
        Reliability, 4th ed., chapter 2 (missing ratings).
    """
    observed = share(sums[..., 2], sums[..., 1])
    each = share(habits, habits.sum(axis=-1, keepdims=True))
    rated = ~np.isnan(each[..., 0])
    n = rated.sum(axis=-1)
    filled = np.where(rated[..., None], each, 0.0)
    together = filled.sum(axis=-2)
    by_pairs = np.einsum("...i,ij,...j->...", together, weights, together)
    by_itself = np.einsum("...gi,ij,...gj->...", filled, weights, filled)
    return beyond_chance(observed, share(by_pairs - by_itself, n * (n - 1)))
