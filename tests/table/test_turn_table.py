"""The turn table: what it refuses, and what selecting and adding keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from signals.hand_made import calling, run_of, table_of, turn
from turncurve.errors import InvariantError
from turncurve.model import Event, Run
from turncurve.table import SignalInfo, TurnTable

shapes = st.lists(st.integers(0, 4), min_size=1, max_size=6)


def several(lengths: list[int]) -> tuple[list[Run], TurnTable]:
    """Runs of these lengths, each with a call a turn and a compaction, and their table."""
    runs = [
        run_of(
            [calling(i, f"tool {r}") for i in range(1, n + 1)],
            f"r{r}",
            events=(Event(kind="compaction", turn=n + 1),),
        )
        for r, n in enumerate(lengths)
    ]
    return runs, table_of(*runs)


@settings(deadline=None)
@given(shapes, st.data())
def test_selecting_runs_is_reading_only_those(lengths: list[int], data: st.DataObject) -> None:
    """Rows, columns, calls and events of the selection equal a table of the chosen runs."""
    runs, table = several(lengths)
    size = len(runs)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    selected = table.select(mask)
    alone = table_of(*(run for run, chosen in zip(runs, mask, strict=True) if chosen))
    assert selected.runs.id.tolist() == alone.runs.id.tolist()
    assert_array_equal(selected.run, alone.run)
    assert_array_equal(selected.turn, alone.turn)
    assert_array_equal(selected.calls.row, alone.calls.row)
    assert_array_equal(selected.calls.key, alone.calls.key)
    assert_array_equal(selected.events.run, alone.events.run)
    assert_array_equal(selected.events.turn, alone.events.turn)
    for name, column in alone.columns.items():
        assert_array_equal(selected.columns[name], column)


@settings(deadline=None)
@given(shapes)
def test_offsets_bound_each_run(lengths: list[int]) -> None:
    """Run r owns the rows between its offset and the next, those without turns own none."""
    _, table = several(lengths)
    assert_array_equal(table.offsets, np.cumsum([0, *lengths]))


def test_columns_are_added_to_a_copy() -> None:
    """The table itself stays as it was."""
    table = table_of(run_of([turn(1)]))
    info = SignalInfo(name="mood", title="Mood")
    more = table.with_columns({"mood": np.array([1.0])}, {"mood": info})
    assert more.columns["mood"].tolist() == [1]
    assert more.info["mood"] is info
    assert "mood" not in table.columns


def test_a_column_of_another_length_is_refused() -> None:
    """The error names the column and both lengths."""
    table = table_of(run_of([turn(1), turn(2)]))
    with pytest.raises(InvariantError, match=r"wanted 2 rows in every column, got \{'mood': 1\}"):
        table.with_columns({"mood": np.array([1.0])}, {})


def test_rows_out_of_order_are_refused() -> None:
    """Rows have to be sorted by run."""
    table = table_of(run_of([turn(1)], "a"), run_of([turn(1)], "b"))
    with pytest.raises(InvariantError, match="wanted rows sorted by run"):
        TurnTable(
            runs=table.runs,
            run=table.run[::-1],
            turn=table.turn,
            columns=table.columns,
            calls=table.calls,
            events=table.events,
            info=table.info,
        )
