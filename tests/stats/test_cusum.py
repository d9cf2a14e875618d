"""The CUSUM against a run's own first turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.chains import held_chains
from turncurve.stats.cusum import (
    calibrated_cusum,
    cusum_path,
    false_alarm_rate,
    page_sum,
)

# fmt: off
MONTGOMERY = np.array([
    9.45, 7.99, 9.29, 11.66, 12.16, 10.18, 8.04, 11.46, 9.20, 10.34,
    9.03, 11.47, 10.51, 9.40, 10.08, 9.37, 10.62, 10.31, 8.52, 10.84,
    10.90, 9.33, 12.29, 11.50, 10.60, 11.08, 10.38, 11.62, 11.31, 10.52,
])
MONTGOMERY_SUM = [
    0, 0, 0, 1.16, 2.82, 2.50, 0.04, 1.00, 0, 0,
    0, 0.97, 0.98, 0, 0, 0, 0.12, 0, 0, 0.34,
    0.74, 0, 1.79, 2.79, 2.89, 3.47, 3.35, 4.47, 5.28, 5.30,
]
# fmt: on


def test_gives_the_published_sums() -> None:
    """Table 9.2 of Montgomery (2009), Statistical Quality Control, 6th ed.: mean 10, K = .5."""
    assert_allclose(page_sum(MONTGOMERY - 10, 0.5), MONTGOMERY_SUM, atol=1e-9)


def test_mean_time_to_alarm_is_the_tabulated_one() -> None:
    """With a known mean and limit 4, a shift of 1 SD alarms after 8.38 values (Brook & Evans)."""
    rng = np.random.default_rng(1)
    sums = page_sum(rng.standard_normal((4_000, 120)) + 1, 0.5)
    first = (sums > 4).argmax(axis=1) + 1
    assert (sums > 4).any(axis=1).all()
    assert first.mean() == pytest.approx(8.38, abs=4 * first.std() / np.sqrt(len(first)))


def test_equals_the_recursion() -> None:
    """The path is C = max(0, C + z - reference), z against the baseline's mean in run SDs."""
    values = np.random.default_rng(2).normal(size=40)
    mean, spread = values[:8].mean(), values.std(ddof=1)
    wanted, c = [0.0] * 8, 0.0
    for value in values[8:]:
        c = max(0.0, c + (mean - value) / spread - 0.5)
        wanted.append(c)
    assert_allclose(cusum_path(values, baseline=8, direction="down"), wanted, atol=1e-12)


DRAWS = {
    "normal": lambda rng: rng.normal(size=40),
    "skewed": lambda rng: rng.lognormal(size=40),
    "share of nine in ten": lambda rng: (rng.random(40) < 0.9).astype(float),
    "half": lambda rng: (rng.random(40) < 0.5).astype(float),
    "barely watched": lambda rng: rng.normal(size=16),
}


def false_alarms(name: str, n: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(calibrated_cusum(DRAWS[name](rng), rng=rng).alarm is not None for _ in range(n))


@pytest.mark.parametrize("name", DRAWS)
def test_false_alarms_are_no_more_than_stated(name: str) -> None:
    """Where nothing changes, at most 5 % of runs alarm, whatever the values look like."""
    n = 1_000
    assert false_alarms(name, n, seed=3) <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWS)
def test_false_alarm_rate_is_the_stated_one(name: str) -> None:
    """Over 8,000 runs where nothing changes the rate is .05 for values without ties, else less."""
    n = 8_000
    rate, error = false_alarms(name, n, seed=4) / n, 3 * np.sqrt(0.05 * 0.95 / n)
    assert rate <= 0.05 + error
    if name in {"normal", "skewed", "barely watched"}:
        assert rate >= 0.05 - error


def test_table_constants_would_break_the_promise() -> None:
    """With a mean and SD from 8 values, the table's limit of 5 alarms in far over 5 % of runs."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2_000, 60))
    first = values[:, :8]
    z = (values[:, 8:] - first.mean(axis=1)[:, None]) / first.std(axis=1, ddof=1)[:, None]
    assert (page_sum(z, 0.5).max(axis=1) > 5).mean() > 0.25


def test_finds_a_change() -> None:
    """A fall by 2 SD at value 31 of 60 is found in over 90 % of runs, half of them by value 44.

    The median onset is off by one value at most.
    """
    rng = np.random.default_rng(6)
    found = []
    for _ in range(200):
        values = rng.normal(size=60)
        values[30:] -= 2
        found.append(calibrated_cusum(values, rng=rng))
    alarms = np.array([one.alarm for one in found if one.alarm is not None])
    onsets = np.array([one.onset for one in found if one.onset is not None])
    assert len(alarms) == len(onsets) > 180
    assert (alarms >= 30).mean() > 0.95
    assert np.median(alarms) < 44
    assert abs(np.median(onsets) - 30) <= 1


def test_watches_the_bad_direction_only() -> None:
    """A rise doesn't alarm where a fall is bad; it does for "up" and "either"."""
    values = np.r_[np.tile([0.0, 1.0], 15), np.tile([4.0, 5.0], 15)]
    alarms = {
        direction: calibrated_cusum(values, rng=np.random.default_rng(7), direction=direction).alarm
        for direction in ("down", "up", "either")
    }
    assert alarms["down"] is None
    assert alarms["up"] is not None
    assert alarms["up"] >= 30
    assert alarms["either"] is not None


