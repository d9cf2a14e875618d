"""Grading runs: order, votes, limits, resumption, and a grader that is dead."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from grading.fakes import (
    FAIL,
    NEUTRAL,
    PASS,
    FakeModel,
    always,
    judged_turn,
    patient,
    said,
)
from grading.runs import GOAL, run
from turncurve.errors import GradeError
from turncurve.grading.anchors import Goals
from turncurve.grading.cost import Limits, Pricing
from turncurve.grading.grade import GradedRun, grade_run, grade_runs, run_grading
from turncurve.grading.journal import Journal, MemoryJournal, open_journal
from turncurve.grading.model import GraderMessage, GraderModel, Member, ProviderError, Reply
from turncurve.grading.rubric import Rubric
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import GradeSettings, Session, session_line
from turncurve.grading.turn_choice import TurnChoice
from turncurve.ingest import read
from turncurve.model import Message, Run
from turncurve.readers.grade_file import read_grade_file

STEPS = load_rubric("steps")
PRICE = Pricing(per_million=(1.0, 10.0))
"""With this a call of the fake grader costs 0.0015 US dollars."""


def session_of(
    *models: GraderModel | Member,
    rubric: Rubric = STEPS,
    journal: Journal | None = None,
    **settings: object,
) -> Session:
    panel = [m if isinstance(m, Member) else Member(model=m) for m in models]
    given = GradeSettings(**{"price": PRICE, **settings})  # type: ignore[arg-type]
    return Session(rubric, panel, given, journal=journal, pace=patient())


def graded(runs: Sequence[Run], session: Session, goals: Goals | None = None) -> list[GradedRun]:
    done: list[GradedRun] = []
    run_grading(grade_runs(runs, session, goals=goals, on_run=done.append))
    return sorted(done, key=lambda one: one.run)


def validities(one: GradedRun) -> list[str | None]:
    return [None if t.grade is None else t.grade.validity for t in one.turns]


def test_a_run_with_a_model_alone() -> None:
    """The plain call: a run, a rubric, a model."""
    model = FakeModel(lambda m, _: said(FAIL if judged_turn(m) >= 3 else PASS))
    done = asyncio.run(grade_run(run(4), STEPS, model))
    assert validities(done) == ["pass", "pass", "fail", "fail"]
    assert [turn.turn for turn in done.turns] == [1, 2, 3, 4]
    assert done.turns[0].grade is not None
    assert done.turns[0].grade.rubric == "steps@1"
    assert done.turns[0].answers[0].raw


def test_chosen_turns_and_every_kth() -> None:
    """The same rubric at the turns that were named, in the run's order."""
    model = always(PASS)
    some = graded([run(9)], session_of(model, choice=TurnChoice(turns=(5, 2, 30))))
    assert [turn.turn for turn in some[0].turns] == [2, 5]
    every = graded([run(9)], session_of(model, choice=TurnChoice(every=4)))
    assert [turn.turn for turn in every[0].turns] == [4, 8]


def test_turns_of_a_run_are_asked_in_order_each_on_the_prompt_of_the_last() -> None:
    """One call at a time within a run, and a common beginning for the provider's cache."""
    model = always(PASS, seconds=0.001)
    graded([run(6, name="a"), run(6, name="b", goal="another")], session_of(model))
    assert model.most_under_way == 2
    for goal in (GOAL, "another"):
        asked = [m for m in model.asked if goal in m[1].text]
        assert [judged_turn(m) for m in asked] == [1, 2, 3, 4, 5, 6]
        for before, after in pairwise(asked):
            assert after[1].parts[: len(before[1].parts) - 1] == before[1].parts[:-1]
    assert len({m[0].text for m in model.asked}) == 1


@pytest.mark.parametrize(("runs", "per_run", "most"), [(20, 1, 4), (1, 3, 3), (1, 9, 4), (1, 1, 1)])
def test_concurrency_within_and_across_runs(runs: int, per_run: int, most: int) -> None:
    """No more calls at once than allowed in all, and within a run."""
    model = always(PASS, seconds=0.002)
    many = [run(6, name=f"r{i:02}", goal=f"goal {i}") for i in range(runs)]
    done = graded(many, session_of(model, concurrency=4, per_run=per_run))
    assert model.most_under_way == most
    assert [len(one.turns) for one in done] == [6] * runs
    assert [[t.turn for t in one.turns] for one in done] == [[1, 2, 3, 4, 5, 6]] * runs


def test_a_panel_votes_and_every_verdict_is_kept() -> None:
    """Two of three; the tie of three; the votes stand in members and in answers."""
    third = FakeModel(lambda m, _: said(NEUTRAL if judged_turn(m) == 2 else PASS), name="c")
    models = [always(FAIL, name="a"), always(PASS, name="b"), third]
    done = graded([run(2)], session_of(*models))[0]
    assert validities(done) == ["pass", None]
    assert done.turns[1].is_tie
    assert done.turns[1].is_missing
    assert done.turns[0].agreement == pytest.approx(1 / 3)
    assert done.turns[1].agreement == 0
    assert [line.grader for line in done.turns[0].answers] == ["a", "b", "c"]
    grade = done.turns[0].grade
    assert grade is not None
    assert [m.validity for m in grade.members or ()] == ["fail", "pass", "pass"]


