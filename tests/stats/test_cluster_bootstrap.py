"""Intervals over clusters: against scipy, by coverage, by hand, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from turncurve.stats.agreement_weights import agreement_weights
from turncurve.stats.cluster_bootstrap import (
    ClusterInterval,
    cluster_interval,
    draws,
    resampled_sums,
)
from turncurve.stats.cohen_kappa import kappas
from turncurve.stats.confusion import confusion_counts, share


def ratio(sums: np.ndarray) -> np.ndarray:
    return share(sums[..., 0], sums[..., 1])


def interval(
    sums: np.ndarray, seed: int = 1, resamples: int = 2_000, statistic=ratio
) -> ClusterInterval:
    def draw(n: int):
        return draws(n, rng=np.random.default_rng(seed), resamples=resamples)

    return cluster_interval(resampled_sums(sums, draw), statistic)


def with_ones(values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.ones(len(values))], axis=1)


def test_bca_is_scipys() -> None:
    """The BCa interval of a skewed mean is scipy's, to the resamples' own error."""
    values = np.random.default_rng(5).exponential(size=40)
    ours = interval(with_ones(values), resamples=40_000)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(2)
    )
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.02 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.02 * width)
    assert ours.std_error == pytest.approx(theirs.standard_error, rel=0.02)
    assert ours.method.startswith("BCa")


def test_bca_of_a_biased_statistic_is_scipys() -> None:
    """The variance over n is biased in resamples; both of BCa's corrections show in its limits."""
    values = np.random.default_rng(9).exponential(size=30)

    def variance(sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 2] - (sums[..., 1] / sums[..., 2]) ** 2

    sums = np.stack([values**2, values, np.ones(30)], axis=1)
    ours = interval(sums, resamples=40_000, statistic=variance)
    theirs = stats.bootstrap(
        (values,), np.var, n_resamples=40_000, method="BCa", rng=np.random.default_rng(3)
    )
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.02 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.04 * width)


def test_percentiles_where_a_run_is_all() -> None:
    """Where it is undefined without one of 25 runs, limits are plain quantiles of the rest."""
    sums = np.tile([0.0, 1.0, 1.0], (25, 1))
    sums[:5, 0] = 1.0

    def statistic(cells: np.ndarray) -> np.ndarray:
        return np.where(cells[..., 1] == 24, np.nan, ratio(cells))

    found = interval(sums, resamples=500, statistic=statistic)
    weights = np.random.default_rng(1).multinomial(25, np.full(25, 1 / 25), size=500)
    wanted = np.quantile(weights[:, :5].sum(axis=1) / 25, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(wanted))
    assert found.method.startswith("percentiles")


def test_jackknife_with_few_clusters() -> None:
    """Below 20 clusters the interval of a mean is Student's t interval."""
    values = np.array([1.0, 3.0, 4.0, 9.0, 2.5])
    ours = interval(with_ones(values))
    wanted = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert (ours.low, ours.high) == pytest.approx(wanted)
    assert (ours.df, ours.n_clusters) == (4, 5)


def test_very_many_clusters_are_not_drawn() -> None:
    """Above 1,000 clusters the jackknife says what resampling would, at once."""
    values = np.random.default_rng(10).exponential(size=1_001)
    many, fewer = interval(with_ones(values)), interval(with_ones(values[:1_000]))
    assert (many.df, fewer.df) == (1_000, None)
    assert (many.low, many.high) == pytest.approx((fewer.low, fewer.high), abs=0.01)


def test_empty_clusters_are_no_clusters() -> None:
    """Clusters that hold nothing change nothing, and are not counted."""
    sums = with_ones(np.random.default_rng(7).exponential(size=30))
    padded = np.concatenate([sums, np.zeros((50, 2))])
    assert interval(padded) == interval(sums)
    assert interval(sums).n_clusters == 30


def test_block_by_block() -> None:
    """More draws than are held at once are still as many, each of n clusters."""
    blocks = list(draws(7_000, rng=np.random.default_rng(1), resamples=1_000))
    assert len(blocks) > 1
    weights = np.concatenate(blocks)
    assert weights.shape == (1_000, 7_000)
    assert (weights.sum(axis=1) == 7_000).all()


@pytest.mark.parametrize(
    ("sums", "reason"),
    [
        (np.array([[1.0, 2.0]]), "there is one run"),
        (np.tile([1.0, 2.0], (5, 1)), "no run changes it"),
        (np.tile([1.0, 2.0], (30, 1)), "it is the same in every resample"),
    ],
)
def test_no_spread_has_no_interval(sums: np.ndarray, reason: str) -> None:
    """One cluster, or clusters that agree, give a value, no interval, and the reason."""
    found = interval(sums)
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high, found.reason) == (None, None, reason)


def test_undefined_in_many_resamples() -> None:
    """A statistic that one of 30 clusters alone makes defined has no interval; so with 5."""
    for n in (30, 5):
        sums = np.tile([0.0, 0.0, 1.0], (n, 1))
        sums[0, :2] = 1.0
        found = interval(sums)
        assert found.value == 1.0
        assert found.low is None
        assert "undefined" in found.reason


def test_undefined_altogether() -> None:
    """No value: no value."""
    assert interval(np.ones((20, 2)), statistic=lambda s: s[..., 0] * np.nan).value is None


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [8, 15, 40])
def test_covers_kappa(n_runs: int) -> None:
    """Kappa of runs that differ in how hard they are is covered in about 95 % of 600 studies.

    Resampling turns in place of runs, as if they were independent, covers far less.
    """
    weights = agreement_weights(2)
    rng = np.random.default_rng(n_runs)

    def study(n: int) -> np.ndarray:
        prevalence = rng.beta(1.0, 2.0, size=n)
        right = rng.beta(6.0, 1.0, size=n)
        run = np.repeat(np.arange(n), 20)
        label = rng.random(len(run)) < prevalence[run]
        grade = np.where(rng.random(len(run)) < right[run], label, ~label)
        return confusion_counts(~grade, ~label, n_categories=2, cluster=run, n_clusters=n)

    truth = float(kappas(study(200_000).sum(axis=0), weights))
    covered = []
    for seed in range(600):
        found = interval(study(n_runs), seed, resamples=600, statistic=lambda t: kappas(t, weights))
        covered.append(found.low is not None and found.low <= truth <= found.high)
    assert np.mean(covered) > (0.91 if n_runs >= 40 else 0.88)
    assert np.mean(covered) < 0.985
