"""A step between two turns, measured by the spread of paired runs of the same scenarios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, stdtr

from turncurve.errors import NotEnoughDataError
from turncurve.stats.quantiles import t_quantile
from turncurve.stats.two_way import mean_squares

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A mean change with what it varies by; all but `delta` and `n` None where it can't be had."""

    delta: float
    """Mean of the units' changes."""
    n: int
    """Independent units: trials of the suite, or scenarios."""
    std_dev: float | None
    """Between the units' changes, with n - 1 degrees of freedom."""
    std_error: float | None
    df: float | None
    t: float | None
    p: float | None
    """Two-sided, of a t test that the mean change is 0; None where the units agree."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedStep:
    """A change from one turn to another over the trials of a suite.

    The three spreads answer three questions and are never mixed. Where every trial has both turns
    of the same scenarios they are about one and the same mean.
    """

    suite: Spread
    """Would running the same scenarios again agree? Units are trials, each the mean change over its
    pairs; nothing but `delta` and `n` with a single trial."""
    scenarios: Spread
    """Do the scenarios agree with each other? Units are scenarios, each the mean over its trials.
    Its error holds for the population of scenarios only where there is a single trial."""
    population: Spread | None
    """Would other scenarios of the same kind, run anew, agree? Both spreads together, over the
    scenarios that have a pair in every trial; None where fewer than two have."""
    n_pairs: int
    """Runs (a scenario in a trial) with a value at both turns."""
    n_before_only: int
    n_after_only: int
    n_incomplete: int
    """Pairs that `population` leaves out since another trial of their scenario has none."""

    @property
    def ratio(self) -> float | None:
        """|delta| over the standard deviation of the trials' changes: an effect size, no test.

        None with a single trial; infinite where the trials agree on a change.
        """
        spread = self.suite.std_dev
        if spread is None:
            return None
        if spread == 0:
            return math.inf if self.suite.delta else None
        return abs(self.suite.delta) / spread


def paired_step(before: ArrayLike, after: ArrayLike, *, level: float = 0.95) -> PairedStep:
    """Estimate the change between two turns from paired runs.

    A run that ends early is a part of what varies when a suite is run again, so each trial's mean
    is over the pairs that it has. The population's error needs the two-way table of changes without
    a gap: with its mean squares MS_trial, MS_scenario and MS_rest over R trials and S scenarios it
    is the root of max(MS_scenario + MS_trial - MS_rest, MS_scenario) / (R S), with Satterthwaite's
    degrees of freedom. The suite's error, the trials' standard deviation over sqrt(R), is in such a
    table the root of MS_trial / (R S).

    Args:
        before: Value at the first turn; shape (n_trials, n_scenarios), NaN where a run lacks it.
        after: Value at the second turn; same shape.
        level: Confidence level of the intervals.

    Raises:
        NotEnoughDataError: No run has both turns.

    References:
        Cornfield & Tukey (1956), Annals of Mathematical Statistics 27:907-949 (two-way mean
        squares); Satterthwaite (1946), Biometrics Bulletin 2:110-114.
    """
    first = np.atleast_2d(np.asarray(before, dtype=np.float64))
    second = np.atleast_2d(np.asarray(after, dtype=np.float64))
    has_first, has_second = ~np.isnan(first), ~np.isnan(second)
    both = has_first & has_second
    if not both.any():
        raise NotEnoughDataError("paired_step: runs with both turns", need=1, got=0)
    # A trial or a scenario without any pair has no part in this step.
    d = (second - first)[np.ix_(both.any(axis=1), both.any(axis=0))]
    whole = d[:, ~np.isnan(d).any(axis=0)]
    return PairedStep(
        suite=_spread(np.nanmean(d, axis=1), level),
        scenarios=_spread(np.nanmean(d, axis=0), level),
        population=_population(whole, level) if whole.shape[1] > 1 else None,
        n_pairs=int(both.sum()),
        n_before_only=int((has_first & ~has_second).sum()),
        n_after_only=int((has_second & ~has_first).sum()),
        n_incomplete=int(both.sum()) - whole.size,
    )


def std_dev_interval(std_dev: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """The interval of a standard deviation from n values, by the chi-square distribution.

    With 5 values at .95 it runs from .60 to 2.87 times the standard deviation seen.

    Args:
        std_dev: Of the sample, with n - 1 degrees of freedom.
        n: Number of values, at least 2.
        level: Confidence level.
    """
    if n < 2:
        raise NotEnoughDataError("std_dev_interval: values", need=2, got=n)
    tail, df = (1 - level) / 2, n - 1
    return std_dev * math.sqrt(df / chdtri(df, tail)), std_dev * math.sqrt(
        df / chdtri(df, 1 - tail)
    )


def _spread(changes: FloatArray, level: float) -> Spread:
    n, delta = len(changes), float(changes.mean())
    if n < 2:
        return _alone(delta, n)
    std_dev = float(changes.std(ddof=1)) if np.ptp(changes) > 1e-12 * np.abs(changes).max() else 0.0
    return _tested(delta, n, std_dev, (std_dev / math.sqrt(n), n - 1), level)


def _population(d: FloatArray, level: float) -> Spread:
    n_trials, n_scenarios = d.shape
    delta = float(d.mean())
    of_scenario = d.mean(axis=0)
    if n_trials < 2:
        return _spread(of_scenario, level)
    std_error, df = mean_squares(d).population_error()
    if std_error <= 1e-12 * np.abs(d).max():
        return _tested(delta, n_scenarios, None, (0.0, n_scenarios - 1), level)
    return _tested(delta, n_scenarios, None, (std_error, df), level)


def _alone(delta: float, n: int) -> Spread:
    return Spread(
        delta=delta, n=n, std_dev=None, std_error=None, df=None, t=None, p=None, low=None, high=None
    )


def _tested(
    delta: float, n: int, std_dev: float | None, error: tuple[float, float], level: float
) -> Spread:
    """A mean with its t test and interval; units that agree have neither."""
    std_error, df = error
    t = delta / std_error if std_error > 0 else None
    half = float(t_quantile(level, df)) * std_error if std_error > 0 else None
    return Spread(
        delta=delta,
        n=n,
        std_dev=std_dev,
        std_error=std_error,
        df=df,
        t=t,
        p=None if t is None else 2 * float(stdtr(df, -abs(t))),
        low=None if half is None else delta - half,
        high=None if half is None else delta + half,
    )
