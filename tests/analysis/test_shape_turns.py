"""Shapes of buckets are told in turns, by `cliff` and by `compare`."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.suites import suite_table
from turncurve import CliffSettings, cliff
from turncurve.analysis.shape_turns import in_turns
from turncurve.stats.shape import shape_of


def curves(*, cliff_at: int | None = None, knee_at: int | None = None) -> np.ndarray:
    """3 trials of 12 scenarios and 48 turns."""
    rng = np.random.default_rng(3)
    turn = np.arange(1, 49)
    course = -0.004 * turn
    if cliff_at is not None:
        course = course - 0.5 * (turn >= cliff_at)
    if knee_at is not None:
        course = course - 0.05 * np.maximum(turn - knee_at, 0)
    return 3 + rng.normal(0, 0.3, (1, 12, 1)) + course + rng.normal(0, 0.1, (3, 12, 48))


def test_a_cliff_in_buckets_stands_at_its_turn() -> None:
    """A fall at turn 25, looked at by fours, is at turn 25: not at the seventh bucket."""
    table = suite_table(curves(cliff_at=25))
    by_one, by_four = (cliff(table, CliffSettings(bucket=n)).shape for n in (1, 4))
    assert by_one is not None
    assert by_four is not None
    assert by_four.turn == by_one.turn == 25
    assert by_four.turns_confidence_set == (25,)
    assert by_four.slope.value == pytest.approx(by_one.slope.value, abs=0.002)
    assert by_four.step.size.value == pytest.approx(by_one.step.size.value, abs=0.1)
    assert by_four.n_turns == 48


def test_a_knee_in_buckets_lies_after_its_turn() -> None:
    """A bend after turn 24: the last turn of the old slope, and a change of slope by turn."""
    table = suite_table(curves(knee_at=24))
    by_one, by_four = (cliff(table, CliffSettings(bucket=n)).shape for n in (1, 4))
    assert by_one is not None
    assert by_four is not None
    assert by_four.verdict == by_one.verdict == "knee"
    assert by_four.turn is not None
    assert by_four.turn % 4 == 0
    assert abs(by_four.turn - 24) <= 4
    assert by_four.kink.size.value == pytest.approx(-0.05, abs=0.005)


def test_one_turn_a_bucket_changes_nothing() -> None:
    """The shape itself comes back."""
    shape = shape_of(curves(cliff_at=25)[0], rng=np.random.default_rng(0))
    assert in_turns(shape, 1) is shape
