"""The curve before and after a compaction."""

from __future__ import annotations

from table_factory import make_table
from turncurve.analysis.segments import curves_by_segment
from turncurve.analysis.settings import Settings


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
