"""The logistic curve and the resamples of the time horizon."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from turncurve.stats.horizon import hierarchical_counts, logistic_fits


def by_general_optimiser(x, y, w, ridge):
    """Intercept and slope by a minimiser that knows nothing of logistic curves."""

    def loss(point):
        log_odds = point[0] + point[1] * x
        return (w * (np.logaddexp(0, log_odds) - y * log_odds)).sum() + ridge / 2 * point[1] ** 2

    return minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})


@pytest.mark.parametrize("ridge", [0.0, 0.1, 5.0])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_general_optimiser(seed: int, ridge: float) -> None:
    """Weighted, with fractional successes and a ridge, the best curve is the same."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, 60)
    y = np.where(rng.random(60) < 0.2, rng.random(60), rng.random(60) < 1 / (1 + np.exp(x - 5)))
    w = rng.uniform(0, 2, 60)
    fit = logistic_fits(x, y, w, ridge=ridge)
    best = by_general_optimiser(x, y, w, ridge).x
    assert [fit.intercept[0], fit.slope[0]] == pytest.approx(best, abs=1e-4)


def test_finds_the_curve_that_made_the_data() -> None:
    """With 40,000 points the horizon of 50 % is found to 2 %, that of 80 % to 3 %."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 12, 40_000)
    y = rng.random(len(x)) < 1 / (1 + np.exp(0.6 * (x - np.log2(60))))
    fit = logistic_fits(x, y, np.ones(len(x)))
    assert 2 ** fit.where(0.5)[0] == pytest.approx(60, rel=0.02)
    assert fit.where(0.8)[0] == pytest.approx(np.log2(60) - np.log(4) / 0.6, abs=0.04)
    assert fit.slope[0] == pytest.approx(-0.6, abs=0.02)


def test_many_fits_are_those_one_by_one() -> None:
    """Fits that are made together have no influence on each other, however many there are."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 8, 4_000), rng.random(4_000) < 0.4
    w = rng.integers(0, 3, (300, 4_000)).astype(float)
    together = logistic_fits(x, y, w)
    for row in (0, 124, 125, 299):
        alone = logistic_fits(x, y, w[row])
        assert together.slope[row] == pytest.approx(alone.slope[0], abs=1e-12)


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=40)
def test_a_weight_counts_as_so_many_points(seed: int) -> None:
    """A point of weight 2 is two points, one of weight 0 is none."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, 8, 40), (rng.random(40) < 0.5).astype(float)
    w = rng.integers(0, 3, 40)
    weighted = logistic_fits(x, y, w)
    doubled = logistic_fits(np.repeat(x, w), np.repeat(y, w), np.ones(w.sum()))
    assert weighted.slope == pytest.approx(doubled.slope, abs=1e-8, nan_ok=True)
    assert weighted.where(0.5) == pytest.approx(doubled.where(0.5), rel=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("y", "w"),
    [
        ([1, 1, 1, 1], [1, 1, 1, 1]),
        ([0, 0, 0, 0], [1, 1, 1, 1]),
        ([1, 1, 0, 0], [1, 1, 1, 1]),
        ([1, 0, 1, 0], [1, 0, 1, 0]),
        ([1, 0, 1, 0], [0, 0, 0, 0]),
    ],
    ids=["all succeed", "all fail", "a time parts them", "weighted, all succeed", "no weight"],
)
def test_no_best_curve(y: list[int], w: list[int]) -> None:
    """Where no curve is the best there is none, and no warning of an overflow either."""
    fit = logistic_fits([1.0, 2.0, 3.0, 4.0], y, w)
    assert np.isnan(fit.slope).all()
    assert np.isnan(fit.where(0.5)).all()


def test_success_that_rises_with_time_has_no_horizon() -> None:
    """The curve is given, where it reaches a chance from above it is not."""
    fit = logistic_fits([1.0, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], np.ones(6))
    assert fit.slope[0] > 0
    assert np.isnan(fit.where(0.5)[0])


def test_a_ridge_keeps_a_parted_curve() -> None:
    """With a penalty on the slope a best curve exists where a time parts the outcomes."""
    fit = logistic_fits([1.0, 2, 3, 4], [1, 1, 0, 0], np.ones(4), ridge=0.1)
    assert fit.slope[0] < 0
    assert fit.where(0.5)[0] == pytest.approx(2.5)


def test_families_are_drawn_whole() -> None:
    """With equal families every resample has as many units; a family that is left has none."""
    family, task = np.repeat([0, 1, 2], 4), np.repeat(np.arange(6), 2)
    counts = hierarchical_counts(family, task, rng=np.random.default_rng(0), resamples=4_000)
    assert (counts.sum(axis=1) == 12).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(12), abs=0.15)
    of_family = counts.reshape(4_000, 3, 4).sum(axis=2)
    assert (of_family == 0).mean() == pytest.approx((2 / 3) ** 3, abs=0.02)
    assert (of_family % 4 == 0).all()


def test_tasks_as_units_are_drawn_as_in_a_plain_bootstrap() -> None:
    """Each of n tasks of a family of its own is drawn a Binomial(n, 1/n) number of times."""
    n = 8
    draws = hierarchical_counts(range(n), range(n), rng=np.random.default_rng(0), resamples=9_000)
    assert draws.var(axis=0) == pytest.approx(np.full(n, 1 - 1 / n), abs=0.06)
    assert np.cov(draws[:, 0], draws[:, 1])[0, 1] == pytest.approx(-1 / n, abs=0.03)


def test_runs_within_tasks_vary_more_than_tasks_alone() -> None:
    """Drawing the runs too adds their spread: 1.25 against .75 for 4 tasks of 2 runs each."""
    task = np.repeat(np.arange(4), 2)
    draws = hierarchical_counts(task, task, rng=np.random.default_rng(0), resamples=20_000)
    # Var = E[2m / 4] + Var(m) with m ~ Binomial(4, 1/4), as Binomial(2m, 1/2) has mean m.
    assert draws.var(axis=0) == pytest.approx(np.full(8, 0.5 + 0.75), abs=0.05)
