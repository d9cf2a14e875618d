"""Fleiss' kappa: agreement of any number of raters beyond the raters' joint habit."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.chance_corrected import beyond_chance
from turncurve.stats.rating_sums import observed_and_shares

FloatArray: TypeAlias = NDArray[np.float64]


def fleiss_kappas(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Fleiss' kappa of each of many groups of items, with missing ratings.

    Chance gives two raters the categories that all raters together use.

    Args:
        sums: `rating_sums` with the same weights, added up over items; shape
            (..., 3 + n_categories).
        weights: Credit of each pair of categories.

    Returns:
        Shape (...); NaN where no item has two ratings, or all raters use one category.

    References:
        Fleiss (1971), Psychological Bulletin 76:378-382; Gwet (2014), Handbook of Inter-Rater
        Reliability, 4th ed., chapter 3 (missing ratings).
    """
    observed, shares = observed_and_shares(sums)
    return beyond_chance(observed, np.einsum("...i,ij,...j->...", shares, weights, shares))
