"""Runs in memory to a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Event, ExitType, Run, Totals, Turn, Usage
from turncurve.signals import SIGNALS

NO_PRICES = ReadOptions(prices=False)


def run(name: str, n_turns: int, **fields: object) -> Run:
    turns = fields.pop("turns", tuple(Turn(index=i + 1, text="x") for i in range(n_turns)))
    return Run(id=name, turns=turns, format="hand", path="hand.json", **fields)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=8))
def test_each_run_owns_its_rows(lengths: list[int]) -> None:
    """Runs keep their order and their turns, those without turns included."""
    table = table_from_runs([run(f"r{i}", n) for i, n in enumerate(lengths)], options=NO_PRICES)
    assert_array_equal(table.runs.n_turns, lengths)
    assert_array_equal(np.diff(table.offsets), lengths)
    assert_array_equal(table.turn, [t + 1 for n in lengths for t in range(n)])


def test_what_a_run_says_of_itself_is_in_the_run_table() -> None:
    """Outcome, totals, scale, grader's tokens, notes and absences are kept; unknown is NaN."""
    full = run(
        "full",
        1,
        scenario="s",
        model="m",
        exit_type=ExitType.BUDGET,
        exit_text="max_turns",
        success=False,
        score=0.25,
        totals=Totals(input_tokens=10, cached_input_tokens=4, output_tokens=2, cost_usd=0.5),
        quality_scale=(1.0, 5.0),
        grader_usage=Usage(input_uncached=7, output=3),
        absent={"quality": "no rubric"},
        notes=("a note",),
    )
    runs = table_from_runs([full, run("bare", 1)], options=NO_PRICES).runs
    assert (runs.exit_type.tolist(), runs.exit_text.tolist()) == (
        ["budget", "unknown"],
        ["max_turns", None],
    )
    assert_array_equal(runs.success, [0, np.nan])
    assert_array_equal(runs.score, [0.25, np.nan])
    assert_array_equal(runs.total_input_tokens, [10, np.nan])
    assert_array_equal(runs.total_cached_input_tokens, [4, np.nan])
    assert_array_equal(runs.total_output_tokens, [2, np.nan])
    assert_array_equal(runs.total_cost_usd, [0.5, np.nan])
    assert_array_equal(runs.quality_high, [5, np.nan])
    assert_array_equal(runs.grader_tokens, [10, np.nan])
    assert runs.absent[0]["quality"] == "no rubric"
    assert runs.notes.tolist() == [("a note",), ()]


def test_a_reason_for_an_absence_goes_where_the_value_is_there() -> None:
    """A run that says it cannot know a signal, and has it all the same, loses the reason."""
    turns = (Turn(index=1, values={"quality": 0.5}),)
    table = table_from_runs([run("r", 1, turns=turns, absent={"quality": "no"})], options=NO_PRICES)
    assert "quality" not in table.runs.absent[0]


def test_the_scale_of_quality_is_stated_where_runs_agree_on_it() -> None:
    """Two scales in one table leave it open."""
    one = run("a", 1, quality_scale=(0.0, 1.0))
    other = run("b", 1, quality_scale=(1.0, 5.0))
    bare = run("c", 1)
    agreed = table_from_runs([one, bare], options=NO_PRICES).info["quality"]
    mixed = table_from_runs([one, other], options=NO_PRICES).info["quality"]
    assert (agreed.low, agreed.high) == (0.0, 1.0)
    assert (mixed.low, mixed.high) == (None, None)


def test_events_are_kept_by_run_and_turn() -> None:
    """The event table has every kind, sorted by run and then turn."""
    events = (Event(kind="limit", turn=3), Event(kind="compaction", turn=1))
    table = table_from_runs([run("a", 0), run("b", 2, events=events)], options=NO_PRICES)
    assert_array_equal(table.events.run, [1, 1])
    assert_array_equal(table.events.turn, [1, 3])
    assert table.events.kind.tolist() == ["compaction", "limit"]


def test_a_number_of_the_file_fills_a_signal_that_its_turns_do_not_give() -> None:
    """`output_tokens` among a turn's values counts where its usage says nothing, and only there."""
    turns = (
        Turn(index=1, usage=Usage(output=5), values={"output_tokens": 9.0}),
        Turn(index=2, values={"output_tokens": 9.0}),
    )
    table = table_from_runs([run("a", 2, turns=turns)], options=NO_PRICES)
    assert_array_equal(table.columns["output_tokens"], [5, 9])


def test_every_signal_is_described_whether_it_has_values_or_not() -> None:
    """Even a table of no runs has the title, unit and direction of each registered signal."""
    for runs in ([], [run("r", 2)]):
        table = table_from_runs(runs, options=NO_PRICES)
        registered = {name: SIGNALS[name].info for name in SIGNALS}
        assert {name: table.info[name] for name in SIGNALS} == registered
        assert set(SIGNALS) <= set(table.columns)


