"""Evaluations whose turns are graded by models, read back by turncurve with the same numbers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Epochs, Task
from inspect_ai.agent import as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, resolve_sample_attachments
from inspect_ai.model import ChatMessage, ModelOutput
from inspect_ai.scorer import Scorer, includes

from grading.fakes import FAIL, NEUTRAL, PASS
from inspect_ext.offline import (
    calls,
    judge,
    lookup,
    metrics,
    mock,
    rescore,
    run,
    submits,
    uses,
    words,
)
from inspect_ext.offline import record as any_record
from turncurve.errors import GradeError, RubricError
from turncurve.grading.restate import QUESTION
from turncurve.ingest import read_table
from turncurve.inspect_ext import degradation_scorer, signals_scorer
from turncurve.model import Run
from turncurve.readers.inspect_log import read as read_log
from turncurve.report.document import build_report
from turncurve.report.json import to_json

PLANS = {"7": "k1 bad k2+k3 k4 !", "b": 'k1 "hm k2 k3 k4 k5 k6 k7 k8 !'}
"""By sample: what the agent does turn by turn."""
LETTERS = {"P": PASS, "F": FAIL, "N": NEUTRAL}


def by_sample(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
    name = next(m.text for m in messages if m.role == "user" and m.text in PLANS)
    return words(PLANS[name])(turn, messages)


def desk(*scorers: Scorer, **fields: Any) -> Task:
    """Two samples, one with an integer for its id; the second has another target."""
    return Task(
        name="desk",
        dataset=[Sample(id=7, input="7", target="done"), Sample(id="b", input="b", target="else")],
        solver=react(tools=[lookup()]),
        scorer=[includes(), *scorers],
        **fields,
    )


def says(letters: str) -> Callable[[int, str], str | Exception]:
    """A grader that gives each turn its letter, the last one for ever; `-` is no JSON."""

    def answer(turn: int, prompt: str) -> str:
        del prompt
        letter = letters[min(turn, len(letters)) - 1]
        return json.dumps(LETTERS[letter]) if letter in LETTERS else "I would rather not."

    return answer


def record(log: EvalLog, position: int = 0, scorer: str = "degradation_scorer") -> dict[str, Any]:
    return any_record(log, position, scorer)


def found(log: EvalLog, scorer: str = "degradation_scorer") -> dict[str, float]:
    return metrics(log, scorer)


def runs(log: EvalLog) -> list[Run]:
    return [one for one in read_log(Path(log.location), lambda _: None) if one.parent is None]


def report(log: EvalLog) -> dict[str, Any]:
    return to_json(build_report(read_table([log.location]).table))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """Two samples of two epochs, graded by the model of the role, with a mute turn."""
    folder = tmp_path_factory.mktemp("desk")
    task = desk(degradation_scorer(outcome="includes"), epochs=Epochs(2, "mode"))
    return run(task, by_sample, folder, model_roles={"grader": judge(says("PPFN-P"))})


def test_each_turn_has_its_grade(log: EvalLog) -> None:
    """Grades by the role's model; one that could not be had is missing, with its reason."""
    assert log.status == "success", log.error
    assert record(log)["validity"] == "PPFN-"
    assert (record(log)["grader"], record(log)["rubric"]) == ("mockllm/judge", "steps@1")
    assert record(log)["severity"] == "--L--"
    assert record(log)["construct"] == "no_hindsight"
    (missing,) = record(log)["missing"]
    assert missing["turns"] == [5]
    assert missing["why"] == "no JSON: the reply has no JSON object"
    (reply,) = record(log)["replies"]
    assert (reply["turn"], reply["why"]) == (5, "no JSON")
    assert reply["reply"].startswith("I would rather not.")
    assert record(log, 1)["validity"] == "PPFN-PPPPP"


def test_the_metrics_count_every_epoch(log: EvalLog) -> None:
    """Four runs: shares pooled over their turns, with intervals; missing grades are apart."""
    got = found(log)
    assert got["error_rate"] == pytest.approx(4 / 26)
    assert got["missing_rate"] == pytest.approx(4 / 30)
    assert (got["error_rate_n"], got["median_time_to_first_error"]) == (4, 3)
    assert got["error_rate_low"] < got["error_rate"] < got["error_rate_high"]
    assert "rubric_mean" not in got


