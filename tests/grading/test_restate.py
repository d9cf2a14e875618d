"""Objectives restated in copies of a run's states: what is asked, of whom, and what is judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grading.fakes import FakeModel, always, patient, said
from grading.runs import GOAL, run
from turncurve.errors import GradeError
from turncurve.grading.account import Account
from turncurve.grading.carry_out import Job, carry_out
from turncurve.grading.cost import Limits
from turncurve.grading.grade import GradedRun, grade_runs, run_grading
from turncurve.grading.model import GraderMessage, Member, ProviderError, Reply, Restater
from turncurve.grading.plan import plan
from turncurve.grading.restate import QUESTION, as_restated, conversation
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import GradeSettings, Session
from turncurve.grading.turn_choice import TurnChoice
from turncurve.ingest import read_table
from turncurve.model import Event, Message, Run
from turncurve.readers.grade_file import read_grade_file

FIDELITY = as_restated(load_rubric("fidelity"))


def forgets(after: int) -> FakeModel:
    """An agent that keeps its objective as long as its conversation has so many own messages."""

    def restate(messages: Sequence[GraderMessage], _: int) -> Reply:
        n_own = sum(message.role == "assistant" for message in messages)
        return Reply(text=GOAL if n_own <= after else "Write a poem.")

    return FakeModel(restate, name="lab/agent")


def compares(messages: Sequence[GraderMessage], _: int) -> Reply:
    """A judge: 4 for the objective word for word, 0 for anything else."""
    return said({"similarity": 4 if GOAL in messages[1].text.split(" text]")[1] else 0})


def judge() -> FakeModel:
    return FakeModel(compares, name="lab/judge")


def session_of(
    agent: FakeModel, judge_: FakeModel, copies: dict[int, FakeModel] | None = None, **more: object
) -> Session:
    restater = Restater(model=agent, copies=dict(copies or {}))
    settings = GradeSettings(restater=restater, **more)  # type: ignore[arg-type]
    return Session(FIDELITY, [Member(model=judge_)], settings, pace=patient())


def graded(runs: Sequence[Run], session: Session) -> list[GradedRun]:
    done: list[GradedRun] = []
    run_grading(grade_runs(runs, session, on_run=done.append))
    return done


def levels(done: GradedRun) -> list[float | None]:
    return [turn.judgement.values.get("goal_fidelity_raw") for turn in done.turns]


def test_the_objective_of_each_state_is_judged() -> None:
    """An agent that forgets after three turns is told from its own words, not from its turns."""
    (done,) = graded([run(6)], session_of(forgets(3), judge()))
    assert levels(done) == [1, 1, 1, 1, 0, 0]
    assert [turn.restated for turn in done.turns] == [GOAL] * 4 + ["Write a poem."] * 2


def test_what_is_asked_of_a_copy() -> None:
    """The messages up to the turn, its own answer not among them, and then the question."""
    agent = forgets(9)
    graded([run(3)], session_of(agent, judge(), choice=TurnChoice(turns=(3,))))
    (sent,) = agent.asked
    assert [message.role for message in sent] == [
        *("system", "user", "assistant", "user", "assistant", "user", "user"),
    ]
    assert sent[1].text == GOAL
    assert sent[2].text == "I look at record 1.\n\n[call look]\nrecord: 1"
    assert sent[3].text == "[result of look]\nrecord 1 is fine"
    assert sent[-1].text == QUESTION
    assert not any("record 3" in message.text for message in sent)


def test_the_judge_sees_the_objective_and_what_was_restated_alone() -> None:
    """Nothing that the turn itself said or did."""
    one = judge()
    graded([run(2)], session_of(forgets(9), one, choice=TurnChoice(turns=(2,))))
    (sent,) = one.asked
    assert GOAL in sent[1].parts[0]
    assert not any("I look at" in message.text for message in sent)


def test_the_run_is_left_alone() -> None:
    """The run that was asked about is, word for word, what it was."""
    made = run(4)
    graded([made], session_of(forgets(1), judge()))
    assert made == run(4)


def test_after_a_compaction_the_state_is_the_task_and_what_came_since() -> None:
    """What the agent no longer had before it is not put before its copy either."""
    turns = list(run(4).turns)
    turns[2] = replace(turns[2], before=(Message(role="user", text="So far: nothing."),))
    compacted = replace(run(4), turns=tuple(turns), events=(Event(kind="compaction", turn=3),))
    state = conversation(compacted, 3)
    assert [message.role for message in state] == ["system", "user", "assistant", "user"]
    assert state[1].text == f"{GOAL}\n\nSo far: nothing."
    assert "record 3" in state[2].text
    assert len(conversation(compacted, 1)) == 4  # before it, all is there
    edited = (Event(kind="compaction", turn=3, detail={"type": "edit"}),)
    assert len(conversation(replace(compacted, events=edited), 3)) == 8


def test_a_model_with_the_very_state_is_asked_in_its_place() -> None:
    """Where there is one for a turn, it is the one that is asked."""
    copy = FakeModel(lambda *_: Reply(text="Another objective."), name="lab/agent")
    (done,) = graded([run(3)], session_of(forgets(9), judge(), {2: copy}))
    assert levels(done) == [1, 0, 1]
    assert len(copy.asked) == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ProviderError("503 down"), "provider error"),
        (Reply(text="no", stop="refusal"), "refusal"),
        (Reply(text="  "), "broken invariant"),
    ],
)
def test_an_objective_that_is_not_restated_is_missing(
    reply: Reply | Exception, reason: str
) -> None:
    """It is no 0: the turn is missing for that reason, and the judge is not asked."""
    agent, one = FakeModel(lambda *_: reply, name="lab/agent"), judge()
    (done,) = graded([run(2)], session_of(agent, one))
    assert levels(done) == [None, None]
    assert all(turn.is_missing for turn in done.turns)
    (line,) = done.turns[0].answers
    assert line.missing is not None
    assert line.missing.reason == reason
    assert line.missing.detail.startswith("the objective was not restated: ")
    assert (len(one.asked), len(agent.asked)) == (0, 2)


def test_a_dead_model_is_an_error_whichever_it_is() -> None:
    """Ten restatements that fail, or ten judgements, though the other model works."""
    dead = FakeModel(lambda *_: ProviderError("401 no key"), name="lab/agent")
    with pytest.raises(GradeError, match="not one restated objective came of 10 questions"):
        graded([run(12)], session_of(dead, judge()))
    mute = FakeModel(lambda *_: Reply(text="hm"), name="lab/judge")
    with pytest.raises(GradeError, match="not one grade came of 10 questions"):
        graded([run(12)], session_of(forgets(99), mute))


def test_limits_hold_for_both() -> None:
    """A limit on calls counts restatements; a turn that is not settled is left, not missing."""
    session = session_of(forgets(9), judge(), limits=Limits(calls=3), concurrency=1)
    (done,) = graded([run(4)], session)
    assert (len(done.turns), done.n_chosen) == (1, 4)
    assert session.stopped == "the limit of 3 calls"


def test_other_rubrics_are_refused() -> None:
    """What judges steps or levels can't judge an objective; the error says what would work."""
    with pytest.raises(GradeError, match="steps@1 is of the kind steps: name --rubric fidelity"):
        as_restated(load_rubric("steps"))


