"""The re-grounding interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from table_factory import make_table
from turncurve.analysis.regrounding import Regrounding, regrounding_interval
from turncurve.analysis.settings import Settings
from turncurve.stats.curve import cell_means, simultaneous_band
from turncurve.table import SignalInfo, TurnTable

BY_TURN = Settings(bucket=1)


def decaying(n_runs: int, *, seed: int, rate: float = 0.01) -> TurnTable:
    """Adherence .98 ± .05 that falls by `rate` a turn over 40 turns."""
    rng = np.random.default_rng(seed)
    mean = 0.98 - rate * np.arange(40)
    return make_table(
        {f"r{i}": {"adherence": mean + rng.normal(0, 0.05, 40)} for i in range(n_runs)}
    )


def test_is_before_the_mean_reaches_the_target() -> None:
    """The mean is .9 at turn 9; with 50 runs the interval ends a few turns before, not at it."""
    result = regrounding_interval(decaying(50, seed=1), target=0.9, settings=BY_TURN)
    assert result.turn is not None
    assert 5 <= result.turn <= 8
    assert not result.at_least
    assert all(p.low is not None and p.low >= 0.9 for p in result.band[: result.turn])
    after = result.band[result.turn].low
    assert after is not None
    assert after < 0.9


def test_promise_holds() -> None:
    """Past the turn where the mean crosses the target it ends in 5 % of data sets at most."""
    results = [
        regrounding_interval(
            decaying(20, seed=s, rate=0.002),
            target=0.9401,
            settings=Settings(resamples=500, bucket=1),
        )
        for s in range(200)
    ]
    too_far = sum(result.turn is not None and result.turn > 20 for result in results)
    assert too_far / 200 <= 0.05


def test_a_first_dip_ends_it() -> None:
    """A dip below the target ends the interval, though later turns are above it again."""
    rng = np.random.default_rng(2)
    mean = np.array([0.95] * 10 + [0.5] * 2 + [0.95] * 10)
    runs = {f"r{i}": {"adherence": mean + rng.normal(0, 0.02, 22)} for i in range(30)}
    assert regrounding_interval(make_table(runs), target=0.9, settings=BY_TURN).turn == 10


def test_never_below_says_at_least() -> None:
    """Where the limit never falls below the target, the turn is the last and is marked so."""
    result = regrounding_interval(decaying(40, seed=3, rate=0), target=0.8, settings=BY_TURN)
    assert (result.turn, result.at_least) == (40, True)


def test_band_is_wider_than_a_single_turns_limit() -> None:
    """A limit that holds at 40 turns at once lies below the one-sided t limit of a turn."""
    table = decaying(30, seed=4)
    result = regrounding_interval(table, target=0.9, settings=BY_TURN)
    values = table.columns["adherence"].reshape(30, 40)[:, 0]
    alone = values.mean() - 1.699 * values.std(ddof=1) / np.sqrt(30)
    assert result.band[0].low is not None
    assert result.band[0].low < alone - 0.003


def test_all_at_the_top_is_no_certainty() -> None:
    """Twenty runs that all pass in both buckets: the limit is .025 ** (1 / 20), not 1."""
    runs = {f"r{i}": {"adherence": [1.0] * 20} for i in range(20)}
    result = regrounding_interval(make_table(runs), target=0.9, settings=Settings(bucket=10))
    assert [p.low for p in result.band] == pytest.approx([0.025 ** (1 / 20)] * 2)
    assert result.turn is None
    assert result.why == (
        "at turns 1 to 10 the lower limit is 0.832 already, below 0.9 (mean 1 over 20 runs)"
    )
    assert regrounding_interval(make_table(runs), target=0.8, settings=Settings(bucket=10)).at_least


@pytest.mark.parametrize("value", [0.0, 0.95])
def test_all_at_another_value(value: float) -> None:
    """Runs that agree on a value below the highest show no spread; the limit is what Markov's
    inequality gives for the mean of 20 runs none of which is below the value."""
    runs = {f"r{i}": {"adherence": [value] * 4} for i in range(20)}
    result = regrounding_interval(make_table(runs), target=0.1, settings=BY_TURN)
    assert [p.low for p in result.band] == pytest.approx([value * (0.05 / 4) ** (1 / 20)] * 4)


def test_without_a_scale_equal_runs_set_no_limit() -> None:
    """On no known scale nothing bounds runs that agree."""
    info = {"score": SignalInfo(name="score", title="Score", better="high")}
    table = make_table({f"r{i}": {"score": [4.0] * 4} for i in range(20)}, info=info)
    result = regrounding_interval(table, target=0.1, settings=BY_TURN, signal="score")
    assert {p.low for p in result.band} == {None}
    assert (result.turn, result.why) == (None, "turn 1: 20 equal runs give no lower limit")


def test_few_breaches_are_no_certainty() -> None:
    """Of 40 runs that keep a rule in 95 % of turns, limits lie above .95 somewhere in 5 % of data
    sets at most; a t band's do in a quarter."""
    too_high = 0
    for seed in range(200):
        kept = np.random.default_rng(seed).random((40, 60)) < 0.95
        table = make_table({f"r{i}": {"adherence": kept[i].astype(float)} for i in range(40)})
        band = regrounding_interval(table, target=0.9, settings=Settings(bucket=5)).band
        too_high += any(point.low is not None and point.low > 0.95 for point in band)
    # 200 data sets: a standard error of .015.
    assert too_high / 200 <= 0.05 + 2 * 0.015


