"""How the context grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from scipy import stats

from table_factory import make_table
from turncurve.analysis.context import Crossing, Spike, context_growth
from turncurve.table import TurnTable

FOUNDING = [3000 + 850 * turn for turn in range(1, 61)]


def runs_of(*tokens: list[float]) -> TurnTable:
    return make_table({f"r{i}": {"context_tokens": t} for i, t in enumerate(tokens)})


def test_founding_example() -> None:
    """3850 to 54000 tokens over 60 turns: 850.0 a turn, 100,000 at turn 115 if it goes on."""
    growth = context_growth(runs_of(FOUNDING))
    assert (growth.start_tokens, growth.end_tokens) == (3850, 54000)
    assert growth.tokens_per_turn == 850.0
    assert (growth.crosses_100k, growth.crosses_200k) == (115, 232)
    assert [c.kind for c in growth.crossings] == ["extrapolated", "extrapolated"]
    assert growth.slope.value == pytest.approx(850)
    assert (growth.n_runs, growth.n_turns, growth.max_tokens) == (1, 60, 54000)


def test_a_limit_met_exactly_is_reached() -> None:
    """1000 a turn from 0 reaches 100,000 at turn 100, not 101; seen or extrapolated."""
    seen = context_growth(runs_of([1000.0 * turn for turn in range(1, 151)]))
    assert seen.crossings[0] == Crossing(
        tokens=100_000, turn=100, kind="observed", n_crossed=1, n_runs=1
    )
    ahead = context_growth(runs_of([1000.0 * turn for turn in range(1, 51)]))
    assert (ahead.crosses_100k, ahead.crossings[0].kind) == (100, "extrapolated")


@pytest.mark.parametrize("turns", range(20, 120))
def test_rounding_does_not_move_a_crossing(turns: int) -> None:
    """A line that meets 100,000 at a whole turn crosses there, whatever its binary fraction."""
    step = 100_000 / turns
    growth = context_growth(runs_of([step * turn for turn in range(1, turns // 2)]))
    assert growth.crosses_100k == turns


def test_extrapolation_starts_after_the_last_turn() -> None:
    """A run whose line lies above the limit already, and whose context doesn't, is due next."""
    tokens = [60_000.0, 80_000, 90_000, 92_000, 94_000, 96_000, 98_000, 99_900, 99_000, 99_500]
    growth = context_growth(runs_of(tokens))
    assert growth.crossings[0].kind == "extrapolated"
    assert growth.crosses_100k == 11


@pytest.mark.parametrize("step", [0.0, -100.0])
def test_a_context_that_does_not_grow_never_reaches_it(step: float) -> None:
    """A flat or falling line never reaches a limit above it."""
    growth = context_growth(runs_of([50_000 + step * turn for turn in range(20)]))
    assert growth.crosses_100k is None
    assert growth.crossings[0].kind == "never"


def test_growth_is_taken_between_compactions() -> None:
    """A run that adds 1000 a turn and is compacted twice grows by 1000 a turn."""
    tokens = [1000.0 * turn for turn in [*range(1, 31), *range(5, 31), *range(5, 11)]]
    table = make_table({"r": {"context_tokens": tokens}}, compaction_turns={"r": [31, 57]})
    growth = context_growth(table)
    assert growth.tokens_per_turn == 1000
    assert growth.slope.value == pytest.approx(1000)
    assert growth.n_spikes == growth.n_drops == 0
    assert growth.crossings[0].kind == "never"
    unrecorded = context_growth(runs_of(tokens))
    assert unrecorded.n_drops == 2
    assert unrecorded.tokens_per_turn == pytest.approx(9000 / 61)


def test_a_small_fall_is_no_drop() -> None:
    """A fall to half is none; a fall below half without a compaction on record is one."""
    assert context_growth(runs_of([1000.0, 900, 450, 500])).n_drops == 0
    assert context_growth(runs_of([1000.0, 900, 449, 500])).n_drops == 1


