"""Coefficients without each cluster: fitted one by one, and their covariance."""

from __future__ import annotations

import numpy as np
import pytest

from turncurve.errors import InvariantError
from turncurve.stats.cluster_jackknife import (
    jackknife_covariance,
    told_without,
    without_each_cluster,
)
from turncurve.stats.cluster_ols import cluster_ols


def made_up() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    run = np.repeat(np.arange(12), rng.integers(4, 12, 12))
    x = rng.normal(size=(len(run), 2)) + run[:, None]
    y = x @ [0.5, -0.2] + rng.normal(size=12)[run] + rng.normal(size=len(run))
    return y, x, run // 2, run


def test_sums_give_what_leaving_out_rows_gives() -> None:
    """Each row is the fit of the other clusters' rows, with the means of runs taken off."""
    y, x, cluster, run = made_up()
    found = without_each_cluster(y, x, cluster, absorb=run)
    for g in range(6):
        rest = cluster != g
        fit = cluster_ols(y[rest], x[rest], cluster[rest], absorb=run[rest])
        np.testing.assert_allclose(found[g], fit.value, rtol=1e-9)


def test_covariance_of_a_mean_is_the_usual_one() -> None:
    """For a mean of one value a cluster the jackknife is s squared over n."""
    values = np.random.default_rng(6).normal(size=15)
    without = without_each_cluster(values, np.ones(15), np.arange(15))
    assert jackknife_covariance(without)[0, 0] == pytest.approx(values.var(ddof=1) / 15, rel=1e-9)


def test_a_cluster_that_alone_tells_is_an_error() -> None:
    """Without it there is no coefficient."""
    x = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(InvariantError, match="one cluster alone"):
        without_each_cluster(np.arange(6.0), np.column_stack([np.ones(6), x]), [0, 0, 1, 1, 2, 2])


def test_what_is_left_without_a_cluster() -> None:
    """Of a single regressor it is the other clusters' share of its square; 0 where one has all."""
    x, cluster = np.array([1.0, 2.0, 2.0, 4.0]), [0, 0, 1, 1]
    np.testing.assert_allclose(told_without(x, cluster), [20 / 25, 5 / 25])
    second = np.array([0.0, 0.0, 1.0, 3.0])
    both = told_without(np.column_stack([second, np.ones(4)]), cluster)
    assert both[1] == pytest.approx(0, abs=1e-12)
    assert both[0] > 0


def test_what_is_left_is_net_of_the_other_regressors() -> None:
    """The same as the residual of the first regressor on the others, cluster by cluster."""
    _, x, cluster, run = made_up()
    left = told_without(x, cluster, absorb=run)
    mean = np.stack([np.bincount(run, weights=c)[run] / np.bincount(run)[run] for c in x.T], 1)
    design = x - mean

    def net(rows: np.ndarray) -> float:
        first, other = design[rows, 0], design[rows, 1]
        return float((first**2).sum() - (first @ other) ** 2 / (other**2).sum())

    whole = net(np.ones(len(run), bool))
    np.testing.assert_allclose(left, [net(cluster != g) / whole for g in range(6)])
