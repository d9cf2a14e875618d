"""Products of stage rates: without bias, their variance and posterior, and the trap of means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.stage_product import (
    posterior_rates,
    product_of_means,
    product_variances,
    rates,
    task_products,
)


def test_four_stages_at_80_percent() -> None:
    """0.8 ** 4 is 0.4096: four good stages make a task that mostly fails."""
    assert task_products([16] * 4, [20] * 4, [0] * 4) == pytest.approx([0.4096])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 9)), min_size=1))
def test_is_the_product_of_each_tasks_own_rates(cells: list[tuple[int, int, int]]) -> None:
    """Tasks may have different numbers of stages, in any order of the cells."""
    task = np.unique([t for t, _, _ in cells], return_inverse=True)[1]
    s = np.array([min(a, b) for _, a, b in cells])
    n = np.array([b for *_, b in cells])
    found = task_products(s, n, task)
    assert found == pytest.approx(
        [np.prod((s / n)[task == j]) for j in range(task.max() + 1)], abs=1e-15
    )


def test_a_stage_without_a_trial_makes_its_task_unknown() -> None:
    """NaN for that task and for no other; never 0, never the product of the rest."""
    found = task_products([1, 0, 1], [2, 0, 2], [0, 0, 1])
    assert np.isnan(found).tolist() == [True, False]


def test_the_product_has_no_bias_where_tasks_differ_and_that_of_means_has() -> None:
    """60 tasks, half at .98 and half at .62: mean of products .535, product of means .410."""
    rng = np.random.default_rng(3)
    q = np.repeat(np.where(np.arange(60) < 30, 0.98, 0.62), 4)
    task, stage = np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    own, means = [], []
    for _ in range(400):
        s = rng.binomial(5, q)
        own.append(task_products(s, np.full(240, 5), task).mean())
        means.append(product_of_means(s, np.full(240, 5), stage))
    truth = (0.98**4 + 0.62**4) / 2
    assert np.mean(own) == pytest.approx(truth, abs=4 * np.std(own) / 20)
    assert np.mean(means) == pytest.approx(0.8**4, abs=0.005)


def test_variance_is_goodmans() -> None:
    """For two rates it is m1 v2 + m2 v1 + v1 v2 in squared means m and variances v."""
    mean, variance = np.array([8.5 / 11, 5.5 / 9]), np.empty(2)
    variance[:] = mean * (1 - mean) / [11, 9]
    by_hand = mean[0] ** 2 * variance[1] + mean[1] ** 2 * variance[0] + variance[0] * variance[1]
    assert product_variances([8, 5], [10, 8], [0, 0]) == pytest.approx([by_hand], rel=1e-12)
    assert product_variances([20] * 4, [20] * 4, [0] * 4)[0] > 1e-3


@pytest.mark.parametrize(
    ("succeeded", "limits"), [(20, (0.76, 0.99)), (16, (0.22, 0.56))], ids=["all", "most"]
)
def test_posterior_of_a_product(succeeded: int, limits: tuple[float, float]) -> None:
    """20 of 20 at four stages leaves .76 to .99, where the delta method has no width at all."""
    draws = posterior_rates(
        [succeeded] * 4, [20] * 4, draws=100_000, rng=np.random.default_rng(0)
    ).prod(axis=1)
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx(limits, abs=0.006)


def test_posterior_of_one_stage_is_jeffreys_interval() -> None:
    """With one stage its quantiles are those of Beta(s + 1/2, f + 1/2)."""
    draws = posterior_rates([7], [12], draws=200_000, rng=np.random.default_rng(1))[:, 0]
    assert np.quantile(draws, [0.025, 0.5, 0.975]) == pytest.approx(
        stats.beta.ppf([0.025, 0.5, 0.975], 7.5, 5.5), abs=0.003
    )


def test_refuses_what_cannot_be() -> None:
    """More successes than trials, and a stage without a trial."""
    with pytest.raises(ValueError, match="from 0 to the trials"):
        rates([3], [2])
    with pytest.raises(NotEnoughDataError):
        posterior_rates([0], [0], draws=10, rng=np.random.default_rng(0))
