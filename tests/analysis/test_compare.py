"""Two conditions compared: what it finds, what it refuses, and what must not change it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.suites import suite_table
from table_factory import make_table
from turncurve.analysis.compare import Comparison, compare
from turncurve.analysis.compare_gate import gate
from turncurve.analysis.comparison.settings import CompareSettings
from turncurve.errors import InvariantError, NotComparableError, UnknownNameError
from turncurve.table import TurnTable

QUICK = CompareSettings(resamples=999)


def scores(
    seed: int,
    *,
    at: int = 99,
    drop: float = 0.8,
    shape: tuple[int, int, int] = (3, 20, 20),
    levels: int = 0,
) -> np.ndarray:
    """Scores by trial, scenario and turn, which fall at a turn; scenarios differ in level."""
    rng, n = np.random.default_rng(seed), shape
    level = np.random.default_rng(levels).normal(3, 0.5, (1, n[1], 1))
    size = drop * rng.normal(1, 0.2, (1, n[1], 1))
    fall = size * (np.arange(1, n[2] + 1) >= at)
    return level - fall + rng.normal(0, 0.15, (n[0], n[1], 1)) + rng.normal(0, 0.3, n)


def pair(**given: Any) -> Comparison:
    """A suite that falls at turn 14 against one that falls at turn 8."""
    a, b = suite_table(scores(1, at=14)), suite_table(scores(2, at=8))
    return compare(a, b, replace(QUICK, **given))


@pytest.fixture(scope="module")
def found() -> Comparison:
    return pair()


def test_it_says_where_b_is_worse(found: Comparison) -> None:
    """Between the two falls b is surely worse, and nowhere else."""
    assert found.judged.verdict == "worse"
    assert found.judged.worse_at == (8, 9, 10, 11, 12, 13)
    assert found.judged.better_at == ()
    assert found.judged.over_turns == "worse"
    difference = found.difference
    assert difference.horizon == 20
    assert difference.area.value == pytest.approx(-0.8 * 6 / 20, abs=0.08)
    assert difference.n_tested == 21
    point = difference.points[9]
    assert (point.start, point.n_pairs, point.n_runs_a) == (10, 20, 60)
    assert point.difference == pytest.approx(point.b - point.a)
    assert point.band_low < point.low < point.difference < point.high < point.band_high < 0


def test_numbers_by_hand() -> None:
    """Differences of scenarios' means are what every figure is made of."""
    a, b = scores(1, shape=(2, 6, 4)), scores(2, shape=(3, 6, 4))
    found = compare(suite_table(a), suite_table(b), QUICK)
    d = b.mean(axis=0) - a.mean(axis=0)
    for i, point in enumerate(found.difference.points):
        assert point.difference == pytest.approx(d[:, i].mean())
        assert point.std_error == pytest.approx(d[:, i].std(ddof=1) / np.sqrt(6))
        assert point.df == 5
    area = found.difference.area
    assert area.value == pytest.approx(d.mean())
    assert area.std_error == pytest.approx(d.mean(axis=1).std(ddof=1) / np.sqrt(6))
    suite = found.difference.area_suite
    trials = [x.mean(axis=(1, 2)) for x in (a, b)]
    wanted = np.sqrt(sum(t.var(ddof=1) / len(t) for t in trials))
    assert suite.std_error == pytest.approx(wanted)
    assert (suite.n_trials_a, suite.n_trials_b) == (2, 3)


def test_the_cliff_moved(found: Comparison) -> None:
    """The movement has its own interval, and the two shapes stand beside it."""
    places = found.places
    assert (places.what, places.a.turn, places.b.turn) == ("cliff", 14, 8)
    moved = places.moved
    assert moved.value == -6
    assert moved.low <= -6 <= moved.high < 0


def test_no_cliff_is_said(found: Comparison) -> None:
    """Where one of them has none there is no movement, and why is told."""
    assert found.places.moved.reason is None
    flat = compare(suite_table(scores(1, at=12)), suite_table(scores(3)), QUICK)
    moved = flat.places.moved
    assert moved.value is None
    assert "A has a cliff at turn 12" in moved.reason
    assert "B has neither cliff nor knee" in moved.reason


