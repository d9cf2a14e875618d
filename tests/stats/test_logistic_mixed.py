"""The logistic mixed model: against lme4, against plain integration, and its effects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from stats.graded_steps import shared_steps
from turncurve.errors import FitError, InvariantError, NotEnoughDataError
from turncurve.stats import logistic_mixed as module
from turncurve.stats.logistic_mixed import logistic_mixed


def made(rng: np.random.Generator, groups: int = 40, spread: float = 1.0) -> dict[str, Any]:
    sizes = rng.integers(4, 25, groups)
    group = np.repeat(np.arange(groups), sizes)
    turn = np.concatenate([np.arange(1.0, n + 1) for n in sizes])
    level = rng.normal(0, spread, groups)[group]
    error = (rng.random(len(turn)) < expit(-1.5 + 0.08 * turn + level)).astype(float)
    return {"x": np.column_stack([np.ones(len(turn)), turn]), "group": group, "y": error}


@pytest.mark.corpus
def test_as_lme4_has_it() -> None:
    """glmer(err ~ turn_c + model + (1 | run), family = binomial, nAGQ = 15)."""
    data = shared_steps()
    x = data["x"].copy()
    x[:, 1] -= x[:, 1].mean()
    fit = logistic_mixed(data["error"], x, data["run"])
    np.testing.assert_allclose(fit.value, [-1.960679, 0.07158916, 0.3623097], rtol=3e-5)
    np.testing.assert_allclose(fit.std_error, [0.2300699, 0.02046385, 0.3041514], rtol=2e-4)
    assert fit.level_sd == pytest.approx(0.2923958, rel=1e-4)


def test_the_likelihood_is_the_integral() -> None:
    """By plain numerical integration over each group's level, at the optimum that was found."""
    data = made(np.random.default_rng(3), groups=8)
    fit = logistic_mixed(data["y"], data["x"], data["group"], n_nodes=31)
    total = 0.0
    for group in range(8):
        rows = data["group"] == group
        linear, y = data["x"][rows] @ fit.value, data["y"][rows]

        def inside(u: float, linear: Any = linear, y: Any = y) -> float:
            p = expit(linear + fit.level_sd * u)
            return float(np.prod(np.where(y == 1, p, 1 - p)) * norm.pdf(u))

        total += math.log(quad(inside, -12, 12, epsabs=1e-14, limit=500)[0])
    assert fit.log_likelihood == pytest.approx(total, abs=1e-7)
    for change in ((0.01, 0), (0, 0.002)):
        worse = fit.value + change
        moved = 0.0
        for group in range(8):
            rows = data["group"] == group
            linear, y = data["x"][rows] @ worse, data["y"][rows]

            def there(u: float, linear: Any = linear, y: Any = y) -> float:
                p = expit(linear + fit.level_sd * u)
                return float(np.prod(np.where(y == 1, p, 1 - p)) * norm.pdf(u))

            moved += math.log(quad(there, -12, 12, epsabs=1e-14, limit=500)[0])
        assert moved < total


def test_the_effect_is_the_change_of_the_mean_share() -> None:
    """By simulation of the spread of groups: the share if every turn came a little later."""
    data = made(np.random.default_rng(4))
    fit = logistic_mixed(data["y"], data["x"], data["group"])
    levels = fit.level_sd * norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    linear = data["x"] @ fit.value
    step = 1e-3

    def share(at: np.ndarray) -> float:
        return float(np.mean([expit(at[::7] + level).mean() for level in levels[::20]]))

    later = share(linear + step * fit.value[1])
    earlier = share(linear - step * fit.value[1])
    assert fit.effect[1] == pytest.approx((later - earlier) / (2 * step), rel=0.03)


@pytest.mark.slow
def test_truth_is_found_and_the_effects_interval_covers() -> None:
    rng = np.random.default_rng(11)
    found, hits = [], 0
    big = made(np.random.default_rng(0), groups=20_000)
    nodes = np.linspace(-4, 4, 81)
    weight = norm.pdf(nodes) / norm.pdf(nodes).sum()
    p = expit((-1.5 + 0.08 * big["x"][:, 1])[:, None] + nodes)
    truth = 0.08 * float(((p * (1 - p)) @ weight).mean())
    for _ in range(200):
        data = made(rng)
        fit = logistic_mixed(data["y"], data["x"], data["group"])
        found.append(fit.value[1])
        hits += abs(fit.effect[1] - truth) < 1.96 * fit.effect_std_error[1]
    assert np.mean(found) == pytest.approx(0.08, abs=0.005)
    assert 0.90 < hits / 200 < 0.99


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-2, 1e3), shift=st.floats(-1e3, 1e3))
def test_units_origin_and_order_change_no_effect(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    data = made(rng, groups=20)
    plain = logistic_mixed(data["y"], data["x"], data["group"])
    moved = data["x"].copy()
    moved[:, 1] = (moved[:, 1] + shift) * scale
    order = rng.permutation(len(moved))
    other = logistic_mixed(data["y"][order], moved[order], data["group"][order])
    assert other.effect[1] * scale == pytest.approx(plain.effect[1], rel=1e-3, abs=1e-6)
    assert other.effect_std_error[1] * scale == pytest.approx(plain.effect_std_error[1], rel=5e-3)


def test_without_spread_it_is_the_plain_logistic_model() -> None:
    import statsmodels.api as sm  # noqa: PLC0415 - slow to load

    data = made(np.random.default_rng(8), groups=150, spread=0.0)
    theirs = sm.Logit(data["y"], data["x"]).fit(disp=0)
    fit = logistic_mixed(data["y"], data["x"], data["group"])
    if fit.level_sd < 0.05:
        np.testing.assert_allclose(fit.value, theirs.params, rtol=1e-2)
    assert fit.log_likelihood >= theirs.llf - 1e-6


def test_what_cannot_be_fitted_is_an_error_with_its_cause() -> None:
    data = made(np.random.default_rng(1))
    y, x, group = data["y"], data["x"], data["group"]
    with pytest.raises(NotEnoughDataError, match="groups needs at least 2; got 1"):
        logistic_mixed(y, x, 0 * group)
    with pytest.raises(InvariantError, match="outcomes of 0 and 1"):
        logistic_mixed(y + 0.5, x, group)
    with pytest.raises(FitError, match="the same in every row"):
        logistic_mixed(0 * y, x, group)
    with pytest.raises(FitError, match="separated"):
        logistic_mixed(x[:, 1] > 5, x, group)
    with pytest.raises(InvariantError, match="depend on each other"):
        logistic_mixed(y, np.column_stack([x, x[:, 1]]), group)


def test_the_effects_derivatives_are_those_of_the_effects() -> None:
    """By differences in each coefficient and in the spread of levels."""
    rng = np.random.default_rng(6)
    x, at = rng.normal(size=(50, 2)), np.array([0.3, -0.6, 0.8])
    slope = module._effects(x, at[:2], at[2])[1]  # noqa: SLF001
    for number in range(3):
        step = np.zeros(3)
        step[number] = 1e-6
        more, less = at + step, at - step
        there = module._effects(x, more[:2], more[2])[0]  # noqa: SLF001
        here = module._effects(x, less[:2], less[2])[0]  # noqa: SLF001
        np.testing.assert_allclose(slope[:, number], (there - here) / 2e-6, atol=1e-8)
