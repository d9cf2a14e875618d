"""What several grades come to: majority, abstention, tie, and who agrees."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.model import Grade, Validity
from turncurve.model.consensus import agreement, consensus, majority


def vote(validity: Validity | None, **more: object) -> Grade:
    reason = None if validity else "no JSON"
    return Grade(grader="g", validity=validity, missing_reason=reason, **more)  # type: ignore[arg-type]


def test_two_of_three_win() -> None:
    """The majority's validity, and its dimensions by majority among those who voted for it."""
    grades = [
        vote("fail", severity="high", dependency="dependent", looping=True),
        vote("fail", severity="low", dependency="dependent", looping=True),
        vote("pass", dependency="n/a", looping=False),
    ]
    grade = consensus(grades, grader="panel", n_asked=3)
    assert (grade.validity, grade.dependency, grade.looping) == ("fail", "dependent", True)
    assert grade.severity is None  # one says high, one low
    assert grade.members == tuple(grades)
    assert grade.grader == "panel"


def test_those_who_lost_have_no_say_in_the_rest() -> None:
    """Three of five say fail, of which two low; the two who say pass say high."""
    grades = [
        *(vote("fail", complexity=level) for level in ("low", "low", "high")),
        *(vote("pass", complexity="high") for _ in range(2)),
    ]
    assert consensus(grades, grader="panel", n_asked=5).complexity == "low"


@pytest.mark.parametrize(
    ("validities", "reason"),
    [
        (["fail", "pass"], "tie: 1 fail, 1 pass"),
        (["fail", "neutral", "pass"], "tie: 1 fail, 1 neutral, 1 pass"),
        (["fail", "fail", "pass", "pass"], "tie: 2 fail, 2 pass"),
        (["fail", "fail", "neutral", "pass"], "tie: 2 fail, 1 neutral, 1 pass"),
        (["fail", None, None], "1 of 3 graders gave a grade"),
        (["fail", None], "1 of 2 graders gave a grade"),
        ([None, None, None], "0 of 3 graders gave a grade"),
    ],
)
def test_a_tie_is_a_tie_and_a_lone_vote_no_majority(
    validities: list[Validity | None], reason: str
) -> None:
    """Without more than half of the votes, or of the voters, the grade is missing and says why."""
    grade = consensus([vote(v) for v in validities], grader="panel", n_asked=len(validities))
    assert grade.validity is None
    assert grade.missing_reason == reason


def test_a_missing_grade_never_votes() -> None:
    """Two votes and an abstention are two votes; the abstention is no neutral."""
    grade = consensus([vote("pass"), vote("pass"), vote(None)], grader="panel", n_asked=3)
    assert grade.validity == "pass"
    tied = consensus([vote("neutral"), vote("pass"), vote(None)], grader="panel", n_asked=3)
    assert tied.missing_reason == "tie: 1 neutral, 1 pass"


def test_a_member_not_yet_asked_abstains() -> None:
    """One of three verdicts is no consensus."""
    assert consensus([vote("pass")], grader="panel", n_asked=3).validity is None


def test_one_grader_is_its_own_consensus() -> None:
    """A panel of one gives its grade as it stands."""
    assert consensus([vote("pass")], grader="panel", n_asked=1) == vote("pass")


@given(st.lists(st.sampled_from(["fail", "neutral", "pass"]), min_size=2, max_size=5))
def test_order_does_not_matter(validities: list[Validity]) -> None:
    """Whoever votes first, the consensus is the same."""
    found = {
        consensus([vote(v) for v in order], grader="p", n_asked=len(order)).validity
        for order in list(permutations(validities))[:24]
    }
    assert len(found) == 1


def test_agreement_by_hand() -> None:
    """Of three pairs one agrees; one vote has no pair."""
    assert agreement(["fail", "fail", "pass"]) == pytest.approx(1 / 3)
    assert agreement(["fail", "fail"]) == 1
    assert agreement(["fail"]) is None
    assert majority([]) is None