def test_self_consistency_is_a_panel_of_one() -> None:
    """Three samples of one grader vote as three graders do."""
    model = FakeModel(lambda _, n: said(FAIL if n % 3 == 1 else PASS))
    done = graded([run(1)], session_of(Member(model=model, samples=3)))[0]
    assert validities(done) == ["pass"]
    assert [line.sample for line in done.turns[0].answers] == [1, 2, 3]


def test_a_failed_grade_abstains_and_is_no_vote() -> None:
    """Of two graders one refuses: one vote of two is no quorum."""
    refuses = FakeModel(lambda _, __: Reply(text="no", stop="refusal"), name="r")
    done = graded([run(1)], session_of(always(PASS, name="a"), refuses))[0]
    grade = done.turns[0].grade
    assert grade is not None
    assert grade.missing_reason == "1 of 2 graders gave a grade"
    assert done.turns[0].is_missing
    assert not done.turns[0].is_tie


def test_what_was_had_is_not_asked_again_and_what_was_missing_is() -> None:
    """A second session on the same journal asks about the missing turn alone."""
    journal = MemoryJournal()
    first = FakeModel(lambda m, _: ProviderError("down") if judged_turn(m) == 2 else said(PASS))
    once = graded([run(3)], session_of(first, journal=journal))[0]
    assert validities(once) == ["pass", None, "pass"]
    second = always(FAIL)
    session = session_of(second, journal=journal)
    again = graded([run(3)], session)[0]
    assert validities(again) == ["pass", "fail", "pass"]
    assert [judged_turn(m) for m in second.asked] == [2]
    assert (session.n_before, session.n_had) == (2, 1)


def test_runs_of_one_content_are_graded_again_for_nothing() -> None:
    """Each keeps the shared answers under its own name, however often the command is run."""
    journal, model = MemoryJournal(), always(PASS)
    twins = [run(2), replace(run(2), id="twin"), replace(run(2), id="third")]
    for _ in range(3):
        done = graded(twins, session_of(model, journal=journal, concurrency=1))
        assert [validities(one) for one in done] == [["pass", "pass"]] * 3
        assert {line.run for one in done for line in one.turns[0].answers} == {
            *("one", "twin", "third"),
        }
    assert len(model.asked) == 2


def test_a_run_that_went_on_pays_for_its_new_turns_alone() -> None:
    """Turns 1 to 3 keep their grades when 4 and 5 come."""
    journal = MemoryJournal()
    graded([run(3)], session_of(always(PASS), journal=journal))
    model = always(PASS)
    graded([run(5)], session_of(model, journal=journal))
    assert [judged_turn(m) for m in model.asked] == [4, 5]


def test_runs_of_one_content_are_paid_for_once(tmp_path: Path) -> None:
    """A copy of a run has its grades under its own name, at no cost, even at the same time."""
    model = always(FAIL, seconds=0.001)
    twins = [run(3, name="a"), replace(run(3, name="a"), id="b")]
    path = tmp_path / "g.jsonl"
    panel = [Member(model=model)]
    with open_journal(path, session_line(STEPS, panel, GradeSettings())) as journal:
        done = graded(twins, session_of(model, journal=journal))
    assert len(model.asked) == 3
    assert validities(done[0]) == validities(done[1]) == ["fail"] * 3
    lines = read_grade_file(path, pytest.fail).turns
    assert Counter(line.calls for of in lines.values() for t in of.values() for line in t.values())
    assert sum(line.calls for of in lines.values() for t in of.values() for line in t.values()) == 3
    assert read(path).columns["error"].tolist() == [1.0] * 6


@pytest.mark.parametrize(
    ("limits", "n_calls", "words"),
    [
        (Limits(calls=4), 4, "4 calls"),
        (Limits(tokens=4_500), 4, "4,500 tokens"),
        (Limits(usd=0.008), 5, "0.008 US dollars"),
        (Limits(), 10, None),
    ],
)
def test_a_limit_stops_cleanly(limits: Limits, n_calls: int, words: str | None) -> None:
    """No call that may pass it is made; what was had stands; the rest is not called missing."""
    model = always(PASS, seconds=0.001)
    session = session_of(model, limits=limits, concurrency=3)
    done = graded([run(5, name="a"), run(5, name="b", goal="another")], session)
    assert len(model.asked) <= n_calls
    assert session.spending.calls == len(model.asked)
    assert sum(len(one.turns) for one in done) == len(model.asked)
    assert session.n_missing == 0
    assert session.spending.usd <= (limits.usd or 1)
    assert (session.stopped is None) == (words is None)
    assert words is None or words in str(session.stopped)


