"""Coefficients without each cluster: fitted one by one, and their covariance."""

from __future__ import annotations

import numpy as np
import pytest

from turncurve.errors import InvariantError
from turncurve.stats.cluster_jackknife import jackknife_covariance, without_each_cluster
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