def test_onset_is_the_first_value_that_piles_up() -> None:
    """Values that jump at position 30 have their onset there, and alarm later."""
    values = np.r_[np.tile([0.0, 1.0], 15), np.tile([4.0, 5.0], 15)]
    found = calibrated_cusum(values, rng=np.random.default_rng(7), direction="up")
    assert found.onset == 30
    assert found.alarm is not None
    assert found.alarm > 30
    assert found.path[found.alarm] >= found.limit > found.path[found.alarm - 1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-50, 50), min_size=12, max_size=40).filter(lambda v: len(set(v)) > 1),
    st.floats(0.1, 100),
    st.floats(-1e3, 1e3),
)
def test_unit_and_origin_do_not_matter(values: list[int], factor: float, shift: float) -> None:
    """Another unit or origin of the signal leaves the path and the alarm where they are."""
    plain = np.array(values, dtype=float)
    one = calibrated_cusum(plain, rng=np.random.default_rng(8))
    other = calibrated_cusum(plain * factor + shift, rng=np.random.default_rng(8))
    assert_allclose(one.path, other.path, atol=1e-6)
    assert one.alarm == other.alarm


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=12, max_size=40))
def test_mirror_image(values: list[float]) -> None:
    """Falling values watched downwards are rising values watched upwards."""
    down = cusum_path(values, baseline=8, direction="down")
    assert_allclose(down, cusum_path(-np.array(values), baseline=8, direction="up"), atol=1e-9)


def normal_chains(
    correlation: float, *, shape: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Normal first-order autoregressive sequences of variance 1, as rows."""
    values = rng.standard_normal(shape)
    for i in range(1, shape[1]):
        values[:, i] = correlation * values[:, i - 1] + np.sqrt(1 - correlation**2) * values[:, i]
    return values


def test_correlated_neighbours_alarm_more_often() -> None:
    """The rate is .05 without correlation, and doubles about where neighbours correlate by .2."""
    rng = np.random.default_rng(9)
    none = false_alarm_rate(normal_chains(0.0, shape=(1_000, 40), rng=rng), rng=rng)
    some = false_alarm_rate(normal_chains(0.2, shape=(1_000, 40), rng=rng), rng=rng)
    assert none == pytest.approx(0.05, abs=0.021)
    assert some == pytest.approx(0.10, abs=0.03)


def test_persistent_zeros_and_ones_alarm_far_more_often() -> None:
    """Passes of .9 whose neighbours correlate by .51 alarm in about .4 of runs of 60 turns, where
    normal values with that correlation alarm in about .2."""
    rng = np.random.default_rng(10)
    passes = (np.arange(100) < 90).astype(float)
    chains = held_chains(passes, 0.51, shape=(1_000, 60), rng=rng)
    # 1,000 runs: a standard error of .016.
    assert false_alarm_rate(chains, rng=rng) == pytest.approx(0.40, abs=0.05)
    normal = normal_chains(0.51, shape=(1_000, 60), rng=rng)
    assert false_alarm_rate(normal, rng=rng) == pytest.approx(0.21, abs=0.04)


def test_held_values_stand_for_autoregressive_ones() -> None:
    """For normal values with a correlation of .5, holding values gives the rate of the AR(1)."""
    rng = np.random.default_rng(11)
    held = held_chains(rng.standard_normal(5_000), 0.5, shape=(1_000, 60), rng=rng)
    normal = normal_chains(0.5, shape=(1_000, 60), rng=rng)
    # Two rates from 1,000 runs each: a standard error of .018.
    assert false_alarm_rate(held, rng=rng) == pytest.approx(
        false_alarm_rate(normal, rng=rng), abs=0.055
    )


def test_equal_values_never_alarm() -> None:
    """A run of equal values has an infinite limit and a path of zeros."""
    result = calibrated_cusum(np.ones(30), rng=np.random.default_rng(0))
    assert result.alarm is None
    assert np.isinf(result.limit)
    assert_allclose(result.path, 0)


def test_needs_a_value_after_the_baseline() -> None:
    """Eight values leave nothing to watch."""
    with pytest.raises(NotEnoughDataError, match="at least 9; got 8"):
        calibrated_cusum(np.arange(8.0), rng=np.random.default_rng(0))


def test_needs_enough_shuffles() -> None:
    """A false-alarm chance of 1 % cannot be had from 50 shuffles, and the message says what can."""
    with pytest.raises(ValueError, match="at least 99 shuffles, got 50"):
        calibrated_cusum(
            np.arange(20.0), rng=np.random.default_rng(0), false_alarm=0.01, shuffles=50
        )
