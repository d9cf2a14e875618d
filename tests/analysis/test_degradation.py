"""The degradation curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from table_factory import make_table
from turncurve.analysis.by_turn import curve_by_turn, reach
from turncurve.analysis.degradation import degradation_curve
from turncurve.analysis.settings import Settings
from turncurve.errors import UnknownNameError
from turncurve.table import SignalInfo

BY_PROGRESS = Settings(axis="progress")


def bounds(curve):
    return [(point.start, point.end) for point in curve.points]


def constant(value, n):
    return {"quality": [value] * n}


def test_by_bucket_with_interval_over_runs():
    """Value, n and interval of a bucket are those of the runs' means within it."""
    table = make_table({"a": {"quality": [1, 0.8, 0.6, 0.4]}, "b": {"quality": [0.5, None, 0.3]}})
    first, second = degradation_curve(table, "quality", settings=Settings(bucket=2)).points
    assert (first.start, first.end, first.n_runs, first.n_turns) == (1, 2, 2, 3)
    assert first.value == pytest.approx((0.9 + 0.5) / 2)
    assert first.std_error == pytest.approx(stats.sem([0.9, 0.5]))
    assert (second.start, second.end, second.n_runs, second.n_turns) == (3, 4, 2, 3)


def test_interval_is_the_t_interval_over_runs():
    """The limits are scipy's t interval of the runs' means, at the level asked for."""
    means = np.array([310.0, 290.0, 300.0, 296.0])
    table = make_table({f"r{i}": {"output_tokens": [m - 5, m + 5]} for i, m in enumerate(means)})
    settings = Settings(bucket=2, level=0.9)
    (point,) = degradation_curve(table, "output_tokens", settings=settings).points
    low, high = stats.t.interval(0.9, 3, means.mean(), stats.sem(means))
    assert (point.low, point.high) == (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))


def test_limits_stay_on_the_scale():
    """An interval of a share does not leave [0, 1], nor one of a rubric the rubric."""
    runs = {"a": {"adherence": [1], "quality": [4]}, "b": {"adherence": [0.5], "quality": [1]}}
    table = make_table(runs, quality_scale=(0, 4))
    assert degradation_curve(table, "adherence").points[0].high == 1
    assert degradation_curve(table, "adherence").points[0].low == 0
    assert degradation_curve(table, "quality").points[0].high == 4
    assert curve_by_turn(table, "quality").high == (4,)


def test_no_failure_in_forty_runs_is_not_surely_none():
    """Where no run fails, the upper limit is Clopper and Pearson's 0.088 for 40 runs, not 0."""
    table = make_table({f"r{i}": {"error": [0, 0]} for i in range(40)})
    (point,) = degradation_curve(table, "error", settings=Settings(bucket=2)).points
    assert (point.value, point.low) == (0, 0)
    assert point.high == pytest.approx(0.0881, abs=5e-5)


def test_one_run_has_values_and_says_why_no_interval():
    """A single run gives a curve without intervals, with the reason."""
    curve = degradation_curve(make_table({"a": constant(0.5, 4)}), "quality")
    assert [point.value for point in curve.points] == [0.5] * 4
    assert {(p.std_error, p.low, p.high) for p in curve.points} == {(None, None, None)}
    assert "the turns of one run are no replicates" in " ".join(curve.warnings)


def test_last_bucket_ends_where_the_longest_run_does():
    """A bucket that the longest run does not fill is cut to what was observed, and marked."""
    table = make_table({"a": constant(1, 23), "b": constant(1, 3)})
    curve = degradation_curve(table, "quality", settings=Settings(bucket=10))
    assert bounds(curve) == [(1, 10), (11, 20), (21, 23)]
    assert [point.partial for point in curve.points] == [False, False, True]


@pytest.mark.parametrize(
    ("longest", "width"), [(1, 1), (30, 1), (31, 5), (100, 5), (101, 10), (184, 10), (5_000, 500)]
)
def test_default_bucket_follows_the_longest_run(longest, width):
    """Single turns up to 30, then the first round width that gives at most 20 buckets."""
    curve = degradation_curve(make_table({"a": constant(1, longest)}), "quality")
    assert curve.bucket == width


