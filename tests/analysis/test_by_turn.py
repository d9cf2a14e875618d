"""Series by turn stay short however long the runs are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from table_factory import make_table
from turncurve.analysis.by_turn import MOST_POINTS, curve_by_turn, reach
from turncurve.analysis.degradation import degradation_curve
from turncurve.analysis.settings import Settings
from turncurve.table import TurnTable


def long_runs(*lengths: int) -> TurnTable:
    """Runs of these lengths with a quality that falls."""
    rng = np.random.default_rng(3)
    return make_table(
        {
            f"r{i}": {"quality": 1 - np.arange(n) / 10_000 + rng.normal(0, 0.01, n)}
            for i, n in enumerate(lengths)
        }
    )


@pytest.mark.parametrize(
    ("n_turns", "every"), [(999, 1), (1_000, 1), (1_001, 2), (2_001, 5), (5_000, 5), (5_001, 10)]
)
def test_a_point_is_over_as_few_turns_as_keep_the_series_short(n_turns: int, every: int) -> None:
    """Up to 1,000 turns have a point each; more share one by 2, 5 or 10."""
    series = curve_by_turn(long_runs(n_turns, 50), "quality")
    assert series.every == every
    assert len(series.turn) == -(-n_turns // every) <= MOST_POINTS
    assert series.turn[:2] == (1, 1 + every)


def test_no_turn_is_left_out_of_a_short_series() -> None:
    """A point over 5 turns is the curve's mean over a bucket of 5, and all turns are counted."""
    table = long_runs(2_500, 1_203, 2_001)
    series = curve_by_turn(table, "quality")
    points = degradation_curve(table, "quality", settings=Settings(bucket=5)).points
    assert sum(series.n_turns) == 2_500 + 1_203 + 2_001
    assert series.turn == tuple(int(point.start) for point in points)
    assert_allclose([v or 0 for v in series.value], [p.value for p in points], rtol=1e-12)
    assert series.n_runs == tuple(point.n_runs for point in points)


def test_reach_has_the_turns_of_the_series() -> None:
    """It counts the runs that get to the first turn of each point."""
    table = long_runs(2_500, 1_203)
    found = reach(table)
    assert (found.every, found.turn) == (5, curve_by_turn(table, "quality").turn)
    assert dict(zip(found.turn, found.n_runs, strict=True))[1_201] == 2
    assert dict(zip(found.turn, found.n_runs, strict=True))[1_206] == 1


def test_a_turn_far_out_makes_no_point_wider() -> None:
    """Ten turns and one numbered 1,000,000 are few points, each over a single turn."""
    turns = [*range(1, 11), 1_000_000]
    table = make_table({"r": {"quality": [0.5] * 11}}, turns={"r": turns})
    series = curve_by_turn(table, "quality")
    assert series.every == 1
    assert {*turns} <= {*series.turn}
    assert len(series.turn) < 20