def test_errors_come_sooner(found: Comparison) -> None:
    """The ratio of mean turns of the first error is below 1, with its interval."""
    first = found.first_error
    assert first.rule == "rolling_quality"
    assert first.ratio.value == pytest.approx(first.b / first.a)
    assert first.ratio.high < 1
    assert "below 2.8" in first.why


def swapped(**given: Any) -> Comparison:
    a, b = suite_table(scores(1, at=14)), suite_table(scores(2, at=8))
    return compare(b, a, replace(QUICK, **given))


def test_swapping_turns_everything(found: Comparison) -> None:
    """Differences are negated, ratios inverted, verdicts turned, limits exchanged."""
    other = swapped()
    assert other.judged.verdict == "better"
    assert other.judged.better_at == found.judged.worse_at
    for here, there in zip(found.difference.points, other.difference.points, strict=True):
        assert there.difference == pytest.approx(-here.difference)
        assert (there.band_low, there.band_high) == pytest.approx((-here.band_high, -here.band_low))
        assert there.p_adjusted == pytest.approx(here.p_adjusted)
        assert there.suite.low == pytest.approx(-here.suite.high)
    area, back = found.difference.area, other.difference.area
    assert (back.value, back.low) == pytest.approx((-area.value, -area.high))
    moved, moved_back = found.places.moved, other.places.moved
    assert (moved_back.value, moved_back.low) == (-moved.value, -moved.high)
    ratio, inverse = found.first_error.ratio, other.first_error.ratio
    assert (inverse.value, inverse.low) == pytest.approx((1 / ratio.value, 1 / ratio.high))
    turns = {one.name: one.change for one in found.amounts}["turns of a run"]
    assert turns.value == 1
    left, left_back = found.who_is_left, other.who_is_left
    assert left_back.active.value == pytest.approx(-left.active.value)


def test_a_constant_changes_no_difference(found: Comparison) -> None:
    """The same added to all scores of both leaves differences, p values and verdict."""
    a, b = suite_table(scores(1, at=14) + 7), suite_table(scores(2, at=8) + 7)
    other = compare(a, b, QUICK)
    for here, there in zip(found.difference.points, other.difference.points, strict=True):
        assert there.difference == pytest.approx(here.difference)
        assert there.band_high == pytest.approx(here.band_high)
        assert there.p_adjusted == here.p_adjusted
    assert other.judged == found.judged
    assert other.places.moved.low == found.places.moved.low


def test_a_factor_scales(found: Comparison) -> None:
    """A rubric in other units scales differences, and leaves the verdict."""
    a, b = suite_table(25 * scores(1, at=14)), suite_table(25 * scores(2, at=8))
    other = compare(a, b, QUICK)
    assert other.difference.area.low == pytest.approx(25 * found.difference.area.low)
    assert other.judged == found.judged


def test_with_itself() -> None:
    """Nothing differs: zeros, no interval where there is no spread, and no difference seen."""
    a = suite_table(scores(1, at=12))
    same = compare(a, a, replace(QUICK, margin=0.1))
    assert same.judged.verdict == "no difference seen"
    assert {point.difference for point in same.difference.points} == {0}
    assert (same.difference.area.value, same.difference.area.low) == (0, None)
    assert same.difference.area.warnings
    assert same.places.moved.value == 0
    assert same.first_error.ratio.value == 1
    assert same.signals.n_moved == 0
    assert same.difference.noninferiority.shown
    assert gate(same, "worse") == gate(same, "not-shown") == "passed"


def test_the_order_of_runs_is_nothing() -> None:
    """Scenarios are paired by name, in whatever order the files have them."""
    a, b = suite_table(scores(1, at=14)), suite_table(scores(2, at=8))
    order = np.random.default_rng(0).permutation(b.n_runs)
    one, two = compare(a, b, QUICK), compare(a, b.take_runs(order), QUICK)
    assert two.difference.area.value == pytest.approx(one.difference.area.value)
    assert two.judged == one.judged