def test_default_bucket_looks_at_the_runs_not_at_the_signal():
    """Two signals of the same runs get the same buckets, whatever is missing."""
    runs = {"a": {"quality": [1.0] * 5 + [None] * 75, "output_tokens": [3.0] * 80}}
    assert degradation_curve(make_table(runs), "quality").bucket == 5


def test_left_out_runs_are_counted_and_add_up():
    """Runs without turns, without a value, and of sub-agents are left out, each counted."""
    table = make_table(
        {
            "a": {"quality": [1, 1]},
            "b": {"quality": [None, None], "output_tokens": [1, 1]},
            "c": {},
            "d": {"quality": [0, 0]},
        },
        parent={"d": "a"},
    )
    curve = degradation_curve(table, "quality")
    assert curve.excluded == {
        "run of a sub-agent": 1,
        "run without a turn": 1,
        "run without a value of the signal": 1,
    }
    assert curve.n_runs + sum(curve.excluded.values()) == table.n_runs
    assert curve.points[0].value == 1


def test_a_subagent_read_alone_is_a_run():
    """A sub-agent whose parent is not among the runs stands for itself."""
    table = make_table({"a": {"quality": [1]}}, parent={"a": "elsewhere"})
    assert degradation_curve(table, "quality").n_runs == 1


def test_unknown_signal_lists_those_there_are():
    """Asking for a column that is not there names those that are."""
    with pytest.raises(UnknownNameError, match="'qualty'; known: quality"):
        degradation_curve(make_table({"a": constant(1, 2)}), "qualty")


def test_bucket_of_no_turn():
    """A bucket below 1 is a caller's mistake."""
    with pytest.raises(ValueError, match="bucket"):
        degradation_curve(make_table({"a": constant(1, 2)}), "quality", settings=Settings(bucket=0))


def test_no_runs_no_points():
    """Without runs, and without values, the curve has no points in either panel."""
    for table in (make_table({}), make_table({"a": {"quality": [None]}, "b": {}})):
        table = table.with_columns({"quality": np.full(len(table.turn), np.nan)}, {})
        for panel in ("active", "balanced"):
            assert degradation_curve(table, "quality", panel=panel).points == ()


def test_balanced_panel_is_the_same_runs_throughout():
    """It keeps the runs that reach as far as half of all do, up to there, and counts the rest."""
    lengths = {"a": 3, "b": 5, "c": 8, "d": 10}
    table = make_table({name: constant(1, n) for name, n in lengths.items()})
    curve = degradation_curve(table, "quality", panel="balanced")
    assert curve.min_turns == 8
    assert [point.n_runs for point in curve.points] == [2] * 8
    assert curve.excluded == {"run that ends too early for the balanced panel": 2}
    assert curve.n_runs + sum(curve.excluded.values()) == 4


def test_balanced_panel_needs_two_runs():
    """One run is no panel; of two the panel is both, up to the shorter one's end."""
    one = make_table({"a": constant(1, 3)})
    assert degradation_curve(one, "quality", panel="balanced").points == ()
    two = make_table({"a": constant(1, 3), "b": constant(1, 9)})
    assert degradation_curve(two, "quality", panel="balanced").min_turns == 3


def test_easy_tasks_that_finish_early_look_like_decline_except_in_the_balanced_panel():
    """Scenarios of fixed difficulty, the easy ones over early: quality never changes within a run,
    yet the mean of what still runs falls by 1.20; the balanced panel stays within .04 (trap 4)."""
    rng = np.random.default_rng(31)
    n, longest = 800, 12
    ease = rng.normal(0, 0.8, n)
    rng.normal(0, 1.2, n)
    length = np.clip(np.round(9 - 3 * ease + rng.normal(0, 1.2, n)), 4, longest).astype(int)
    quality = 3 + ease[:, None] + rng.normal(0, 0.5, (n, longest))
    table = make_table({f"r{i}": {"quality": quality[i, : length[i]]} for i in range(n)})
    active = degradation_curve(table, "quality").points
    assert active[-1].value - active[0].value == pytest.approx(-1.20, abs=5e-3)
    # The panel of runs with all 12 turns is one that half of the runs need not reach.
    longest_only = table.select(table.runs.n_turns == longest)
    balanced = degradation_curve(longest_only, "quality", panel="balanced").points
    assert balanced[-1].value - balanced[0].value == pytest.approx(0.04, abs=5e-3)
    half = degradation_curve(table, "quality", panel="balanced")
    assert len({point.n_runs for point in half.points}) == 1
    assert abs(half.points[-1].value - half.points[0].value) < 0.12


