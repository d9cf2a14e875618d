"""A signal's mean by bucket, with runs as the units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import stats

from turncurve.stats.curve import (
    MeanCurve,
    cell_means,
    mean_curve,
    simultaneous_band,
    within_scale,
)
from turncurve.stats.proportion import clopper_pearson

NAN = np.nan


def some_data(
    rng: np.random.Generator, n_runs: int = 6, n_turns: int = 12
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Runs of different lengths with some values missing: values, run, bucket of 3 turns."""
    lengths = rng.integers(3, n_turns + 1, size=n_runs)
    run = np.repeat(np.arange(n_runs), lengths)
    turn = np.concatenate([np.arange(n) for n in lengths])
    values = rng.normal(0.7, 0.2, size=len(run))
    values[rng.random(len(run)) < 0.1] = NAN
    return values, run, turn // 3


def assert_same(a: MeanCurve, b: MeanCurve, *, rtol: float = 1e-12) -> None:
    for name in (
        "bucket",
        "n_runs",
        "n_turns",
        "n_units",
        "value",
        "std_error",
        "df",
        "low",
        "high",
    ):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-12, err_msg=name)


def test_a_run_weighs_the_same_however_many_turns_it_has():
    """The value is the mean of the runs' means, not of the turns, and missing turns don't count."""
    curve = mean_curve([1.0, 1.0, 1.0, NAN, 0.0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0])
    assert_allclose(curve.value, [0.5])
    assert_array_equal(curve.n_runs, [2])
    assert_array_equal(curve.n_turns, [4])


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_interval_is_scipys_t_interval_over_run_means(level):
    """The interval of each bucket is scipy's t interval of that bucket's run means."""
    values, run, bucket = some_data(np.random.default_rng(1))
    curve = mean_curve(values, run, bucket, level=level)
    cells = cell_means(values, run, bucket)
    for i, b in enumerate(curve.bucket):
        means = cells.value[cells.bucket == b]
        if len(means) < 2:
            continue
        low, high = stats.t.interval(level, len(means) - 1, means.mean(), stats.sem(means))
        assert_allclose([curve.low[i], curve.high[i]], [low, high], rtol=1e-9)
        assert_allclose(curve.std_error[i], stats.sem(means), rtol=1e-9)


def test_one_run_has_no_interval():
    """With one run there is a value, and standard error, df and limits are NaN, not 0."""
    curve = mean_curve([0.9, 0.1, 0.5], [7, 7, 7], [0, 0, 1])
    assert_allclose(curve.value, [0.5, 0.5])
    for name in ("std_error", "df", "low", "high"):
        assert np.isnan(getattr(curve, name)).all()


def test_nothing_in_nothing_out():
    """No turn, or no turn with a value, gives a curve without buckets."""
    assert len(mean_curve([], [], []).bucket) == 0
    assert len(mean_curve([NAN, NAN], [0, 1], [0, 0]).bucket) == 0


@given(st.integers(0, 2**32 - 1), st.floats(-5, 5), st.floats(0.1, 10))
def test_adding_and_scaling(seed, added, factor):
    """Adding a constant moves value and limits by it; a factor scales them and the error."""
    values, run, bucket = some_data(np.random.default_rng(seed))
    base = mean_curve(values, run, bucket)
    moved = mean_curve(values * factor + added, run, bucket)
    assert_allclose(moved.value, base.value * factor + added, rtol=1e-9, atol=1e-9)
    assert_allclose(moved.std_error, base.std_error * factor, rtol=1e-7, atol=1e-12)
    assert_allclose(moved.low, base.low * factor + added, rtol=1e-7, atol=1e-7)
    assert_allclose(moved.df, base.df)


@given(st.integers(0, 2**32 - 1))
def test_names_and_order_do_not_matter(seed):
    """Relabelling runs and permuting rows changes nothing."""
    rng = np.random.default_rng(seed)
    values, run, bucket = some_data(rng)
    order = rng.permutation(len(run))
    names = rng.permutation(100)[: run.max() + 1]
    assert_same(
        mean_curve(values, run, bucket),
        mean_curve(values[order], names[run][order], bucket[order]),
    )


@given(st.integers(0, 2**32 - 1))
def test_every_run_twice_halves_the_variance(seed):
    """Each run again under a new name: same value, variance times (n - 1) / (2n - 1)."""
    values, run, bucket = some_data(np.random.default_rng(seed))
    once = mean_curve(values, run, bucket)
    twice = mean_curve(np.tile(values, 2), np.concatenate([run, run + 1000]), np.tile(bucket, 2))
    n = once.n_runs
    assert_allclose(twice.value, once.value, rtol=1e-12)
    wanted = once.std_error**2 * (n - 1) / (2 * n - 1)
    assert_allclose(twice.std_error[n > 1] ** 2, wanted[n > 1], rtol=1e-9, atol=1e-15)


