"""Linear mixed models: against lme4, against statsmodels, and what they must not depend on."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.graded_steps import METHODS, shared_steps, steps
from turncurve.errors import FitError, InvariantError, NotEnoughDataError
from turncurve.stats import mixed_model as module
from turncurve.stats.group_sums import group_sums
from turncurve.stats.mixed_model import mixed_model

NOT_AT_ITS_OPTIMUM = ("autoswe", "incl")
"""Where lme4 stopped with no spread of levels; ours has the lower deviance."""


def made(
    rng: np.random.Generator, *, groups: int = 30, level: float = 0.5, slope: float = 0.05
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Outcome, regressors, groups and turns of a mixed model with a known truth."""
    sizes = rng.integers(4, 25, groups)
    group = np.repeat(np.arange(groups), sizes)
    turn = np.concatenate([np.arange(1.0, n + 1) for n in sizes])
    other = rng.normal(size=len(turn))
    y = (
        1.0
        + 0.1 * turn
        - 0.3 * other
        + rng.normal(0, level, groups)[group]
        + rng.normal(0, slope, groups)[group] * turn
        + rng.normal(size=len(turn))
    )
    return y, np.column_stack([np.ones(len(turn)), turn, other]), group, turn


@pytest.fixture(scope="module")
def fixture() -> dict[str, np.ndarray]:
    return shared_steps()


@pytest.mark.corpus
def test_levels_as_lme4_has_them(fixture: dict[str, np.ndarray]) -> None:
    """lmer(err ~ turn + model + (1 | run)), REML, R 4.2, lme4 1.1-31."""
    fit = mixed_model(fixture["error"], fixture["x"], fixture["run"])
    np.testing.assert_allclose(fit.value, [0.03310089, 0.009907449, 0.04645772], rtol=1e-6)
    np.testing.assert_allclose(fit.std_error, [0.03893538, 0.002709103, 0.03972991], rtol=1e-6)
    assert fit.random_covariance[0, 0] == pytest.approx(0.002214807, rel=1e-5)
    assert fit.residual_variance == pytest.approx(0.1279084, rel=1e-6)
    assert not fit.at_bound


@pytest.mark.corpus
def test_levels_and_slopes_as_lme4_has_them(fixture: dict[str, np.ndarray]) -> None:
    """lmer(err ~ turn + model + (turn | run)): .011559 (.003574798)."""
    fit = mixed_model(
        fixture["error"], fixture["x"], fixture["run"], fixture["turn"], correlated=True
    )
    assert fit.value[1] == pytest.approx(0.011559, abs=5e-7)
    assert fit.std_error[1] == pytest.approx(0.003574798, rel=1e-4)