def test_a_factor_of_runs_is_no_factor_of_scenarios() -> None:
    """Each scenario weighs the same, whatever its number of runs: a few with many are a few."""
    b = scores(2, shape=(3, 10, 5))
    b[1:, 2:] = np.nan  # two scenarios have three runs, the others one
    b[:, :2] += 5
    a = scores(1, shape=(3, 10, 5))
    found = compare(suite_table(a), suite_table(b), QUICK)
    wanted = np.nanmean(b, axis=0).mean() - a.mean()
    assert found.difference.area.value == pytest.approx(wanted)
    assert (found.b.fewest_trials, found.b.most_trials) == (1, 3)
    assert any("1 to 3 runs" in note for note in found.notes)
    assert found.difference.points[0].suite is None


def test_scenarios_of_one_side_are_left_out_and_named() -> None:
    """The comparison is over the common ones; what was left out is counted by side."""
    a = suite_table(scores(1, shape=(2, 12, 6)))
    b = suite_table(scores(2, shape=(2, 9, 6)))
    found = compare(a, b, QUICK)
    assert found.n_scenarios == 9
    assert found.a.alone == ("s9", "s10", "s11")
    assert dict(found.a.excluded) == {"run of a scenario that the other has not": 6}
    assert (found.a.n_runs, found.b.n_runs, found.b.n_alone) == (18, 18, 0)
    assert any("9 scenarios are few" in note for note in found.notes)
    assert found.difference.n_resamples is None


def test_too_few_in_common() -> None:
    """Four common scenarios are refused, with names and with what to do."""
    a = suite_table(scores(1, shape=(2, 12, 6)))
    b = suite_table(scores(2, shape=(2, 4, 6)))
    with pytest.raises(NotComparableError) as told:
        compare(a, b, QUICK, names=("old", "new"))
    message = str(told.value)
    assert "old and new have 4 scenarios in common and a comparison needs 5" in message
    assert "old has 12 ('s0', 's1', 's2', ...)" in message
    assert "give the same task the same name in both" in message


def test_runs_without_a_scenario() -> None:
    """They are not paired by chance of their ids: nothing is compared."""
    runs = {f"r{i}": {"quality": [0.5, 0.6]} for i in range(8)}
    with pytest.raises(NotComparableError, match="no run of a names its scenario"):
        compare(make_table(runs), make_table(runs), QUICK)


def test_two_conditions_on_one_side() -> None:
    """They would be averaged in silence: refused."""
    table = suite_table(scores(1, shape=(1, 6, 4)), condition={"t0s0": "x", "t0s1": "y"})
    with pytest.raises(NotComparableError, match="a holds 2 conditions"):
        compare(table, table, QUICK)


def test_trials_that_share_a_seed() -> None:
    """Paired by trial, what both runs of a trial share goes out of the suite's error."""
    rng = np.random.default_rng(4)
    shared = rng.normal(0, 1, (5, 1, 1)) + np.zeros((5, 12, 6))
    a, b = (suite_table(scores(s, shape=(5, 12, 6)) + shared) for s in (1, 2))
    by_trial = compare(a, b, replace(QUICK, pair_by="trial")).difference
    by_scenario = compare(a, b, QUICK).difference
    assert by_trial.area.value == pytest.approx(by_scenario.area.value)
    assert by_trial.area_suite.std_error < 0.3 * by_scenario.area_suite.std_error


def test_pairs_of_trials_need_both_runs() -> None:
    """A trial of one side alone is left out and counted; a trial twice is refused."""
    a, b = scores(1, shape=(3, 8, 5)), scores(2, shape=(2, 8, 5))
    found = compare(suite_table(a), suite_table(b), replace(QUICK, pair_by="trial"))
    assert found.difference.area.value == pytest.approx(b.mean() - a[:2].mean())
    assert dict(found.a.excluded) == {"run of a trial that the other has not": 8}
    twice = suite_table(scores(1, shape=(2, 8, 5)))
    twice = replace(twice, runs=replace(twice.runs, trial=np.ones_like(twice.runs.trial)))
    with pytest.raises(InvariantError, match="the same trial twice"):
        compare(twice, twice, replace(QUICK, pair_by="trial"))
    again = compare(twice, suite_table(b), QUICK)
    assert again.difference.points[0].n_runs_a == 16