def test_the_report_on_the_log_has_the_same_numbers(log: EvalLog) -> None:
    """The reader takes the grades from the log: error rate, outcomes, and whose they are."""
    told = report(log)
    assert told["summary"]["error_rate"] == pytest.approx(found(log)["error_rate"], rel=1e-12)
    assert told["quality_signal"]["source"] == "grades"
    assert (told["summary"]["n_succeeded"], told["summary"]["n_failed"]) == (2, 2)
    (grade,) = runs(log)[0].turns[2].grades
    assert (grade.validity, grade.severity, grade.construct) == ("fail", "low", "no_hindsight")
    assert runs(log)[0].turns[4].grades[0].missing_reason.startswith("no JSON")


def test_calls_of_graders_are_no_turns(log: EvalLog) -> None:
    """They stand in the log, under the grader's tokens, and the agent's turns are its own."""
    assert len(model_calls(whole(log))) == 5 + 6
    assert len(runs(log)[0].turns) == 5
    assert runs(log)[0].grader_usage is not None


def test_prompts_may_be_kept_out_of_the_log(tmp_path: Path) -> None:
    """With keep_prompts=False the log holds the verdicts alone; tokens are still counted."""
    scorer = degradation_scorer(model=judge(says("P")), keep_prompts=False)
    done = run(desk(scorer), by_sample, tmp_path)
    (sample, *_) = done.samples or []
    assert len(model_calls(sample)) == 5
    assert record(done)["validity"] == "PPPPP"
    assert "mockllm/judge" in sample.model_usage


def test_a_finished_log_is_graded_the_same(log: EvalLog) -> None:
    """Graded live and from the log on disk, every record and metric is the same."""
    later = rescore(
        read_eval_log(log.location),
        degradation_scorer(model=judge(says("PPFN-P")), outcome="includes"),
    )
    want = {name: value for name, value in found(log).items() if not name.endswith("_params")}
    assert found(later, "degradation_scorer1") == pytest.approx(want)
    for position in range(4):
        assert record(later, position, "degradation_scorer1") == record(log, position)


