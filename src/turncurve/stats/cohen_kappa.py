"""Cohen's kappa, plain and weighted: agreement of two raters beyond that of their own habits."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.agreement_weights import Weighting, agreement_weights
from turncurve.stats.chance_corrected import ChanceCorrected, beyond_chance
from turncurve.stats.confusion import share

FloatArray: TypeAlias = NDArray[np.float64]


def kappas(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Kappa of each of many confusion matrices.

    Args:
        table: Counts; shape (..., n_categories, n_categories).
        weights: Credit of each pair of categories; shape (n_categories, n_categories).

    Returns:
        Shape (...); NaN where both raters use one and the same category throughout, or there is no
        item: chance then agrees in everything.
    """
    observed, expected = _agreements(table, weights)
    return beyond_chance(observed, expected)


def cohen_kappa(table: ArrayLike, weighting: Weighting = "identity") -> ChanceCorrected:
    """Kappa of one confusion matrix, with the standard error for independent items.

    Args:
        table: Counts; shape (n_categories, n_categories).
        weighting: Credit of neighbouring categories.

    Raises:
        NotEnoughDataError: There are fewer than 2 items.

    References:
        Cohen (1960), Educational and Psychological Measurement 20:37-46; Cohen (1968),
        Psychological Bulletin 70:213-220; Fleiss, Cohen & Everitt (1969), Psychological Bulletin
        72:323-327, equation 7 (standard error).
    """
    counts = np.asarray(table, dtype=np.float64)
    n = float(counts.sum())
    if n < 2:
        raise NotEnoughDataError("cohen_kappa: items that both rated", need=2, got=int(n))
    weights = agreement_weights(len(counts), weighting)
    observed, expected = (float(each) for each in _agreements(counts, weights))
    value = float(beyond_chance(observed, expected))
    if math.isnan(value):
        return ChanceCorrected(
            value=None, std_error=None, observed=observed, expected=expected, n_items=int(n)
        )
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    typical = (weights @ columns)[:, None] + (rows @ weights)[None, :]
    spread = (p * (weights - typical * (1 - value)) ** 2).sum()
    variance = (spread - (value - expected * (1 - value)) ** 2) / (n * (1 - expected) ** 2)
    return ChanceCorrected(
        value=value,
        std_error=math.sqrt(max(variance, 0.0)),
        observed=observed,
        expected=expected,
        n_items=int(n),
    )


def _agreements(table: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = table.sum(axis=(-2, -1))
    observed = share((table * weights).sum(axis=(-2, -1)), total)
    rows = share(table.sum(axis=-1), total[..., None])
    columns = share(table.sum(axis=-2), total[..., None])
    return observed, np.einsum("...i,ij,...j->...", rows, weights, columns)