def test_few_pairs_at_a_turn_are_absent_with_a_reason() -> None:
    """Past the turn that only four scenarios reach in both, there is no number."""
    a, b = scores(1, shape=(2, 12, 9)), scores(2, shape=(2, 12, 9))
    b[:, 4:, 6:] = np.nan
    found = compare(suite_table(a), suite_table(b), QUICK).difference
    last = found.points[-1]
    assert (last.n_pairs, last.n_a_only, last.difference, last.a) == (4, 8, None, None)
    assert "a difference needs 5" in last.reason
    assert found.horizon == 6
    assert found.n_tested == 7


def test_nothing_to_pair_at_any_turn() -> None:
    """Where values never meet, the verdict is too few, and a gate has nothing to judge."""
    a, b = scores(1, shape=(1, 8, 6)), scores(2, shape=(1, 8, 6))
    a[:, :4, :], b[:, 4:, :] = np.nan, np.nan
    a[:, :4, 5], b[:, 4:, 5] = 3, 3
    a[:, 4:, 5], b[:, :4, 5] = np.nan, np.nan
    a[:, :4, 4], b[:, 4:, 4] = np.nan, np.nan
    found = compare(suite_table(a), suite_table(b), QUICK)
    assert found.judged.verdict == "too few"
    assert found.difference.area.value is None
    assert found.who_is_left is None
    assert gate(found, "worse") == "not judged"


def test_scales_that_differ_are_not_compared() -> None:
    """Scores from 0 to 4 and from 0 to 10 are not one quantity; unless the user says so."""
    a = suite_table(scores(1, shape=(1, 8, 6)), scale=(0, 4))
    b = suite_table(scores(2, shape=(1, 8, 6)), scale=(0, 10))
    found = compare(a, b, QUICK)
    assert found.judged.verdict == "not comparable"
    assert "the files of a say 0 to 4, those of b 0 to 10" in found.no_difference
    assert found.difference is None
    assert found.places is None
    assert gate(found, "worse") == "not judged"
    assert {one.name: one.change.value for one in found.amounts}["turns of a run"] == 1
    stated = compare(a, b, replace(QUICK, quality_scale=(0, 10)))
    assert stated.judged.verdict == "no difference seen"


def easy_tasks_end(seed: int, *, leave: bool) -> TurnTable:
    """Within a scenario, easy runs score 3.5 and hard ones 2; easy ones may end at turn 6."""
    rng = np.random.default_rng(seed)
    values = np.where(np.arange(4)[:, None, None] < 2, 3.5, 2.0) + rng.normal(0, 0.2, (4, 15, 12))
    if leave:
        values[:2, :, 6:] = np.nan
    return suite_table(values)


def test_who_is_left_is_told_from_getting_worse() -> None:
    """Where b only loses its easy runs, the curve falls, and the runs that last do not."""
    found = compare(easy_tasks_end(1, leave=False), easy_tasks_end(2, leave=True), QUICK)
    left = found.who_is_left
    assert found.judged.verdict == "worse"
    assert left.verdict == "composition"
    assert left.active.value == pytest.approx(-0.375, abs=0.05)
    assert left.reach.value == pytest.approx(-0.5)
    same = compare(easy_tasks_end(1, leave=False), easy_tasks_end(3, leave=False), QUICK)
    assert same.who_is_left.verdict == "none seen"


def test_ends_count_at_the_floor() -> None:
    """Runs of b that crash stand at the floor in the composite, and nowhere else."""
    a, b = scores(1, shape=(1, 12, 10)), scores(2, shape=(1, 12, 10))
    b[:, :6, 5:] = np.nan
    crashed = {f"t0s{i}": "crash" for i in range(6)}
    found = compare(suite_table(a), suite_table(b, exit_type=crashed), QUICK).who_is_left
    assert found.composite.value < found.active.value - 0.5
    unknown = compare(
        suite_table(a, scale=None), suite_table(b, scale=None, exit_type=crashed), QUICK
    ).who_is_left
    assert "state it with --scale" in unknown.composite.reason


