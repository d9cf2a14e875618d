"""What several grades of one turn come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TypeVar

from turncurve.model.grade import Grade, Validity

V = TypeVar("V", bound=Hashable)


def majority(votes: Sequence[V | None]) -> V | None:
    """The vote that more than half of all votes are; None where none is, as in a tie."""
    if not votes:
        return None
    vote, n = Counter(votes).most_common(1)[0]
    return vote if 2 * n > len(votes) else None


def agreement(votes: Sequence[Hashable]) -> float | None:
    """Share of the pairs of votes that are the same vote; None for fewer than two votes."""
    pairs = list(combinations(votes, 2))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def has_quorum(n_votes: int, n_asked: int) -> bool:
    """Whether enough of those who were asked have voted: more than half."""
    return 2 * n_votes > n_asked


def consensus(grades: Sequence[Grade], *, grader: str, n_asked: int) -> Grade:
    """The one grade that several come to, by majority on validity.

    A missing grade abstains: it never votes. Where half of those asked or more abstain, or no
    validity has more than half of the votes (a tie), the grade is missing and says so. The other
    dimensions are by majority among the votes for the validity that won; without one, None.

    Args:
        grades: The members' grades, missing ones among them.
        grader: Name of the panel.
        n_asked: Members that were to vote.

    Returns:
        A grade that keeps each member's in `members`; the grade itself where one was asked.
    """
    if n_asked == 1 and len(grades) == 1:
        return grades[0]
    votes = [grade for grade in grades if grade.validity is not None]
    rubric = next((grade.rubric for grade in grades), None)
    if not has_quorum(len(votes), n_asked):
        reason = f"{len(votes)} of {n_asked} graders gave a grade"
        return _missing(grades, grader, rubric, reason)
    winner: Validity | None = majority([vote.validity for vote in votes])
    if winner is None:
        counts = Counter(vote.validity for vote in votes)
        said = ", ".join(f"{n} {word}" for word, n in sorted(counts.items(), key=str))
        return _missing(grades, grader, rubric, f"tie: {said}")
    same = [vote for vote in votes if vote.validity == winner]
    return Grade(
        grader=grader,
        rubric=rubric,
        validity=winner,
        complexity=majority([vote.complexity for vote in same]),
        dependency=majority([vote.dependency for vote in same]),
        severity=majority([vote.severity for vote in same]),
        looping=majority([vote.looping for vote in same]),
        members=tuple(grades),
    )


def _missing(grades: Sequence[Grade], grader: str, rubric: str | None, reason: str) -> Grade:
    return Grade(
        grader=grader, rubric=rubric, validity=None, missing_reason=reason, members=tuple(grades)
    )
