"""pass^k and pass@k of runs: which runs count, the limits, and published values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from table_factory import make_table
from turncurve.analysis.reliability import CRASHED, NO_SCENARIO, NOT_JUDGED, reliability
from turncurve.errors import NotEnoughDataError
from turncurve.ingest import read
from turncurve.model import ExitType
from turncurve.table import TurnTable


def trials(outcomes: dict[str, Sequence[bool | None]], **columns: object) -> TurnTable:
    """One run a trial of each scenario, each of a turn."""
    names = {
        f"{scenario}-{i}": scenario for scenario in outcomes for i in range(len(outcomes[scenario]))
    }
    success = {f"{s}-{i}": outcome for s, row in outcomes.items() for i, outcome in enumerate(row)}
    return make_table(
        {name: {"quality": [1.0]} for name in names}, success=success, scenario=names, **columns
    )


def test_by_hand() -> None:
    """Scenarios with 2 of 3, 3 of 3 and 0 of 3: pass^2 is (1/3 + 1 + 0) / 3."""
    result = reliability(trials({"a": [True, True, False], "b": [True] * 3, "c": [False] * 3}))
    hat = {each.k: each for each in result.pass_hat_k}
    at = {each.k: each for each in result.pass_at_k}
    assert [hat[k].value for k in (1, 2, 3)] == pytest.approx([5 / 9, 4 / 9, 1 / 3])
    assert [at[k].value for k in (1, 2, 3)] == pytest.approx([5 / 9, 2 / 3, 2 / 3])
    assert hat[2].std_error == pytest.approx(np.std([1 / 3, 1, 0], ddof=1) / 3**0.5)
    assert (hat[2].low, hat[2].high) == (0, 1)
    assert [(o.n_trials, o.n_succeeded, o.n_scenarios) for o in result.outcomes] == [
        (3, 0, 1),
        (3, 2, 1),
        (3, 3, 1),
    ]


def test_scenarios_with_too_few_trials_are_left_out_and_counted() -> None:
    """A scenario with one trial has no pass^2; that of the others is not touched by it."""
    result = reliability(trials({"a": [True, False], "b": [True, True], "c": [True]}))
    one, two = result.pass_hat_k
    assert (one.n_scenarios, one.n_too_few) == (3, 0)
    assert (two.n_scenarios, two.n_too_few, two.value) == (2, 1, 0.5)


def test_runs_that_nobody_judged_do_not_count_as_failed() -> None:
    """A crash and an unknown outcome are left out, each with its reason."""
    table = trials(
        {"a": [True, None, None], "b": [False, True, None]},
        exit_type={"a-1": ExitType.CRASH.value, "b-2": ExitType.CRASH.value},
    )
    result = reliability(table)
    # a-1 and b-2 crashed; a-2 ended in a way that is not known.
    assert result.excluded == {CRASHED: 2, NOT_JUDGED: 1}
    assert result.n_runs == 3
    assert result.pass_hat_k[0].value == pytest.approx((1 + 0.5) / 2)
    counted = reliability(table, crashes_fail=True)
    assert counted.excluded == {NOT_JUDGED: 1}
    assert counted.pass_hat_k[0].value == pytest.approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize(("value", "limits"), [(1.0, (0.6915, 1)), (0.0, (0, 0.3085))])
def test_scenarios_that_agree_leave_doubt(value: float, limits: tuple[float, float]) -> None:
    """10 scenarios that all succeed allow a chance down to .69, not an interval of nothing."""
    result = reliability(trials({name: [bool(value)] * 2 for name in "abcdefghij"}))
    for each in (*result.pass_hat_k, *result.pass_at_k):
        assert each.value == value
        assert each.std_error is None
        assert (each.low, each.high) == pytest.approx(limits, abs=1e-4)


def test_one_scenario_has_no_interval() -> None:
    """Trials of one scenario say nothing of others."""
    (one, _) = reliability(trials({"a": [True, False]})).pass_hat_k
    assert (one.value, one.low, one.high) == (0.5, None, None)


def test_conditions_stay_apart() -> None:
    """Each condition has rows of its own."""
    conditions = {"a-0": "x", "a-1": "y", "b-0": "x", "b-1": "y"}
    table = trials({"a": [True, True], "b": [False, False]}, condition=conditions)
    rows = {(each.condition, each.k): each.value for each in reliability(table).pass_hat_k}
    assert rows == {("x", 1): 0.5, ("y", 1): 0.5}


def test_nothing_to_go_by() -> None:
    """Without an outcome, or without a scenario, there is no estimate but an error."""
    with pytest.raises(NotEnoughDataError, match="scenario and a known success"):
        reliability(trials({"a": [None, None]}))
    nameless = make_table({"a": {"quality": [1.0]}}, success={"a": True})
    with pytest.raises(NotEnoughDataError):
        reliability(nameless)


def test_runs_without_a_scenario_are_counted() -> None:
    """They are no trials of each other."""
    table = make_table(
        {"a": {"quality": [1.0]}, "b": {"quality": [1.0]}},
        success={"a": True, "b": True},
        scenario={"a": "s"},
    )
    assert reliability(table).excluded == {NO_SCENARIO: 1}


def test_the_interval_covers_the_chance_of_other_scenarios() -> None:
    """Over 400 suites of 30 scenarios and 4 trials the 95 % interval of pass^2 holds in 92-98 %."""
    rng = np.random.default_rng(5)
    n_in, truth = 0, 0.5 * 0.3**2 + 0.5 * 0.9**2
    for _ in range(400):
        p = rng.choice([0.3, 0.9], size=30)
        outcomes = {str(i): list(map(bool, rng.random(4) < p[i])) for i in range(30)}
        row = reliability(trials(outcomes)).pass_hat_k[1]
        n_in += row.low <= truth <= row.high
    assert 0.92 <= n_in / 400 <= 0.98


@pytest.mark.corpus
def test_published_values_of_tau_bench(corpus: Callable[[str], Path]) -> None:
    """The benchmark's published pass^1 to pass^4 of one agent, with errors over its 50 tasks."""
    result = reliability(read([corpus("tau_bench")]))
    assert [row.value for row in result.pass_hat_k] == pytest.approx(
        [0.420, 0.273, 0.220, 0.200], abs=5e-4
    )
    assert [row.std_error for row in result.pass_hat_k] == pytest.approx(
        [0.052, 0.056, 0.057, 0.057], abs=1e-3
    )
    assert {row.n_scenarios for row in result.pass_hat_k} == {50}
