"""Turns to completion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter

from table_factory import make_table
from turncurve.analysis.completion import Completion, completion
from turncurve.analysis.settings import Settings
from turncurve.table import TurnTable

# Freireich et al. (1963), 6-MP arm: weeks in remission, censored where the sign is negative.
FREIREICH = [
    6,
    6,
    6,
    -6,
    7,
    -9,
    10,
    -10,
    -11,
    13,
    16,
    -17,
    -19,
    -20,
    22,
    23,
    -25,
    -32,
    -32,
    -34,
    -35,
]


def ending(runs: list[tuple[int, str]]) -> TurnTable:
    return make_table(
        {f"r{i}": {"quality": [1.0] * n} for i, (n, _) in enumerate(runs)},
        exit_type={f"r{i}": how for i, (_, how) in enumerate(runs)},
    )


def median(result: Completion) -> int | None:
    return next(q.turn for q in result.quantiles if q.p == 0.5)


def test_gives_the_published_median() -> None:
    """The 6-MP arm of Freireich et al. (1963), in turns: 9 finish of 21, median 23."""
    runs = [(abs(n), "success_finish" if n > 0 else "budget") for n in FREIREICH]
    result = completion(ending(runs), Settings())
    assert (result.n_finished, result.n_censored) == (9, 12)
    assert median(result) == 23


@pytest.mark.parametrize("how", ["budget", "crash", "user_abort", "still_running", "unknown"])
def test_a_run_that_did_not_finish_took_at_least_its_turns(how: str) -> None:
    """Half the runs finish at 10 and half are cut at 5: the median is 10, not 7.5."""
    result = completion(ending([(10, "success_finish")] * 4 + [(5, how)] * 4), Settings())
    assert (result.n_finished, result.n_censored) == (4, 4)
    assert median(result) == 10


def test_finishing_in_failure_is_finishing() -> None:
    """A run that gives up by itself is done."""
    result = completion(ending([(4, "fail_finish"), (8, "success_finish")]), Settings())
    assert result.n_finished == 2
    assert median(result) == 4


def test_unknown_ends_are_bounded() -> None:
    """Where ends are unknown, both readings are given: took at least so many, or finished."""
    result = completion(ending([(3, "unknown")] * 6 + [(9, "success_finish")] * 4), Settings())
    assert result.n_unknown == 6
    assert median(result) == 9
    assert next(q.turn for q in result.quantiles_if_unknown_finished if q.p == 0.5) == 3


def test_nobody_known_to_have_finished() -> None:
    """With unknown ends alone there are no quantiles, and the reason says how many don't say."""
    result = completion(ending([(3, "unknown"), (4, "budget")]), Settings())
    assert result.quantiles == ()
    assert result.quantiles_if_unknown_finished != ()
    assert result.why == "no run is known to have finished by itself; not known of 1 of 2"


def test_agrees_with_lifelines() -> None:
    """The quantiles are those of lifelines' curve, at the first turn that reaches them."""
    rng = np.random.default_rng(1)
    turns, done = rng.integers(1, 100, 60), rng.random(60) < 0.6
    runs = [(int(n), "success_finish" if d else "budget") for n, d in zip(turns, done, strict=True)]
    curve = KaplanMeierFitter().fit(turns, done).survival_function_["KM_estimate"]
    for quantile in completion(ending(runs), Settings()).quantiles:
        reached = curve.index[curve <= 1 - quantile.p + 1e-12]
        assert quantile.turn == (reached[0] if len(reached) else None)


def test_recovers_the_true_median() -> None:
    """Finishing times of median 40 with half of the runs cut short: found within its error."""
    rng = np.random.default_rng(2)
    times = np.ceil(rng.exponential(40 / np.log(2), 3_000)).astype(int)
    limits = rng.integers(1, 120, 3_000)
    runs = [
        (int(min(t, limit)), "success_finish" if t <= limit else "budget")
        for t, limit in zip(times, limits, strict=True)
    ]
    finished = [n for n, how in runs if how == "success_finish"]
    assert np.median(finished) < 30
    assert median(completion(ending(runs), Settings())) == pytest.approx(40, abs=4)


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), min_size=1, max_size=25))
def test_counts_add_up_and_quantiles_rise(runs: list[tuple[int, bool]]) -> None:
    """Finished and censored are all runs, and later shares never come earlier."""
    table = ending([(n, "success_finish" if done else "crash") for n, done in runs])
    result = completion(table, Settings())
    assert result.n_finished + result.n_censored == result.n_runs == len(runs)
    turns = [q.turn for q in result.quantiles if q.turn is not None]
    assert turns == sorted(turns)


def test_runs_left_out_are_counted() -> None:
    """Runs without a turn and runs of sub-agents are no completions."""
    table = make_table(
        {"a": {"quality": [1.0]}, "empty": {}, "sub": {"quality": [1.0]}},
        exit_type=dict.fromkeys(("a", "empty", "sub"), "success_finish"),
        parent={"sub": "a"},
    )
    result = completion(table, Settings())
    assert result.n_runs == 1
    assert result.excluded == {"run without a turn": 1, "run of a sub-agent": 1}


@pytest.mark.parametrize("table", [make_table({}), make_table({"r": {}})])
def test_no_turns(table: TurnTable) -> None:
    """Without any turn there is nothing, and the reason says so."""
    result = completion(table, Settings())
    assert (result.n_runs, result.quantiles, result.why) == (0, (), "no run has a turn")
