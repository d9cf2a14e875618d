"""Tables put together, taken apart and put in another order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from table.same_table import assert_same
from table_factory import make_table
from turncurve.table import TurnTable
from turncurve.table.concat import concat, split

LENGTHS = st.lists(st.integers(0, 4), max_size=6)


def table_of(lengths: list[int]) -> TurnTable:
    """Runs of so many turns with actions and an event each."""
    runs = {f"r{i}": {"quality": [float(i)] * n} for i, n in enumerate(lengths)}
    return make_table(
        runs,
        actions={f"r{i}": [f"a{i}{t}" for t in range(n)] for i, n in enumerate(lengths)},
        compaction_turns={f"r{i}": [1] for i, n in enumerate(lengths) if n},
    )


def parts_of(table: TurnTable, cuts: list[int]) -> list[TurnTable]:
    edges = sorted({0, table.n_runs, *(min(cut, table.n_runs) for cut in cuts)})
    number = np.arange(table.n_runs)
    return [table.select((number >= a) & (number < b)) for a, b in pairwise(edges)] or [table]


@given(LENGTHS, st.lists(st.integers(0, 6), max_size=3))
@settings(deadline=None, max_examples=60)
def test_parts_make_the_whole(lengths: list[int], cuts: list[int]) -> None:
    """A table cut between runs and put together again is the table."""
    table = table_of(lengths)
    assert_same(concat(parts_of(table, cuts)), table)


@given(LENGTHS, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_another_order_has_each_run_as_it_was(lengths: list[int], random: object) -> None:
    """Runs taken in any order are, one by one, the runs that they were."""
    table = table_of(lengths)
    order = list(range(len(lengths)))
    random.shuffle(order)  # type: ignore[attr-defined]
    taken = table.take_runs(np.array(order, dtype=np.int64))
    for position, run in enumerate(order):
        ours = taken.select(np.arange(len(order)) == position)
        assert_same(ours, table.select(np.arange(len(order)) == run))


def test_a_column_that_one_lacks_is_missing_there() -> None:
    """Columns are those of all tables, NaN in the turns of a table without them."""
    one = make_table({"a": {"quality": [1.0, 2.0]}})
    other = make_table({"b": {"speed": [3.0]}})
    columns = concat([one, other]).columns
    np.testing.assert_array_equal(columns["quality"], [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(columns["speed"], [np.nan, np.nan, 3.0])


@given(LENGTHS, st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_split_parts_are_the_table(lengths: list[int], n_turns: int) -> None:
    """Parts hold whole runs, are not much larger than asked for, and make the table again."""
    table = table_of(lengths)
    parts = list(split(table, n_turns))
    assert_same(concat(parts), table)
    longest = max(lengths, default=0)
    assert all(len(part.turn) <= 2 * n_turns + longest for part in parts)