def test_a_margin() -> None:
    """No worse than a margin is a claim that needs the interval; "no difference seen" does not."""
    a = suite_table(scores(1, shape=(3, 20, 8)))
    b = suite_table(scores(2, shape=(3, 20, 8)))
    wide = compare(a, b, replace(QUICK, margin=0.5)).difference
    assert wide.noninferiority.shown
    assert {point.margin for point in wide.points} == {"not worse"}
    tight = compare(a, b, replace(QUICK, margin=0.01))
    assert not tight.difference.noninferiority.shown
    assert gate(tight, "not-shown") == "failed"
    assert gate(tight, "worse") == "passed"
    worse = pair(margin=0.3).difference
    assert [p.start for p in worse.points if p.margin == "worse"] == [8, 9, 10, 11, 12, 13]
    assert worse.noninferiority.n_worse == 6


def test_a_signal_where_low_is_good() -> None:
    """Of error rates, more is worse; a margin counts upwards."""
    rng = np.random.default_rng(3)

    def table(rate: float) -> TurnTable:
        runs = {
            f"{s}-{r}": {"error": (rng.random(10) < rate).astype(float)}
            for s in range(20)
            for r in range(4)
        }
        return make_table(
            runs,
            scenario={name: name.split("-")[0] for name in runs},
            trial={name: int(name.split("-")[1]) + 1 for name in runs},
        )

    found = compare(table(0.1), table(0.5), replace(QUICK, margin=0.05))
    assert (found.signal, found.judged.verdict) == ("error", "worse")
    assert found.judged.over_turns == "worse"
    assert found.difference.noninferiority.n_shown == 0
    assert found.difference.area.value == pytest.approx(0.4, abs=0.05)


def with_signals(seed: int, **shift: float) -> TurnTable:
    """Quality, two signals of other kinds and noise; each shifted from turn 10 on."""
    rng, runs = np.random.default_rng(seed), {}
    late = np.arange(1, 21)
    for s in range(24):
        runs[f"s{s}"] = {
            "quality": 0.8 + rng.normal(0, 0.1, 20) + shift.get("quality", 0) * (late >= 15),
            "output_tokens": 500 + rng.normal(0, 80, 20) + shift.get("tokens", 0) * (late >= 10),
            "tool_error_rate": 0.2 + rng.normal(0, 0.1, 20) + shift.get("tools", 0) * (late >= 5),
            **{f"noise{i}": rng.normal(0, 1, 20) for i in range(5)},
        }
    return make_table(runs, scenario={name: name for name in runs})


def test_which_signal_moved_first() -> None:
    """Signals come in the order of the turn from which on they surely differ, with their family."""
    found = compare(
        with_signals(1), with_signals(2, quality=-0.4, tokens=300, tools=0.4), QUICK
    ).signals
    moved = [one for one in found.signals if one.moved]
    assert [(one.signal, one.turn, one.way) for one in moved] == [
        ("tool_error_rate", 5, "worse"),
        ("output_tokens", 10, "higher"),
        ("quality", 15, "worse"),
    ]
    assert (found.n_tested, found.n_moved) == (8, 3)
    assert found.band_level == pytest.approx(1 - 0.05 * 3 / 8)
    for one in moved:
        assert one.low < one.difference < one.high
        assert one.low > 0 or one.high < 0
        assert one.q >= one.p
        assert one.q_any >= one.q


def test_signals_of_one_side_alone_are_no_family() -> None:
    """A signal that b lacks is not tested; one that the user names and a lacks is refused."""
    a = with_signals(1)
    b = with_signals(2)
    less = replace(b, columns={n: c for n, c in b.columns.items() if n != "noise0"})
    assert compare(a, less, QUICK).signals.n_tested == 7
    with pytest.raises(UnknownNameError, match="signal of b 'noise0'"):
        compare(a, less, replace(QUICK, signal="noise0"))


