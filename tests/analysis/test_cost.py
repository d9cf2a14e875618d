"""What runs cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table_factory import make_table
from turncurve.analysis.cost import cost
from turncurve.analysis.settings import Settings
from turncurve.stats.ratio import ratio_of_sums
from turncurve.table import TurnTable

SETTINGS = Settings()


def runs_costing(*usd: float, success: list[bool | None]) -> TurnTable:
    return make_table(
        {f"r{i}": {"cost_usd": [each / 2, each / 2]} for i, each in enumerate(usd)},
        success={f"r{i}": one for i, one in enumerate(success)},
    )


def test_cost_per_success_is_a_ratio_of_sums() -> None:
    """Costs 1, 2, 3, 10 with successes in the first two: 16 / 2 = 8, failures' cost included."""
    result = cost(runs_costing(1, 2, 3, 10, success=[True, True, False, False]), SETTINGS)
    assert result.total_usd == 16
    assert result.per_success.value == 8
    assert result.per_success.n_runs == 4
    wanted = ratio_of_sums([1, 2, 3, 10], [1, 1, 0, 0], scale="log")
    assert (result.per_success.low, result.per_success.high) == (wanted.low, wanted.high)


def test_unknown_outcomes_are_left_out_and_counted() -> None:
    """A run whose outcome is not known adds neither cost nor success."""
    result = cost(runs_costing(1, 3, 100, success=[True, False, None]), SETTINGS)
    assert result.per_success.value == 4
    assert result.per_success.excluded["outcome not known"] == 1
    assert result.total_usd == 104


def test_without_success_there_is_a_lower_bound() -> None:
    """0 of 40: at most 7.2 % succeed (1 - .05 ** (1 / 40)), so a success costs at least 34.65."""
    table = runs_costing(*[2.5] * 40, success=[False] * 40)
    result = cost(table, SETTINGS).per_success
    assert result.value is result.high is None
    assert result.low == pytest.approx(100 / (40 * 0.0721575), rel=1e-5)
    assert result.reason == "no run succeeded, of 40 in all"


def test_lower_bound_holds() -> None:
    """Where 5 % succeed, the bound given for no success lies above the truth in 5 % at most."""
    rng = np.random.default_rng(1)
    wrong = 0
    for success in rng.random((1_000, 20)) < 0.05:
        if success.any():
            continue
        low = cost(runs_costing(*[1.0] * 20, success=[False] * 20), SETTINGS).per_success.low
        assert low is not None
        wrong += low > 1 / 0.05
    assert wrong / 1_000 <= 0.05


def test_late_turn_against_turn_5() -> None:
    """Turn t costs t cents: with 60 turns, turn 55 costs 11 times turn 5, in the same runs."""
    table = make_table({f"r{i}": {"cost_usd": 0.01 * np.arange(1, 61)} for i in range(4)})
    result = cost(table, SETTINGS)
    assert result.late_turn == 55
    assert result.late_to_turn_5.value == pytest.approx(11)
    assert result.late_to_turn_5.low is None
    assert result.late_to_turn_5.n_runs == 4


def test_late_turn_is_one_that_half_of_the_runs_reach() -> None:
    """Runs of 20, 30, 40 and 80 turns: two of four reach turn 40."""
    rng = np.random.default_rng(2)
    costs = {n: rng.uniform(1, 2, n) for n in (20, 30, 40, 80)}
    table = make_table({f"r{n}": {"cost_usd": c} for n, c in costs.items()})
    result = cost(table, SETTINGS)
    assert result.late_turn == 40
    late, early = ([costs[n][turn - 1] for n in (40, 80)] for turn in (40, 5))
    assert result.late_to_turn_5.value == pytest.approx(sum(late) / sum(early))
    assert result.late_to_turn_5.excluded == {"no cost at turn 5 or 40": 2}


def test_one_run_has_a_ratio_without_an_interval() -> None:
    """A single run is compared with itself, and gets no interval."""
    result = cost(make_table({"r": {"cost_usd": np.arange(1.0, 21)}}), SETTINGS)
    assert (result.late_turn, result.late_to_turn_5.value) == (20, 4)
    for estimate in (result.late_to_turn_5, result.per_run):
        assert estimate.low is None
        assert estimate.warnings == ("one run, or runs that do not differ, give no interval",)


def test_short_runs_have_no_late_turn() -> None:
    """Runs of 5 turns have nothing to compare, and it says so."""
    result = cost(make_table({"a": {"cost_usd": [1.0] * 5}, "b": {}}), SETTINGS)
    assert result.late_turn is None
    assert result.late_to_turn_5.reason == "no turn after 5 has a cost in half of the runs"


