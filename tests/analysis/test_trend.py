"""Trends within a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from table_factory import make_table
from turncurve.analysis.settings import Settings
from turncurve.analysis.trend import Trend, trends_within_run
from turncurve.stats.chains import held_chains
from turncurve.table import SignalInfo, TurnTable

SETTINGS = Settings()


def table_of(signal: str, runs: NDArray[np.float64] | list[list[float]]) -> TurnTable:
    return make_table({f"r{i}": {signal: list(values)} for i, values in enumerate(runs)})


def trend_of(signal: str, runs: NDArray[np.float64] | list[list[float]]) -> Trend:
    return trends_within_run(table_of(signal, runs), settings=SETTINGS)[0]


def falling(n_runs: int, *, fall: float, seed: int) -> NDArray[np.float64]:
    """Runs of 60 turns around .8 ± .1 that fall by `fall` at turn 31."""
    values = np.random.default_rng(seed).normal(0.8, 0.1, (n_runs, 60))
    values[:, 30:] -= fall
    return values


def test_runs_without_change_alarm_as_often_as_said() -> None:
    """Over 400 unchanging runs, alarms agree with those expected by chance, and chance says so."""
    trend = trend_of("quality", falling(400, fall=0, seed=1))
    assert trend.expected_by_chance == pytest.approx(20)
    assert abs(trend.n_alarmed - 20) <= 3 * np.sqrt(400 * 0.05 * 0.95)
    assert trend.chance is not None
    assert trend.chance > 0.01


def test_a_fall_is_found_where_it_is() -> None:
    """A fall by 2 SD at turn 31 of all runs: nearly all alarm, soon after, and not by chance."""
    trend = trend_of("quality", falling(60, fall=0.2, seed=2))
    assert trend.n_alarmed > 50
    assert trend.chance is not None
    assert trend.chance < 1e-30
    median = next(q for q in trend.first_alarm if q.p == 0.5)
    assert median.turn is not None
    assert 31 <= median.turn <= 45
    assert abs(np.median([alarm.onset for alarm in trend.alarms]) - 31) <= 2


def test_chance_is_that_of_so_many_alarms_or_more() -> None:
    """3 of 3 runs that alarm come by chance with the third power of one's; no alarm is certain."""
    runs = [[0.8 + 0.1 * (-1) ** turn - 0.5 * (turn >= 30) for turn in range(60)]] * 3
    trend = trend_of("quality", runs)
    assert trend.n_alarmed == 3
    assert trend.false_alarm_here is not None
    assert trend.chance == pytest.approx(trend.false_alarm_here**3)
    assert trend_of("quality", [[-value for value in run] for run in runs]).chance == 1


def test_alarm_turns_are_turn_numbers() -> None:
    """Where turn numbers have gaps, an alarm names the turn and not its place."""
    values = falling(1, fall=0.4, seed=3)[0]
    runs = {"r": {"quality": values}}
    plain = trends_within_run(make_table(runs), settings=SETTINGS)[0].alarms[0]
    doubled = make_table(runs, turns={"r": list(range(2, 122, 2))})
    other = trends_within_run(doubled, settings=SETTINGS)[0].alarms[0]
    assert (other.turn, other.onset) == (2 * plain.turn, 2 * plain.onset)


@pytest.mark.parametrize(
    ("signal", "direction", "alarmed"),
    [
        ("quality", "down", True),
        ("tool_error_rate", "up", False),
        ("output_tokens", "either", True),
    ],
)
def test_direction_comes_from_the_signal(signal: str, direction: str, *, alarmed: bool) -> None:
    """A fall is bad for quality, good for errors, and noticed where neither is."""
    trend = trend_of(signal, falling(1, fall=0.5, seed=4))
    assert (trend.direction, trend.n_alarmed > 0) == (direction, alarmed)


def test_short_runs_are_left_out_and_counted() -> None:
    """A run of 15 values is not watched, one of 16 is; 7 values give no slope."""
    rng = np.random.default_rng(5)
    trend = trend_of("quality", [rng.normal(size=n).tolist() for n in (7, 8, 15, 16)])
    assert (trend.n_runs, trend.slope.n_runs) == (1, 3)
    assert trend.excluded == {"fewer than 16 turns with a value": 3}
    assert trend.slope.excluded == {"fewer than 8 turns with a value": 1}


def test_unknown_turns_do_not_count() -> None:
    """A run of 20 turns with 10 unknown has too few values to be watched."""
    values = [0.5 + 0.01 * i if i % 2 else None for i in range(20)]
    trend = trends_within_run(make_table({"r": {"quality": values}}), settings=SETTINGS)[0]
    assert (trend.n_runs, trend.slope.n_turns) == (0, 10)
    assert trend.why == "no run has 16 turns with a value"
    assert trend.share_alarmed.value is trend.chance is None


