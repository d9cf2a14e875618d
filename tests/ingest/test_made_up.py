"""Made-up suites as turn tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import turncurve
from turncurve.analysis.suite import suite_of
from turncurve.errors import UnknownNameError
from turncurve.ingest.made_up import made_up_suite
from turncurve.model import ExitType
from turncurve.stats.simulate import RECIPES
from turncurve.table import TurnTable


def assert_same(one: TurnTable, two: TurnTable) -> None:
    assert np.array_equal(one.run, two.run)
    assert np.array_equal(one.turn, two.turn)
    for name in one.columns:
        assert np.array_equal(one.columns[name], two.columns[name]), name
    assert one.runs.id.tolist() == two.runs.id.tolist()
    assert one.runs.exit_type.tolist() == two.runs.exit_type.tolist()


@pytest.mark.parametrize("name", RECIPES)
def test_the_same_seed_gives_the_same_table(name: str) -> None:
    """Every column is equal; another seed gives another quality."""
    one, two = (made_up_suite(name, n_scenarios=6, seed=3) for _ in range(2))
    assert_same(one.table, two.table)
    other = made_up_suite(name, n_scenarios=6, seed=4)
    assert not np.array_equal(other.complete, one.complete)


@pytest.mark.parametrize("name", ["cliff", "crash", "event_cliff"])
def test_its_records_read_back(name: str, tmp_path: Path) -> None:
    """Written as a file of turns and read, the suite is the same but for its scale and crashes."""
    made = made_up_suite(name, n_trials=2, n_scenarios=5, seed=6, condition="a")
    path = tmp_path / "suite.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in made.records()))
    table = turncurve.read([path])
    assert table.runs.scenario.tolist() == made.table.runs.scenario.tolist()
    assert table.runs.trial.tolist() == made.table.runs.trial.tolist()
    assert table.runs.condition.tolist() == ["a"] * 10
    assert np.array_equal(table.runs.success, made.table.runs.success, equal_nan=True)
    for column in ("quality", "cost_usd", "seconds", "started_at", "compaction"):
        assert table.columns[column] == pytest.approx(made.table.columns[column]), column


def test_the_table_holds_the_turns_that_runs_had() -> None:
    """By trial, scenario and turn the table gives the complete quality up to each run's end."""
    made = made_up_suite("crash", n_trials=3, n_scenarios=20, n_turns=15, seed=1)
    suite = suite_of(made.table, "quality")
    there = np.arange(1, 16) <= suite.n_turns[..., None]
    assert suite.n_turns.min() < 15
    assert np.array_equal(suite.values[there], made.complete[there])
    assert np.isnan(suite.values[~there]).all()
    assert made.table.runs.n_turns.tolist() == suite.n_turns.ravel().tolist()


def test_exits_and_outcomes_agree() -> None:
    """A crash has no outcome, a run cut by the limit failed, the others say which they did."""
    crash = made_up_suite("crash", seed=2).table.runs
    crashed = crash.exit_type == ExitType.CRASH.value
    assert crashed.any()
    assert np.isnan(crash.success[crashed]).all()
    rest = crash.success[~crashed]
    names = {1.0: ExitType.SUCCESS_FINISH.value, 0.0: ExitType.FAIL_FINISH.value}
    assert [names[value] for value in rest] == crash.exit_type[~crashed].tolist()
    mix = made_up_suite("composition", seed=2).table.runs
    cut = mix.exit_type == ExitType.BUDGET.value
    assert cut.any()
    assert (mix.success[cut] == 0).all()
    assert (mix.n_turns[cut] == 12).all()


def test_events_are_compactions() -> None:
    """Event table and column agree, and the context is short again at the event's turn."""
    table = made_up_suite("event_cliff", seed=7).table
    rows = table.offsets[table.events.run] + table.events.turn - 1
    assert np.flatnonzero(table.columns["compaction"]).tolist() == rows.tolist()
    assert 0.7 < len(rows) / table.n_runs < 1
    context = table.columns["context_tokens"]
    assert (context[rows] == 3_000).all()
    assert (context[rows] < context[rows - 1]).all()


def test_an_event_after_the_end_is_left_out() -> None:
    """A run that ends before its event has none."""
    table = made_up_suite("event_cliff", n_turns=8, seed=7).table
    assert (table.events.turn <= 8).all()
    assert len(table.events.run) < 0.8 * table.n_runs


def test_turns_follow_each_other_and_cost() -> None:
    """Each turn starts where the one before ends; every turn has a cost, tokens and a scale."""
    table = made_up_suite("cliff", n_trials=2, n_scenarios=3).table
    same = np.diff(table.run) == 0
    gap = np.diff(table.columns["started_at"]) - table.columns["seconds"][:-1]
    assert np.abs(gap[same]).max() < 1e-5
    assert (table.columns["cost_usd"] > 0).all()
    first = table.columns["started_at"][table.offsets[:-1]]
    assert first == pytest.approx(np.repeat([1_767_225_600.0, 1_767_312_000.0], 3), abs=1e-3)
    assert set(table.runs.quality_high) == {10.0}


def test_scenarios_keep_their_names_and_conditions_are_told_apart() -> None:
    """Two conditions share scenarios, no run id; hard scenarios are called so."""
    a = made_up_suite("difficulty_mix", n_scenarios=5, condition="a").table.runs
    b = made_up_suite("cliff", n_scenarios=5, condition="b").table.runs
    assert not set(a.id) & set(b.id)
    assert a.scenario[:5].tolist() == ["hard-001", "hard-002", "easy-003", "easy-004", "easy-005"]
    assert b.scenario[:2].tolist() == ["scenario-001", "scenario-002"]
    assert a.trial.tolist() == [trial for trial in range(1, 6) for _ in range(5)]


def test_an_unknown_recipe_is_named() -> None:
    """The error lists what there is."""
    with pytest.raises(UnknownNameError, match="unknown recipe 'bend'; known: cliff"):
        made_up_suite("bend")


def test_the_facade_makes_up_suites() -> None:
    """`turncurve.made_up_suite` takes a recipe of one's own and tells its truth."""
    recipe = turncurve.Recipe(step=-2, turn=5, spreads=turncurve.Spreads(turn=0.1))
    made = turncurve.made_up_suite(recipe, n_trials=2, n_scenarios=4)
    assert (made.truth.changepoint, made.truth.step) == (5, -2)
    assert made.table.n_runs == 8
