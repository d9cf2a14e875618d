"""Resamples of whole units, as how often each unit is drawn."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]

MIN_UNITS = 10
"""Units below which no interval is made by resampling them."""


def resampled_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often each unit is drawn in each resample; shape (n_resamples, n_units).

    Each row sums to `n_units`. Use the same counts for all that is to be compared.
    """
    share = np.full(n_units, 1 / n_units)
    return rng.multinomial(n_units, share, size=n_resamples).astype(np.float64)


def percentile_interval(draws: FloatArray, level: float, *, n_units: int) -> tuple[float, float]:
    """The middle of the draws, a little more of it than `level`; NaN is left out.

    Resamples of n units vary by (n - 1) / n of what samples do, and leave out that a spread is
    estimated; the tails are those of the normal distribution at sqrt(n / (n - 1)) times the t
    quantile, which for a mean gives the t interval. Turning the draws' signs turns the interval.

    Args:
        draws: The statistic of each resample; shape (n_resamples,).
        level: Confidence level.
        n_units: Units that were resampled, at least 2.

    References:
        Hesterberg (2015), The American Statistician 69:371-386, section 4.6 (expanded percentiles).
    """
    df = n_units - 1
    tail = float(ndtr(-np.sqrt(n_units / df) * t_quantile(level, df)))
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)
