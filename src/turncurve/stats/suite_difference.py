"""A difference between two suites: would running both again, on the same scenarios, agree?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDifference:
    """A difference whose error is that of trials alone; no limits where all trials agree."""

    value: float
    std_error: float
    df: float | None
    low: float | None
    high: float | None
    n_scenarios: int
    """Scenarios that have a value in every trial that is used."""
    n_trials_a: int
    n_trials_b: int


def suite_difference(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> SuiteDifference:
    """Mean of b less mean of a, with trials as the units, each a run of the whole suite.

    A trial's value is its mean over the scenarios that have one in every trial of both. The error
    is Welch's, that of two independent sets of trials: var(a) / R_a + var(b) / R_b. A trial that
    fewer than half of the scenarios have is left out.

    Args:
        a: One row a trial, one column a scenario; NaN where a run has no value.
        b: Likewise, with the same scenarios and any number of trials.
        level: Confidence level.

    Raises:
        NotEnoughDataError: Fewer than two trials of either, or no scenario that all of them have.

    References:
        Welch (1947), Biometrika 34:28-35.
    """
    first, second = (_whole(np.atleast_2d(np.asarray(x, dtype=np.float64))) for x in (a, b))
    trials = min(len(first), len(second))
    if trials < 2:
        raise NotEnoughDataError("suite_difference: trials of each", need=2, got=trials)
    everywhere = ~np.isnan(first).any(axis=0) & ~np.isnan(second).any(axis=0)
    if not everywhere.any():
        raise NotEnoughDataError("suite_difference: scenarios that every trial has", need=1, got=0)
    means = [values[:, everywhere].mean(axis=1) for values in (first, second)]
    parts = [(float(m.var(ddof=1)) / len(m), len(m) - 1) for m in means]
    value = float(means[1].mean() - means[0].mean())
    variance = sum(part for part, _ in parts)
    size = max(float(np.abs(m).max()) for m in means)
    df = low = high = None
    if variance > (_ROUNDING * size) ** 2:
        df = variance**2 / sum(part**2 / its_df for part, its_df in parts)
        half = float(t_quantile(level, df)) * variance**0.5
        low, high = value - half, value + half
    return SuiteDifference(
        value=value,
        std_error=variance**0.5,
        df=df,
        low=low,
        high=high,
        n_scenarios=int(everywhere.sum()),
        n_trials_a=len(first),
        n_trials_b=len(second),
    )


def _whole(values: FloatArray) -> FloatArray:
    """The trials that at least half of the scenarios have."""
    known = ~np.isnan(values)
    often = 2 * known.sum(axis=1) >= max(int(known.any(axis=0).sum()), 1)
    return np.asarray(values[often])
