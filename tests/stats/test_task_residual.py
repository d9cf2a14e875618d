"""The residual over tasks: by hand, against other methods, and its errors by simulation."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.cluster_bootstrap import draws
from turncurve.stats.stage_product import (
    posterior_rates,
    product_of_means,
    product_variances,
    smoothed,
    task_products,
)
from turncurve.stats.task_residual import (
    TaskSides,
    log_ratio_of_these_tasks,
    log_ratio_over_tasks,
    mean_of_these_tasks,
    mean_over_tasks,
    of_draws,
    residual_of_these_tasks,
)

FloatArray = NDArray[np.float64]


def sides(s: FloatArray, n: int, c: FloatArray, m: int) -> TaskSides:
    """Both sides from counts: stages of shape (n_tasks, n_stages), end to end (n_tasks,)."""
    task = np.repeat(np.arange(len(s)), s.shape[1])
    flat, trials = s.ravel(), np.full(s.size, n)
    return TaskSides(
        predicted=task_products(flat, trials, task),
        predicted_variance=product_variances(flat, trials, task),
        observed=c / m,
        observed_variance=smoothed(c, np.full(len(c), m))[1],
        covariance=np.zeros(len(c)),
    )


def resamples(seed: int = 0, n: int = 1_000) -> partial[object]:
    return partial(draws, rng=np.random.default_rng(seed), resamples=n)


def test_over_tasks_is_a_paired_t() -> None:
    """Mean, error and limits are those of a paired t test over tasks."""
    predicted, observed = np.array([0.9, 0.4, 0.6, 0.7]), np.array([0.5, 0.35, 0.2, 0.75])
    found = mean_over_tasks(predicted - observed)
    known = stats.ttest_rel(predicted, observed).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((known.low, known.high))
    assert found.df == 3


def test_families_are_the_clusters() -> None:
    """With equal families CR2 is a t over the families' means; tasks alone would claim too much."""
    rng = np.random.default_rng(1)
    family = np.repeat(np.arange(8), 5)
    values = rng.normal(0, 1, 8)[family] + rng.normal(0, 0.1, 40)
    found = mean_over_tasks(values, family=family)
    means = values.reshape(8, 5).mean(axis=1)
    assert found.std_error == pytest.approx(stats.sem(means))
    assert found.std_error > 1.8 * mean_over_tasks(values).std_error
    fit = sm.OLS(values, np.ones(40)).fit(cov_type="cluster", cov_kwds={"groups": family})
    assert found.std_error == pytest.approx(fit.bse[0], rel=0.02)


@pytest.mark.parametrize(
    ("values", "family", "why"),
    [
        ([0.3], None, "one task"),
        ([0.3, 0.3], None, "do not differ"),
        ([0.1, 0.2, 0.3], [0, 0, 0], "one family"),
        ([0.1, 0.2, 0.3], [0, 0, 1], "too few"),
        ([0.2] * 12, list(range(6)) * 2, "do not differ"),
    ],
)
def test_no_interval_says_why(values: list[float], family: list[int] | None, why: str) -> None:
    """The value stands and the limits are absent with a reason."""
    found = mean_over_tasks(values, family=family)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.low, found.high) == (None, None)
    assert why in (found.reason or "")


def test_no_task_is_an_error() -> None:
    """There is nothing to average."""
    with pytest.raises(NotEnoughDataError):
        mean_over_tasks([])
    empty = np.empty(0)
    nothing = TaskSides(
        predicted=empty,
        predicted_variance=empty,
        observed=empty,
        observed_variance=empty,
        covariance=empty,
    )
    with pytest.raises(NotEnoughDataError):
        residual_of_these_tasks(nothing)
    with pytest.raises(NotEnoughDataError):
        log_ratio_of_these_tasks(nothing)
    with pytest.raises(NotEnoughDataError):
        mean_of_these_tasks(empty, empty)


def test_log_ratio_is_of_means() -> None:
    """log of the ratio of means: a task that never succeeds does not make it infinite."""
    found = log_ratio_over_tasks([0.8, 0.4, 0.6], [0.4, 0.0, 0.2], resamples())
    assert found.value == pytest.approx(np.log(3))
    assert found.low is not None


def test_log_ratio_is_undefined_without_a_success() -> None:
    """No value, where neither 0 nor infinity would be one."""
    assert log_ratio_over_tasks([0.8, 0.4], [0.0, 0.0], resamples()).value is None
    one = sides(np.array([[5, 5]]), 5, np.array([0]), 5)
    assert log_ratio_of_these_tasks(one).value is None


@given(st.integers(0, 2**32 - 1))
def test_log_ratio_turns_with_the_sides(seed: int) -> None:
    """With predicted and observed exchanged the value and the limits change sign."""
    rng = np.random.default_rng(seed)
    p, o = rng.uniform(0.2, 1, (2, 8))
    one = log_ratio_over_tasks(p, o, resamples())
    other = log_ratio_over_tasks(o, p, resamples())
    assert (one.value, one.low) == pytest.approx((-other.value, -other.high))


def test_families_are_resampled_whole() -> None:
    """Each task twice, as a family: the interval is that of the tasks once."""
    rng = np.random.default_rng(2)
    p, o = rng.uniform(0.3, 1, (2, 12))
    once = log_ratio_over_tasks(p, o, resamples())
    twice = log_ratio_over_tasks(
        np.repeat(p, 2), np.repeat(o, 2), resamples(), family=np.repeat(np.arange(12), 2)
    )
    assert (once.low, once.high) == pytest.approx((twice.low, twice.high))
    assert "task groups" in twice.method


