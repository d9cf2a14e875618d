"""The record of graded turns in a score: written and read, and read from hostile hands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.inspect_logs import call, event, runs_of, sample
from turncurve.model import Grade, Run
from turncurve.model.consensus import consensus
from turncurve.readers.graded_turns import KEY, NOT_SAID, grades_of, record_of, source_of

LEVELS = st.sampled_from([None, "low", "medium", "high"])


@st.composite
def grades(draw: st.DrawFn) -> Grade:
    validity = draw(st.sampled_from([None, "fail", "neutral", "pass"]))
    return Grade(
        grader="g",
        rubric="r",
        validity=validity,
        complexity=draw(LEVELS),
        severity=draw(LEVELS),
        dependency=draw(st.sampled_from([None, "independent", "dependent", "n/a"])),
        looping=draw(st.sampled_from([None, True, False])),
        missing_reason=draw(st.sampled_from(["late", "no JSON"])) if validity is None else None,
    )


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), grades()), min_size=1, max_size=30))
def test_a_record_gives_back_the_grades(wanted: list[Grade | None]) -> None:
    """Through JSON and back every grade is the same at its turn; one not asked about has none."""
    record = json.loads(json.dumps(record_of(wanted, source="grader")))
    found = grades_of(record, n_turns=len(wanted))
    assert found == {t: grade for t, grade in enumerate(wanted, start=1) if grade is not None}
    assert source_of(record) == "grader"


@settings(deadline=None)
@given(st.lists(st.lists(grades(), min_size=3, max_size=3), min_size=1, max_size=10))
def test_every_vote_is_kept(votes: list[list[Grade]]) -> None:
    """A panel's grades come back with each member's, and with what it could know."""
    wanted = [
        replace(consensus(of_turn, grader="g", n_asked=3), construct="no_hindsight")
        for of_turn in votes
    ]
    found = grades_of(
        json.loads(json.dumps(record_of(wanted, source="grader"))), n_turns=len(wanted)
    )
    for turn, of_turn in enumerate(votes, start=1):
        assert replace(found[turn], members=None) == replace(wanted[turn - 1], members=None)
        assert found[turn].members == tuple(
            replace(vote, construct="no_hindsight") for vote in of_turn
        )


def test_hostile_votes_are_no_votes() -> None:
    """What is no list of records of letters is left out; a lone vote makes no panel."""
    for votes in ("FP", [1, {"validity": 3}], [{"validity": "FFFF"}]):
        found = grades_of({"schema": 1, "validity": "F.P", "votes": votes}, n_turns=3)
        assert [(turn, grade.members) for turn, grade in found.items()] == [(1, None), (3, None)]


def test_a_long_record_is_small() -> None:
    """A thousand turns by a rule take a letter each for verdict and loop: under 2,500 bytes."""
    turns = [Grade(grader="g", rubric="r", validity="pass", looping=False)] * 1_000
    assert len(json.dumps(record_of(turns, source="rule"))) < 2_500


@pytest.mark.parametrize(
    "record",
    [{}, {"schema": 1}, {"schema": 2, "validity": "F"}, {"schema": 1, "validity": ["F"]}],
    ids=["empty", "without verdicts", "of a later version", "verdicts in a list"],
)
def test_a_record_that_cannot_be_read_has_no_grades(record: dict[str, Any]) -> None:
    """It is of no source and has no grades."""
    assert source_of(record) is None
    assert grades_of(record, n_turns=5) == {}


def test_strange_letters_are_missing_grades() -> None:
    """A letter of no alphabet, a text that is too short and odd reasons: nothing is made up."""
    record = {
        "schema": 1,
        "validity": "FxQ",
        "looping": "1",
        "severity": 7,
        "missing": [None, {"why": 3, "turns": [2, "3", None]}, {"turns": 4}],
    }
    first, second, third = grades_of(record, n_turns=3).values()
    assert (first.validity, first.looping, first.severity, first.grader) == (
        *("fail", True, None),
        "unknown",
    )
    assert (second.validity, second.missing_reason) == (None, NOT_SAID)
    assert (third.validity, third.looping) == (None, None)


def test_grades_beyond_the_last_turn_are_not_made() -> None:
    """A record of a million turns on a run of two costs two grades."""
    assert len(grades_of({"schema": 1, "validity": "P" * 1_000_000}, n_turns=2)) == 2


def record(validity: str, source: str = "rule", **fields: Any) -> dict[str, Any]:
    return {
        "value": {"error_rate": 0.0},
        "metadata": {
            KEY: {"schema": 1, "source": source, "grader": source, "validity": validity, **fields}
        },
    }


def read(folder: Path, scores: dict[str, Any], *more: dict[str, Any], **fields: Any) -> Run:
    turns = [call(message_id="a1"), call(message_id="a2")]
    (run,) = runs_of(folder, sample(*turns, *more, scores=scores, **fields))
    return run


def verdicts(run: Run) -> list[list[tuple[str, str | None]]]:
    return [[(grade.grader, grade.validity) for grade in turn.grades] for turn in run.turns]


def test_verdicts_by_rule_are_read(tmp_path: Path) -> None:
    """Where nothing else judges the turns they are its grades, and a note says where from."""
    run = read(tmp_path, {"signals": record("FP")})
    assert verdicts(run) == [[("rule", "fail")], [("rule", "pass")]]
    assert "error: the verdicts of the score 'signals', by a rule over signals" in run.notes
    assert run.success is None


@pytest.mark.parametrize("order", [1, -1])
def test_a_graders_word_comes_before_a_rules(tmp_path: Path, order: int) -> None:
    """Beside a grader's record, in either order, the rule's verdicts are left out with a note."""
    both = [("signals", record("FF")), ("judge", record("PN", "grader"))]
    run = read(tmp_path, dict(both[::order]))
    assert verdicts(run) == [[("grader", "pass")], [("grader", "neutral")]]
    assert any("'signals'" in note and "left out" in note for note in run.notes)


def test_a_rubrics_scores_come_before_a_rules_verdicts(tmp_path: Path) -> None:
    """Scores by turn, final or intermediate, stand for quality: the rule's verdicts don't."""
    final = {"value": 1, "metadata": {"turn_scores": [1, 0]}}
    assert verdicts(read(tmp_path, {"signals": record("FF"), "rubric": final})) == [[], []]
    while_running = event("score", score={"value": 1}, intermediate=True, scorer="check")
    assert verdicts(read(tmp_path, {"signals": record("FF")}, while_running)) == [[], []]


def test_the_last_of_two_rules_counts(tmp_path: Path) -> None:
    """A log that was scored twice has the verdicts of the later scorer, not both."""
    run = read(tmp_path, {"signals": record("FF"), "signals1": record("PP")})
    assert verdicts(run) == [[("rule", "pass")], [("rule", "pass")]]


def test_two_graders_are_two_grades(tmp_path: Path) -> None:
    """Each turn bears the grade of each grader."""
    run = read(tmp_path, {"a": record("FF", "grader"), "b": record("PP", "grader")})
    assert [len(turn.grades) for turn in run.turns] == [2, 2]


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    """Verdicts beyond the last turn, and a record of a later version, are left out with a note."""
    run = read(tmp_path, {"signals": record("FPPP")})
    assert "turns beyond the last turn 2 that the score 'signals' judges, left out: 2" in run.notes
    run = read(tmp_path, {"signals": record("FP", schema=9)})
    assert "the graded turns of the score 'signals' are of an unknown schema" in run.notes
    assert verdicts(run) == [[], []]


def test_the_outcome_is_the_score_that_the_scorer_was_told(tmp_path: Path) -> None:
    """Of two scores that could be the outcome, the one named in the record is."""
    scores = {"tests": {"value": "I"}, "style": {"value": "C"}}
    assert read(tmp_path, {**scores, "signals": record("PP")}).success is None
    run = read(tmp_path, {**scores, "signals": record("PP", outcome_from="tests")})
    assert run.success is False
    assert "success: the score 'tests', as the scorer of turns was told" in run.notes
    run = read(tmp_path, {**scores, "signals": record("PP", outcome_from="other")})
    assert run.success is None