def test_several_runs_give_medians() -> None:
    """Start, end and growth are medians over runs, each run counting once."""
    growth = context_growth(runs_of([100, 200, 300], [100, 600], [1000.0 * t for t in range(40)]))
    assert (growth.start_tokens, growth.end_tokens, growth.tokens_per_turn) == (100, 600, 500)
    assert growth.slope.value == pytest.approx(500)
    assert growth.slope_quartiles == pytest.approx((300, 750))


def test_start_end_and_growth_speak_of_the_same_runs() -> None:
    """Runs of a single turn, however many, move neither the start nor the end beside a growth."""
    growth = context_growth(runs_of([100, 200, 300], [500, 900], *[[7.0]] * 9))
    assert (growth.start_tokens, growth.end_tokens, growth.tokens_per_turn) == (300, 600, 250)
    assert (growth.n_runs_measured, growth.n_runs) == (2, 11)


def test_a_run_that_is_compacted_at_each_turn_is_not_measured() -> None:
    """Where no stretch between compactions has two turns, nothing grew that could be told."""
    table = make_table({"r": {"context_tokens": [900.0, 300, 700]}}, compaction_turns={"r": [2, 3]})
    growth = context_growth(table)
    assert (growth.start_tokens, growth.end_tokens, growth.tokens_per_turn) == (900, 700, None)
    assert growth.n_runs_measured == 1


def test_observed_crossing_is_kaplan_meiers_median() -> None:
    """Over runs of different lengths the crossing is the median that lifelines gives."""
    rng = np.random.default_rng(1)
    slopes, lengths = rng.uniform(1500, 4000, 40), rng.integers(20, 90, 40)
    tokens = [[s * turn for turn in range(1, n + 1)] for s, n in zip(slopes, lengths, strict=True)]
    crossing = context_growth(runs_of(*tokens)).crossings[0]
    turn = np.ceil(100_000 / slopes)
    fit = KaplanMeierFitter().fit(np.minimum(turn, lengths), turn <= lengths)
    assert crossing.kind == "observed"
    assert crossing.turn == fit.median_survival_time_
    assert crossing.n_crossed == (turn <= lengths).sum()
    assert crossing.low is not None
    assert crossing.high is not None
    assert crossing.low <= crossing.turn <= crossing.high


def test_crossing_of_several_short_runs_is_extrapolated() -> None:
    """Three runs that end before: the second of their own lines' crossings counts."""
    tokens = [[s * turn for turn in range(1, 11)] for s in (1000.0, 2000.0, 500.0)]
    crossing = context_growth(runs_of(*tokens)).crossings[0]
    assert (crossing.turn, crossing.kind, crossing.n_crossed) == (100, "extrapolated", 0)


def test_slope_interval_covers_the_median() -> None:
    """The interval of the median slope over 15 runs holds the true median in 95 % or more."""
    rng = np.random.default_rng(2)
    inside = 0
    for slopes in rng.lognormal(6, 1, size=(300, 15)):
        tokens = [[s * turn for turn in range(1, 6)] for s in slopes]
        found = context_growth(runs_of(*tokens)).slope
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= np.exp(6) <= found.high
    assert inside / 300 >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_slope_of_a_run_is_scipys() -> None:
    """One run's slope is linregress's, with unknown turns left out."""
    tokens: list[float | None] = [100, 250, None, 600, 610, 900]
    table = make_table({"r": {"context_tokens": tokens}})
    wanted = stats.linregress([1, 2, 4, 5, 6], [100, 250, 600, 610, 900]).slope
    assert context_growth(table).slope.value == pytest.approx(wanted)


def test_spikes_stand_out_from_the_runs_own_steps() -> None:
    """Steps of 100 ± 10 and one of 5,000: one spike, at the turn that added it."""
    steps = [90.0, 100, 110, 95, 105, 5000, 100, 90, 110]
    growth = context_growth(runs_of(list(np.cumsum([1000, *steps]))))
    assert growth.n_spikes == 1
    assert growth.spikes == (Spike(run="r0", turn=7, tokens_added=5000),)


