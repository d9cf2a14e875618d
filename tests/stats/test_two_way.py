"""Two-way variances: known truth, agreement with the paired step, gaps, and one of either."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.errors import NotEnoughDataError
from turncurve.stats.paired_step import paired_step
from turncurve.stats.two_way import components_of, mean_squares


def changes(
    rng: np.random.Generator,
    shape: tuple[int, int, int] = (5, 36, 11),
    *,
    scenario: float = 0.2,
    trial: float = 0.07,
    rest: float = 0.5,
) -> np.ndarray:
    """Independent positions with these standard deviations."""
    r, s, p = shape
    return (
        rng.normal(0, scenario, (1, s, p))
        + rng.normal(0, trial, (r, 1, p))
        + rng.normal(0, rest, shape)
    )


def test_the_components_are_unbiased() -> None:
    """Over 400 pilots their means are the true variances, within Monte-Carlo error."""
    found = [
        components_of(changes(np.random.default_rng(seed), (4, 12, 3), trial=0.3))
        for seed in range(400)
    ]
    for name, truth in (("scenario", 0.04), ("trial", 0.09), ("rest", 0.25)):
        values = np.array([getattr(each, name) for each in found])
        # Variances below 0 are moved to 0, which adds a little where the truth is near it.
        assert values.mean() == pytest.approx(truth, abs=4 * values.std() / 20 + 0.002)
    of_trials = np.array([each.of_trials for each in found])
    assert of_trials.mean() == pytest.approx(0.09 + 0.25 / 12, abs=4 * of_trials.std() / 20)


def test_one_position_is_that_of_the_paired_step() -> None:
    """At one turn the trials' variance and the error for other scenarios are `paired_step`'s."""
    d = changes(np.random.default_rng(1), (5, 20, 1), trial=0.3)
    step = paired_step(np.zeros((5, 20)), d[:, :, 0])
    found = components_of(d)
    assert step.suite.std_dev is not None
    assert found.of_trials == pytest.approx(step.suite.std_dev**2)
    expected = found.expected(5, 20)
    assert expected is not None
    error, df = expected.population_error()
    assert step.population is not None
    assert (error, df) == pytest.approx((step.population.std_error, step.population.df))
    assert found.df_trials == 4
    assert found.df_population == pytest.approx(df)


def test_gaps_count_as_the_paired_step_counts_them() -> None:
    """A trial's mean is over the pairs that it has; the components need every trial."""
    rng = np.random.default_rng(2)
    d = changes(rng, (4, 10, 1))
    d[rng.random(d.shape) < 0.25] = np.nan
    step = paired_step(np.zeros((4, 10)), d[:, :, 0])
    found = components_of(d)
    assert step.suite.std_dev is not None
    assert found.of_trials == pytest.approx(step.suite.std_dev**2)
    assert found.n_pairs == step.n_pairs
    assert found.n_incomplete == step.n_incomplete
    whole = d[:, ~np.isnan(d[:, :, 0]).any(axis=0), 0]
    assert found.rest == pytest.approx(mean_squares(whole).rest)


def test_the_error_is_the_sum_of_its_parts() -> None:
    """Expected mean squares give scenario / S + trial / R + rest / (R S), for any R and S."""
    found = components_of(changes(np.random.default_rng(3), trial=0.3))
    assert found.scenario
    assert found.trial
    assert found.rest
    for r, s in ((2, 5), (5, 36), (9, 100)):
        expected = found.expected(r, s)
        assert expected is not None
        variance = found.scenario / s + found.trial / r + found.rest / (r * s)
        assert expected.population_error()[0] == pytest.approx(math.sqrt(variance))


def test_other_numbers_of_scenarios() -> None:
    """What scenarios of a trial share stays, the rest falls with their number."""
    found = components_of(changes(np.random.default_rng(4), (5, 36, 40), trial=0.3))
    assert found.of_suite(36) == found.of_trials
    assert found.of_suite(10**9) == pytest.approx(found.trial)
    assert found.of_suite(72) == pytest.approx(0.09 + 0.25 / 72, rel=0.25)
    numbers = [found.of_suite(n) for n in (5, 20, 36, 37, 200)]
    assert numbers == sorted(numbers, reverse=True)  # type: ignore[type-var]


def test_pooled_degrees_of_freedom_hold_for_neighbouring_turns() -> None:
    """The pooled variance of trials varies as chi-square with them does: twice its square / df."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(2_000):
        turns = rng.normal(0, 1, (5, 1, 12))
        found.append(components_of(np.diff(turns, axis=2)))
    variances = np.array([each.of_trials for each in found])
    assert variances.mean() == pytest.approx(2, rel=0.02)
    assert 2 * variances.mean() ** 2 / variances.var() == pytest.approx(
        found[0].df_trials, rel=0.12
    )


@given(st.floats(0.01, 100), st.floats(-10, 10))
@settings(deadline=None)
def test_units(factor: float, shift: float) -> None:
    """A factor scales variances by its square; a constant added to all changes changes none."""
    d = changes(np.random.default_rng(6), (3, 5, 2))
    one, other = components_of(d), components_of(factor * d + shift)
    for name in ("scenario", "trial", "rest", "of_trials"):
        expected = factor**2 * getattr(one, name)
        assert getattr(other, name) == pytest.approx(expected, rel=1e-6, abs=1e-9 * factor**2)


def test_one_trial_and_one_scenario() -> None:
    """One trial leaves the scenarios' spread, one scenario the trials'; nothing is told apart."""
    d = changes(np.random.default_rng(7), (5, 8, 3))
    alone = components_of(d[:1])
    assert (alone.of_trials, alone.rest, alone.df_trials) == (None, None, 0)
    assert alone.of_scenarios == pytest.approx(d[0].var(axis=0, ddof=1).mean())
    assert alone.df_population == pytest.approx(7 * 3 / (1 + 0.5 * 2 / 3))
    assert alone.expected(2, 8) is None
    assert alone.of_suite(20) is None
    single = components_of(d[:, :1])
    assert single.of_trials == pytest.approx(d[:, 0].var(axis=0, ddof=1).mean())
    assert (single.rest, single.of_scenarios, single.df_population) == (None, None, None)
    assert single.of_suite(2) is None


def test_changes_that_agree() -> None:
    """Without any spread all variances are 0, rounding aside."""
    d = np.full((3, 4, 2), 0.1) + 1e-17
    found = components_of(d)
    assert (found.scenario, found.trial, found.rest, found.of_trials) == (0, 0, 0, 0)


def test_nothing_to_measure() -> None:
    """No run with both turns is an error."""
    with pytest.raises(NotEnoughDataError, match="runs with both turns"):
        components_of(np.full((2, 2, 2), np.nan))
