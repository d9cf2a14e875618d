"""Success by length."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from table_factory import make_table
from turncurve.analysis.settings import Settings
from turncurve.analysis.success_by_length import LengthBin, success_by_length
from turncurve.table import TurnTable


def runs_of(lengths: list[int], success: list[bool | None]) -> TurnTable:
    return make_table(
        {f"r{i}": {"quality": [1.0] * n} for i, n in enumerate(lengths)},
        success={f"r{i}": one for i, one in enumerate(success)},
    )


def test_bins_hold_as_many_runs_each() -> None:
    """40 runs of 1 to 40 turns, the short half successful: four bins of ten, with intervals."""
    lengths = list(range(1, 41))
    bins = success_by_length(runs_of(lengths, [n <= 20 for n in lengths]), Settings())
    assert [(b.start, b.end, b.n_runs, b.n_succeeded) for b in bins] == [
        (1, 10, 10, 10),
        (11, 20, 10, 10),
        (21, 30, 10, 0),
        (31, 40, 10, 0),
    ]
    assert (bins[0].low, bins[0].high) == pytest.approx(proportion_confint(10, 10, method="wilson"))


def test_unknown_outcomes_are_counted_apart() -> None:
    """A run without a known outcome is in its bin's n_unknown and in no share."""
    table = runs_of([3, 5, 9, 12], [True, False, None, None])
    assert [
        (b.start, b.end, b.n_runs, b.n_unknown, b.value)
        for b in success_by_length(table, Settings())
    ] == [(3, 12, 2, 2, 0.5)]


@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.sampled_from([True, False, None])), min_size=1, max_size=80
    )
)
def test_every_run_is_in_one_bin(runs: list[tuple[int, bool | None]]) -> None:
    """Bins follow each other without a gap and hold all runs once, if any outcome is known."""
    bins = success_by_length(runs_of([n for n, _ in runs], [s for _, s in runs]), Settings())
    if all(s is None for _, s in runs):
        assert bins == ()
        return
    assert sum(b.n_runs + b.n_unknown for b in bins) == len(runs)
    assert sum(b.n_succeeded for b in bins) == sum(s is True for _, s in runs)
    assert all(one.end + 1 == other.start for one, other in pairwise(bins))
    assert len(bins) <= 5


def test_finds_that_long_runs_fail() -> None:
    """Success that falls from 90 % to 10 % with length shows as shares that fall."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 101, 500)
    success = rng.random(500) < 0.9 - 0.008 * lengths
    bins = success_by_length(runs_of(lengths.tolist(), success.tolist()), Settings())
    for each in bins:
        middle = 0.9 - 0.004 * (each.start + each.end)
        assert each.low is not None
        assert each.high is not None
        assert each.low - 0.03 <= middle <= each.high + 0.03
    values = [b.value for b in bins]
    assert values == sorted(values, reverse=True)


def test_equal_lengths_are_one_bin() -> None:
    """Thirty runs of 7 turns are one bin."""
    bins = success_by_length(runs_of([7] * 30, [True, False] * 15), Settings())
    assert [(b.start, b.end, b.n_runs) for b in bins] == [(7, 7, 30)]


@pytest.mark.parametrize(
    "table", [make_table({}), make_table({"r": {}}, success={"r": True}), runs_of([3], [None])]
)
def test_empty_without_outcomes(table: TurnTable) -> None:
    """Without a run that has turns and an outcome there is no bin."""
    assert success_by_length(table, Settings()) == ()


def test_a_bin_without_outcomes_has_no_share() -> None:
    """Its counts are there, its share is absent."""
    empty = LengthBin(start=1, end=2, n_runs=0, n_succeeded=0, n_unknown=3)
    assert empty.value is empty.low is empty.high is None
