"""Restricted means of two sets of runs, and their ratio."""

from __future__ import annotations

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from lifelines.utils import restricted_mean_survival_time
from numpy.testing import assert_allclose

from turncurve.errors import NotEnoughDataError
from turncurve.stats.event_free_turns import UnitTimes, common_horizon, mean_ratio, unit_times


def rng(seed: int = 6) -> np.random.Generator:
    return np.random.default_rng(seed)


def made(
    draw: np.random.Generator, hazard: float, n_units: int = 20, n_runs: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, events and units: geometric times with hazards that differ by unit."""
    unit = np.repeat(np.arange(n_units), n_runs)
    own = np.clip(hazard * np.exp(draw.normal(0, 0.4, n_units)), 0.001, 0.9)[unit]
    time, censored = draw.geometric(own), draw.integers(12, 40, len(unit))
    return np.minimum(time, censored), time <= censored, unit


def times(
    draw: np.random.Generator, hazard: float, n_units: int = 20, n_runs: int = 3
) -> UnitTimes:
    time, event, unit = made(draw, hazard, n_units, n_runs)
    return unit_times(time, event, unit, n_units=n_units, n_turns=40, entry=0)


def test_agrees_with_lifelines() -> None:
    """With as many runs a unit everywhere, curve and restricted mean are lifelines'."""
    time, event, unit = made(rng(), 0.08)
    own = unit_times(time, event, unit, n_units=20, n_turns=40, entry=0)
    found = mean_ratio(own, own, horizon=15, rng=rng())
    known = KaplanMeierFitter().fit(time, event)
    assert_allclose(found.old_survival, known.survival_function_at_times(range(1, 16)))
    assert found.old == pytest.approx(restricted_mean_survival_time(known, t=15))
    assert (found.ratio, found.low, found.high) == (1, 1, 1)


def test_by_hand() -> None:
    """Two runs: an event at turn 2, one censored at 4. Up to 4 the mean is 1 + 1 + .5 + .5."""
    own = unit_times([2, 4], [True, False], [0, 1], n_units=2, n_turns=4, entry=0)
    late = unit_times([4, 4], [False, False], [0, 1], n_units=2, n_turns=4, entry=0)
    found = mean_ratio(own, late, horizon=4, rng=rng())
    assert (found.old, found.new, found.ratio) == (3, 4, pytest.approx(4 / 3))
    assert (found.low, found.n_resamples) == (None, None)


def test_units_weigh_the_same() -> None:
    """A unit's runs given twice change nothing."""
    time, event, unit = made(rng(), 0.1, n_runs=2)
    again = np.concatenate([np.arange(len(time)), np.flatnonzero(unit < 7)])
    once = unit_times(time, event, unit, n_units=20, n_turns=40, entry=0)
    more = unit_times(time[again], event[again], unit[again], n_units=20, n_turns=40, entry=0)
    assert_allclose(more.at_risk, once.at_risk)
    assert_allclose(more.events, once.events)


def test_runs_are_at_risk_after_the_entry() -> None:
    """Before the window is full no run is at risk, and survival is 1."""
    own = unit_times([5, 9], [True, True], [0, 1], n_units=2, n_turns=10, entry=4)
    assert own.at_risk.sum(axis=0).tolist() == [0, 0, 0, 0, 2, 1, 1, 1, 1, 0]
    found = mean_ratio(own, own, horizon=10, rng=rng())
    assert found.old_survival.tolist() == [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0, 0]
    assert found.old == 1 + 4 + 4 * 0.5


def test_the_common_horizon() -> None:
    """It is the last turn up to which enough units are followed, or have had the event."""
    first = unit_times([3, 8, 8], [True, False, False], [0, 1, 2], n_units=3, n_turns=9, entry=0)
    second = unit_times([6, 9, 9], [False] * 3, [0, 1, 2], n_units=3, n_turns=9, entry=0)
    assert common_horizon(first, second, min_units=3) == 6
    assert common_horizon(first, second, min_units=2) == 8
    assert common_horizon(first, second, min_units=1) == 9
    assert common_horizon(first, second, min_units=4) == 0


def test_the_other_way_round() -> None:
    """The inverse ratio has the inverse limits."""
    a, b = times(rng(1), 0.05), times(rng(2), 0.12)
    found = mean_ratio(a, b, horizon=12, rng=rng(), resamples=500)
    other = mean_ratio(b, a, horizon=12, rng=rng(), resamples=500)
    assert (other.ratio, other.low, other.high) == pytest.approx(
        (1 / found.ratio, 1 / found.high, 1 / found.low)
    )
    assert found.low < found.ratio < found.high < 1


def test_nothing_to_compare() -> None:
    """Without any event, or any unit, there is no ratio."""
    none = unit_times([5, 5], [False, False], [0, 1], n_units=2, n_turns=5, entry=0)
    with pytest.raises(NotEnoughDataError, match="runs with the event"):
        mean_ratio(none, none, horizon=5, rng=rng())
    with pytest.raises(NotEnoughDataError):
        mean_ratio(
            *[unit_times([], [], [], n_units=0, n_turns=5, entry=0)] * 2, horizon=5, rng=rng()
        )


@pytest.mark.parametrize("hazard", [0.05, 0.1])
def test_coverage(hazard: float) -> None:
    """The interval holds the true ratio in about 95 % of suites (300: error .013)."""
    draw, held = rng(3), []
    big = mean_ratio(
        times(draw, 0.05, 20_000, 1), times(draw, hazard, 20_000, 1),
        horizon=12, rng=draw, resamples=2,
    )  # fmt: skip
    for _ in range(300):
        found = mean_ratio(
            times(draw, 0.05, 25), times(draw, hazard, 25), horizon=12, rng=draw, resamples=400
        )
        held.append(found.low <= big.ratio <= found.high)
    assert 0.90 < np.mean(held) < 0.985
