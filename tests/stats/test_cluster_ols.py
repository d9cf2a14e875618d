"""CR2: published software's numbers, its definition by matrices, truth by simulation, edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.stats.cluster_ols import cluster_ols

SHARED = Path(__file__).resolve().parents[3] / "shared/methods/sims/fixtures"


def made_up(seed: int = 0, *, sizes: tuple[int, ...] = (5, 9, 12, 7, 3)) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    x = np.column_stack([np.ones(len(group)), rng.normal(size=len(group)), group % 2])
    y = x @ [1.0, 0.5, -0.3] + rng.normal(size=len(sizes))[group] + rng.normal(size=len(group))
    return y, x, group


def by_matrices(y: np.ndarray, x: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """CR2 errors and degrees of freedom, from the n x n matrices of the definition."""
    n, k = x.shape
    bread = np.linalg.inv(x.T @ x)
    annihilator = np.eye(n) - x @ bread @ x.T
    residual = annihilator @ y
    meat = np.zeros((k, k))
    columns: list[np.ndarray] = []
    for g in np.unique(group):
        rows = group == g
        values, vectors = np.linalg.eigh(annihilator[np.ix_(rows, rows)])
        roots = [1 / np.sqrt(v) if v > 1e-10 else 0.0 for v in values]
        a = vectors @ np.diag(roots) @ vectors.T
        score = x[rows].T @ a @ residual[rows]
        meat += np.outer(score, score)
        columns.append(annihilator[:, rows] @ a @ x[rows] @ bread)
    df = []
    for c in range(k):
        p = np.column_stack([column[:, c] for column in columns])
        m = p.T @ p
        df.append(np.trace(m) ** 2 / np.trace(m @ m))
    return np.sqrt(np.diag(bread @ meat @ bread)), np.array(df)


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.exists(), reason="the shared fixtures are not here")
def test_values_of_published_software() -> None:
    """clubSandwich on the small example: se .20270575, df 4.91491571, p .44084888."""
    group, x, y = np.loadtxt(SHARED / "cr2.csv", delimiter=",", skiprows=1, unpack=True)
    fit = cluster_ols(y, np.column_stack([np.ones(len(x)), x]), group)
    assert fit.value[1] == pytest.approx(0.16987414, abs=1e-8)
    assert fit.std_error[1] == pytest.approx(0.20270575, abs=1e-8)
    assert fit.df[1] == pytest.approx(4.91491571, abs=1e-7)
    assert fit.p[1] == pytest.approx(0.44084888, abs=1e-7)


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.exists(), reason="the shared fixtures are not here")
def test_values_of_published_software_on_runs() -> None:
    """clubSandwich, quality on turn and model by run: CR1S and CR2 errors of the turn, its df."""
    with (SHARED / "steps.csv").open() as lines:
        names = next(lines).strip().split(",")
        rows = [dict(zip(names, line.strip().split(","), strict=True)) for line in lines]
    turn = np.array([float(row["turn"]) for row in rows])
    model = np.array([row["model"] == "B" for row in rows], dtype=float)
    y = np.array([float(row["quality"]) for row in rows])
    fit = cluster_ols(
        y, np.column_stack([np.ones(len(y)), turn, model]), [row["run"] for row in rows]
    )
    assert fit.std_error[1] == pytest.approx(0.0004345053, abs=1e-10)
    assert fit.std_error_cr1[1] == pytest.approx(0.0004211663, abs=1e-10)
    assert fit.df[1] == pytest.approx(13.048, abs=5e-4)
    assert fit.p[1] == pytest.approx(7.69e-15, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_low_rank_form_is_the_definition(seed: int) -> None:
    """Errors and degrees of freedom equal those of the n x n matrices."""
    y, x, group = made_up(seed)
    fit = cluster_ols(y, x, group)
    std_error, df = by_matrices(y, x, group)
    np.testing.assert_allclose(fit.std_error, std_error, rtol=1e-9)
    np.testing.assert_allclose(fit.df, df, rtol=1e-7)


def test_a_cluster_that_alone_tells_a_coefficient() -> None:
    """A dummy of one cluster makes I - H singular there; the pseudo-inverse leaves it out."""
    y, x, group = made_up(3)
    x = np.column_stack([x[:, :2], group == 2])
    fit = cluster_ols(y, x, group)
    std_error, df = by_matrices(y, x, group)
    np.testing.assert_allclose(fit.std_error[:2], std_error[:2], rtol=1e-6)
    np.testing.assert_allclose(fit.df[:2], df[:2], rtol=1e-5)


def test_absorbed_groups_are_dummies_without_their_columns() -> None:
    """A slope within runs, clustered by task, is that of the fit with a dummy a run."""
    rng = np.random.default_rng(4)
    run = np.repeat(np.arange(12), rng.integers(4, 9, 12))
    task = run // 3
    turn = np.concatenate([np.arange(n) for n in np.bincount(run)]).astype(float)
    y = rng.normal(size=12)[run] + 0.1 * turn + rng.normal(size=len(run))
    within = cluster_ols(y, turn, task, absorb=run)
    dummies = (run[:, None] == np.arange(12)).astype(float)
    std_error, df = by_matrices(y, np.column_stack([turn, dummies]), task)
    assert within.std_error[0] == pytest.approx(std_error[0], rel=1e-9)
    assert within.df[0] == pytest.approx(df[0], rel=1e-7)
    whole = np.linalg.lstsq(np.column_stack([turn, dummies]), y, rcond=None)[0]
    assert within.value[0] == pytest.approx(whole[0])


def test_cr1_agrees_with_statsmodels() -> None:
    """The error for display is the usual clustered one."""
    sm = pytest.importorskip("statsmodels.api")
    y, x, group = made_up(1)
    other = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": group})
    np.testing.assert_allclose(cluster_ols(y, x, group).std_error_cr1, other.bse, rtol=1e-9)


def test_with_each_row_a_cluster_a_mean_has_its_t_interval() -> None:
    """The error is SD / sqrt(n) with n - 1 degrees of freedom."""
    y = np.random.default_rng(2).normal(size=9)
    fit = cluster_ols(y, np.ones(9), np.arange(9))
    assert fit.std_error[0] == pytest.approx(y.std(ddof=1) / 3)
    assert fit.df[0] == pytest.approx(8)
    assert (fit.low[0], fit.high[0]) == pytest.approx(
        stats.t.interval(0.95, 8, y.mean(), y.std(ddof=1) / 3)
    )
    assert fit.p[0] == pytest.approx(stats.ttest_1samp(y, 0).pvalue)
    assert fit.effective_clusters[0] == pytest.approx(9)


def test_under_four_degrees_of_freedom_there_is_no_p() -> None:
    """Value and interval stand; a long cluster that owns the slope shows by its weight."""
    rng = np.random.default_rng(6)
    group = np.repeat(np.arange(6), (80, 4, 4, 4, 4, 4))
    x = np.concatenate([np.arange(n) for n in np.bincount(group)]).astype(float)
    fit = cluster_ols(0.01 * x + rng.normal(size=len(x)), x, group, absorb=group)
    assert fit.df[0] < 4
    assert np.isnan(fit.p[0])
    assert fit.low[0] < fit.value[0] < fit.high[0]
    assert fit.weight[0, 0] > 0.99
    assert fit.effective_clusters[0] < 1.1


@pytest.mark.slow
def test_six_clusters_reject_about_as_often_as_they_should() -> None:
    """Nominal 5 %: CR1 with a normal rejects about three times as often; CR2 does not."""
    rng = np.random.default_rng(9)
    cr2, cr1, n = 0, 0, 2_000
    group = np.repeat(np.arange(6), 20)
    for _ in range(n):
        x = rng.normal(size=6)[group] + rng.normal(size=120)
        y = rng.normal(size=6)[group] + rng.normal(size=120)
        fit = cluster_ols(y, np.column_stack([np.ones(120), x]), group)
        cr2 += abs(fit.t[1]) > stats.t.isf(0.025, fit.df[1])
        cr1 += abs(fit.value[1] / fit.std_error_cr1[1]) > 1.96
    assert cr2 / n < 0.065
    assert cr1 / n > 0.12


@given(st.integers(0, 2**32 - 1), st.floats(-50, 50), st.floats(0.1, 20))
@settings(max_examples=25, deadline=None)
def test_shift_scale_order_and_labels(seed: int, shift: float, scale: float) -> None:
    """The outcome's unit carries through; neither the rows' order nor the labels matter."""
    y, x, group = made_up(seed % 100)
    order = np.random.default_rng(seed).permutation(len(y))
    fit = cluster_ols(y, x, group)
    other = cluster_ols((scale * y + shift)[order], x[order], [f"c{g}" for g in group[order]])
    np.testing.assert_allclose(other.value[1:], scale * fit.value[1:], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.std_error, scale * fit.std_error, rtol=1e-6)
    np.testing.assert_allclose(other.df, fit.df, rtol=1e-6)


def test_rows_with_a_gap_are_left_out() -> None:
    """A NaN in the outcome or a regressor takes its row with it."""
    y, x, group = made_up(5)
    gaps = y.copy()
    gaps[[2, 11]] = np.nan
    kept = ~np.isnan(gaps)
    np.testing.assert_allclose(
        cluster_ols(gaps, x, group).std_error,
        cluster_ols(y[kept], x[kept], group[kept]).std_error,
    )
    assert cluster_ols(gaps, x, group).n_rows == kept.sum()


def test_what_cannot_be_fitted_says_why() -> None:
    """One cluster, too few rows, dependent regressors, a group in two clusters."""
    y, x, group = made_up()
    with pytest.raises(NotEnoughDataError, match="clusters"):
        cluster_ols(y, x, np.zeros(len(y)))
    with pytest.raises(NotEnoughDataError, match="rows"):
        cluster_ols(y[[0, 5, 15]], x[[0, 5, 15]], group[[0, 5, 15]])
    with pytest.raises(InvariantError, match="depend"):
        cluster_ols(y, np.column_stack([x, x[:, 1]]), group)
    with pytest.raises(InvariantError, match="does not vary"):
        cluster_ols(y, group.astype(float), group, absorb=group)
    with pytest.raises(InvariantError, match="two clusters"):
        cluster_ols(y, x[:, 1], group, absorb=np.arange(len(y)) % 3)


def test_an_exact_fit_has_no_t() -> None:
    """Without a residual the error is 0 up to rounding, and no t is made up."""
    group = np.repeat(np.arange(5), 4)
    fit = cluster_ols(np.full(20, 2.0), np.ones(20), group)
    assert fit.value[0] == pytest.approx(2.0)
    assert fit.std_error[0] == 0
    assert np.isnan(fit.t[0])
