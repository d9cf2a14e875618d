"""Krippendorff's alpha: reliability of any number of raters, on a nominal or ordered scale."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Metric: TypeAlias = Literal["nominal", "ordinal", "interval"]


def coincidences(counts: FloatArray) -> FloatArray:
    """Pairs of values within each item, each item weighing by its number of ratings.

    Args:
        counts: Raters by category; shape (n_items, n_categories).

    Returns:
        Shape (n_items, n_categories, n_categories); 0 for an item with fewer than two ratings.
    """
    raters = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    place = np.arange(counts.shape[1])
    pairs[:, place, place] -= counts
    return np.asarray(pairs / np.maximum(raters - 1, 1)[:, None, None])


def krippendorff_alphas(pairs: FloatArray, metric: Metric) -> FloatArray:
    """Alpha of each of many groups of items: 1 - observed / expected disagreement.

    Args:
        pairs: `coincidences`, added up over items; shape (..., n_categories, n_categories).
        metric: How far two categories are apart: "nominal" 1, "interval" the square of the
            difference of their places, "ordinal" the square of the ratings that lie between.

    Returns:
        Shape (...); NaN where one category alone was used, or no item has two ratings.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability; Hayes & Krippendorff
        (2007), Communication Methods and Measures 1:77-89.
    """
    used = pairs.sum(axis=-1)
    n = used.sum(axis=-1)
    apart = _apart(used, metric)
    disagreed = (pairs * apart).sum(axis=(-2, -1))
    by_chance = (used[..., :, None] * used[..., None, :] * apart).sum(axis=(-2, -1))
    ratio = np.divide(
        (n - 1) * disagreed, by_chance, out=np.full(n.shape, np.nan), where=by_chance > 0
    )
    return np.asarray(1 - ratio)


def _apart(used: FloatArray, metric: Metric) -> FloatArray:
    """Squared distance of categories; for "ordinal" it depends on how often each was used."""
    place = np.arange(used.shape[-1], dtype=np.float64)
    if metric == "nominal":
        return np.asarray(place[:, None] != place, dtype=np.float64)
    if metric == "interval":
        return np.asarray((place[:, None] - place) ** 2)
    middle = used.cumsum(axis=-1) - used / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)