def test_spending_is_counted_by_call() -> None:
    """Two runs of five turns at 0.0015 each."""
    session = session_of(always(PASS))
    graded([run(5, name="a"), run(5, name="b", goal="another")], session)
    assert session.spending.usd == pytest.approx(0.015)
    assert session.spending.input_tokens == 10_000
    assert session.spending.reserved_calls == session.spending.reserved_tokens == 0


def test_a_dead_grader_is_an_error_and_no_perfect_agent() -> None:
    """Ten failures and not one grade: the last reason is in the error, and calls end."""
    model = FakeModel(lambda _, __: ProviderError("401 invalid key"))
    with pytest.raises(GradeError, match=r"not one grade came of 10 questions.*401 invalid key"):
        graded([run(30, name=f"r{i}", goal=f"g{i}") for i in range(4)], session_of(model))
    assert len(model.asked) < 20


def test_a_grader_that_dies_on_the_way_is_an_error_too() -> None:
    """What was had before is kept."""
    model = FakeModel(lambda _, n: said(PASS) if n <= 5 else ProviderError("quota used up"))
    journal = MemoryJournal()
    session = session_of(model, journal=journal, concurrency=1)
    with pytest.raises(GradeError, match="no grade came any more: 50 calls"):
        graded([run(100)], session)
    assert session.n_had == 5


def test_a_grader_that_breaks_on_long_runs_is_a_finding_and_not_dead() -> None:
    """Replies that are no answer, turn after turn, are missing grades for the account."""
    model = FakeModel(lambda _, n: said(PASS) if n <= 5 else Reply(text="I am tired."))
    session = session_of(model, concurrency=1)
    done = graded([run(100)], session)
    assert validities(done[0]) == [*["pass"] * 5, *[None] * 95]


def test_few_failures_are_no_death() -> None:
    """A run of nine turns that all fail is nine missing grades: the account says the rest."""
    session = session_of(FakeModel(lambda _, __: ProviderError("down")))
    done = graded([run(9)], session)
    assert validities(done[0]) == [None] * 9
    assert session.n_missing == 9


def test_scores_and_rules_go_the_same_way() -> None:
    """A level is quality; rules are a share."""
    model = FakeModel(lambda m, _: said({"score": judged_turn(m)}))
    done = graded([run(3)], session_of(model, rubric=load_rubric("score")))[0]
    assert [turn.judgement.values["quality"] for turn in done.turns] == [1, 2, 3]
    rules = always({"plain_words": "kept", "no_promises": "broken"})
    done = graded([run(1)], session_of(rules, rubric=load_rubric("rules")))[0]
    assert done.turns[0].judgement.values["adherence_judged"] == 0.5


def fidelity(messages: Sequence[GraderMessage], _: int) -> Reply:
    """A judge that gives a paraphrase 3, another goal 1, and a turn 2."""
    text = messages[1].text
    if "other words" in messages[0].text:
        return Reply(text="<think>hm</think> Tell the customer what delays order 17.")
    if "what delays order 17" in text:
        return said({"similarity": 3})
    return said({"similarity": 1 if "Water the plants" in text.split(" text]")[1] else 2})


def test_fidelity_lies_between_floor_and_ceiling() -> None:
    """(2 - 1) / (3 - 1) of the way; each anchor is asked once a scenario."""
    runs = [
        run(2, name="a"),
        replace(run(2, name="a", text="other words said here"), id="a2"),
        run(1, name="b", goal="Water the plants."),
    ]
    model = FakeModel(fidelity)
    session = session_of(model, rubric=load_rubric("fidelity"), concurrency=1)
    done = graded(runs[:2], session, goals=Goals.of(runs))
    for one in done:
        values = [turn.judgement.values for turn in one.turns]
        assert [v["goal_fidelity_raw"] for v in values] == [0.5, 0.5]
        assert [v["goal_fidelity"] for v in values] == [0.5, 0.5]
    assert len(model.asked) == 2 + 2 + 3


def test_without_another_scenario_there_is_no_floor() -> None:
    """The raw figure stands alone; nothing is made up in its place."""
    session = session_of(FakeModel(fidelity), rubric=load_rubric("fidelity"))
    done = graded([run(1)], session, goals=Goals.of([run(1)]))[0]
    assert "goal_fidelity" not in done.turns[0].judgement.values
    assert done.turns[0].judgement.values["goal_fidelity_raw"] == 0.5


def test_runs_that_cannot_be_graded_say_why() -> None:
    """No text at all, and no objective where that is what is judged."""
    bare = Run(id="bare", turns=(), format="h", path="p")
    done = graded([bare], session_of(always(PASS)))
    assert done[0].excluded == "no turn has text, calls or results"
    first = replace(run(1).turns[0], before=(Message(role="system", text="x"),))
    aimless = replace(run(1), turns=(first,))
    done = graded([aimless], session_of(FakeModel(fidelity), rubric=load_rubric("fidelity")))
    assert done[0].excluded is not None
    assert "objective" in done[0].excluded


def test_graders_of_one_name_are_refused() -> None:
    """Their verdicts could not be told apart."""
    with pytest.raises(ValueError, match="different names"):
        session_of(always(PASS), always(FAIL))
