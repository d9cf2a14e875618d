"""Which signal stands for quality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from table_factory import make_table
from turncurve.analysis.first_error import first_bad_turn, time_to_first_error
from turncurve.analysis.quality import as_quality, default_threshold, pick_quality, scale_of
from turncurve.analysis.settings import Settings

NAN = float("nan")

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


def test_the_data_are_no_scale():
    """Without a stated scale, scores outside [0, 1] have none, whatever they span, and it is said;
    so there is no threshold by default."""
    picked = pick_quality(make_table({"a": RUBRIC}))
    assert (picked.low, picked.high, default_threshold(picked)) == (None, None, None)
    assert "a scale that is not known, as no file states it" in picked.why


def test_the_user_knows_best():
    """A scale in the settings goes before the files' own, and scores outside it are counted."""
    settings = Settings(quality_scale=(0, 3))
    picked = pick_quality(make_table({"a": RUBRIC}, quality_scale=(0, 4)), settings)
    assert (picked.low, picked.high) == (0, 3)
    assert "as given; 1 scores lie outside it" in picked.why
    assert default_threshold(picked) == pytest.approx(2.1)


def test_files_that_disagree_state_no_scale():
    """Two scales in one table are none, even for scores that lie in [0, 1]; one run that states
    none takes that of the others."""
    runs = {"a": {"quality": [0.5]}, "b": {"quality": [1]}}
    low = {"a": 0.0, "b": 0.0}
    table = make_table(runs, quality_low=low, quality_high={"a": 1.0, "b": 4.0})
    assert scale_of(table, "quality") == (None, None)
    assert "the files state several" in pick_quality(table).why
    table = make_table(runs, quality_low=low, quality_high={"a": 4.0, "b": NAN})
    assert scale_of(table, "quality") == (0, 4)


def test_scale_of_other_signals_is_their_own():
    """The scale that the user states is the rubric's alone."""
    table = make_table({"a": {"adherence": [1], "context_tokens": [5], "mine": [0.5]}})
    settings = Settings(quality_scale=(0, 4))
    assert scale_of(table, "adherence", settings) == (0, 1)
    assert scale_of(table, "context_tokens", settings) == (0, None)
    assert scale_of(table, "mine", settings) == (None, None)


@pytest.mark.parametrize("scale", [(1, 1), (4, 0), (NAN, 1), (0, NAN), (0, float("inf"))])
def test_a_scale_has_two_ends(scale):
    """A scale whose ends are equal, turned round or no numbers is refused, with what was wanted."""
    with pytest.raises(ValueError, match="quality_scale: wanted two numbers, the lower first"):
        Settings(quality_scale=scale)


scores = st.lists(st.integers(0, 16).map(lambda n: n / 16), min_size=1, max_size=30)


@given(
    st.lists(scores, min_size=1, max_size=5),
    st.integers(-64, 64),
    st.sampled_from([0.25, 1.0, 4.0, 128.0]),
)
def test_first_bad_turns_do_not_depend_on_the_unit(runs, added, factor):
    """Scores and their scale moved and stretched alike give the same turns by both rules."""

    def turns(of, scale):
        table = make_table({str(i): {"quality": of(np.array(y))} for i, y in enumerate(runs)})
        settings = Settings(quality_scale=scale, window=3, resamples=10)
        found = [
            time_to_first_error(table, rule, settings=settings)
            for rule in ("rolling_quality", "low_quality")
        ]
        return first_bad_turn(table, settings=settings), [(f.survival, f.n_excluded) for f in found]

    def moved(y):
        return y * factor + added

    assert turns(moved, (moved(0.0), moved(1.0))) == turns(lambda y: y, (0.0, 1.0))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([0, 1, 0, 1], "of 8 turns: 1 is failing"),
        ([None, 1, None, 1], "of 4 turns, all at turns 2, 4: 1 is failing"),
        ([None, None, 0, None], "of 2 turns, all at turn 3: 1 is failing"),
        ([0, 0, None, None], "of 4 turns, up to turn 2 of 4: 1 is failing"),
    ],
)
def test_graded_turns_are_named_where_they_are_not_all(known, words):
    """A curve of chosen turns says which; turns that lack a grade in some runs alone do not."""
    picked = pick_quality(make_table({"a": {"error": known}, "b": {"error": known}}))
    assert words in picked.why
    some = make_table({"a": {"error": [0, None]}, "b": {"error": [None, 1]}})
    assert "turns: 1 is failing" in pick_quality(some).why
    many = [None, *([0] * 20)]
    assert "12, 13 and 8 more" in pick_quality(make_table({"a": {"error": many}})).why