@given(st.integers(0, 2**32 - 1))
def test_clusters_of_one_run_change_nothing(seed):
    """With each run a cluster of its own, CR2 is SD / sqrt(n) with n - 1 degrees of freedom."""
    values, run, bucket = some_data(np.random.default_rng(seed))
    assert_same(
        mean_curve(values, run, bucket),
        mean_curve(values, run, bucket, cluster=run * 17 % 101),
        rtol=1e-9,
    )


def test_clustered_error_is_cr2_by_matrices():
    """The closed form equals CR2 and Satterthwaite's df computed from their matrix definition."""
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(5), [1, 2, 3, 4, 6])
    y = rng.normal(size=16) + rng.normal(size=5)[cluster]
    run = np.arange(16)
    curve = mean_curve(y, run, np.zeros(16, dtype=int), cluster=cluster)
    n = len(y)
    hat = np.full((n, n), 1 / n)
    residual = y - y.mean()
    total, vectors = 0.0, []
    for g in range(5):
        rows = np.flatnonzero(cluster == g)
        values, basis = np.linalg.eigh(np.eye(len(rows)) - hat[np.ix_(rows, rows)])
        adjust = basis @ np.diag(values**-0.5) @ basis.T
        total += (np.ones(len(rows)) @ adjust @ residual[rows]) ** 2
        vectors.append((np.eye(n) - hat)[:, rows] @ adjust @ np.ones(len(rows)) / n)
    gram = np.array(vectors) @ np.array(vectors).T
    assert_allclose(curve.std_error, [np.sqrt(total) / n], rtol=1e-9)
    assert_allclose(curve.df, [np.trace(gram) ** 2 / np.trace(gram @ gram)], rtol=1e-9)


def test_a_single_cluster_has_no_interval():
    """Runs of one scenario alone say nothing about other scenarios."""
    curve = mean_curve([0.1, 0.5, 0.9], [0, 1, 2], [0, 0, 0], cluster=[4, 4, 4])
    assert np.isnan(curve.std_error).all()
    assert np.isnan(curve.df).all()


def test_band_of_one_bucket_is_the_t_interval():
    """With a single bucket there is nothing to correct for."""
    rng = np.random.default_rng(2)
    values, run = rng.normal(size=30), np.arange(30)
    bucket = np.zeros(30, dtype=int)
    band = simultaneous_band(cell_means(values, run, bucket), rng=rng)
    assert_same(band, mean_curve(values, run, bucket))


def test_band_of_few_runs_is_bonferronis():
    """Below 10 runs each of m buckets gets the interval of level 1 - alpha / m."""
    rng = np.random.default_rng(3)
    values, run = rng.normal(size=5 * 8), np.repeat(np.arange(5), 8)
    bucket = np.tile(np.arange(8), 5)
    band = simultaneous_band(cell_means(values, run, bucket), rng=rng)
    assert_same(band, mean_curve(values, run, bucket, level=1 - 0.05 / 8))


def test_band_of_identical_buckets_needs_no_correction():
    """Buckets that move together count as one; independent ones cost about Sidak's correction."""
    rng = np.random.default_rng(4)
    n, m = 200, 10
    run, bucket = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    together = np.repeat(rng.normal(size=n), m)
    apart = rng.normal(size=n * m)
    narrow = simultaneous_band(cell_means(together, run, bucket), rng=rng, resamples=20_000)
    wide = simultaneous_band(cell_means(apart, run, bucket), rng=rng, resamples=20_000)
    t_narrow = (narrow.high - narrow.value) / narrow.std_error
    t_wide = (wide.high - wide.value) / wide.std_error
    # Monte-Carlo error of a 0.95 quantile from 20,000 draws is about 0.02 here.
    assert_allclose(t_narrow, stats.t.ppf(0.975, n - 1), atol=0.06)
    assert_allclose(t_wide, stats.t.ppf(1 - (1 - 0.95 ** (1 / m)) / 2, n - 1), atol=0.06)


def test_lower_band_is_one_sided():
    """A lower band alone has no upper limit, and lies above the two-sided band's lower limit."""
    rng = np.random.default_rng(6)
    values, run = rng.normal(size=20 * 4), np.repeat(np.arange(20), 4)
    bucket = np.tile(np.arange(4), 20)
    low = simultaneous_band(cell_means(values, run, bucket), rng=rng, side="low")
    both = simultaneous_band(cell_means(values, run, bucket), rng=rng)
    assert np.isinf(low.high).all()
    assert (low.low > both.low).all()