@pytest.mark.parametrize(
    ("name", "title"),
    [("user_patience", "User patience"), ("nDCG", "NDCG"), ("_ok_", "Ok"), ("__", "__")],
)
def test_a_column_of_the_files_own_is_titled_by_its_name(name: str, title: str) -> None:
    """A number that no signal describes bears its name in words, with a capital."""
    table = table_from_runs([run("r", 1, turns=(Turn(index=1, values={name: 2.0}),))])
    assert table.info[name].title == title


def test_a_signal_that_only_a_later_run_has_is_missing_in_the_earlier() -> None:
    """Its column is NaN before that run, and after it."""
    turns = (Turn(index=1, values={"mood": 2.0}),)
    table = table_from_runs([run("a", 2), run("b", 1, turns=turns), run("c", 1)], options=NO_PRICES)
    assert_array_equal(table.columns["mood"], [np.nan, np.nan, 2, np.nan])


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_no_value_is_infinite(value: float) -> None:
    """Infinity is no measure of a turn: it is missing."""
    turns = (Turn(index=1, values={"mood": value, "quality": value}),)
    columns = table_from_runs([run("a", 1, turns=turns)], options=NO_PRICES).columns
    assert np.isnan(columns["mood"]).all()
    assert np.isnan(columns["quality"]).all()


def test_a_count_too_large_for_a_float_is_a_problem_of_that_run_alone() -> None:
    """The signal is missing there, the run and the others are kept."""
    turns = (Turn(index=1, usage=Usage(output=10**400)),)
    problems: list[Exception] = []
    table = table_from_runs(
        [run("a", 1, turns=turns), run("b", 1)], options=NO_PRICES, on_problem=problems.append
    )
    assert table.n_runs == 2
    assert np.isnan(table.columns["output_tokens"][0])
    assert ["'output_tokens' failed" in str(problem) for problem in problems] == [True]


@pytest.mark.parametrize(
    "fields",
    [
        {"totals": Totals(input_tokens=10**400)},
        {"turns": (Turn(index=10**30),)},
        {"turns": (Turn(index=2**53 + 1),)},
        {"trial": 2**63, "scenario": "s"},
        {"turns": (Turn(index=1, values={3: 1.0}),)},
        {"turns": (Turn(index=1, values={"mood": "high"}),)},
        {"quality_scale": (0.0, 1.0, 2.0)},
        {"score": "good"},
    ],
    ids=["totals", "turn", "no float", "trial", "column", "value", "scale", "score"],
)
def test_a_run_that_fits_no_table_is_a_problem_and_the_others_are_kept(
    fields: dict[str, object],
) -> None:
    """Its rows are not there at all, and the next run's stand where they belong."""
    problems: list[Exception] = []
    table = table_from_runs(
        [run("a", 2), run("b", 1, **fields), run("c", 1)],
        options=NO_PRICES,
        on_problem=problems.append,
    )
    assert table.runs.id.tolist() == ["a", "c"]
    assert_array_equal(table.turn, [1, 2, 1])
    assert ["run 'b' does not fit into a table" in str(p) for p in problems] == [True]


@pytest.mark.parametrize("field", ["id", "scenario", "condition", "agent", "parent", "model"])
def test_a_run_that_is_named_by_no_text_is_a_problem(field: str) -> None:
    """A name of another type is told by its field; the other runs are kept."""
    problems: list[Exception] = []
    odd = replace(run("b", 1), **{field: {"a": 1}})
    table = table_from_runs(
        [run("a", 2), odd, run("c", 1)], options=NO_PRICES, on_problem=problems.append
    )
    assert table.runs.id.tolist() == ["a", "c"]
    assert [f"wanted text as {field} of a run, got {{'a': 1}}" in str(p) for p in problems] == [
        True
    ]


def test_many_turns_come_back_in_order() -> None:
    """Runs beyond one block of columns keep their rows, values, actions and events."""
    lengths = [777 * (i % 3) for i in range(100)]
    runs = [
        run(
            f"r{i}",
            n,
            turns=tuple(
                Turn(index=t + 1, action=f"a{i}", values={f"late_{i > 90}": i + t / 1000})
                for t in range(n)
            ),
            events=(Event(kind="error", turn=n + 1),),
        )
        for i, n in enumerate(lengths)
    ]
    table = table_from_runs(runs, options=NO_PRICES)
    assert_array_equal(table.turn, [t + 1 for n in lengths for t in range(n)])
    assert_array_equal(table.run, np.repeat(np.arange(100), lengths))
    values = [i + t / 1000 for i, n in enumerate(lengths) for t in range(n)]
    early = table.run <= 90
    assert_array_equal(table.columns["late_False"], np.where(early, values, np.nan))
    assert_array_equal(table.columns["late_True"], np.where(early, np.nan, values))
    assert_array_equal(table.calls.row, np.arange(len(values)))
    assert len(set(zip(table.run.tolist(), table.calls.key.tolist(), strict=True))) == 66
    assert_array_equal(table.events.run, np.arange(100))
    assert_array_equal(table.events.turn, np.add(lengths, 1))