def job(path: Path, agent: FakeModel, one: FakeModel) -> Job:
    settings = GradeSettings(restater=Restater(model=agent))
    return Job(rubric=FIDELITY, panel=[Member(model=one)], settings=settings, path=path)


def test_both_answers_are_paid_for_once(tmp_path: Path) -> None:
    """A second run of the same command asks nobody; the reader gives the levels of each turn."""
    path, runs = tmp_path / "g.jsonl", [run(5)]
    for n_asked in (5, 0):
        agent, one = forgets(3), judge()
        done = carry_out(lambda: runs, job(path, agent, one), pace=patient())
        assert (len(agent.asked), len(one.asked)) == (n_asked, n_asked)
        assert done.grading.restated_by == "lab/agent"
        assert done.grading.construct == "objective as restated in a copy of the turn's state"
    table = read_table([path]).table
    assert table.columns["goal_fidelity_raw"].tolist() == [1, 1, 1, 1, 0]
    assert table.info["goal_fidelity_raw"].title == "Goal fidelity (as judged)"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    texts = [line["answer"]["text"] for line in lines if line.get("anchor") == "restated"]
    assert texts == [GOAL] * 4 + ["Write a poem."]


def test_restated_and_said_objectives_share_no_file(tmp_path: Path) -> None:
    """Nor do those restated by two models: they are measures of two things."""
    path, runs = tmp_path / "g.jsonl", [run(2)]
    carry_out(lambda: runs, job(path, forgets(9), judge()), pace=patient())
    other = replace(forgets(9), name="lab/other")
    with pytest.raises(GradeError, match=r"restated by lab/agent .* not with .* by lab/other"):
        carry_out(lambda: runs, job(path, other, judge()), pace=patient())
    plain = Job(
        rubric=load_rubric("fidelity"),
        panel=[Member(model=judge())],
        settings=GradeSettings(),
        path=path,
    )
    with pytest.raises(GradeError, match="not with objectives as the turns say them"):
        carry_out(lambda: runs, plain, pace=patient())
    assert len(read_grade_file(path, lambda _: None).turns["one"]) == 2


def test_a_plan_counts_both() -> None:
    """Calls of a plan are those that are made; of what was had, none."""
    agent, one, runs = forgets(2), judge(), [run(4), run(3, name="two")]
    session = session_of(agent, one)
    made = plan(runs, FIDELITY, session.panel, session.settings)
    assert (made.n_turns, made.n_shared) == (7, 3)  # the second run begins like the first
    calls = {name: by.n_calls for name, by in made.by_grader.items()}
    assert calls == {"lab/judge": 7, "lab/agent": 4}
    graded(runs, session)
    assert (len(agent.asked), len(one.asked)) == (4, 7)
    again = plan(runs, FIDELITY, session.panel, session.settings, session.journal)  # type: ignore[arg-type]
    assert (again.n_calls, again.n_before) == (0, 14)


def test_missing_restatements_are_in_the_account() -> None:
    """By reason, like any missing grade."""
    agent = FakeModel(
        lambda _, n: Reply(text="no", stop="refusal") if n % 2 else Reply(text=GOAL),
        name="lab/agent",
    )
    session, account = session_of(agent, judge()), Account()
    run_grading(grade_runs([run(4)], session, on_run=account.add))
    done = account.result(session)
    assert (done.n_graded, done.n_missing, done.reasons) == (2, 2, {"refusal": 2})


def test_always_is_a_judge_too() -> None:
    """A judge that gives everything 2 gives 0.5, whatever is restated."""
    (done,) = graded([run(2)], session_of(forgets(0), always({"similarity": 2}, name="j")))
    assert levels(done) == [0.5, 0.5]
