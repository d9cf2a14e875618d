"""Which signal stands for quality."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from table_factory import make_table
from turncurve.analysis.quality import as_quality, default_threshold, pick_quality

GRADES = {"error": [1, 0, None]}
RUBRIC = {"quality": [3, 4, 1]}
TOOLS = {"tool_success": [1, 0.5, None]}


@pytest.mark.parametrize(
    ("columns", "name", "source"),
    [
        (GRADES | RUBRIC | TOOLS, "error", "grades"),
        (RUBRIC | TOOLS, "quality", "rubric"),
        (TOOLS, "tool_success", "tool_success"),
        ({"quality": [None], "error": [None]}, None, "none"),
        ({}, None, "none"),
    ],
)
def test_grades_then_rubric_then_tools(columns, name, source):
    """The first of grades, rubric scores and tool success that has a value is picked."""
    picked = pick_quality(make_table({"a": columns}))
    assert (picked.name, picked.source) == (name, source)


def test_grades_turn_round():
    """The error signal is low where good; as quality it is 1 less that, and missing stays so."""
    table = make_table({"a": GRADES})
    assert_array_equal(as_quality(table, pick_quality(table)), [0, 1, np.nan])


def test_scale_as_the_file_gives_it():
    """A rubric's stated scale is used, and the threshold is 0.7 of the way up it."""
    picked = pick_quality(make_table({"a": RUBRIC}, quality_scale=(0, 4)))
    assert (picked.low, picked.high) == (0, 4)
    assert default_threshold(picked) == pytest.approx(2.8)


def test_scores_within_zero_and_one_are_on_that_scale():
    """Without a stated scale, scores within [0, 1] are taken to be on it, and it is said."""
    picked = pick_quality(make_table({"a": {"quality": [0.4, 0.9]}}))
    assert (picked.low, picked.high) == (0, 1)
    assert "assumed" in picked.why
    assert default_threshold(picked) == 0.7


def test_other_scores_span_what_was_seen():
    """Without a stated scale, other scores are on that from the lowest to the highest seen."""
    picked = pick_quality(make_table({"a": RUBRIC}))
    assert (picked.low, picked.high) == (1, 4)
    assert "seen" in picked.why


def test_no_width_no_threshold():
    """Constant scores on an unknown scale give no threshold."""
    assert default_threshold(pick_quality(make_table({"a": {"quality": [7, 7]}}))) is None