@pytest.mark.corpus
def test_the_published_study_as_lme4_has_it(corpus: Callable[[str], Path]) -> None:
    """Twenty fits with levels by task, twenty with levels and slopes by run.

    In one of the latter lme4 stops on its bound, where its deviance is higher than ours.
    """
    folder = corpus("graded")
    with (METHODS / "reference_study.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 20
    for row in rows:
        data = steps(folder / f"{row['cache']}.jsonl", with_missing=row["variant"] == "incl")
        assert len(data["error"]) == int(row["n_steps"])
        levels = mixed_model(data["error"], data["x"], data["task"])
        _agrees(levels.value[1], levels.std_error[1], row, "lme4")
        slopes = mixed_model(data["error"], data["x"], data["run"], data["step"])
        if (row["cache"], row["variant"]) == NOT_AT_ITS_OPTIMUM:
            _is_better_than_the_bound(data, slopes.value[1], float(row["rs_lpm"]))
        else:
            _agrees(slopes.value[1], slopes.std_error[1], row, "rs")


def _agrees(value: float, std_error: float, row: dict[str, str], name: str) -> None:
    wanted, spread = float(row[f"{name}_lpm"]), float(row[f"{name}_se"])
    assert value == pytest.approx(wanted, abs=1e-3 * spread), row["cache"]
    assert std_error == pytest.approx(spread, rel=2e-3), row["cache"]


def _is_better_than_the_bound(data: dict[str, Any], ours: float, theirs: float) -> None:
    sums = group_sums(data["error"], data["x"], data["run"], data["step"])

    def deviance(level: float) -> tuple[float, float]:
        found = [
            (module._deviance(sums, np.diag([level, slope]), restricted=True), slope)  # noqa: SLF001
            for slope in np.linspace(0.6, 0.7, 101)
        ]
        least, slope = min(found)
        fit = module._fit_at(sums, np.diag([level, slope]), restricted=True)  # noqa: SLF001
        return least, fit.value[1]

    on_the_bound, there = deviance(0.0)
    inside, here = deviance(0.062)
    assert there == pytest.approx(theirs, abs=2e-6)
    assert here == pytest.approx(ours, abs=2e-6)
    assert inside < on_the_bound - 0.05


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("restricted", [True, False])
def test_levels_as_statsmodels_has_them(seed: int, *, restricted: bool) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415

    y, x, group, _ = made(np.random.default_rng(seed), slope=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = MixedLM(y, x, group).fit(reml=restricted)
    ours = mixed_model(y, x, group, restricted=restricted)
    np.testing.assert_allclose(ours.value, theirs.fe_params, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours.std_error, theirs.bse_fe, rtol=5e-3)
    assert ours.log_likelihood >= theirs.llf - 1e-4
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_levels_and_slopes_as_statsmodels_has_them(seed: int) -> None:
    """Its turn is scaled for it: unscaled it stops at a wrong optimum."""
    from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415

    y, x, group, turn = made(np.random.default_rng(seed), groups=60, slope=0.1)
    scale = turn.std()
    random = np.column_stack([np.ones(len(y)), turn / scale])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = MixedLM(y, x, group, exog_re=random).fit(reml=True)
    ours = mixed_model(y, x, group, turn, correlated=True)
    assert ours.log_likelihood >= theirs.llf - 1e-4
    np.testing.assert_allclose(ours.value, theirs.fe_params, rtol=1e-2)
    np.testing.assert_allclose(ours.std_error, theirs.bse_fe, rtol=1e-2)


@pytest.mark.slow
def test_the_slope_is_found_and_its_interval_covers() -> None:
    """With slopes by group the interval holds; with levels alone it is far too narrow."""
    rng = np.random.default_rng(5)
    hits = {"slopes": 0, "levels": 0}
    for _ in range(300):
        y, x, group, turn = made(rng, slope=0.1)
        for name, given_slopes in (("slopes", turn), ("levels", None)):
            fit = mixed_model(y, x, group, given_slopes)
            hits[name] += abs(fit.value[1] - 0.1) < 1.96 * fit.std_error[1]
    assert 0.90 < hits["slopes"] / 300 < 0.98
    assert hits["levels"] / 300 < 0.75


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1e-4, 1e6),
    shift=st.floats(-1e6, 1e6),
    factor=st.floats(1e-3, 1e3),
)
def test_units_and_origin_change_no_t(seed: int, scale: float, shift: float, factor: float) -> None:
    """A turn in other units or from another origin; an outcome times a constant; rows in order."""
    rng = np.random.default_rng(seed)
    y, x, group, turn = made(rng, groups=12)
    plain = mixed_model(y, x, group)
    moved = x.copy()
    moved[:, 1] = (turn + shift) * scale
    other = mixed_model(factor * y, moved, group)
    np.testing.assert_allclose(
        other.value[1:] / other.std_error[1:], plain.value[1:] / plain.std_error[1:], rtol=1e-3
    )
    order = rng.permutation(len(y))
    shuffled = mixed_model(y[order], x[order], group[order])
    np.testing.assert_allclose(shuffled.value, plain.value, rtol=1e-6, atol=1e-9)
    both = mixed_model(y, x, group, turn)
    scaled = mixed_model(factor * y, x * [1, scale, 1], group, turn * scale)
    np.testing.assert_allclose(
        scaled.value / scaled.std_error, both.value / both.std_error, rtol=2e-3, atol=1e-4
    )
    assert both.log_likelihood >= plain.log_likelihood - 1e-6


def test_without_a_spread_of_groups_it_is_least_squares() -> None:
    rng = np.random.default_rng(3)
    y, x, group, _ = made(rng, level=0.0, slope=0.0)
    y -= np.bincount(group, y)[group] / np.bincount(group)[group]
    fit = mixed_model(y, x, group)
    assert fit.at_bound
    assert fit.random_covariance[0, 0] == 0
    np.testing.assert_allclose(
        fit.value, np.linalg.lstsq(x, y, rcond=None)[0], rtol=1e-8, atol=1e-9
    )


def test_rows_with_a_nan_are_left_out() -> None:
    y, x, group, turn = made(np.random.default_rng(1))
    holed, spoilt = y.copy(), x.copy()
    holed[3], spoilt[7, 2] = np.nan, np.nan
    kept = np.ones(len(y), bool)
    kept[[3, 7]] = False
    fit = mixed_model(holed, spoilt, group, turn)
    assert fit.n_rows == len(y) - 2
    np.testing.assert_allclose(
        fit.value, mixed_model(y[kept], x[kept], group[kept], turn[kept]).value
    )


def test_what_cannot_be_fitted_is_an_error_with_its_cause() -> None:
    y, x, group, turn = made(np.random.default_rng(1))
    with pytest.raises(NotEnoughDataError, match="groups needs at least 2; got 1"):
        mixed_model(y, x, np.zeros(len(y)))
    with pytest.raises(NotEnoughDataError, match="rows needs at least 4"):
        mixed_model(y[:3], x[:3], [0, 1, 2])
    with pytest.raises(InvariantError, match="depend on each other"):
        mixed_model(y, np.column_stack([x, x[:, 1] * 2]), group)
    with pytest.raises(FitError, match="the outcome is the same in every row"):
        mixed_model(np.ones(len(y)), x, group)
    with pytest.raises(FitError, match="nothing differs within them"):
        mixed_model(group.astype(float) ** 2, x[:, :1], group)
    with pytest.raises(FitError, match="slopes' column is 0"):
        mixed_model(y, x, group, 0 * turn)
    with pytest.raises(InvariantError, match="regressors of shape"):
        mixed_model(y, x[:-1], group)