def test_balanced_panel_is_misled_when_low_quality_ends_runs():
    """Where low quality makes runs crash, quality truly falls by .237; both panels see less."""
    rng = np.random.default_rng(32)
    n, longest = 3_000, 20
    level = rng.normal(0, 0.04, n)
    quality = np.empty((n, longest))
    for t in range(longest):
        level = level + rng.normal(0, 0.05, n)
        quality[:, t] = np.clip(0.9 - 0.012 * t + level, 0, 1)
    alive = np.ones((n, longest), dtype=bool)
    for t in range(1, longest):
        hazard = 1 / (1 + np.exp(5 - 8 * (0.9 - quality[:, t - 1])))
        alive[:, t] = alive[:, t - 1] & (rng.random(n) >= hazard)
    true = quality.mean(axis=0)[-1] - quality.mean(axis=0)[0]
    length = alive.sum(axis=1)
    table = make_table({f"r{i}": {"quality": quality[i, : length[i]]} for i in range(n)})
    for panel in ("active", "balanced"):
        points = degradation_curve(table, "quality", panel=panel).points
        assert points[-1].value - points[0].value > true + 0.05


def test_repeated_scenarios_are_said():
    """Where trials of a scenario agree, the curve over runs says so, and by how much the scenario
    as the unit widens the interval; with the scenario as the unit it is that wide."""
    level = {"s1": 0.9, "s2": 0.5, "s3": 0.1}
    runs = {f"{s}-{i}": constant(value, 2) for s, value in level.items() for i in range(4)}
    table = make_table(runs, scenario={name: name[:2] for name in runs})
    by_run = degradation_curve(table, "quality")
    by_scenario = degradation_curve(table, "quality", unit="scenario")
    assert any("Scenarios repeat" in warning for warning in by_run.warnings)
    assert not any("Scenarios repeat" in warning for warning in by_scenario.warnings)
    ratio = by_scenario.points[0].std_error / by_run.points[0].std_error
    assert f"x{ratio:.2f}" in " ".join(by_run.warnings)
    means = list(level.values())
    assert by_scenario.points[0].std_error == pytest.approx(stats.sem(means))


def test_tokens_axis_adds_up_context():
    """By tokens, a turn stands at the context tokens sent so far; a run may skip a bucket."""
    table = make_table(
        {
            "a": {"quality": [1, 0.5], "context_tokens": [1_000, 3_000]},
            "b": {"quality": [0.8], "context_tokens": [900]},
            "c": {"quality": [0.3, 0.3], "context_tokens": [None, 50]},
        }
    )
    curve = degradation_curve(table, "quality", settings=Settings(axis="tokens", bucket=1_000))
    assert bounds(curve) == [(0, 1_000), (3_000, 4_000)]
    assert [point.value for point in curve.points] == [0.9, 0.5]
    assert curve.excluded == {"context tokens of the first turn are not known": 1}


def test_progress_axis_stretches_runs_to_the_same_length():
    """By progress, each part holds the same share of every run, however long."""
    table = make_table({"a": {"quality": [1, 0]}, "b": {"quality": [1] * 10 + [0] * 10}})
    curve = degradation_curve(table, "quality", settings=Settings(axis="progress", bucket=2))
    assert bounds(curve) == [(0, 0.5), (0.5, 1)]
    assert [point.value for point in curve.points] == [1, 0]


