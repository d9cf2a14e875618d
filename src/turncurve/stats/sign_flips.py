"""Is one of many steps real? The largest |t|, judged by flipping the signs of whole units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

MOST_EXACT_UNITS = 15
"""Up to so many units every choice of signs is tried: 2**14 of them, as a flip of all signs at once
changes nothing."""

_BLOCK = 2_048
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlips:
    """Tests of several positions at once; arrays of shape (n_positions,).

    `t`, `p` and `p_adjusted` are NaN at a position with fewer than two units, or whose units agree:
    without spread there is no test.
    """

    t: FloatArray
    """Mean over its standard error, the units being the replicates."""
    p: FloatArray
    """Two-sided, for a position chosen beforehand."""
    p_adjusted: FloatArray
    """Two-sided, for a position chosen because of its own t: the chance that the largest |t| of all
    positions is as large where there is no step anywhere."""
    critical: float
    """The |t| that the largest of all passes with a chance of at most `alpha`; infinite where no
    |t| is so rare; NaN where no position can be tested."""
    alpha: float
    n_units: int
    n_flips: int
    exact: bool
    """Whether every choice of signs was tried; otherwise `n_flips` random ones were."""

    @property
    def smallest_p(self) -> float:
        """The smallest p that so few units, or so few flips, can give."""
        return 2.0 ** (1 - self.n_units) if self.exact else 1 / (self.n_flips + 1)

    def monte_carlo_error(self, p: float) -> float:
        """Standard error that random flips add to a p value; 0 where all were tried."""
        return 0.0 if self.exact else float(np.sqrt(p * (1 - p) / self.n_flips))


def sign_flips(
    contrasts: ArrayLike,
    *,
    rng: np.random.Generator,
    n_flips: int = 10_000,
    alpha: float = 0.05,
) -> SignFlips:
    """Test whether the mean of each position is 0, alone and as the most extreme of all.

    Under the null hypothesis a unit's contrasts are as likely to have come with all their signs the
    other way round, so flipping whole units gives the joint distribution of all positions' t,
    however they hang together (neighbouring differences share a turn). The adjusted p compares
    each |t| with the largest |t| of each flip (Westfall and Young's single step).

    With up to 15 units every choice of signs is tried; n units can then give no p below
    2 / 2**n: 5 runs none below .0625.

    Args:
        contrasts: One row an independent unit (a scenario, a run), one column a position; shape
            (n_units, n_positions), NaN where a unit has none.
        rng: Source of random flips.
        n_flips: How many are drawn where there are too many to try all.
        alpha: Chance of passing `critical` by luck.

    References:
        Westfall & Young (1993), Resampling-Based Multiple Testing, section 2.8; Phipson & Smyth
        (2010), Statistical Applications in Genetics and Molecular Biology 9:39 (p is never 0).
    """
    d = np.atleast_2d(np.asarray(contrasts, dtype=np.float64))
    n_units = len(d)
    known = ~np.isnan(d)
    filled = np.where(known, d, 0.0)
    moments = _Moments(filled, known)
    observed = moments.t(filled.sum(axis=0)[None, :])[0]
    exact = n_units <= MOST_EXACT_UNITS
    n_done, as_large = 0, np.zeros(d.shape[1])
    largest_as_large, largest = np.zeros(d.shape[1]), list[FloatArray]()
    floor = np.abs(observed) * (1 - _ROUNDING)
    for signs in _all_signs(n_units) if exact else _random_signs(n_units, n_flips, rng):
        t = np.abs(moments.t(signs @ filled))
        of_all = np.fmax.reduce(t, axis=1, initial=-np.inf)
        as_large += (t >= floor).sum(axis=0)
        largest_as_large += (of_all[:, None] >= floor).sum(axis=0)
        largest.append(of_all)
        n_done += len(signs)
    own = 0 if exact else 1
    usable = ~np.isnan(observed)
    return SignFlips(
        t=observed,
        p=np.where(usable, (as_large + own) / (n_done + own), np.nan),
        p_adjusted=np.where(usable, (largest_as_large + own) / (n_done + own), np.nan),
        critical=_critical(np.concatenate(largest), alpha, own) if usable.any() else float("nan"),
        alpha=alpha,
        n_units=n_units,
        n_flips=n_done,
        exact=exact,
    )


class _Moments:
    """What of the t statistics no flip changes: counts and sums of squares."""

    def __init__(self, filled: FloatArray, known: BoolArray) -> None:
        self._n = known.sum(axis=0).astype(np.float64)
        self._squares = (filled**2).sum(axis=0)
        lowest = np.where(known, filled, np.inf).min(axis=0, initial=np.inf)
        highest = np.where(known, filled, -np.inf).max(axis=0, initial=-np.inf)
        agree = highest - lowest <= _ROUNDING * np.fmax(np.abs(highest), np.abs(lowest))
        self._usable = (self._n > 1) & ~agree

    def t(self, sums: FloatArray) -> FloatArray:
        """The t statistics of some flips' sums; shape (n_flips, n_positions)."""
        n = np.where(self._usable, self._n, np.nan)
        spread = self._squares - sums**2 / n
        # A flip may make all units of a position agree, where rounding can leave less than nothing.
        spread = np.maximum(spread, _ROUNDING**2 * self._squares)
        return np.asarray(sums / np.sqrt(spread * n / (n - 1)), dtype=np.float64)


def _all_signs(n_units: int) -> Iterator[FloatArray]:
    """Every choice of signs but for a flip of all at once, in blocks; the first is no flip."""
    n_choices = 2 ** max(n_units - 1, 0)
    bits = np.arange(n_units - 1, dtype=np.int64)
    for start in range(0, n_choices, _BLOCK):
        number = np.arange(start, min(start + _BLOCK, n_choices), dtype=np.int64)
        flipped = number[:, None] >> bits & 1
        yield np.hstack([np.ones((len(number), min(n_units, 1))), 1.0 - 2.0 * flipped])


def _random_signs(n_units: int, n_flips: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    for start in range(0, n_flips, _BLOCK):
        n = min(_BLOCK, n_flips - start)
        flipped = rng.integers(0, 2, size=(n, n_units), dtype=np.int8).astype(np.float64)
        yield 1.0 - 2.0 * flipped


def _critical(largest: FloatArray, alpha: float, own: int) -> float:
    """The smallest of the largest |t| whose adjusted p is at most alpha."""
    falling = np.sort(largest)[::-1]
    n_allowed = max(int(alpha * (len(falling) + own) + _ROUNDING) - own, 0)
    # As large as itself counts, so the value must lie above the first one that is not allowed.
    above = falling[:n_allowed][falling[:n_allowed] > falling[n_allowed] * (1 + _ROUNDING)]
    return float(above[-1]) if len(above) else float("inf")