def test_a_step_at_six_deviations_is_no_spike() -> None:
    """Median 100, MAD 10: a step of 160 is none, one of 161 is."""
    steps = [90.0, 110, 90, 110, 100, 100, 90, 110, 100]
    assert context_growth(runs_of(list(np.cumsum([0, *steps, 160])))).n_spikes == 0
    assert context_growth(runs_of(list(np.cumsum([0, *steps, 161])))).n_spikes == 1


def test_hardly_more_than_usual_is_no_spike() -> None:
    """Among steps of 850 one of 851 is none, nor one of 1,360; one of 1,361 is."""
    for added, n_spikes in ((851.0, 0), (1360.0, 0), (1361.0, 1)):
        steps = [*[850.0] * 20, added, *[850.0] * 20]
        assert context_growth(runs_of(list(np.cumsum([3000, *steps])))).n_spikes == n_spikes


def test_a_jump_in_a_context_that_does_not_grow_is_a_spike() -> None:
    """Where the usual step is 0, any growth is far more than usual."""
    growth = context_growth(runs_of([5000.0] * 10 + [5200.0] * 10))
    assert growth.spikes == (Spike(run="r0", turn=11, tokens_added=200),)


def test_a_step_over_unknown_turns_is_no_spike() -> None:
    """What several turns added together is not one turn's."""
    tokens: list[float | None] = [100.0 * turn for turn in range(1, 21)]
    tokens[10:15] = [None] * 5
    assert context_growth(make_table({"r": {"context_tokens": tokens}})).n_spikes == 0


@given(
    st.lists(st.integers(0, 5_000), min_size=2, max_size=30), st.integers(0, 20), st.integers(1, 4)
)
def test_growth_of_one_run_is_last_less_first_over_turns(
    steps: list[int], skipped: int, twice: int
) -> None:
    """Without compactions it is (last - first) / turns passed, gaps included, copies or not."""
    tokens = np.cumsum(steps).astype(float)
    turns = [*range(1, len(tokens)), len(tokens) + skipped]
    runs = {f"r{i}": {"context_tokens": tokens} for i in range(twice)}
    growth = context_growth(make_table(runs, turns=dict.fromkeys(runs, turns)))
    assert growth.tokens_per_turn == pytest.approx((tokens[-1] - tokens[0]) / (turns[-1] - 1))


@pytest.mark.parametrize(
    "table",
    [
        make_table({}),
        make_table({"r": {}}),
        make_table({"r": {"quality": [1.0, 0.5]}}),
        make_table({"r": {"context_tokens": [None, None]}}),
    ],
)
def test_absent_where_no_file_says(table: TurnTable) -> None:
    """No runs, no turns, no column, only unknowns: absent with a reason, never 0."""
    growth = context_growth(table)
    assert growth.start_tokens is growth.tokens_per_turn is growth.crosses_100k is None
    assert growth.slope.value is None
    assert growth.why == growth.slope.reason == "no file gives the context size by turn"


def test_one_turn_has_a_size_and_no_growth() -> None:
    """One turn gives start and end, no growth, and an unknown crossing."""
    growth = context_growth(runs_of([1200.0]))
    assert (growth.start_tokens, growth.end_tokens, growth.tokens_per_turn) == (1200, 1200, None)
    assert growth.crossings[0].kind == "unknown"
    assert growth.slope.reason == "no run has two turns with a context size"


def test_subagents_are_left_out() -> None:
    """A sub-agent's small context says nothing about how its parent's grows."""
    runs = {"main": {"context_tokens": FOUNDING}, "helper": {"context_tokens": [10.0, 20.0]}}
    growth = context_growth(make_table(runs, parent={"helper": "main"}))
    assert (growth.n_runs, growth.start_tokens) == (1, 3850)