def test_short_runs_are_in_every_part():
    """5 runs of 30 turns at .9 and 5 of 4 turns at .3 give .6 over 10 runs in all ten parts."""
    runs = {f"long{i}": constant(0.9, 30) for i in range(5)}
    runs |= {f"short{i}": constant(0.3, 4) for i in range(5)}
    table = make_table(runs)
    for panel in ("active", "balanced"):
        curve = degradation_curve(table, "quality", settings=BY_PROGRESS, panel=panel)
        assert [point.n_runs for point in curve.points] == [10] * 10
        assert_allclose([point.value for point in curve.points], 0.6, rtol=1e-12)
        # Three turns of each long run; of each short one the turn or two that reach into the part.
        n_turns = [point.n_turns for point in curve.points]
        assert n_turns == [15 + 5 * n for n in (1, 1, 2, 1, 1, 1, 1, 2, 1, 1)]


def test_a_turn_counts_in_a_part_by_what_of_it_lies_there():
    """In two parts of three turns, the middle turn weighs half of an outer one in each."""
    table = make_table({"a": {"quality": [0.9, 0.3, 0.6]}})
    settings = Settings(axis="progress", bucket=2)
    points = degradation_curve(table, "quality", settings=settings).points
    assert [point.value for point in points] == [pytest.approx(0.7), pytest.approx(0.5)]
    assert [point.n_turns for point in points] == [2, 2]


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_progress_parts_are_exact(n_turns, parts, seed):
    """Each turn repeated until all parts hold whole turns gives the parts' plain means, and the
    mean of the parts is that of the turns."""
    y = np.random.default_rng(seed).random(n_turns)
    table = make_table({"a": {"quality": y}})
    curve = degradation_curve(table, "quality", settings=Settings(axis="progress", bucket=parts))
    found = [point.value for point in curve.points]
    assert_allclose(found, np.repeat(y, parts).reshape(parts, n_turns).mean(axis=1), rtol=1e-9)
    assert np.mean(found) == pytest.approx(y.mean())
    assert bounds(curve) == [(b / parts, (b + 1) / parts) for b in range(parts)]


def test_more_parts_than_are_drawn():
    """Beyond 1,000 parts of progress each run would cost more than it has turns."""
    with pytest.raises(ValueError, match="at most 1,000 parts"):
        degradation_curve(
            make_table({"a": constant(1, 2)}),
            "quality",
            settings=Settings(axis="progress", bucket=1_001),
        )


def rated(runs, *, weight="n"):
    """Runs with a share `rate` whose denominator is the column `n`."""
    return make_table(
        runs,
        info={"rate": SignalInfo(name="rate", title="Rate", low=0.0, high=1.0, weight=weight)},
    )


def test_a_rate_is_over_its_denominator():
    """A turn with its one call failed and one with nine good ones make .10 in a bucket of both, and
    their own rates by turn."""
    table = rated({"a": {"rate": [1, 0], "n": [1, 9]}})
    (point,) = degradation_curve(table, "rate", settings=Settings(bucket=2)).points
    assert (point.value, point.n_turns) == (0.1, 2)
    assert curve_by_turn(table, "rate").value == (1, 0)


def test_runs_weigh_the_same_whatever_their_denominators():
    """A run of one call at 1 and one of a hundred at 0 make .5: the run is the unit."""
    table = rated({"a": {"rate": [1], "n": [1]}, "b": {"rate": [0, 0], "n": [99, 1]}})
    (point,) = degradation_curve(table, "rate", settings=Settings(bucket=2)).points
    assert point.value == 0.5
    assert point.std_error == pytest.approx(0.5)


def test_a_turn_without_a_denominator_has_no_value():
    """Nothing out of nothing, or out of an unknown number, is no rate."""
    table = rated({"a": {"rate": [1, 0.5, 0, 0.25], "n": [2, 0, None, 2]}, "b": {"rate": [None]}})
    curve = degradation_curve(table, "rate", settings=Settings(bucket=4))
    (point,) = curve.points
    assert (point.value, point.n_turns) == (0.625, 2)
    assert curve.excluded == {"run without a value of the signal": 1}


def test_a_run_that_gives_rates_alone_counts_turns():
    """Where a file gives a rate and no denominator, the turns of its runs weigh the same."""
    table = rated({"a": {"rate": [1, 0, 0.5]}, "b": {"rate": [1, 0], "n": [1, 3]}})
    (point,) = degradation_curve(table, "rate", settings=Settings(bucket=3)).points
    assert (point.value, point.n_turns) == (pytest.approx((0.5 + 0.25) / 2), 5)
    assert degradation_curve(rated({"a": {"rate": [1, 0]}}, weight="no"), "rate").n_runs == 1