def test_slope_is_a_t_interval_over_runs() -> None:
    """It is scipy's mean and interval of the slopes that linregress gives run by run."""
    values = falling(12, fall=0.1, seed=6)
    slopes = [stats.linregress(np.arange(60), run).slope for run in values]
    wanted = stats.ttest_1samp(slopes, 0).confidence_interval()
    slope = trend_of("quality", values).slope
    assert slope.value == pytest.approx(np.mean(slopes))
    assert (slope.low, slope.high) == pytest.approx((wanted.low, wanted.high))
    assert (slope.df, slope.n_runs, slope.n_turns) == (11, 12, 720)


def test_each_run_weighs_the_same() -> None:
    """A run of 80 turns that falls and one of 10 that rises as much give a slope of 0."""
    runs = [[-0.01 * t for t in range(80)], [0.01 * t for t in range(10)]]
    assert trend_of("quality", runs).slope.value == pytest.approx(0)


def test_correlated_turns_raise_the_expectation() -> None:
    """Where neighbours correlate by .3 it expects over twice the alarms, about those that come."""
    rng = np.random.default_rng(7)
    values = rng.standard_normal((300, 40))
    for i in range(1, 40):
        values[:, i] = 0.3 * values[:, i - 1] + np.sqrt(0.91) * values[:, i]
    trend = trend_of("quality", values)
    assert trend.autocorrelation == pytest.approx(0.3, abs=0.04)
    assert trend.false_alarm == 0.05
    assert trend.expected_by_chance > 25
    assert trend.n_alarmed == pytest.approx(trend.expected_by_chance, abs=18)
    assert "correlation 0.3" in trend.warnings[0] or "correlation 0.2" in trend.warnings[0]


def test_persistent_passes_raise_the_expectation() -> None:
    """Of 200 runs of passes of .9 whose neighbours correlate by .5 about .4 alarm, as it expects,
    and half as many of runs of normal values."""
    rng = np.random.default_rng(8)
    chains = held_chains(np.array([0.0] + [1.0] * 9), 0.5, shape=(200, 60), rng=rng)
    trend = trend_of("schema_valid", chains)
    assert trend.false_alarm_here == pytest.approx(0.4, abs=0.08)
    # Binomial standard deviation 7, and 5 more from the simulated rate.
    assert trend.n_alarmed == pytest.approx(trend.expected_by_chance, abs=26)
    normal = trend_of("quality", held_chains(rng.normal(size=9_999), 0.5, shape=(200, 60), rng=rng))
    assert normal.false_alarm_here == pytest.approx(0.21, abs=0.07)


def test_what_grows_by_itself_is_not_watched() -> None:
    """Context, cost and cumulative repeats rise in healthy runs; quality is watched first."""
    names = ("context_tokens", "cost_usd", "repeated_action", "mine", "quality", "tool_success")
    names = (*names, "repeated_action_window")
    table = make_table({"r": {name: np.arange(20.0) for name in names}})
    found = [trend.signal for trend in trends_within_run(table, settings=SETTINGS)]
    assert found == ["quality", "mine"]


def test_signals_without_a_curve_are_not_watched() -> None:
    """A plain count behind other signals is none."""
    info = {"mine": SignalInfo(name="mine", title="Mine", curve=False)}
    table = make_table({"r": {"mine": np.arange(20.0)}}, info=info)
    assert trends_within_run(table, settings=SETTINGS) == ()


def test_same_seed_same_alarms() -> None:
    """The seed settles the shuffles, whatever other signals there are."""
    values = falling(20, fall=0.08, seed=8)
    alone = table_of("quality", values)
    beside = alone.with_columns(
        {"adherence": alone.columns["quality"] * 0.5},
        {"adherence": SignalInfo(name="adherence", title="", better="high")},
    )
    assert (
        trends_within_run(alone, settings=SETTINGS)[0]
        == trends_within_run(beside, settings=SETTINGS)[0]
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30), min_size=1))
def test_counts_add_up(runs: list[list[float]]) -> None:
    """Watched and left-out runs are all runs, and alarms are among the watched."""
    trend = trend_of("quality", runs)
    assert trend.n_runs + sum(trend.excluded.values()) == len(runs)
    assert trend.n_alarmed == len(trend.alarms) <= trend.n_runs
    assert all(alarm.turn >= alarm.onset > trend.baseline_turns for alarm in trend.alarms)


def test_a_constant_signal_never_alarms() -> None:
    """Runs without any change of value have no alarm, a slope of 0 and no interval."""
    trend = trend_of("schema_valid", [[1.0] * 30] * 3)
    assert (trend.n_runs, trend.n_alarmed, trend.slope.value, trend.slope.low) == (3, 0, 0, None)
    assert trend.autocorrelation is None


@pytest.mark.parametrize(
    "table", [make_table({}), make_table({"r": {}}), make_table({"r": {"quality": [None] * 20}})]
)
def test_no_values_no_trends(table: TurnTable) -> None:
    """A signal without any value is no trend."""
    assert trends_within_run(table, settings=SETTINGS) == ()