@pytest.mark.parametrize(
    ("estimated", "source"),
    [([0, 0], "trace"), ([1, 1], "estimated"), ([0, 1], "mixed"), ([None, None], "trace")],
)
def test_source(estimated: list[float | None], source: str) -> None:
    """It says whether the figures are the trace's, kept prices', or both."""
    table = make_table({"r": {"cost_usd": [1.0, 1.0], "cost_estimated": estimated}})
    assert cost(table, SETTINGS).source == source


def test_prices_beside_a_total_of_the_file_are_no_source() -> None:
    """Where a run's own total stands in for its turns, kept prices of some turns count nowhere."""
    runs = {"r": {"cost_usd": [1.0, None], "cost_estimated": [1, None]}}
    assert cost(make_table(runs), SETTINGS).source == "estimated"
    result = cost(make_table(runs, total_cost_usd={"r": 4.0}), SETTINGS)
    assert (result.source, result.total_usd) == ("trace", 4)


def test_totals_of_runs_stand_in_for_turns() -> None:
    """A file that gives a total alone, or not all turns, counts with its total."""
    table = make_table(
        {
            "total": {"quality": [1, 1]},
            "both": {"cost_usd": [1, 2]},
            "part": {"cost_usd": [1, None]},
        },
        total_cost_usd={"total": 5.0, "both": 99.0, "part": 4.0},
    )
    result = cost(table, SETTINGS)
    assert result.total_usd == 5 + 3 + 4
    assert result.n_runs_partial == 0
    lone = make_table({"part": {"cost_usd": [1, None]}})
    assert (cost(lone, SETTINGS).total_usd, cost(lone, SETTINGS).n_runs_partial) == (1, 1)


def test_a_subagents_cost_belongs_to_its_parent() -> None:
    """A run that started sub-agents costs what they cost too, also through a sub-agent."""
    table = make_table(
        {"main": {"cost_usd": [1.0]}, "sub": {"cost_usd": [2.0]}, "subsub": {"cost_usd": [4.0]}},
        parent={"sub": "main", "subsub": "sub"},
        success={"main": True},
    )
    result = cost(table, SETTINGS)
    assert (result.n_runs, result.total_usd, result.per_success.value) == (1, 7, 7)


costs = st.lists(st.tuples(st.floats(0.01, 100), st.booleans()), min_size=3, max_size=12).filter(
    lambda runs: any(s for _, s in runs) and len({u for u, _ in runs}) > 1
)


@given(costs)
def test_renaming_and_order_do_not_matter(runs: list[tuple[float, bool]]) -> None:
    """The same runs in reverse order give the same figures."""
    one = cost(runs_costing(*[u for u, _ in runs], success=[s for _, s in runs]), SETTINGS)
    runs = runs[::-1]
    other = cost(runs_costing(*[u for u, _ in runs], success=[s for _, s in runs]), SETTINGS)
    assert one.per_success.value == pytest.approx(other.per_success.value)
    assert one.per_success.low == pytest.approx(other.per_success.low)
    assert one.per_run.value == pytest.approx(other.per_run.value)


@pytest.mark.parametrize(
    "table", [make_table({}), make_table({"r": {}}), make_table({"r": {"cost_usd": [None]}})]
)
def test_absent_where_nothing_is_known(table: TurnTable) -> None:
    """No runs, no turns, no cost: every figure is absent with a reason, the total is not 0."""
    result = cost(table, SETTINGS)
    assert result.total_usd is result.source is None
    assert not result.by_turn_known
    for figure in (result.per_run, result.late_to_turn_5, result.per_success):
        assert figure.value is None
        assert figure.reason == result.why


def test_no_outcome_gives_no_cost_per_success() -> None:
    """Costs without any known outcome say so."""
    result = cost(runs_costing(1, 2, success=[None, None]), SETTINGS).per_success
    assert result.reason == "no run has both a cost and an outcome"
    assert result.excluded["outcome not known"] == 2


def test_no_run_costs_less_than_nothing() -> None:
    """One dear run among cheap ones makes a wide interval, which stays at or above 0."""
    estimate = cost(runs_costing(0.01, 0.02, 9.0, success=[True] * 3), SETTINGS).per_run
    assert estimate.low == 0
    assert estimate.high is not None
    assert estimate.high > estimate.value == pytest.approx(3.01)