def test_by_progress_a_denominator_is_shared_out():
    """Of a turn that lies half in a part, half of its calls do."""
    table = rated({"a": {"rate": [0, 1, 0], "n": [1, 4, 3]}})
    settings = Settings(axis="progress", bucket=2)
    points = degradation_curve(table, "rate", settings=settings).points
    assert [point.value for point in points] == [pytest.approx(2 / 3), pytest.approx(2 / 5)]


def test_limits_stay_on_an_assumed_scale():
    """Scores that all lie in [0, 1] are taken to be on that scale, and so are their limits."""
    table = make_table({"a": constant(0.7, 1), "b": constant(1.0, 1)})
    (point,) = degradation_curve(table, "quality").points
    assert (point.value, point.low, point.high) == (0.85, 0, 1)
    stated = Settings(quality_scale=(0.5, 2))
    (point,) = degradation_curve(table, "quality", settings=stated).points
    assert (point.low, point.high) == (0.5, 2)


def test_limits_off_any_scale_are_those_of_t():
    """Scores on an unknown scale are not cut at what was seen."""
    table = make_table({"a": constant(7, 1), "b": constant(10, 1)})
    (point,) = degradation_curve(table, "quality").points
    low, high = stats.t.interval(0.95, 1, 8.5, 1.5)
    assert (point.low, point.high) == (pytest.approx(low), pytest.approx(high))


def test_runs_that_agree_are_not_certain():
    """Four runs that all have 5.0 in one of two buckets give no limits there, and it is said."""
    level = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    table = make_table({name: {"quality": [5.0, y]} for name, y in level.items()})
    curve = degradation_curve(table, "quality")
    first, second = curve.points
    assert (first.value, first.std_error, first.low, first.high) == (5.0, None, None, None)
    assert None not in (second.std_error, second.low, second.high)
    assert any(
        warning.startswith("In 1 of 2 buckets all runs have the same value, so no interval")
        for warning in curve.warnings
    )
    apart = degradation_curve(table, "quality", settings=Settings(bucket=2))
    assert not any("no interval" in warning for warning in apart.warnings)


@given(
    st.lists(
        st.lists(st.sampled_from([0, 0.1, 0.3, 0.7, 1.0]), min_size=1, max_size=6), min_size=1
    ),
    st.sampled_from([None, (0.0, 1.0), (0.2, 0.8), (-3.0, 9.0)]),
    st.sampled_from(["turn", "progress"]),
)
def test_a_value_lies_in_its_interval(runs, scale, axis):
    """No limit is on the wrong side of its value, on any scale, right or wrong; and if there is an
    interval it has a width."""
    table = make_table({str(i): {"quality": y} for i, y in enumerate(runs)})
    settings = Settings(axis=axis, bucket=3, quality_scale=scale)
    for point in degradation_curve(table, "quality", settings=settings).points:
        if point.low is not None:
            assert point.low <= point.value <= point.high
            assert point.low < point.high
        else:
            assert point.std_error is point.high is None


def test_event_axis_counts_from_the_first_turn_after():
    """Offset 0 is the first turn after the first compaction; runs without one are counted out."""
    table = make_table(
        {"a": {"quality": [1, 1, 0, 0]}, "b": {"quality": [1, 0]}, "c": {"quality": [0.5] * 9}},
        compaction_turns={"a": [3, 4], "b": [2]},
    )
    curve = degradation_curve(table, "quality", settings=Settings(axis="event"))
    assert [point.start for point in curve.points] == [-2, -1, 0, 1]
    assert [point.value for point in curve.points] == [1, 1, 0, 0]
    assert [point.n_runs for point in curve.points] == [1, 2, 2, 1]
    assert curve.excluded == {"run without the event 'compaction'": 1}
    assert "Runs with several such events, of which the first counts: 1." in curve.warnings