def test_all_units_at_an_end_of_the_scale():
    """The other limit is Clopper and Pearson's for no success among the units, at either end."""
    for value, n in ((0.0, 5), (1.0, 30)):
        curve = within_scale(mean_curve([value] * n, np.arange(n), np.zeros(n)), 0, 1)
        exact = clopper_pearson(int(value) * n, n)
        assert_allclose([curve.low[0], curve.high[0]], [exact.low, exact.high], rtol=1e-9)


def test_agreement_inside_or_off_the_scale_sets_no_limit():
    """Equal values inside a scale, or without a known scale, have no limits, whatever rounding
    makes of them; one run that differs gives the bucket limits again."""
    inside = mean_curve([0.1 + 0.2, 0.3, 0.3, 0.3], np.arange(4), np.zeros(4))
    unknown = mean_curve([0.0] * 4, np.arange(4), np.zeros(4))
    for curve, low, high in ((inside, 0, 1), (unknown, 0, None), (unknown, None, None)):
        found = within_scale(curve, low, high)
        assert found.std_error[0] == 0
        assert np.isnan([found.low[0], found.high[0]]).all()
    apart = mean_curve([0.3, 0.3, 0.3, 0.3 + 1e-6], np.arange(4), np.zeros(4))
    assert apart.low[0] < apart.value[0] < apart.high[0]


def test_an_end_of_the_scale_is_met_up_to_rounding():
    """Runs that reach the top but for rounding have the one-sided limit, and the value in it."""
    values = [0.7, 0.1 * 7, 0.7, 0.7]
    curve = within_scale(mean_curve(values, np.arange(4), np.zeros(4)), 0, 0.7)
    assert curve.low[0] == pytest.approx(0.7 * clopper_pearson(4, 4).low)
    assert curve.high[0] == pytest.approx(0.7)
    assert curve.value[0] <= curve.high[0]


def test_a_value_off_the_scale_stays_in_its_interval():
    """A scale that the values contradict cuts limits to itself, but not past the value."""
    curve = mean_curve([5.0, 6.0, 0.2, 0.4], [0, 1, 0, 1], [0, 0, 1, 1])
    cut = within_scale(curve, 0, 1)
    assert_array_equal(cut.value, curve.value)
    assert (cut.low[0], cut.high[0]) == (0, 5.5)
    assert (cut.low[1], cut.high[1]) == (0, 1)


def test_the_mean_of_equal_values_is_that_value():
    """Rounding moves no mean beyond its values, by turn or by run, weighted or not."""
    rng = np.random.default_rng(3)
    values, run = np.full(300, 0.1), np.repeat(np.arange(30), 10)
    curve = mean_curve(values, run, np.zeros(300), weights=rng.random(300))
    assert curve.value[0] == 0.1
    assert curve.std_error[0] == 0


def test_a_turn_weighs_by_its_denominator():
    """One failed call of one and none of nine make .10 of a run; runs weigh the same still."""
    rate, calls = [1.0, 0.0, 0.5, 0.5], [1.0, 9.0, 2.0, 2.0]
    curve = mean_curve(rate, [0, 0, 1, 1], [0, 0, 0, 0], weights=calls)
    assert_allclose(curve.value, [(0.1 + 0.5) / 2])
    assert_allclose(curve.std_error, [0.2])
    assert_array_equal(curve.n_turns, [4])


def test_no_weight_is_no_value():
    """A turn of weight 0 or NaN is in no mean and in no count."""
    cells = cell_means([1.0, 0.5, 0.25, 0.0], [0] * 4, [0] * 4, weights=[2.0, 0.0, NAN, 2.0])
    assert (cells.value[0], cells.n_turns[0]) == (0.5, 2)
    assert len(mean_curve([1.0], [0], [0], weights=[0.0]).bucket) == 0


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_weights_by_another_name(seed, factor):
    """Whole weights are that many turns of the same value, and a common factor changes nothing;
    without weights all are 1."""
    rng = np.random.default_rng(seed)
    values, run, bucket = some_data(rng)
    weight = rng.integers(1, 5, len(run))
    found = mean_curve(values, run, bucket, weights=weight)
    again = mean_curve(*(np.repeat(each, weight) for each in (values, run, bucket)))
    assert_allclose(found.value, again.value, rtol=1e-9)
    assert_allclose(found.low, again.low, rtol=1e-7, atol=1e-9)
    assert_same(found, mean_curve(values, run, bucket, weights=weight * factor), rtol=1e-9)
    assert_same(
        mean_curve(values, run, bucket),
        mean_curve(values, run, bucket, weights=np.full(len(run), factor)),
        rtol=1e-9,
    )


