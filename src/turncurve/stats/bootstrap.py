"""Resamples of whole units, as how often each unit is drawn."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]

MIN_UNITS = 10
"""Units below which no interval is made by resampling them."""


def resampled_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often each unit is drawn in each resample; shape (n_resamples, n_units).

    Each row sums to `n_units`. Use the same counts for all that is to be compared.
    """
    share = np.full(n_units, 1 / n_units)
    return rng.multinomial(n_units, share, size=n_resamples).astype(np.float64)


def percentile_interval(draws: FloatArray, level: float) -> tuple[float, float]:
    """The middle `level` of the draws, NaN left out; turning their signs turns the interval."""
    tail = (1 - level) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)