def test_without_a_grader_the_agents_model_grades_and_that_is_said(tmp_path: Path) -> None:
    """As elsewhere in Inspect; a note says that the model graded itself."""

    def both(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        if any("Judge turn" in message.text for message in messages):
            return ModelOutput.from_content("mockllm", json.dumps(PASS))
        return by_sample(turn, messages)

    done = run(desk(degradation_scorer()), both, tmp_path)
    assert record(done)["validity"] == "PPPPP"
    assert any("graded itself" in note for note in record(done)["notes"])


def test_chosen_turns_alone_are_graded(tmp_path: Path) -> None:
    """Turns that were not chosen are not missing: neither in the metrics nor in the report."""
    scorer = degradation_scorer(model=judge(says("PF")), turns=["2", "4"])
    done = run(desk(scorer), by_sample, tmp_path)
    assert [record(done, n)["validity"] for n in (0, 1)] == [".F.F.", ".F.F......"]
    assert found(done)["error_rate"] == 1
    assert found(done)["missing_rate"] == 0
    assert record(done)["counts"]["n_turns"] == 2
    told = report(done)
    assert "4 turns, all at turns 2, 4" in told["quality_signal"]["why"]
    assert told["summary"]["error_rate"] == 1
    every = run(desk(degradation_scorer(model=judge(says("P")), every=4)), by_sample, tmp_path)
    assert record(every, 1)["validity"] == "...P...P.."


def test_a_panel_votes(tmp_path: Path) -> None:
    """Three models: a majority decides, a tie is missing, and the reader has every vote."""
    panel = [
        judge(says(letters), f"mockllm/{n}") for n, letters in enumerate(("PFP", "PFN", "FPF"))
    ]
    done = run(desk(degradation_scorer(model=panel)), by_sample, tmp_path)
    assert record(done)["validity"] == "PF---"
    assert record(done)["grader"] == "mockllm/0+mockllm/1+mockllm/2"
    assert record(done)["missing"] == [
        {"why": "tie: 1 fail, 1 neutral, 1 pass", "turns": [3, 4, 5]}
    ]
    (grade,) = runs(done)[0].turns[1].grades
    assert [(vote.grader, vote.validity) for vote in grade.members or ()] == [
        *(("mockllm/0", "fail"), ("mockllm/1", "fail"), ("mockllm/2", "pass")),
    ]


def test_one_model_may_vote_several_times(tmp_path: Path) -> None:
    """With samples=3 one model is asked three times; two models of one name are two voters."""
    told: list[int] = []

    def fickle(turn: int, prompt: str) -> str:
        del prompt
        told.append(turn)
        return json.dumps(FAIL if told.count(turn) == 1 else PASS)

    done = run(
        desk(degradation_scorer(model=judge(fickle), samples=3)), by_sample, tmp_path, limit=1
    )
    assert record(done)["validity"] == "PPPPP"
    assert [vote["validity"] for vote in record(done)["votes"]] == ["FFFFF", "PPPPP", "PPPPP"]
    twins = [judge(says("F")), judge(says("F"))]
    done = run(desk(degradation_scorer(model=twins)), by_sample, tmp_path, limit=1)
    assert record(done)["grader"] == "mockllm/judge+mockllm/judge#2"


@pytest.mark.parametrize("reply", [RuntimeError("401 no key"), "no"], ids=["down", "mute"])
def test_a_dead_grader_fails_no_sample(reply: Exception | str, tmp_path: Path) -> None:
    """All its grades are missing, no rate is known, and the evaluation succeeds."""
    done = run(desk(degradation_scorer(model=judge(lambda *_: reply))), by_sample, tmp_path)
    assert done.status == "success"
    assert all(sample.error is None for sample in done.samples or [])
    assert record(done, 1)["validity"] == "-" * 10
    got = found(done)
    assert math.isnan(got["error_rate"])
    assert (got["missing_rate"], got["missing_rate_n"]) == (1, 2)


@pytest.mark.parametrize(("rubric", "letters"), [("steps", "validity"), ("score", "asked")])
def test_a_grader_that_dies_is_given_up(rubric: str, letters: str, tmp_path: Path) -> None:
    """After ten questions without one grade the rest of the run is missing for that reason."""
    asked: list[int] = []

    def down(turn: int, prompt: str) -> Exception:
        del prompt
        asked.append(turn)
        return RuntimeError("401 no key")

    plan = " ".join(f"k{n}" for n in range(29)) + " !"
    task = Task(dataset=[Sample(input="w", target="done")], solver=react(tools=[lookup()]))
    task.scorer = [includes(), degradation_scorer(rubric, model=judge(down))]
    done = run(task, words(plan), tmp_path)
    assert record(done)[letters] == "-" * 30
    assert found(done)["missing_rate"] == 1
    assert len(asked) < 30
    assert any(
        "not one grade came of 10 questions" in one["why"] for one in record(done)["missing"]
    )
    assert any("given up" in note for note in record(done)["notes"])


def test_sub_agents_are_graded_where_that_is_asked_for(tmp_path: Path) -> None:
    """By default their turns are left alone, with a note; else they are counted by name."""

    def boss(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
        if any(message.text == "dig" for message in messages):
            return calls(f"bad{turn}") if turn < 3 else submits("dug")
        return [uses("digger", input="dig"), calls("k1", "k2"), submits()][turn - 1]

    def task(**options: Any) -> Task:
        digger = react(name="digger", description="digs", tools=[lookup()])
        return Task(
            dataset=[Sample(input="w", target="done")],
            solver=react(tools=[lookup(), as_tool(digger)]),
            scorer=[includes(), degradation_scorer(model=judge(says("PF")), **options)],
        )

    done = run(task(), boss, tmp_path)
    assert (record(done)["agent"], record(done)["validity"]) == ("react", "PFF")
    assert record(done)["subagents"] == []
    assert any("not graded: 3" in note for note in record(done)["notes"])
    done = run(task(subagents=True), boss, tmp_path)
    (beneath,) = record(done)["subagents"]
    assert (beneath["agent"], beneath["n_turns"], beneath["n_fail"]) == ("react/digger", 3, 2)
    assert found(done)["error_rate"] == pytest.approx(2 / 3)


LEVELS = {"score": 4, "similarity": 3, "plain_words": "kept", "no_promises": "n/a"}


@pytest.mark.parametrize(
    ("rubric", "signal", "value"),
    [
        ("score", "quality", 4),
        ("rules", "adherence_judged", 1),
        ("fidelity", "goal_fidelity_raw", 0.75),
    ],
)
def test_any_rubric_may_be_asked(rubric: str, signal: str, value: float, tmp_path: Path) -> None:
    """Of rubrics that give numbers the record holds them, and the reader gives them back."""

    def answer(turn: int, prompt: str) -> str:
        del prompt
        return "no" if turn == 2 else json.dumps(LEVELS)

    scorer = degradation_scorer(rubric=rubric, model=judge(answer), turns="1,2,3")
    done = run(desk(scorer), by_sample, tmp_path)
    got, kept = found(done), record(done)
    one_is_missing = rubric != "fidelity"  # its prompts don't say which turn they are about
    assert kept["asked"] == ("1-1.." if one_is_missing else "111..")
    assert kept["values"][signal][0] == value
    assert got["rubric_mean"] == value
    assert got["missing_rate"] == pytest.approx(1 / 3 if one_is_missing else 0)
    assert "error_rate" not in got
    turns = runs(done)[0].turns
    assert [turn.values.get(signal) for turn in turns[:1] + turns[2:4]] == [value, value, None]
    table = read_table([done.location]).table
    assert table.info[signal].better == "high"
    if rubric == "score":
        assert runs(done)[0].quality_scale == (0, 4)
        assert report(done)["quality_signal"]["source"] == "rubric"


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    """A file names it; its text reaches the grader."""
    path = tmp_path / "mine.yaml"
    levels = "levels:\n  0: Bad.\n  1: Good.\n"
    path.write_text(f"name: mine\nversion: 3\nkind: score\ninstructions: Be strict.\n{levels}")
    done = run(
        desk(degradation_scorer(rubric=str(path), model=judge(lambda *_: '{"score": 1}'))),
        by_sample,
        tmp_path / "logs",
    )
    assert (record(done)["rubric"], record(done)["scale"]) == ("mine@3", [0, 1])
    assert found(done)["rubric_mean"] == 1
    assert record(done, 1)["values"]["quality"] == [1] * 10
    assert found(done)["rubric_slope_n"] == 1


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"rubric": "stesp"}, RubricError, "no rubric of this name comes along"),
        ({"turns": "5,x"}, ValueError, "wanted numbers of turns from 1"),
        ({"every": 0}, ValueError, "a step of at least 1"),
        ({"samples": 0}, ValueError, "samples: wanted at least 1, got 0"),
        ({"context_tokens": 900}, GradeError, "wanted at least"),
    ],
)
def test_what_cannot_be_asked_is_said_at_once(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    """Before anything runs, with what would work."""
    with pytest.raises(error, match=words):
        degradation_scorer(**arguments)


def test_signals_and_grades_stand_side_by_side(tmp_path: Path) -> None:
    """Of both scorers in one log the grader's word counts; the outcome is the named score."""
    task = desk(signals_scorer(), degradation_scorer(model=judge(says("PN")), outcome="includes"))
    done = run(task, by_sample, tmp_path)
    assert report(done)["summary"]["error_rate"] == found(done)["error_rate"] == 0
    assert metrics(done)["error_rate"] > 0
    assert report(done)["summary"]["n_failed"] == 1


def test_a_long_runs_detail_goes_into_a_file(tmp_path: Path) -> None:
    """Over 100 turns the metadata stays small; what was left out of prompts is in the file."""
    plan = " ".join(f"k{n}" for n in range(119)) + " !"
    task = Task(dataset=[Sample(input="w", target="done")], solver=react(tools=[lookup()]))
    task.scorer = [degradation_scorer(model=judge(says("P")), context_tokens=3_000)]
    done = run(task, words(plan), tmp_path / "logs")
    kept = record(done)
    assert kept["validity"] == "P" * 120
    assert "elided" not in kept
    assert len(json.dumps(kept)) < 2_500
    content = (tmp_path / "logs" / kept["turns_file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == kept["turns_sha256"]
    left_out = json.loads(content)["elided"]
    assert left_out["turns"][0] == 0 < left_out["turns"][-1]
    assert len(left_out["characters"]) == 120


def agent_and_judge(turn: int, messages: Sequence[ChatMessage]) -> ModelOutput:
    """An agent that works by plan, and when it is asked for its objective has lost it by turn 4."""
    if messages[-1].text == QUESTION:
        return ModelOutput.from_content("mockllm", "7" if turn < 4 else "Write a poem.")
    return by_sample(turn, messages)


def near(turn: int, prompt: str) -> str:
    """A judge: 4 for the objective itself, 1 for its paraphrase, 0 for anything else."""
    del turn
    if "[" not in prompt.partition("objective that was set")[2]:
        return "the number seven"
    text = prompt.partition(" text]")[2]
    return json.dumps({"similarity": 0 if "poem" in text else 2 if "seven" in text else 4})


def whole(log: EvalLog) -> EvalSample:
    """The log's first sample, with long texts in their places."""
    return resolve_sample_attachments((log.samples or [])[0], "full")


def model_calls(sample: EvalSample) -> list[ModelEvent]:
    return [event for event in sample.events if isinstance(event, ModelEvent)]


def restating(**options: Any) -> Task:
    """One sample, whose scorer asks copies of the agent's states for the objective."""
    chosen: dict[str, Any] = {"rubric": "fidelity", "restate": True, "model": judge(near)}
    return Task(
        name="desk",
        dataset=[Sample(id=7, input="7", target="done")],
        solver=react(tools=[lookup()], prompt="Be brief."),
        scorer=[includes(), degradation_scorer(**(chosen | options))],
    )


def test_objectives_are_restated_in_copies_of_the_states(tmp_path: Path) -> None:
    """Each turn's copy is asked with what the agent had before it; the judge compares."""
    done = run(restating(), agent_and_judge, tmp_path)
    assert done.status == "success", done.error
    kept = record(done)
    assert kept["values"]["goal_fidelity_raw"] == [1, 1, 1, 0, 0]
    assert kept["restated"] == ["7", "7", "7", "Write a poem.", "Write a poem."]
    assert kept["construct"] == "objective as restated in a copy of the turn's state"
    assert any("restated by mockllm/model" in note for note in kept["notes"])
    assert found(done)["rubric_mean"] == pytest.approx(0.6)
    told = runs(done)[0]
    assert [turn.values["goal_fidelity_raw"] for turn in told.turns] == [1, 1, 1, 0, 0]
    assert any(note.startswith("goal_fidelity_raw") and "in a copy" in note for note in told.notes)


def test_the_live_run_never_hears_the_question(tmp_path: Path) -> None:
    """The run with the scorer is, message by message, the run without it; no turn is added."""
    plain = restating()
    plain.scorer = [includes()]
    asked, quiet = (
        run(restating(), agent_and_judge, tmp_path),
        run(plain, agent_and_judge, tmp_path),
    )
    one, other = whole(asked), whole(quiet)
    assert [(m.role, m.text) for m in one.messages] == [(m.role, m.text) for m in other.messages]
    assert not any(QUESTION in message.text for message in one.messages)
    assert len(runs(asked)[0].turns) == len(runs(quiet)[0].turns) == 5
    heard = [QUESTION in event.input[-1].text for event in model_calls(one)]
    assert (heard[:5], sum(heard)) == ([False] * 5, 5)


def test_a_copy_has_the_very_state_of_the_turn(tmp_path: Path) -> None:
    """The messages of its model call as they were, calls and tools among them, and no more."""
    done = run(restating(turns=3), agent_and_judge, tmp_path)
    asked = model_calls(whole(done))
    third, (copy,) = asked[2], [call for call in asked if call.input[-1].text == QUESTION]
    state = [(m.role, m.text, getattr(m, "tool_calls", None)) for m in third.input]
    assert [(m.role, m.text, getattr(m, "tool_calls", None)) for m in copy.input[:-1]] == state
    assert copy.tool_choice == "none"
    assert record(done)["asked"] == "..1.."


def test_a_finished_log_is_asked_again(tmp_path: Path) -> None:
    """From the log alone another model restates from the recorded states, with the same end."""
    plain = restating()
    plain.scorer = [includes()]
    before = run(plain, agent_and_judge, tmp_path)
    scorer = degradation_scorer(
        rubric="fidelity", restate=mock(agent_and_judge, "mockllm/other"), model=judge(near)
    )
    later = rescore(read_eval_log(before.location), scorer)
    assert record(later)["values"]["goal_fidelity_raw"] == [1, 1, 1, 0, 0]
    assert any("restated by mockllm/other" in note for note in record(later)["notes"])


def test_another_goal_gives_floor_and_ceiling(tmp_path: Path) -> None:
    """With it goal fidelity lies between what the judge says of that and of a paraphrase."""

    def strict(turn: int, prompt: str) -> str:
        said = near(turn, prompt)
        return json.dumps({"similarity": 1}) if "Water the plants" in prompt else said

    done = run(
        restating(other_goal="Water the plants.", model=judge(strict)), agent_and_judge, tmp_path
    )
    values = record(done)["values"]
    assert values["goal_fidelity_raw"] == [1, 1, 1, 0, 0]
    assert values["goal_fidelity"] == [3, 3, 3, -1, -1]  # floor 1/4, ceiling 2/4
    assert found(done)["rubric_mean"] == pytest.approx(1.4)


def test_an_objective_that_is_not_restated_fails_no_sample(tmp_path: Path) -> None:
    """It is missing with its reason, and the judge is not asked."""
    down = judge(lambda *_: RuntimeError("503 down"), "mockllm/agent")
    done = run(restating(restate=down), agent_and_judge, tmp_path)
    assert done.status == "success"
    assert record(done)["asked"] == "-----"
    (missing,) = record(done)["missing"]
    assert missing["why"].startswith("provider error: the objective was not restated")


def test_what_is_restated_needs_a_rubric_of_fidelity() -> None:
    """Before anything runs, with what would work."""
    with pytest.raises(GradeError, match="name --rubric fidelity"):
        degradation_scorer(restate=True)