def test_band_has_the_weights_of_its_cells():
    """The band lies about the weighted curve, and a bucket whose runs agree takes no part in it."""
    rng = np.random.default_rng(7)
    run, bucket = np.repeat(np.arange(12), 6), np.tile([0, 0, 1, 1, 2, 2], 12)
    values, weight = rng.normal(size=72), rng.integers(1, 9, 72)
    values[bucket == 2] = 1.0
    cells = cell_means(values, run, bucket, weights=weight)
    band = simultaneous_band(cells, rng=np.random.default_rng(1))
    curve = mean_curve(values, run, bucket, weights=weight)
    assert_allclose(band.value, curve.value)
    assert ((band.high - band.low)[:2] > (curve.high - curve.low)[:2]).all()
    assert np.isnan([band.low[2], band.high[2]]).all()
    kept = bucket < 2
    cells = cell_means(values[kept], run[kept], bucket[kept], weights=weight[kept])
    without = simultaneous_band(cells, rng=np.random.default_rng(1))
    assert_allclose(band.low[:2], without.low)


@given(st.floats(1e-6, 1e6), st.integers(2, 60))
def test_runs_that_agree_have_no_spread(value, n_runs):
    """Whatever rounding makes of the mean of equal values, their standard error is exactly 0."""
    runs = np.arange(n_runs)
    assert mean_curve(np.full(n_runs, value), runs, np.zeros(n_runs)).std_error == 0
    below = np.where(runs == 0, value * (1 - 1e-9), value)
    assert mean_curve(below, runs, np.zeros(n_runs)).std_error > 0


def test_limits_are_cut_to_the_scale():
    """A t interval that leaves the scale ends at its end; NaN limits stay NaN."""
    curve = mean_curve([0.9, 1.0, 0.5], [0, 1, 0], [0, 0, 1])
    cut = within_scale(curve, 0, 1)
    assert (curve.high[0], cut.high[0], cut.low[0]) == (
        pytest.approx(1.585, abs=5e-4),
        1,
        curve.low[0],
    )
    assert np.isnan(cut.low[1])


def simulated(
    rng: np.random.Generator, n_runs: int, n_turns: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Runs of mean 0.7 whose levels and slopes differ, so that turns of a run hang together."""
    level = rng.normal(0.7, 0.1, size=(n_runs, 1))
    slope = rng.normal(0, 0.008, size=(n_runs, 1))
    t = np.arange(n_turns) - (n_turns - 1) / 2
    y = level + slope * t + rng.normal(0, 0.2, size=(n_runs, n_turns))
    run = np.repeat(np.arange(n_runs), n_turns)
    return y.reshape(-1), run, np.tile(np.arange(n_turns) // 10, n_runs)


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [4, 12, 40])
def test_run_interval_covers_as_often_as_it_says(n_runs):
    """Over 2,000 data sets the interval over runs covers the truth at its level in each bucket,
    and one that took turns as independent would cover far less often."""
    rng = np.random.default_rng(11)
    n_sets = 2_000
    covered, naive = np.zeros(6), np.zeros(6)
    for _ in range(n_sets):
        values, run, bucket = simulated(rng, n_runs, 60)
        curve = mean_curve(values, run, bucket)
        covered += (curve.low <= 0.7) & (curve.high >= 0.7)
        by_turn = mean_curve(values, np.arange(len(values)), bucket)
        naive += (by_turn.low <= 0.7) & (by_turn.high >= 0.7)
    # The Monte-Carlo standard error of a coverage of .95 is .005.
    assert_allclose(covered / n_sets, 0.95, atol=0.02)
    assert (naive / n_sets).max() < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [6, 12, 40])
def test_band_covers_everywhere_as_often_as_it_says(n_runs):
    """Over 1,000 data sets the band covers all buckets at once at least about at its level; the
    pointwise intervals do not."""
    rng = np.random.default_rng(12)
    n_sets, held, pointwise = 1_000, 0, 0
    for _ in range(n_sets):
        values, run, bucket = simulated(rng, n_runs, 60)
        band = simultaneous_band(cell_means(values, run, bucket), rng=rng, resamples=500)
        held += bool(((band.low <= 0.7) & (band.high >= 0.7)).all())
        curve = mean_curve(values, run, bucket)
        pointwise += bool(((curve.low <= 0.7) & (curve.high >= 0.7)).all())
    # Three Monte-Carlo standard errors are .02.
    assert held / n_sets >= 0.925
    assert pointwise / n_sets < 0.9
