"""Judgements of a set of files: grades and marks, who and what they knew, what is missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from analysis.graders import grade, judged, marked, run, with_context
from turncurve.analysis.judgements import NO_MARK, with_traces
from turncurve.errors import ConstructError
from turncurve.model import Turn


def test_grades_in_columns() -> None:
    """Each grade is a row: its run, turn, category and severity; a missing one is -1."""
    found = judged(run("a", "fn-p", severities=["high"]), run("b", " f"))
    assert found.scale == "validity"
    assert (found.runs, found.raters) == (("a", "b"), ("g",))
    assert_array_equal(found.run, [0, 0, 0, 0, 1])
    assert_array_equal(found.turn, [1, 2, 3, 4, 2])
    assert_array_equal(found.category, [0, 1, -1, 2, 0])
    assert_array_equal(found.severity, [2, -1, -1, -1, -1])
    assert_array_equal(found.n_turns, [4, 4, 4, 4, 2])


def test_several_files_speak_of_one_run() -> None:
    """A run that two files grade is one run with two raters."""
    found = judged(run("a", "fn", grader="x"), run("a", "pp", grader="y"))
    assert found.runs == ("a",)
    assert found.raters == ("x", "y")
    assert_array_equal(found.rater, [0, 0, 1, 1])


def test_marks_are_of_two_categories() -> None:
    """A mark of 1 is an error, one of 0 none; a share is no mark and is counted."""
    found = judged(marked("a", [1.0, 0.0, None, 0.5]))
    assert found.scale == "fail"
    assert_array_equal(found.turn, [1, 2])
    assert_array_equal(found.category, [0, 1])
    assert found.excluded == {NO_MARK: 1}
    assert found.raters == ("the error column",)


def test_grades_beside_marks_take_their_scale() -> None:
    """Neutral and pass are both no error where some labels are marks."""
    found = judged(run("a", "fnp-"), marked("b", [1.0]))
    assert found.scale == "fail"
    assert_array_equal(found.category, [0, 1, 1, -1, 0])


@pytest.mark.parametrize("format_", ["trail", "who_and_when"])
def test_annotators_of_whole_traces_had_hindsight(format_: str) -> None:
    """TRAIL and Who&When were labelled by people who saw how the run went on."""
    assert judged(marked("a", [1.0], format_=format_)).construct == "hindsight"


def test_construct_is_stated_or_given() -> None:
    """What the files state stands; what they leave open the caller may state."""
    assert judged(run("a", "f", construct="no_hindsight")).construct == "no_hindsight"
    assert judged(run("a", "f"), construct="hindsight").construct == "hindsight"
    assert judged(run("a", "f")).construct is None


def test_mixed_constructs_are_refused() -> None:
    """Two kinds of label in one set are refused, and both files are named."""
    one = run("a", "f", construct="hindsight", path="one.jsonl")
    other = run("b", "f", construct="no_hindsight", path="other.jsonl")
    with pytest.raises(ConstructError, match=r"LABELS mixes .*one\.jsonl.*other\.jsonl"):
        judged(one, other, name="LABELS")


def test_contradicting_the_file_is_refused() -> None:
    """A construct other than the file's is refused, and the file is named."""
    with pytest.raises(ConstructError, match=r"up\.jsonl states no hindsight"):
        judged(run("a", "f", construct="no_hindsight"), construct="hindsight")


def test_a_sub_agents_run_has_its_parents_root() -> None:
    """A run that another started is a part of it; a circle of parents ends."""
    found = judged(run("a", "f"), run("b", "f", parent="a"), run("c", "f", parent="b"))
    assert found.roots == ("a", "a", "a")
    assert len(judged(run("a", "f", parent="b"), run("b", "f", parent="a")).roots) == 2


def test_traces_give_context_and_phase() -> None:
    """The judged traces say what a turn read and did; what they lack stays unknown."""
    found = with_traces(
        judged(run("a", "ff"), run("b", "f")),
        [with_context("a", [100, None, 300], [1.0, None, 0.0])],
    )
    assert_array_equal(found.context_tokens, [100, np.nan, np.nan])
    assert_array_equal(found.explore, [1, np.nan, np.nan])
    assert_array_equal(found.n_turns, [3, 3, 1])


def test_a_turn_with_several_grades() -> None:
    """Each of a turn's graders has a row."""
    turn = Turn(index=3, grades=(grade("f", "x"), grade("-", "y")))
    found = judged(replace(run("a", "f"), turns=(turn,)))
    assert_array_equal(found.turn, [3, 3])
    assert_array_equal(found.category, [0, -1])


def test_nothing_judged() -> None:
    """Runs without a judgement give no row, and no error."""
    assert len(judged(run("a", ""), marked("b", [None])).run) == 0