def test_balanced_panel_by_offset_has_as_many_turns_before_as_after():
    """By offset it keeps runs seen for the same number of turns on both sides, up to there."""
    lengths = {"a": (4, 9), "b": (4, 6), "c": (2, 9)}
    table = make_table(
        {name: constant(1, n) for name, (_, n) in lengths.items()},
        compaction_turns={name: [at] for name, (at, _) in lengths.items()},
    )
    settings = Settings(axis="event")
    curve = degradation_curve(table, "quality", settings=settings, panel="balanced")
    assert curve.min_turns == 3
    assert [(p.start, p.n_runs) for p in curve.points] == [(o, 2) for o in range(-3, 3)]


def test_event_axis_keeps_before_and_after_apart():
    """No bucket of offsets holds both a turn before the event and one after it."""
    runs = {"a": {"quality": [1] * 7 + [0] * 8}}
    table = make_table(runs, compaction_turns={"a": [8]})
    curve = degradation_curve(table, "quality", settings=Settings(axis="event", bucket=5))
    assert bounds(curve) == [(-7, -6), (-5, -1), (0, 4), (5, 7)]
    assert [point.value for point in curve.points] == [1, 1, 0, 0]
    assert [point.partial for point in curve.points] == [True, False, False, True]


def test_event_smeared_over_turns_is_sharp_by_offset():
    """Drops of .81 at compactions spread over turns 7 to 10 show as a step of .81 by offset and as
    less than .6 between any two turns (trap 14)."""
    rng = np.random.default_rng(5)
    pivots = {f"r{i}": [int(turn)] for i, turn in enumerate(rng.integers(7, 11, 400))}
    turns = np.arange(1, 15)
    runs = {
        name: {"quality": 3 - 0.81 * (turns >= at[0]) + rng.normal(0, 0.3, len(turns))}
        for name, at in pivots.items()
    }
    table = make_table(runs, compaction_turns=pivots)
    points = degradation_curve(table, "quality", settings=Settings(axis="event")).points
    value = {point.start: point.value for point in points}
    assert value[0] - value[-1] == pytest.approx(-0.81, abs=0.07)
    by_turn = [point.value for point in degradation_curve(table, "quality").points]
    assert np.diff(by_turn).min() > -0.6


def test_by_turn_lists_every_turn():
    """The series by turn has an entry for each turn, absent where no run has a value."""
    table = make_table({"a": {"quality": [1, None, 0.5]}, "b": {"quality": [0, None, None, None]}})
    series = curve_by_turn(table, "quality")
    assert series.turn == (1, 2, 3, 4)
    assert series.n_runs == (2, 0, 1, 0) == series.n_turns
    assert series.value == (0.5, None, 0.5, None)
    assert series.low[2] is None
    assert series.std_error[0] == pytest.approx(0.5)


def test_a_gap_in_all_runs_is_named_by_its_ends():
    """Turns that no run has cost nothing: of a gap only the two ends are in the series."""
    table = make_table({"a": {"quality": [1, 0.5, 0]}}, turns={"a": [2, 3, 10**15]})
    series, found = curve_by_turn(table, "quality"), reach(table)
    assert series.turn == found.turn == (1, 2, 3, 4, 10**15 - 1, 10**15)
    assert series.value == (None, 1, 0.5, None, None, 0)
    assert series.n_runs == (0, 1, 1, 0, 0, 1)
    assert found.n_runs == (1,) * 6


def test_by_turn_ignores_bucket_and_axis():
    """The series by turn is by single turn whatever the settings say of buckets and axes."""
    table = make_table({"a": {"quality": [1, 0.5]}, "b": {"quality": [0.5, 0.5]}})
    odd = Settings(bucket=10, axis="progress")
    assert curve_by_turn(table, "quality", odd) == curve_by_turn(table, "quality")


def test_reach_counts_runs_at_each_turn():
    """Reach falls from all runs with a turn to the longest one; gaps in turns are no ends."""
    table = make_table(
        {"a": constant(1, 3), "b": {"quality": [1, 1]}, "c": {}}, turns={"b": [1, 5]}
    )
    found = reach(table)
    assert found.turn == (1, 2, 3, 4, 5)
    assert found.n_runs == (2, 2, 2, 1, 1)
    assert found.share[-1] == 0.5
    assert reach(make_table({})).turn == ()
