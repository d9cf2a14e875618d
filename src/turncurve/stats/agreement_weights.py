"""How much of an agreement two ordered categories are."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Weighting: TypeAlias = Literal["identity", "linear", "quadratic"]


def agreement_weights(n_categories: int, weighting: Weighting = "identity") -> FloatArray:
    """Credit for a pair of categories: 1 on the diagonal, less the further the two are apart.

    With d the distance of two categories over the largest there is: "identity" gives 1 at d = 0 and
    else 0, "linear" 1 - d, "quadratic" 1 - d².

    Args:
        n_categories: Categories that could be given, in order; at least 2.
        weighting: Which credit.

    Returns:
        Shape (n_categories, n_categories), symmetric.

    Raises:
        ValueError: There are fewer than 2 categories.

    References:
        Cohen (1968), Psychological Bulletin 70:213-220.
    """
    if n_categories < 2:
        raise ValueError(f"agreement_weights: wanted at least 2 categories, got {n_categories}")
    place = np.arange(n_categories)
    distance = np.abs(place[:, None] - place) / (n_categories - 1)
    if weighting == "identity":
        return np.eye(n_categories)
    return np.asarray(1 - (distance if weighting == "linear" else distance**2))