def test_quality_is_the_same_in_both() -> None:
    """Where a alone has grades, both go by the rubric."""
    a, b = suite_table(scores(1, shape=(1, 8, 6))), suite_table(scores(2, shape=(1, 8, 6)))
    graded = a.with_columns({"error": np.zeros(len(a.turn))}, {})
    assert compare(graded, b, QUICK).signal == "quality"
    assert compare(graded, graded, QUICK).signal == "error"


def test_a_signal_without_a_good_direction() -> None:
    """It differs; it is not worse, and a margin is refused."""
    found = compare(
        with_signals(1), with_signals(2, tokens=300), replace(QUICK, signal="output_tokens")
    )
    assert found.judged.verdict == "different"
    assert found.judged.different_at == tuple(range(10, 21))
    with pytest.raises(NotComparableError, match="no margin says what is worse"):
        compare(with_signals(1), with_signals(2), replace(QUICK, signal="output_tokens", margin=5))


def test_worse_here_and_better_there() -> None:
    """Both are said, and the gate fails."""
    a = scores(1)
    b = scores(2)
    b[:, :, :6] -= 0.8
    b[:, :, 12:] += 0.8
    found = compare(suite_table(a), suite_table(b), QUICK)
    assert found.judged.verdict == "mixed"
    assert found.judged.worse_at == (1, 2, 3, 4, 5, 6)
    assert gate(found, "worse") == "failed"


def costly(usd: float, n_succeeded: int) -> TurnTable:
    """Ten scenarios of one run of two turns, at so much a turn; the first ones succeed."""
    runs = {
        f"s{i}": {"quality": [0.5, 0.6], "cost_usd": [usd, usd * (1 + i / 10)]} for i in range(10)
    }
    success = {f"s{i}": i < n_succeeded for i in range(10)}
    return make_table(runs, scenario={name: name for name in runs}, success=success)


def test_cost_for_each_success() -> None:
    """Twice the cost for half of the successes is four times as much for each."""
    found = {one.name: one for one in compare(costly(1, 8), costly(2, 4), QUICK).amounts}
    success, each = found["success"], found["cost for each success"]
    assert (success.a.value, success.b.value) == (0.8, 0.4)
    assert success.change.value == pytest.approx(-0.4)
    assert each.a.value == pytest.approx(24.5 / 8)
    assert each.change.value == pytest.approx(4)
    assert each.change.low < 4 < each.change.high
    assert found["cost of a run"].change.value == pytest.approx(2)
    assert found["cost of a run"].change.low is None
    assert "known on both sides for 0 scenarios" in found["output tokens of a run"].change.reason
    none = {one.name: one for one in compare(costly(1, 8), costly(1, 0), QUICK).amounts}
    assert "no run of b" in none["cost for each success"].change.reason


def test_a_horizon_that_is_stated() -> None:
    """The mean over turns ends there, and so does its n."""
    found = pair(horizon=7).difference
    assert found.horizon == 7
    assert found.area.value == pytest.approx(0, abs=0.1)
    assert found.area_p_adjusted > 0.05


def test_buckets_of_turns() -> None:
    """Wider buckets give fewer positions, and turns that are turns."""
    found = pair(bucket=4)
    assert [point.start for point in found.difference.points] == [1, 5, 9, 13, 17]
    assert found.difference.points[-1].end == 20
    assert found.judged.worse_at[0] in (5, 9)


@pytest.mark.parametrize(
    "bad", [{"bucket": 0}, {"horizon": 0}, {"margin": 0.0}, {"margin": np.nan}, {"level": 1.0}]
)
def test_bad_settings(bad: dict[str, Any]) -> None:
    """They are refused where they are made."""
    with pytest.raises(ValueError, match="wanted"):
        CompareSettings(**bad)


def test_unknown_rule() -> None:
    """The known ones are listed."""
    with pytest.raises(UnknownNameError, match="failing_grade"):
        pair(rule="nonsense")


def test_the_same_again(found: Comparison) -> None:
    """One seed gives the same numbers again, and another the same verdict."""
    assert pair() == found
    assert pair(seed=1).judged.verdict == "worse"


