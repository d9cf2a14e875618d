"""Estimating equations: against geeglm and statsmodels, and what they must not depend on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from stats.graded_steps import shared_steps
from turncurve.errors import FitError, InvariantError, NotEnoughDataError
from turncurve.stats.gee import gee


def made(rng: np.random.Generator, groups: int = 25) -> dict[str, Any]:
    """Binary and plain outcomes of groups with a level of their own."""
    sizes = rng.integers(3, 20, groups)
    group = np.repeat(np.arange(groups), sizes)
    turn = np.concatenate([np.arange(1.0, n + 1) for n in sizes])
    level = rng.normal(0, 0.8, groups)[group]
    x = np.column_stack([np.ones(len(turn)), turn, rng.normal(size=len(turn))])
    error = (rng.random(len(turn)) < expit(-1.5 + 0.08 * turn + level)).astype(float)
    plain = 0.1 * turn + level + rng.normal(size=len(turn))
    return {"x": x, "group": group, "error": error, "plain": plain}


@pytest.mark.corpus
def test_log_odds_as_geeglm_has_them() -> None:
    """geeglm(err ~ turn + model, id = run, family = binomial, corstr = "exchangeable")."""
    data = shared_steps()
    fit = gee(data["error"], data["x"], data["run"], family="logistic")
    np.testing.assert_allclose(fit.value, [-2.659307, 0.07019115, 0.3653965], rtol=2e-7)
    np.testing.assert_allclose(fit.std_error_robust, [0.39421, 0.02579713, 0.3042708], rtol=1e-6)
    assert fit.correlation == pytest.approx(0.01158567, rel=1e-6)
    assert (fit.std_error > fit.std_error_robust).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_as_statsmodels_has_it(seed: int, family: Any) -> None:
    """With its correlation, which is by another moment, the rest agrees; so do both errors."""
    import statsmodels.api as sm  # noqa: PLC0415 - slow to load

    data = made(np.random.default_rng(seed))
    y = data["error"] if family == "logistic" else data["plain"]
    theirs_family = sm.families.Binomial() if family == "logistic" else sm.families.Gaussian()
    ours = gee(y, data["x"], data["group"], family=family)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        structure = sm.cov_struct.Exchangeable()
        structure.dep_params = ours.correlation
        model = sm.GEE(y, data["x"], data["group"], family=theirs_family, cov_struct=structure)
        robust = model.fit(first_dep_update=10_000, maxiter=500)
        reduced = model.fit(first_dep_update=10_000, maxiter=500, cov_type="bias_reduced").bse
    np.testing.assert_allclose(ours.value, robust.params, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.std_error_robust, robust.bse, rtol=1e-3)
    np.testing.assert_allclose(ours.std_error, reduced, rtol=1e-3)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-3, 1e4), shift=st.floats(-1e4, 1e4))
def test_units_origin_and_order_change_no_t(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    data = made(rng)
    plain = gee(data["plain"], data["x"], data["group"])
    moved = data["x"].copy()
    moved[:, 1] = (moved[:, 1] + shift) * scale
    order = rng.permutation(len(moved))
    other = gee(data["plain"][order], moved[order], data["group"][order])
    np.testing.assert_allclose(
        (other.value / other.std_error)[1:], (plain.value / plain.std_error)[1:], rtol=1e-5
    )


def test_clusters_of_one_row_are_least_squares_with_robust_errors() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(50), np.arange(50.0)])
    y = 2 + 0.1 * x[:, 1] + rng.normal(size=50)
    fit = gee(y, x, np.arange(50))
    assert fit.correlation == 0
    np.testing.assert_allclose(fit.value, np.linalg.lstsq(x, y, rcond=None)[0], rtol=1e-9)
    leverage = np.einsum("ij,jk,ik->i", x, np.linalg.inv(x.T @ x), x)
    residual = (y - x @ fit.value) / (1 - leverage)
    bread = np.linalg.inv(x.T @ x)
    hc3 = bread @ (x.T * residual**2) @ x @ bread
    np.testing.assert_allclose(fit.std_error, np.sqrt(np.diag(hc3)), rtol=1e-8)


@pytest.mark.slow
def test_the_interval_covers_with_few_clusters() -> None:
    """Twelve clusters: with the correction about 95 %, without it less."""
    rng = np.random.default_rng(2)
    hits = {"corrected": 0, "robust": 0}
    for _ in range(1_000):
        group = np.repeat(np.arange(12), 8)
        turn = np.tile(np.arange(8.0), 12)
        slope = rng.normal(0, 0.2, 12)[group]
        y = slope * turn + rng.normal(size=96)
        fit = gee(y, np.column_stack([np.ones(96), turn]), group)
        hits["corrected"] += fit.low[1] < 0 < fit.high[1]
        hits["robust"] += abs(fit.value[1]) < 1.96 * fit.std_error_robust[1]
    assert 0.93 < hits["corrected"] / 1_000 < 0.98
    assert hits["robust"] / 1_000 < 0.93


def test_what_cannot_be_fitted_is_an_error_with_its_cause() -> None:
    data = made(np.random.default_rng(1))
    with pytest.raises(NotEnoughDataError, match="clusters needs at least 4; got 2"):
        gee(data["plain"], data["x"], data["group"] % 2)
    with pytest.raises(InvariantError, match="depend on each other"):
        gee(data["plain"], np.column_stack([data["x"], data["x"][:, 1]]), data["group"])
    with pytest.raises(InvariantError, match="outcomes of 0 and 1"):
        gee(data["plain"], data["x"], data["group"], family="logistic")
    with pytest.raises(FitError, match="separated"):
        gee(data["x"][:, 1] > 5, data["x"], data["group"], family="logistic")
