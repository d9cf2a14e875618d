"""The curve before and after a compaction."""

from __future__ import annotations

import pytest

from table_factory import make_table
from turncurve.analysis.segments import curves_by_segment
from turncurve.analysis.settings import Settings
from turncurve.table import SignalInfo


def test_buckets_up_to_the_compaction_and_from_it_on():
    """A run's bucket counts as compacted from the one that holds its first compaction."""
    table = make_table(
        {"a": {"quality": [1, 1, 0.6, 0.4, 0, 0]}, "b": {"quality": [1] * 6}},
        compaction_turns={"a": [4]},
    )
    after, before = curves_by_segment(table, "quality", Settings(bucket=2))
    assert (after.segment, before.segment) == ("with_compaction", "without_compaction")
    assert [(p.start, p.value, p.n_runs) for p in after.points] == [(3, 0.5, 1), (5, 0, 1)]
    assert [(p.start, p.value, p.n_runs) for p in before.points] == [
        (1, 1, 2),
        (3, 1, 1),
        (5, 1, 1),
    ]
    assert after.excluded == {"run without a compaction": 1}


def test_no_compaction_no_segments():
    """Where no run has a compaction there is nothing to compare."""
    assert curves_by_segment(make_table({"a": {"quality": [1, 1]}}), "quality") == ()


def test_a_compaction_after_the_last_turn_reaches_no_bucket():
    """A compaction that no turn follows shows nothing."""
    table = make_table({"a": {"quality": [1, 1]}}, compaction_turns={"a": [3]})
    assert curves_by_segment(table, "quality") == ()


def test_by_progress_the_part_with_the_compaction_is_after():
    """A part of the run belongs to where its last turn does, though the turn lies in two parts."""
    table = make_table(
        {"a": {"quality": [1, 0.5, 0]}, "b": {"quality": [1, 1, 1]}}, compaction_turns={"a": [3]}
    )
    after, before = curves_by_segment(table, "quality", Settings(axis="progress", bucket=2))
    assert [(p.start, p.n_turns) for p in after.points] == [(0.5, 2)]
    assert after.points[0].value == pytest.approx((0.5 / 2 + 0) / 1.5)
    assert [(p.start, p.n_runs) for p in before.points] == [(0, 2), (0.5, 1)]


def test_rates_are_over_their_denominators():
    """Before and after a compaction, a rate is over all that its turns count."""
    info = {"rate": SignalInfo(name="rate", title="Rate", low=0, high=1, weight="n")}
    table = make_table(
        {"a": {"rate": [1, 0, 0, 1], "n": [1, 9, 9, 1]}}, compaction_turns={"a": [3]}, info=info
    )
    after, before = curves_by_segment(table, "rate", Settings(bucket=2))
    assert (after.points[0].value, before.points[0].value) == (0.1, 0.1)
