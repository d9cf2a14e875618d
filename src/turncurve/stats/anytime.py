"""Tests and intervals of a mean that stay valid however often one looks, and whenever one stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import log_ndtr

from turncurve.errors import NotEnoughDataError


def mixture_rho(v_best: float, alpha: float) -> float:
    """The prior precision with which the normal mixture's boundary is lowest about `v_best`.

    For a one-sided boundary take twice its `alpha`.

    Args:
        v_best: Variance of the sum (number of values times their variance) to be good at, > 0.
        alpha: Chance of a false alarm at any time.

    References:
        Howard et al. (2021), Annals of Statistics 49:1055-1080, section 3.5.
    """
    _check(alpha)
    return v_best / (2 * math.log(1 / alpha) + math.log(1 + 2 * math.log(1 / alpha)))


def mixture_log_e(total: float, variance: float, rho: float, *, one_sided: bool = False) -> float:
    """Logarithm of the e-value of a sum against a mean of 0, by a normal mixture.

    Under the null hypothesis the e-value exceeds 1 / alpha, at any time, with a chance of at most
    alpha. The values' variance has to be known, or to bound them as a sub-Gaussian variance does:
    values within w of their mean have at most w**2.

    Args:
        total: Sum of the values so far.
        variance: Their number times their variance, >= 0.
        rho: See `mixture_rho`.
        one_sided: Against means above 0 alone.

    References:
        Robbins (1970), Annals of Mathematical Statistics 41:1397-1409; Howard et al. (2021),
        Annals of Statistics 49:1055-1080, section 3.2.
    """
    log_e = 0.5 * math.log(rho / (rho + variance)) + total**2 / (2 * (variance + rho))
    if one_sided:
        log_e += math.log(2) + float(log_ndtr(total / math.sqrt(variance + rho)))
    return log_e


def mixture_bound(variance: float, alpha: float, rho: float, *, one_sided: bool = False) -> float:
    """The sum that is passed at any time, under a mean of 0, with a chance of at most `alpha`.

    Args:
        variance: Number of values times their variance, >= 0.
        alpha: The chance.
        rho: See `mixture_rho`.
        one_sided: The bound of the sum itself, not of its size.
    """
    _check(alpha)
    both = math.sqrt((variance + rho) * math.log((variance + rho) / (rho * alpha**2)))
    if not one_sided:
        return both
    limit = math.log(1 / alpha)

    def over(total: float) -> float:
        return mixture_log_e(total, variance, rho, one_sided=True) - limit

    return float(brentq(over, 0.0, both, xtol=1e-12))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnytimeMean:
    """A mean of values so far, to be looked at as often as one likes."""

    value: float
    n: int
    t: float | None
    """Mean over its standard error; None where the values agree."""
    critical: float
    """The |t| to pass with so many values; infinite while there are too few."""
    log_e: float | None
    """Logarithm of the e-value against a mean of 0; the step counts from log(1 / alpha) on."""
    low: float | None
    """Limits that hold at all times together; None while there are too few values, or where they
    agree."""
    high: float | None
    alpha: float


def anytime_mean(values: ArrayLike, *, n_best: int, alpha: float = 0.05) -> AnytimeMean:
    """Is the mean of trials' changes 0? To be asked after any trial, with leave to go on.

    A t test whose variance is not known, made safe under peeking: the effect in standard deviations
    has a normal prior, the standard deviation the prior that does not care for the unit, so the
    Bayes factor is a martingale under the null hypothesis whatever the true standard deviation.

    Args:
        values: Changes of independent trials, normal around their mean; shape (n,), no NaN.
        n_best: Number of trials at which the rule should be sharpest; fixed before the first look.
        alpha: Chance of ever being wrong.

    Raises:
        NotEnoughDataError: There are fewer than two values.

    References:
        Lai (1976), Annals of Statistics 4:265-280; Wang & Ramdas (2025), arXiv 2310.03722;
        Hendriksen, de Heide & Gruenwald (2021), Bayesian Analysis 16:961-989.
    """
    sample = np.asarray(values, dtype=np.float64)
    n = len(sample)
    if n < 2:
        raise NotEnoughDataError("anytime_mean: values", need=2, got=n)
    critical = anytime_critical(n, n_best=n_best, alpha=alpha)
    mean, agree = float(sample.mean()), np.ptp(sample) <= 1e-12 * np.abs(sample).max()
    error = 0.0 if agree else float(sample.std(ddof=1)) / math.sqrt(n)
    limited = error > 0 and math.isfinite(critical)
    return AnytimeMean(
        value=mean,
        n=n,
        t=mean / error if error else None,
        critical=critical,
        log_e=t_mixture_log_e(mean / error, n, n_best=n_best, alpha=alpha) if error else None,
        low=mean - critical * error if limited else None,
        high=mean + critical * error if limited else None,
        alpha=alpha,
    )


def t_mixture_log_e(t: float, n: int, *, n_best: int, alpha: float = 0.05) -> float:
    """Logarithm of the e-value of a t statistic against a mean of 0.

    With k = 1 + n g, where g is the prior variance of the effect in standard deviations, it is
    -1/2 log k + n/2 log((1 + t**2 / (n - 1)) / (1 + t**2 / (k (n - 1)))).

    Args:
        t: Mean over its standard error.
        n: Values, at least 2.
        n_best: Number of values at which the rule is sharpest; it settles g.
        alpha: Chance that it is sharpest for.
    """
    k = 1 + n * _prior_variance(n_best, alpha)
    x = t**2 / (n - 1)
    return -0.5 * math.log(k) + n / 2 * (math.log1p(x) - math.log1p(x / k))


def anytime_critical(n: int, *, n_best: int, alpha: float = 0.05) -> float:
    """The |t| from which `t_mixture_log_e` reaches log(1 / alpha); infinite where none does.

    Args:
        n: Values, at least 2.
        n_best: Number of values at which it is lowest against other priors.
        alpha: Chance of passing it ever, where the mean is 0.
    """
    return _critical(math.log(1 + n * _prior_variance(n_best, alpha)), n, alpha)


def _critical(log_k: float, n: int, alpha: float) -> float:
    log_r = (log_k + 2 * math.log(1 / alpha)) / n
    if log_r >= log_k:
        return math.inf
    return math.sqrt((n - 1) * math.expm1(log_r) / -math.expm1(log_r - log_k))


def _prior_variance(n_best: int, alpha: float) -> float:
    """The variance of the effect that gives the lowest critical |t| with `n_best` values."""
    _check(alpha)
    if n_best < 2:
        raise ValueError(f"n_best: wanted at least 2, got {n_best!r}")
    least = 2 * math.log(1 / alpha) / (n_best - 1)

    def falling(log_k: float) -> float:
        """Sign of the derivative of the critical |t| by log k."""
        log_r = (log_k + 2 * math.log(1 / alpha)) / n_best
        r, back = math.exp(min(log_r, 700.0)), math.exp(log_r - log_k)
        return r / n_best / (r - 1) - (1 - 1 / n_best) * back / (1 - back)

    lowest = _root(falling, least * (1 + 1e-9) + 1e-12, least + 1.0)
    return math.expm1(lowest) / n_best


def _root(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a function goes from below 0 to above it, at `low` or later."""
    while of(high) < 0:
        high *= 2
    return float(brentq(of, low, high))


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: wanted a number between 0 and 1, got {alpha!r}")
