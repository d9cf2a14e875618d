"""Paired differences at several positions at once, with limits that hold everywhere together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from turncurve.stats.curve import MIN_UNITS_FOR_CORRELATION, smallest_p_draws
from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

MIN_PAIRS = 5
"""Pairs below which a position has no difference: too few to see how far they disagree."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCurve:
    """The mean difference at each position; arrays of shape (n_positions,).

    All but `n` is NaN at a position with fewer pairs than were asked for. Where the pairs do not
    differ from one another there is a `value`, and no limit: no spread does not say how sure it is.
    """

    n: IntArray
    """Units with a pair."""
    value: FloatArray
    std_error: FloatArray
    """Standard deviation of the units' differences over the root of their number."""
    low: FloatArray
    """Lower limit of the position by itself, by t with n - 1 degrees of freedom."""
    high: FloatArray
    band_low: FloatArray
    """Lower limit that holds at all positions at once."""
    band_high: FloatArray
    p: FloatArray
    """Two-sided, as if the position had been chosen beforehand. Where all pairs agree on a
    difference, that of their signs, 2 / 2**n; where they agree on 0 it is 1."""
    p_adjusted: FloatArray
    """The chance that the smallest p of all positions is as small where none differs; at most
    1 - `level` where, and only where, the band leaves 0 out."""
    level: float
    n_units: int
    n_tested: int
    """Positions in the family."""
    n_resamples: int | None
    """Draws of the band; None where it is Bonferroni's."""


def paired_curve(
    differences: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
    min_pairs: int = MIN_PAIRS,
) -> PairedCurve:
    """Estimate the mean difference at every position, alone and with all others together.

    Each position's t is taken over the units that have a pair there. How the positions hang
    together is drawn with Gaussian multipliers on whole units, as in `simultaneous_band`; below 10
    units Bonferroni's inequality takes the place of the draws.

    Args:
        differences: One row an independent unit (a scenario), one column a position; shape
            (n_units, n_positions), NaN where a unit has no pair.
        rng: Source of randomness.
        level: Confidence level, of each interval and of the band as a whole.
        resamples: Number of draws.
        min_pairs: Pairs that a position needs, at least 2.

    References:
        Westfall & Young (1993), Resampling-Based Multiple Testing, section 2.3 (smallest p);
        Chernozhukov, Chetverikov & Kato (2013), Annals of Statistics 41:2786-2819 (multipliers).
    """
    d = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    known = ~np.isnan(d)
    n = known.sum(axis=0)
    enough = n >= max(min_pairs, 2)
    value, deviation, agreed = _moments(d, known, enough)
    size = np.where(enough, n, 2)
    std_error = np.sqrt((deviation**2).sum(axis=0) / (size * (size - 1)))
    usable = enough & ~agreed
    std_error = np.where(enough, std_error, np.nan)
    spread = np.where(usable, std_error, np.nan)
    p = np.where(usable, 2 * stdtr(size - 1, -np.abs(value) / spread), np.nan)
    p = np.where(enough & agreed, np.where(value == 0, 1.0, 2.0 ** (1 - size)), p)
    family = usable | (enough & agreed & (value != 0))
    draws = _draws(deviation[:, usable], rng, resamples)
    tail, adjusted = _adjusted(p, usable, draws, 1 - level, n_tested=int(family.sum()))
    alone = t_quantile(level, size - 1) * spread
    half = stdtrit(size - 1, 1 - tail / 2) * spread
    return PairedCurve(
        n=n.astype(np.int64),
        value=value,
        std_error=std_error,
        low=value - alone,
        high=value + alone,
        band_low=value - half,
        band_high=value + half,
        p=p,
        p_adjusted=adjusted,
        level=level,
        n_units=int(known.any(axis=1).sum()),
        n_tested=int(family.sum()),
        n_resamples=None if draws is None else len(draws),
    )


def _moments(
    d: FloatArray, known: BoolArray, enough: BoolArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Means, deviations from them (0 where a unit has no pair), and where all pairs agree."""
    filled = np.where(known, d, 0.0)
    value = np.where(enough, filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
    lowest = np.where(known, d, np.inf).min(axis=0, initial=np.inf)
    highest = np.where(known, d, -np.inf).max(axis=0, initial=-np.inf)
    most = np.fmax(np.abs(lowest), np.abs(highest))
    with np.errstate(invalid="ignore"):
        agreed = highest - lowest <= _ROUNDING * most
    # What rounding leaves of differences that cancel out is no difference.
    value = np.where(np.abs(value) <= _ROUNDING * most, 0.0, value)
    value = np.where(enough & agreed, lowest, value)
    deviation = np.where(known & enough & ~agreed, d - value, 0.0)
    return value, deviation, agreed


def _draws(deviation: FloatArray, rng: np.random.Generator, resamples: int) -> FloatArray | None:
    """The smallest p of all positions in each draw, rising; None where there is nothing to draw."""
    some = deviation.any(axis=1)
    if deviation.shape[1] == 0 or some.sum() < MIN_UNITS_FOR_CORRELATION:
        return None
    # So that the differences the other way round have the same draws; + 0 makes 0 of -0.
    facing = deviation * np.sign(deviation[deviation != 0][0]) + 0.0
    return np.sort(smallest_p_draws(facing[some], rng=rng, resamples=resamples))


def _adjusted(
    p: FloatArray, usable: BoolArray, draws: FloatArray | None, alpha: float, *, n_tested: int
) -> tuple[float, FloatArray]:
    """The p that a position must stay below for its band to leave 0 out, and adjusted p."""
    of_all = np.minimum(p * max(n_tested, 1), 1.0)
    if draws is None:
        return alpha / max(n_tested, 1), of_all
    n_allowed = int(alpha * (len(draws) + 1) + _ROUNDING)
    tail = float(draws[n_allowed - 1]) if n_allowed else 0.0
    as_small = np.searchsorted(draws, np.where(usable, p, 0.0), side="right")
    return tail, np.where(usable, (1 + as_small) / (len(draws) + 1), of_all)