def test_shared_trials_narrow_the_residual() -> None:
    """A covariance of the sides is taken off twice."""
    one = sides(np.array([[8, 8], [9, 7]]), 10, np.array([5, 6]), 10)
    shared = TaskSides(
        predicted=one.predicted,
        predicted_variance=one.predicted_variance,
        observed=one.observed,
        observed_variance=one.observed_variance,
        covariance=np.array([0.005, 0.003]),
    )
    apart, joint = residual_of_these_tasks(one), residual_of_these_tasks(shared)
    assert apart.std_error**2 - joint.std_error**2 == pytest.approx(2 * 0.008 / 4)
    gap = log_ratio_of_these_tasks(one).std_error ** 2
    gap -= log_ratio_of_these_tasks(shared).std_error ** 2
    assert gap == pytest.approx(2 * 0.008 / one.predicted.sum() / one.observed.sum())


def test_posterior_limits_are_quantiles_and_hold_the_value() -> None:
    """5 and 95 of 0 to 100 at 90 %; a value outside, as 20 of 20 has, widens them to itself."""
    drawn = np.arange(101.0)
    inside, outside = of_draws(50.0, drawn, level=0.9), of_draws(100.0, drawn, level=0.9)
    assert (inside.value, inside.low, inside.high) == pytest.approx((50.0, 5.0, 95.0))
    assert (outside.low, outside.high) == pytest.approx((5.0, 100.0))


def test_tasks_that_differ_do_not_hide_or_make_up_a_residual() -> None:
    """60 tasks, half .98 and half .62: paired .016 and .560, product of means -.228 and .292."""
    rng = np.random.default_rng(51)
    q = np.where(np.arange(60) < 30, 0.98, 0.62)
    stage = np.tile(np.arange(4), 60)
    for factor, truth, paired, naive in ((1.0, 0.0, 0.016, -0.228), (0.82, 0.595, 0.560, 0.292)):
        s = rng.binomial(20, np.repeat(q[:, None], 4, 1))
        c = rng.binomial(20, q * (q * factor) ** 3)
        rng.integers(0, 60, (2_000, 60))  # the resamples of the simulation that gave these figures
        both = sides(s, 20, c, 20)
        gamma = log_ratio_over_tasks(both.predicted, both.observed, resamples())
        assert gamma.value == pytest.approx(paired, abs=5e-4)
        assert gamma.low < truth < gamma.high
        wrong = np.log(product_of_means(s.ravel(), np.full(240, 20), stage) / (c.mean() / 20))
        assert wrong == pytest.approx(naive, abs=5e-4)
        delta = mean_over_tasks(both.predicted - both.observed)
        assert (delta.low > 0) == (factor < 1)


@pytest.mark.parametrize("n_tasks", [5, 20])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_these_tasks_are_covered(n_tasks: int, rate: float) -> None:
    """With 20 trials a cell the residual of fixed tasks lies within its limits in 93 to 99 %."""
    rng = np.random.default_rng(8)
    truth, n_in, n_studies = rate**4 - rate * (0.9 * rate) ** 3, 0, 600
    for _ in range(n_studies):
        s = rng.binomial(20, np.full((n_tasks, 4), rate))
        c = rng.binomial(20, np.full(n_tasks, rate * (0.9 * rate) ** 3))
        found = residual_of_these_tasks(sides(s, 20, c, 20))
        n_in += found.low <= truth <= found.high
    assert 0.93 <= n_in / n_studies <= 0.99


def test_a_posterior_averaged_over_tasks_would_not_cover() -> None:
    """Twenty easy tasks of 5 trials: averaging posteriors covers almost never, these limits do."""
    rng = np.random.default_rng(9)
    n_posterior = n_normal = 0
    for _ in range(100):
        s, c = rng.binomial(5, 0.95, (20, 4)), rng.binomial(5, 0.95**4, 20)
        found = residual_of_these_tasks(sides(s, 5, c, 5))
        n_normal += found.low <= 0 <= found.high
        stage = posterior_rates(s.ravel(), np.full(80, 5), draws=500, rng=rng)
        whole = posterior_rates(c, np.full(20, 5), draws=500, rng=rng)
        mean = (stage.reshape(500, 20, 4).prod(axis=2) - whole).mean(axis=1)
        low, high = np.quantile(mean, [0.025, 0.975])
        n_posterior += low <= 0 <= high
    assert n_posterior <= 15
    assert n_normal >= 90


@pytest.mark.parametrize(("n_tasks", "n_trials"), [(8, 3), (30, 5)])
def test_other_tasks_false_alarms(n_tasks: int, n_trials: int) -> None:
    """Tasks that differ widely and no residual: 5 % of studies exclude 0 (2.5 to 7.5 %)."""
    rng = np.random.default_rng(10)
    n_alarms, n_studies = 0, 1_000
    for _ in range(n_studies):
        q = rng.beta(3, 1, (n_tasks, 1))
        s = rng.binomial(n_trials, np.repeat(q, 4, 1))
        both = sides(s, n_trials, rng.binomial(n_trials, q[:, 0] ** 4), n_trials)
        found = mean_over_tasks(both.predicted - both.observed)
        n_alarms += found.low is not None and not found.low <= 0 <= found.high
    assert 0.025 <= n_alarms / n_studies <= 0.075
