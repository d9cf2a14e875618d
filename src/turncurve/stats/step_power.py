"""The power of a paired t test: how many trials a step needs, and which step so many can see."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtr, ndtr

from turncurve.stats.quantiles import normal_quantile, t_quantile

FloatArray: TypeAlias = NDArray[np.float64]

MOST_TRIALS = 1_000_000
"""A step that needs more trials counts as not visible."""

Error: TypeAlias = Callable[[int], tuple[float, float]]
"""Standard error of the mean step, and its degrees of freedom, for a number of trials (from 2)."""

_REACH = 9.0
"""Standard errors to either side of the true step beyond which nothing counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A two-sided rule: a step counts where its |t| passes a critical value.

    `alpha` is the chance of a false alarm at any of `n_positions`; each is tested at its part
    (Bonferroni). A stated `critical`, such as that of the largest |t| over all positions by sign
    flips, is taken as it is in place of it, whatever the degrees of freedom.
    """

    alpha: float = 0.05
    n_positions: int = 1
    critical: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha: wanted a number between 0 and 1, got {self.alpha!r}")
        if self.n_positions < 1:
            raise ValueError(f"n_positions: wanted at least 1, got {self.n_positions!r}")
        if self.critical is not None and not self.critical > 0:
            raise ValueError(f"critical: wanted a number above 0, got {self.critical!r}")

    @property
    def alpha_each(self) -> float:
        """Level of the test at one position; that of the whole where `critical` is stated."""
        return self.alpha / self.n_positions if self.critical is None else self.alpha

    def critical_at(self, df: float) -> float:
        """The |t| to pass with so many degrees of freedom."""
        if self.critical is not None:
            return self.critical
        level = 1 - self.alpha_each
        return normal_quantile(level) if math.isinf(df) else float(t_quantile(level, df))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """What a test of a true step gives."""

    power: float
    """Chance that it is significant."""
    exaggeration: float
    """Mean size of a significant estimate over the true size (type M); at least 1, and infinite
    for a step of 0."""
    wrong_sign: float
    """Chance that a significant estimate has the wrong sign (type S); .5 for a step of 0."""


def chances(step: float, std_error: float, df: float, rule: Rule) -> Chances:
    """Power, exaggeration and wrong sign of a t test where the true step is known.

    The estimate is normal around the step, and the square of its standard error is chi-square with
    `df`, independent of it; so t is noncentral t with `step` / `std_error`.

    Args:
        step: True mean change; its sign does not matter.
        std_error: True standard error of the estimate, > 0.
        df: Degrees of freedom of the estimated error, > 0; infinite for a known one.
        rule: What counts as significant.

    References:
        Gelman & Carlin (2014), Perspectives on Psychological Science 9:641-651 (type M and S).
    """
    if not std_error > 0 or not df > 0:
        raise ValueError(f"chances: wanted std_error and df above 0, got {std_error!r}, {df!r}")
    m, critical = abs(step) / std_error, rule.critical_at(df)
    right, right_size = _passing(m, df, critical)
    wrong, wrong_size = _passing(-m, df, critical)
    power = right + wrong
    if power == 0:
        return Chances(power=0.0, exaggeration=math.nan, wrong_sign=math.nan)
    return Chances(
        power=min(power, 1.0),
        exaggeration=(right_size + wrong_size) / power / m if m else math.inf,
        wrong_sign=wrong / power,
    )


def _passing(m: float, df: float, critical: float) -> tuple[float, float]:
    """P(Z > c s) and E[Z; Z > c s] for Z normal around m, and s**2 chi-square over its df."""
    if math.isinf(df):
        beyond = float(ndtr(m - critical))
        at_critical = math.exp(-((critical - m) ** 2) / 2) / math.sqrt(2 * math.pi)
        return beyond, m * beyond + at_critical
    low, high = max(m - _REACH, 0.0), m + _REACH
    if high <= low:
        return 0.0, 0.0
    # The chance to pass rises from 0 to 1 around the critical value, steeply where df is large.
    rise = _REACH * critical / math.sqrt(2 * df)
    ends = np.clip([low, critical - rise, critical + rise, high], low, high)
    x, weight = _nodes()
    width = np.diff(ends)[:, None]
    z = ends[:-1, None] + width * x
    density = width * weight * np.exp(-((z - m) ** 2) / 2) / math.sqrt(2 * math.pi)
    passed = density * chdtr(df, df * (z / critical) ** 2)
    return float(passed.sum()), float((z * passed).sum())


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    """Gauss and Legendre's places and weights on 0 to 1."""
    x, weight = np.polynomial.legendre.leggauss(128)
    return (x + 1) / 2, weight / 2


def trials_needed(
    step: float,
    error: Error,
    rule: Rule | Callable[[int], Rule],
    *,
    power: float = 0.8,
    fewest: int = 2,
) -> int | None:
    """The fewest trials with which a step is significant with a wanted chance.

    Args:
        step: True mean change; its sign does not matter.
        error: Standard error and degrees of freedom by number of trials; it falls with them.
        rule: What counts as significant, perhaps by number of trials.
        power: Wanted chance, above the rule's own of a false alarm.
        fewest: Trials to start from.

    Returns:
        The number; None where a million are not enough: a step of 0, or an error that more trials
        do not lower any further.
    """
    rule_at = (lambda _: rule) if isinstance(rule, Rule) else rule
    _check_power(power, rule_at(fewest))

    def enough(n: int) -> bool:
        return chances(step, *error(n), rule_at(n)).power >= power

    high = fewest
    while not enough(high):
        if high >= MOST_TRIALS:
            return None
        high = min(2 * high, MOST_TRIALS)
    low = max(high // 2, fewest - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def visible_step(std_error: float, df: float, rule: Rule, *, power: float = 0.8) -> float:
    """The smallest step that is significant with a wanted chance.

    Args:
        std_error: Standard error of the mean step, > 0.
        df: Its degrees of freedom.
        rule: What counts as significant.
        power: Wanted chance.
    """
    _check_power(power, rule)
    high = 1.0
    while chances(high, 1.0, df, rule).power < power:
        high *= 2
    return std_error * float(brentq(lambda m: chances(m, 1.0, df, rule).power - power, 0, high))


def _check_power(power: float, rule: Rule) -> None:
    floor = rule.alpha_each if rule.critical is None else 0.0
    if not floor < power < 1:
        raise ValueError(f"power: wanted a number between {floor:g} and 1, got {power!r}")