def test_false_alarms() -> None:
    """Where nothing differs, b is called worse or better in 5 % of pairs (200: error .015)."""
    few = replace(QUICK, resamples=499)
    said = []
    for seed in range(200):
        a, b = (scores(2 * seed + side, shape=(2, 16, 8), levels=seed) for side in (1000, 1001))
        said.append(compare(suite_table(a), suite_table(b), few).judged.verdict)
    assert 1 - said.count("no difference seen") / 200 < 0.05 + 3 * 0.0154


def with_gaps(seed: int, n: int = 40) -> np.ndarray:
    """Scenarios of two runs; in half of them no run gets past turn 6 of 12."""
    values = scores(seed, shape=(2, n, 12))
    values[:, ::2, 6:] = np.nan
    return values


def jackknife(values: np.ndarray) -> float:
    """A standard error from leaving scenarios out one at a time."""
    n = len(values)
    return float(np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum()))


def test_errors_over_turns_hold_where_pairs_are_missing() -> None:
    """The errors of the mean over turns, and of active less balanced, are those of a jackknife.

    Up to terms of 1 / 20, the number of scenarios that last.
    """
    a, b = scores(1, shape=(2, 40, 12)), with_gaps(2)
    b += np.random.default_rng(5).normal(0, 0.4, (1, 40, 1))
    found = compare(suite_table(a), suite_table(b), replace(QUICK, horizon=12))
    d = np.full((40, 12), np.nan)
    d[:, :6] = (b - a)[:, :, :6].mean(axis=0)
    d[1::2] = (b - a)[:, 1::2].mean(axis=0)
    keep = [np.arange(40) != i for i in range(40)]
    active = np.array([np.nanmean(d[k], axis=0).mean() for k in keep])
    lasting = np.array([d[k & (np.arange(40) % 2 == 1)].mean() for k in keep])
    area, apart = found.difference.area, found.who_is_left.apart
    assert area.value == pytest.approx(np.nanmean(d, axis=0).mean())
    assert area.std_error == pytest.approx(jackknife(active), rel=0.05)
    assert apart.value == pytest.approx(np.nanmean(d, axis=0).mean() - d[1::2].mean())
    assert apart.std_error == pytest.approx(jackknife(active - lasting), rel=0.05)


def test_by_trial_a_run_without_its_pair_is_no_pair() -> None:
    """At a turn that one run of a pair does not reach, the other counts for nothing."""
    a, b = scores(1, shape=(2, 8, 5)), scores(2, shape=(2, 8, 5))
    b[0, :, 3:] = np.nan
    found = compare(suite_table(a), suite_table(b), replace(QUICK, pair_by="trial")).difference
    assert found.points[4].difference == pytest.approx((b - a)[1, :, 4].mean())
    assert found.points[4].a == pytest.approx(a[1, :, 4].mean())
    assert found.points[2].difference == pytest.approx((b - a)[:, :, 2].mean())


def test_a_movement_in_buckets_is_in_turns() -> None:
    """With buckets of two turns, a cliff at turn 9 and one at turn 25 are 16 turns apart."""
    a, b = (suite_table(scores(s, at=at, shape=(2, 20, 40))) for s, at in ((1, 9), (2, 25)))
    places = compare(a, b, replace(QUICK, bucket=2)).places
    assert (places.a.turn, places.b.turn) == (9, 25)
    assert places.moved.value == 16
    assert places.moved.low <= 16 <= places.moved.high
    assert places.moved.low > 10


def test_a_cliff_is_looked_for_turn_by_turn() -> None:
    """Buckets of five make a ramp of a fall in their middle; the fall is found at its turn."""
    rng = np.random.default_rng(6)
    turn = np.arange(1, 41)
    level = rng.normal(3, 0.2, (1, 20, 1))

    def fallen(at: int) -> TurnTable:
        return suite_table(level - 0.5 * (turn >= at) + rng.normal(0, 0.1, (3, 20, 40)))

    places = compare(fallen(23), fallen(14)).places
    assert places is not None
    assert (places.a.turn, places.b.turn, places.what) == (23, 14, "cliff")
    assert places.moved.value == -9
