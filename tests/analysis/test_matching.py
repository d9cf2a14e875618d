"""Judgements side by side: doubles, ties, what one side alone has, and what could not be had."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from analysis.graders import judged, run
from turncurve.analysis.matching import (
    TIED,
    TWICE,
    match,
    most_raters,
    of_rater,
    once_each,
    rating_matrix,
)
from turncurve.errors import AmbiguousNameError, UnknownNameError

letters = st.text("fnp- ", max_size=6)


def test_judged_twice() -> None:
    """Alike: one stays. Differently: none does, and it is counted. Missing and had: the latter."""
    found = once_each(judged(run("a", "ff-n"), run("a", "fpn-")))
    assert_array_equal(found.turn, [1, 3, 4])
    assert_array_equal(found.category, [0, 1, 1])
    assert found.excluded == {TWICE: 1}


def test_judged_three_times() -> None:
    """One different judgement among several takes the turn out; missing ones are no difference."""
    sets = [run("a", "ffn"), run("a", "f-n"), run("a", "fp-")]
    found = once_each(judged(*sets))
    assert_array_equal(found.turn, [1, 3])
    assert_array_equal(found.category, [0, 1])


def test_another_raters_judgement_is_no_double() -> None:
    """Two raters may differ."""
    found = once_each(judged(run("a", "f", grader="x"), run("a", "p", grader="y")))
    assert_array_equal(found.category, [0, 2])
    assert found.excluded == {}


def test_most_raters() -> None:
    """The most frequent judgement stands; a tie is left out and counted; all missing stays so."""
    sets = [
        run("a", "ffp-", grader="x"),
        run("a", "fpp-", grader="y"),
        run("a", "p--n", grader="z"),
    ]
    found = most_raters(once_each(judged(*sets)))
    assert_array_equal(found.turn, [1, 3, 4])
    assert_array_equal(found.category, [0, 2, 1])
    assert found.excluded == {TIED: 1}
    both_missing = most_raters(judged(run("a", "-", grader="x"), run("a", "-", grader="y")))
    assert_array_equal(both_missing.category, [-1])


def test_severity_of_most_raters() -> None:
    """The highest severity among those who agree with most stands."""
    found = most_raters(
        judged(
            run("a", "f", grader="x", severities=["low"]),
            run("a", "f", grader="y", severities=["medium"]),
            run("a", "p", grader="z", severities=["high"]),
        )
    )
    assert_array_equal(found.severity, [1])


def test_which_rater() -> None:
    """One of several must be named, by a name that there is."""
    both = judged(run("a", "f", grader="x"), run("a", "p", grader="y"))
    assert_array_equal(of_rater(both, "y", option="--grader").category, [2])
    with pytest.raises(
        AmbiguousNameError, match="GRADES holds 2 graders; name one with --grader: x, y"
    ):
        of_rater(both, None, option="--grader")
    with pytest.raises(UnknownNameError, match="unknown grader of GRADES 'w'; known: x, y"):
        of_rater(both, "w", option="--grader")


def test_every_turn_is_accounted_for() -> None:
    """Matched turns in order, and each other turn under its reason."""
    graded = judged(run("a", "ffn-"), run("b", "ff"))
    labels = judged(run("a", "fp -f"), run("c", "p"), name="LABELS")
    found = match(graded, labels)
    assert_array_equal(found.turn, [1, 2])
    assert_array_equal(found.graded, [0, 0])
    assert_array_equal(found.reference, [0, 2])
    assert found.excluded == {
        "in GRADES alone: LABELS lacks the run": 2,
        "in GRADES alone: LABELS lacks the turn": 1,
        "in LABELS alone: GRADES lacks the run": 1,
        "in LABELS alone: GRADES lacks the turn": 1,
        "GRADES could not be had": 1,
    }
    assert_array_equal(found.missing_turn, [4])


@given(
    st.dictionaries(st.sampled_from("abcd"), letters),
    st.dictionaries(st.sampled_from("abcd"), letters),
)
def test_counts_add_up(one: dict[str, str], other: dict[str, str]) -> None:
    """Matched and left-out turns are all the turns of both sides, whatever these hold."""
    graded, labels = (
        judged(*(run(name, text) for name, text in each.items()), name=called)
        for each, called in ((one, "GRADES"), (other, "LABELS"))
    )
    found = match(graded, labels)
    pairs = {
        (name, i)
        for each in (one, other)
        for name, text in each.items()
        for i, letter in enumerate(text)
        if letter != " "
    }
    assert len(found.turn) + sum(found.excluded.values()) == len(pairs)
    both = [
        (one[name][i], other[name][i])
        for name, i in pairs
        if i < len(one.get(name, "")) and i < len(other.get(name, ""))
    ]
    assert len(found.turn) == sum(a in "fnp" and b in "fnp" for a, b in both)
    assert not (found.graded < 0).any()
    assert not (found.reference < 0).any()


def test_order_of_files_changes_nothing() -> None:
    """The same turns are matched whatever order runs come in."""
    runs = [run("a", "fnp"), run("b", "pp"), run("c", "f")]
    labels = judged(*reversed(runs), name="LABELS")
    found = match(judged(*runs), labels)
    assert_array_equal(found.graded, found.reference)
    assert len(found.turn) == 6


def test_sub_agents_share_a_cluster() -> None:
    """Runs of one root are told apart when matched, and are one cluster."""
    runs = [run("a", "f"), run("b", "p", parent="a"), run("c", "f")]
    found = match(judged(*runs), judged(*runs, name="LABELS"))
    assert len(np.unique(found.run)) == 3
    assert len(np.unique(found.cluster)) == 2


def test_rating_matrix() -> None:
    """Raters of all sets beside each other, with -1 where one has no judgement."""
    graded = judged(run("a", "fn", grader="x"), run("a", " p", grader="y"))
    labels = judged(run("a", "f-"), run("b", "p"), name="LABELS")
    items, table, names = rating_matrix([graded, labels])
    assert names == ("GRADES: x", "GRADES: y", "LABELS: g")
    assert_array_equal(table, [[0, -1, 0], [1, 2, -1], [-1, -1, 2]])
    assert_array_equal(items, [0, 0, 1])
