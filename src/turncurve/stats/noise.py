"""How much a signal moves from turn to turn when nothing changes, and how that hangs together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]

_CORRELATIONS = np.linspace(-0.9, 0.95, 75)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """First-order autoregressive noise: each turn's is `correlation` times the last, plus news.

    Attributes:
        correlation: Between neighbouring turns, -0.9 to 0.95.
        std_dev: Standard deviation of a single turn.
        news: Centred innovations of the data, to draw from; shape (n,).
    """

    correlation: float
    std_dev: float
    news: FloatArray

    def variance_of_mean(self, n: int) -> float:
        """Variance of the mean of n neighbouring turns."""
        lags = np.arange(1, n)
        shared = 2 * np.sum((1 - lags / n) * self.correlation**lags)
        return float(self.std_dev**2 * (1 + shared) / n)

    def draw(self, n_draws: int, n_turns: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Noise of one turn after another for `n_draws` runs at a time; shape (n_draws,) each."""
        stationary = np.sqrt(1 - self.correlation**2)
        noise = self.news[rng.integers(len(self.news), size=n_draws)] / stationary
        for _ in range(n_turns):
            yield noise
            news = self.news[rng.integers(len(self.news), size=n_draws)]
            noise = self.correlation * noise + news


def estimate_noise(runs: Sequence[FloatArray], *, stretch: int) -> Noise:
    """Estimate the noise of runs whose level may drift.

    Each run is cut into stretches of about `stretch` values and a least-squares line is taken out
    of each. Taking out a line makes what is left look smaller and less correlated than it was, so
    the two parameters are those under which the residuals' expected sum of squares and expected
    lag-1 products are what was seen. Wandering much slower than a stretch counts as drift.

    Args:
        runs: Values of each run in order, no NaN; at least 4 each.
        stretch: Values in a stretch.
    """
    parts = [part for values in runs for part in _stretches(values, stretch)]
    residuals = [_detrended(part) for part in parts]
    squares = float(sum(r @ r for r in residuals))
    products = float(sum(r[1:] @ r[:-1] for r in residuals))
    sizes, counts = np.unique([len(r) for r in residuals], return_counts=True)
    if squares == 0:
        return Noise(correlation=0.0, std_dev=0.0, news=np.zeros(1))
    expected_squares = np.zeros(len(_CORRELATIONS))
    expected_products = np.zeros(len(_CORRELATIONS))
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        of_squares, of_products = _expected(size)
        expected_squares += count * of_squares
        expected_products += count * of_products
    ratio = expected_products / expected_squares
    correlation = float(np.interp(products / squares, ratio, _CORRELATIONS))
    variance = squares / float(np.interp(correlation, _CORRELATIONS, expected_squares))
    news = np.concatenate([r[1:] - correlation * r[:-1] for r in residuals])
    news -= news.mean()
    wanted = variance * (1 - correlation**2)
    scale = np.sqrt(wanted / np.mean(news**2)) if news.any() else 0.0
    return Noise(correlation=correlation, std_dev=float(np.sqrt(variance)), news=news * scale)


def _stretches(values: FloatArray, stretch: int) -> list[FloatArray]:
    """Parts of `stretch` values; the last takes the remainder, so none is shorter."""
    n_parts = max(1, len(values) // stretch)
    return list(np.split(values, [stretch * i for i in range(1, n_parts)]))


def _detrended(values: FloatArray) -> FloatArray:
    t = np.arange(len(values)) - (len(values) - 1) / 2
    centred = values - values.mean()
    return np.asarray(centred - t * (t @ centred) / (t @ t), dtype=np.float64)


def _expected(size: int) -> tuple[FloatArray, FloatArray]:
    """Expected sum of squares and of lag-1 products of residuals, for noise of variance 1.

    For residuals M e of noise with covariance V they are tr(M V) and tr(M S M V), S the symmetric
    shift; V is constant along diagonals, so sums over the diagonals of M and M S M are enough.
    One entry a correlation of `_CORRELATIONS`.
    """
    design = np.stack([np.ones(size), np.arange(size) - (size - 1) / 2], axis=1)
    q, _ = np.linalg.qr(design)
    residual_maker = np.eye(size) - q @ q.T
    shift = (np.eye(size, k=1) + np.eye(size, k=-1)) / 2
    powers = _CORRELATIONS[:, None] ** np.arange(size)
    shifted = residual_maker @ shift @ residual_maker
    return powers @ _diagonal_sums(residual_maker), powers @ _diagonal_sums(shifted)


def _diagonal_sums(symmetric: FloatArray) -> FloatArray:
    """Sum over both diagonals at each distance from the main one."""
    sums = np.array([np.trace(symmetric, offset=k) for k in range(len(symmetric))])
    sums[1:] *= 2
    return sums
