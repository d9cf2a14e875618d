"""Gwet's AC1 and AC2: agreement beyond chance that stays defined where one category rules."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.agreement_weights import Weighting, agreement_weights
from turncurve.stats.chance_corrected import ChanceCorrected, beyond_chance
from turncurve.stats.rating_sums import category_counts, observed_and_shares, rating_sums

FloatArray: TypeAlias = NDArray[np.float64]


def gwet_acs(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """AC of each of many groups of items.

    Args:
        sums: `rating_sums` with the same weights, added up over items; shape
            (..., 3 + n_categories).
        weights: Credit of each pair of categories; identity weights give AC1, others AC2.

    Returns:
        Shape (...); NaN where no item has two ratings. Where all raters use one category it is 1.
    """
    observed, shares = observed_and_shares(sums)
    return beyond_chance(observed, _expected(shares, weights))


def gwet_ac(
    ratings: ArrayLike, n_categories: int, weighting: Weighting = "identity"
) -> ChanceCorrected:
    """AC1 (identity weights) or AC2 of any number of raters, with missing ratings.

    Chance is taken to strike only items that are hard to rate, the more the more evenly
    categories are used: sum of p (1 - p) over the categories, over their number less one.

    Args:
        ratings: Categories, 0 to n_categories - 1, negative where missing; shape
            (n_items, n_raters).
        n_categories: Categories that could be given, whether or not they were.
        weighting: Credit of neighbouring categories.

    Raises:
        NotEnoughDataError: Fewer than 2 items have two ratings.

    References:
        Gwet (2008), British Journal of Mathematical and Statistical Psychology 61:29-48; Gwet
        (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 4 and 5 (AC2, missing
        ratings, standard error).
    """
    weights = agreement_weights(n_categories, weighting)
    counts = category_counts(ratings, n_categories)
    terms = rating_sums(counts, weights)
    n, n_several = int(terms[:, 0].sum()), int(terms[:, 1].sum())
    if n_several < 2:
        raise NotEnoughDataError("gwet_ac: items with two ratings", need=2, got=n_several)
    observed, shares = observed_and_shares(terms.sum(axis=0))
    expected = float(_expected(shares, weights))
    value = float(beyond_chance(observed, expected))
    rated = terms[terms[:, 0] > 0]
    own = (rated[:, 2] - expected * rated[:, 1]) / (1 - expected) * n / n_several
    own_chance = (rated[:, 3:] @ (1 - shares)) * _scale(weights)
    moved = own - 2 * (1 - value) * (own_chance - expected) / (1 - expected)
    return ChanceCorrected(
        value=value,
        std_error=math.sqrt(float(((moved - value) ** 2).sum()) / (n * (n - 1))),
        observed=float(observed),
        expected=expected,
        n_items=n_several,
    )


def _expected(shares: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(_scale(weights) * (shares * (1 - shares)).sum(axis=-1))


def _scale(weights: FloatArray) -> float:
    q = len(weights)
    return float(weights.sum()) / (q * (q - 1))