def test_without_a_scale_the_band_is_t() -> None:
    """A signal without a scale has the t limits, which on the scale are no such limits."""
    rng = np.random.default_rng(5)
    values = {f"r{i}": {"score": rng.normal(0.95, 0.02, 6)} for i in range(30)}
    info = {"score": SignalInfo(name="score", title="Score", better="high")}
    free = regrounding_interval(
        make_table(values, info=info), target=0.9, settings=BY_TURN, signal="score"
    )
    column = make_table(values).columns["score"].reshape(30, 6)
    band = simultaneous_band(
        cell_means(column.reshape(-1), np.repeat(np.arange(30), 6), np.tile(np.arange(6), 30)),
        rng=np.random.default_rng(BY_TURN.seed),
        side="low",
    )
    assert [p.low for p in free.band] == pytest.approx(band.low.tolist())


def test_buckets_end_it_at_their_last_turn() -> None:
    """With buckets of 10 the interval ends at the end of one."""
    result = regrounding_interval(
        decaying(50, seed=5, rate=0.006), target=0.9, settings=Settings(bucket=10)
    )
    assert result.turn == 10
    assert (result.bucket, result.n_runs) == (10, 50)


def test_another_signal_on_request() -> None:
    """Quality takes adherence's place if it is asked for, on its own scale."""
    runs = {f"r{i}": {"quality": [4.0] * 6} for i in range(100)}
    table = make_table(runs, quality_scale=(0, 4))
    table = table.with_columns(
        {},
        {
            "quality": table.info["quality"].__class__(
                name="quality", title="Quality", better="high"
            )
        },
    )
    result = regrounding_interval(table, target=3, settings=BY_TURN, signal="quality")
    assert (result.turn, result.at_least) == (6, True)
    assert result.band[0].low == pytest.approx(4 * (0.05 / 6) ** 0.01)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 1.0), st.floats(0.0, 0.3))
def test_a_higher_target_is_never_kept_longer(target: float, more: float) -> None:
    """Raising the target cannot lengthen the interval."""
    table = decaying(15, seed=6)
    quick = Settings(bucket=4, resamples=200)
    one = regrounding_interval(table, target=target, settings=quick).turn or 0
    other = regrounding_interval(table, target=target + more, settings=quick).turn or 0
    assert other <= one


def nothing(table: TurnTable) -> Regrounding:
    return regrounding_interval(table, target=0.9, settings=BY_TURN)


@pytest.mark.parametrize(
    "runs", [{}, {"r": {}}, {"r": {"quality": [1]}}, {"r": {"adherence": [None]}}]
)
def test_absent_without_adherence(runs: dict[str, dict[str, list[float | None]]]) -> None:
    """Without adherence there is no interval, and the reason says so; quality is not taken."""
    result = nothing(make_table(runs))
    assert result.turn is None
    assert result.why == "no turn has adherence"


def test_one_run_gives_no_limit() -> None:
    """The turns of one run are no replicates: no limit, no interval, a reason."""
    result = nothing(make_table({"r": {"adherence": [1.0] * 10}}))
    assert result.turn is None
    assert result.band[0].low is None
    assert result.why == "turn 1: one run gives no lower limit"


def test_adherence_is_over_the_rules_that_apply() -> None:
    """A turn with one rule broken and one with nine kept are .9 of their rules, not .5."""
    runs = {f"r{i}": {"adherence": [0, 1], "n": [1, 9]} for i in range(40)}
    info = {"adherence": SignalInfo(name="adherence", title="", low=0, high=1, weight="n")}
    found = regrounding_interval(
        make_table(runs, info=info), target=0.8, settings=Settings(bucket=2)
    )
    (point,) = found.band
    assert point.value == pytest.approx(0.9)
    assert point.low == pytest.approx(0.9 * 0.05 ** (1 / 40))
    assert found.turn == 2
