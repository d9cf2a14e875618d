"""Draws for resampling: whole clusters, and signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve.errors import NotEnoughDataError

EXACT_UNITS = 15
"""With at most this many units all 2**n sign patterns are listed, so nothing is random."""


def cluster_weights(
    n_clusters: int, *, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """How often each cluster is drawn in each bootstrap sample of whole clusters.

    A weighted statistic with these weights equals the statistic of the resampled clusters, so no
    data are copied. With fewer than 10 clusters a bootstrap interval is too narrow: use t.

    Args:
        n_clusters: Number of independent units, >= 2.
        resamples: Number of bootstrap samples.
        rng: Source of randomness.

    Returns:
        Counts, shape (resamples, n_clusters); each row adds up to n_clusters.

    Raises:
        NotEnoughDataError: Fewer than two clusters.

    References:
        Efron (1979), Annals of Statistics 7:1-26.
    """
    if n_clusters < 2:
        raise NotEnoughDataError("a cluster bootstrap: clusters", need=2, got=n_clusters)
    even = np.full(n_clusters, 1 / n_clusters)
    return rng.multinomial(n_clusters, even, size=resamples).astype(np.float64)


def sign_flips(n_units: int, *, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Signs for a randomisation test: valid where the units' differences are symmetric under H0.

    Args:
        n_units: Number of independent units. With up to 15 the 2**n_units patterns are all listed,
            the first of them being "no flip"; above, they are drawn.
        resamples: Number of draws, where they are drawn.
        rng: Source of randomness.

    Returns:
        +1 and -1, shape (n_patterns, n_units).

    Raises:
        NotEnoughDataError: No unit.
    """
    if n_units < 1:
        raise NotEnoughDataError("sign flips: units", need=1, got=n_units)
    if n_units <= EXACT_UNITS:
        patterns = np.arange(2**n_units)[:, None] >> np.arange(n_units)
        return np.where(patterns & 1, -1.0, 1.0)
    return rng.choice(np.array([-1.0, 1.0]), size=(resamples, n_units))
