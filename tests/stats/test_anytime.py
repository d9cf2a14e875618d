"""Means that may be looked at often: the bounds of others, the level under peeking, and edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.anytime import (
    anytime_critical,
    anytime_mean,
    mixture_bound,
    mixture_log_e,
    mixture_rho,
    t_mixture_log_e,
)


def test_two_sided_bound_of_confseq() -> None:
    """The unit tests of the confseq library (Howard et al.) give these values."""
    rho = mixture_rho(100, 0.05)
    assert rho == pytest.approx(12.60056, abs=5e-6)
    assert mixture_log_e(10, 100, rho) == pytest.approx(-0.6510052, abs=5e-8)
    assert mixture_bound(100, 0.05, rho) == pytest.approx(30.35209, abs=5e-6)


def test_one_sided_bound_of_confseq() -> None:
    """The same for the one-sided bound, whose rho is that of twice the alpha."""
    rho = mixture_rho(100, 0.1)
    assert mixture_log_e(10, 100, rho, one_sided=True) == pytest.approx(-0.06502391, abs=2e-8)
    assert mixture_bound(100, 0.05, rho, one_sided=True) == pytest.approx(27.66071, abs=5e-6)


@pytest.mark.parametrize("one_sided", [False, True])
@given(st.floats(1, 1e4), st.floats(0.001, 0.3), st.floats(0.1, 100))
@settings(deadline=None)
def test_at_the_bound_the_e_value_is_one_over_alpha(
    one_sided: bool,  # noqa: FBT001 -- a parameter of the test
    variance: float,
    alpha: float,
    rho: float,
) -> None:
    """Bound and e-value are one rule: at the bound log e is log(1 / alpha)."""
    bound = mixture_bound(variance, alpha, rho, one_sided=one_sided)
    log_e = mixture_log_e(bound, variance, rho, one_sided=one_sided)
    assert log_e == pytest.approx(math.log(1 / alpha), abs=1e-6)


@given(st.integers(2, 200), st.integers(2, 200), st.floats(0.001, 0.3))
@settings(deadline=None)
def test_at_the_critical_t_the_e_value_is_one_over_alpha(n: int, n_best: int, alpha: float) -> None:
    """Critical |t| and e-value are one rule; where none passes, no t reaches the e-value."""
    critical = anytime_critical(n, n_best=n_best, alpha=alpha)
    if math.isinf(critical):
        assert t_mixture_log_e(1e9, n, n_best=n_best, alpha=alpha) < math.log(1 / alpha)
    else:
        log_e = t_mixture_log_e(critical, n, n_best=n_best, alpha=alpha)
        assert log_e == pytest.approx(math.log(1 / alpha), rel=1e-6)


def test_the_e_value_is_the_bayes_factor() -> None:
    """Integrating the noncentral t over the prior of the effect gives the same number."""
    n, n_best, alpha, t = 9, 8, 0.05, 2.7
    g = _prior_variance(n, n_best, alpha)

    def under(effect: float) -> float:
        prior = stats.norm.pdf(effect, scale=math.sqrt(g))
        return float(stats.nct.pdf(t, n - 1, effect * math.sqrt(n)) * prior)

    reach = 8 * math.sqrt(g)
    marginal, _ = integrate.quad(under, -reach, reach, limit=200, epsabs=1e-10)
    factor = marginal / stats.t.pdf(t, n - 1)
    assert t_mixture_log_e(t, n, n_best=n_best, alpha=alpha) == pytest.approx(
        math.log(factor), abs=1e-5
    )


def _prior_variance(n: int, n_best: int, alpha: float) -> float:
    """Found from the limit of the e-value at t = 0, which is -1/2 log(1 + n g)."""
    return math.expm1(-2 * t_mixture_log_e(0, n, n_best=n_best, alpha=alpha)) / n


@pytest.mark.parametrize("n_best", [5, 8, 20, 60])
def test_it_is_sharpest_where_it_was_tuned(n_best: int) -> None:
    """No other tuning gives a lower critical |t| with that number of values."""
    own = anytime_critical(n_best, n_best=n_best)
    others = [anytime_critical(n_best, n_best=m) for m in range(2, 200)]
    assert own <= min(others) + 1e-9
    assert own > stats.t.ppf(0.975, n_best - 1)


def test_it_keeps_its_level_under_optional_stopping_and_a_repeated_t_does_not() -> None:
    """Looked at after each of 3 to 60 trials, a t is wrong in a third of suites without a step."""
    rng = np.random.default_rng(1)
    draws = 4_000
    values = rng.normal(0, 0.1, (draws, 60))
    looks = np.arange(3, 61)
    mean = values.cumsum(axis=1)[:, 2:] / looks
    squares = (values**2).cumsum(axis=1)[:, 2:] - looks * mean**2
    t = mean / np.sqrt(squares / (looks - 1) / looks)
    critical = np.array([anytime_critical(int(k), n_best=8) for k in looks])
    naive = (np.abs(t) > stats.t.ppf(0.975, looks - 1)).any(axis=1).mean()
    safe = (np.abs(t) > critical).any(axis=1).mean()
    assert naive > 0.25
    assert safe < 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)
    assert safe > 0.01


def test_its_interval_holds_the_mean_at_all_looks_together() -> None:
    """Intervals after each trial hold the true step, all of them, in 95 % of suites at least."""
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(400):
        values = rng.normal(-0.66, 0.09, 25)
        looks = [anytime_mean(values[:n], n_best=5) for n in range(4, 26)]
        missed += any(
            look.low is not None and look.high is not None and not look.low <= -0.66 <= look.high
            for look in looks
        )
    assert missed / 400 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_it_sees_a_step() -> None:
    """A step of two standard deviations passes before 20 trials in nearly all suites."""
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(200):
        values = rng.normal(0.2, 0.1, 20)
        looks = (anytime_mean(values[:n], n_best=8) for n in range(4, 21))
        seen += any(abs(look.t or 0) > look.critical for look in looks)
    assert seen > 190


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=20), st.floats(0.1, 10))
@settings(deadline=None)
def test_the_unit_does_not_matter(values: list[float], factor: float) -> None:
    """A factor scales mean and limits, and leaves t and e-value."""
    sample = np.array(values)
    if np.ptp(sample) < 1e-3:
        return
    one, other = anytime_mean(sample, n_best=5), anytime_mean(factor * sample, n_best=5)
    assert other.value == pytest.approx(factor * one.value, abs=1e-9)
    assert (one.log_e, one.t) == pytest.approx((other.log_e, other.t), rel=1e-6, abs=1e-9)


def test_its_t_is_that_of_a_t_test() -> None:
    """t is scipy's, and the limits are the mean and the critical |t| times its standard error."""
    values = np.random.default_rng(4).normal(-0.2, 0.1, 12)
    found, test = anytime_mean(values, n_best=8), stats.ttest_1samp(values, 0)
    assert found.t == pytest.approx(test.statistic)
    error = found.value / test.statistic
    assert found.low == pytest.approx(found.value - found.critical * error)
    assert found.high == pytest.approx(found.value + found.critical * error)
    assert found.log_e == pytest.approx(t_mixture_log_e(test.statistic, 12, n_best=8))


def test_edges() -> None:
    """Too few values, values that agree, and arguments out of range."""
    with pytest.raises(NotEnoughDataError):
        anytime_mean([1.0], n_best=5)
    agree = anytime_mean([0.3, 0.3, 0.3, 0.3], n_best=4)
    assert (agree.t, agree.log_e, agree.low, agree.high) == (None, None, None, None)
    few = anytime_mean([0.3, 0.31], n_best=8)
    assert math.isinf(few.critical)
    assert (few.low, few.high) == (None, None)
    assert few.log_e is not None
    with pytest.raises(ValueError, match="n_best"):
        anytime_critical(5, n_best=1)
    with pytest.raises(ValueError, match="alpha"):
        anytime_critical(5, n_best=5, alpha=0)
