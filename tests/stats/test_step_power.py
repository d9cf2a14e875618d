"""Power of a t test: published sizes, a reference library, simulation, errors of size and sign."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from turncurve.stats.step_power import Chances, Rule, chances, trials_needed, visible_step


def of_sd(sd: float) -> Callable[[int], tuple[float, float]]:
    return lambda n: (sd / math.sqrt(n), n - 1)


def known(variance: float) -> Callable[[int], tuple[float, float]]:
    return lambda n: (math.sqrt(variance / n), math.inf)


def test_founding_sizes() -> None:
    """A step of .2 with a paired SD of .10 needs 5 trials at one turn, 8 at one of 11."""
    assert trials_needed(0.2, of_sd(0.1), Rule()) == 5
    assert trials_needed(-0.2, of_sd(0.1), Rule(n_positions=11)) == 8


@pytest.mark.parametrize(("answers", "questions"), [(1, 3876), (10, 1260), (math.inf, 969)])
def test_sizes_of_miller(answers: float, questions: int) -> None:
    """Miller (2024), arXiv 2411.00640: a difference of .03 of two models by answers a question."""
    variance = 1 / 9 + 2 * (1 / 6) / answers
    assert trials_needed(0.03, known(variance), Rule()) == questions


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.3, 2.5])
def test_power_of_statsmodels(n: int, ratio: float) -> None:
    """Power is that of the noncentral t, as statsmodels has it."""
    expected = TTestPower().power(ratio, n, 0.05, alternative="two-sided")
    found = chances(ratio, 1 / math.sqrt(n), n - 1, Rule()).power
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("df", [2, 6, 30, 1e5])
def test_the_noncentral_t(df: float) -> None:
    """Both tails agree with scipy's noncentral t for a stated critical value."""
    found = chances(1.1, 1.0, df, Rule(critical=1.7))
    right, wrong = stats.nct.sf(1.7, df, 1.1), stats.nct.cdf(-1.7, df, 1.1)
    assert found.power == pytest.approx(right + wrong, abs=1e-8)
    assert found.wrong_sign == pytest.approx(wrong / (right + wrong), abs=1e-8)


def test_gelman_and_carlin() -> None:
    """Their example: an effect of 0.1 with an error of 3.28 gives power .05, S .46, M 77."""
    found = chances(0.1, 3.28, math.inf, Rule())
    assert found.power == pytest.approx(0.05, abs=0.001)
    assert found.wrong_sign == pytest.approx(0.46, abs=0.005)
    assert found.exaggeration == pytest.approx(77, abs=0.9)
    large = chances(2, 8.1, math.inf, Rule())
    assert (round(large.power, 2), round(large.wrong_sign, 2)) == (0.06, 0.24)
    assert large.exaggeration == pytest.approx(9.5, abs=0.2)


@pytest.mark.parametrize(("n", "step"), [(4, 0.08), (6, 0.12), (15, 0.03)])
def test_what_is_said_of_significant_steps_is_what_simulation_gives(n: int, step: float) -> None:
    """Power, exaggeration and wrong sign are those of 200,000 t tests."""
    rng = np.random.default_rng(n)
    values = rng.normal(step, 0.1, (200_000, n))
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(n)
    significant = np.abs(mean / error) > stats.t.ppf(0.975, n - 1)
    found = chances(step, 0.1 / math.sqrt(n), n - 1, Rule())
    share = significant.mean()
    assert found.power == pytest.approx(share, abs=4 * math.sqrt(share / 200_000))
    sizes = np.abs(mean[significant]) / step
    assert found.exaggeration == pytest.approx(
        sizes.mean(), abs=4 * sizes.std() / math.sqrt(len(sizes))
    )
    wrong = (mean[significant] < 0).mean()
    assert found.wrong_sign == pytest.approx(wrong, abs=4 * math.sqrt((wrong + 1e-4) / len(sizes)))


@given(st.floats(0.01, 3), st.integers(2, 50), st.floats(0.01, 100))
@settings(deadline=None)
def test_the_unit_and_the_sign_do_not_matter(step: float, n: int, factor: float) -> None:
    """A factor on step and error, or another sign, changes no chance."""
    one = chances(step, 1 / math.sqrt(n), n - 1, Rule())
    other = chances(-factor * step, factor / math.sqrt(n), n - 1, Rule())
    assert other.power == pytest.approx(one.power, rel=1e-6, abs=1e-12)
    assert other.exaggeration == pytest.approx(one.exaggeration, rel=1e-6)


@given(st.floats(0.2, 3), st.integers(1, 60), st.floats(0.3, 0.95))
@settings(deadline=None)
def test_the_number_needed_is_the_fewest(ratio: float, n_positions: int, power: float) -> None:
    """So many trials give the power, and one fewer does not."""
    rule = Rule(n_positions=n_positions)
    n = trials_needed(ratio, of_sd(1.0), rule, power=power)
    assert n is not None
    assert chances(ratio, *of_sd(1.0)(n), rule).power >= power
    if n > 2:
        assert chances(ratio, *of_sd(1.0)(n - 1), rule).power < power


@given(st.integers(2, 60), st.integers(1, 60), st.floats(0.1, 0.95))
@settings(deadline=None)
def test_the_visible_step_has_the_power(n: int, n_positions: int, power: float) -> None:
    """It is seen with exactly the wanted chance, and its significant estimates are too large."""
    rule = Rule(n_positions=n_positions)
    error, df = of_sd(0.1)(n)
    step = visible_step(error, df, rule, power=power)
    found = chances(step, error, df, rule)
    assert found.power == pytest.approx(power, abs=1e-6)
    assert found.exaggeration >= 1
    assert 0 <= found.wrong_sign < 0.5


def test_a_critical_value_of_another_test() -> None:
    """A stated |t| is taken as it is, for any degrees of freedom, and may follow the trials."""
    assert Rule(critical=3.1).critical_at(4) == Rule(critical=3.1).critical_at(math.inf) == 3.1
    fixed = trials_needed(0.2, of_sd(0.1), Rule(critical=3.0))
    by_trials = trials_needed(0.2, of_sd(0.1), lambda n: Rule(critical=3.0 if n > 20 else 1e6))
    assert fixed is not None
    assert fixed < 10
    assert by_trials == 21


def test_edges() -> None:
    """A step of 0, an error with a floor, no chance at all, and arguments out of range."""
    assert trials_needed(0.0, of_sd(0.1), Rule()) is None
    assert trials_needed(0.1, lambda n: (0.1 + 1 / n, 30), Rule()) is None
    null = chances(0.0, 1.0, 5, Rule(alpha=0.05))
    assert null.power == pytest.approx(0.05, abs=1e-9)
    assert null.wrong_sign == pytest.approx(0.5)
    assert math.isinf(null.exaggeration)
    never = chances(0.0, 1.0, math.inf, Rule(critical=60.0))
    assert isinstance(never, Chances)
    assert never.power == 0
    assert math.isnan(never.exaggeration)
    for wrong in ({"alpha": 0.0}, {"n_positions": 0}, {"critical": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Rule(**wrong)
    with pytest.raises(ValueError, match="power"):
        trials_needed(0.1, of_sd(0.1), Rule(), power=0.05)
    with pytest.raises(ValueError, match="std_error"):
        chances(0.1, 0.0, 3, Rule())
