"""Compactions a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from table_factory import make_table
from turncurve.analysis.compactions import CompactionCount, compactions
from turncurve.table import TurnTable

FIVE = [1.0] * 5


def test_is_a_distribution() -> None:
    """Runs with 0, 0, 2 and 1 compactions: two with none, one with one, one with two."""
    table = make_table(
        {name: {"quality": FIVE} for name in "abcd"},
        compaction_turns={"c": [2, 4], "d": [3]},
    )
    result = compactions(table)
    assert result.counts == (
        CompactionCount(compactions=0, n_runs=2),
        CompactionCount(compactions=1, n_runs=1),
        CompactionCount(compactions=2, n_runs=1),
    )
    assert (result.n_compactions, result.median, result.n_runs_known) == (3, 0.5, 4)


def test_unknown_is_not_none() -> None:
    """Runs whose format can't tell are in no count, and the share is of the others."""
    table = make_table(
        {
            "unknown": {"compaction": [None] * 3},
            "none": {"compaction": [0, 0, 0]},
            "one": {"compaction": [0, 1, 0]},
        }
    )
    result = compactions(table)
    assert (result.n_runs, result.n_runs_known, result.n_compactions) == (3, 2, 1)
    assert result.share.value == 0.5
    assert result.share.excluded == {"compactions not known": 1}


def test_subagents_are_left_out_and_counted() -> None:
    """A sub-agent's compactions are no run's own; a sub-agent without its parent stands."""
    table = make_table(
        {name: {"quality": FIVE} for name in ("main", "helper", "other")},
        compaction_turns={"main": [3], "helper": [2, 4]},
        parent={"helper": "main", "other": "not here"},
    )
    result = compactions(table)
    assert (result.n_runs, result.n_runs_known, result.n_compactions) == (2, 2, 1)
    assert result.excluded == result.share.excluded == {"run of a sub-agent": 1}
    unknown = compactions(make_table({"a": {}, "b": {}}, parent={"b": "a"}))
    assert (unknown.n_runs, unknown.excluded) == (1, {"run of a sub-agent": 1})


def test_one_after_the_last_turn_counts() -> None:
    """A compaction after the last turn, which no turn shows, is among the events."""
    table = make_table({"r": {"quality": FIVE}}, compaction_turns={"r": [2, 6]})
    assert compactions(table).n_compactions == 2


def test_interval_is_wilsons() -> None:
    """3 of 10 runs: the interval is the one statsmodels calls wilson."""
    runs = {f"r{i}": {"compaction": [0, float(i < 3)]} for i in range(10)}
    share = compactions(make_table(runs)).share
    assert (share.low, share.high) == pytest.approx(proportion_confint(3, 10, method="wilson"))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=15))
def test_counts_add_up(numbers: list[int]) -> None:
    """The distribution adds up to the runs and to the compactions."""
    runs = {f"r{i}": {"compaction": [0.0, float(n)]} for i, n in enumerate(numbers)}
    result = compactions(make_table(runs))
    assert sum(c.n_runs for c in result.counts) == len(numbers)
    assert sum(c.n_runs * c.compactions for c in result.counts) == sum(numbers)


@pytest.mark.parametrize(
    "table",
    [make_table({}), make_table({"r": {}}), make_table({"r": {"compaction": [None, None]}})],
)
def test_absent_where_no_format_can_tell(table: TurnTable) -> None:
    """Without a format that can tell, the number is absent, not 0."""
    result = compactions(table)
    assert result.n_compactions is result.median is result.share.value is None
    assert result.why == "no file can tell whether a context was compacted"
