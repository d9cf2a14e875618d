"""Grade files: who votes, what is missing, and what the numbers come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.ingest import read
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.grade_file import read_grade_file
from turncurve.readers.grades import read as read_grades


def runs_of(path: Path) -> tuple[dict[str, Run], list[ReadError]]:
    problems: list[ReadError] = []
    return {run.id: run for run in read_grades(path, problems.append)}, problems


def test_votes_of_a_panel_by_hand(data: Path) -> None:
    """Majority, majority with an abstention, tie, and nobody: as the fixture's lines say."""
    runs, problems = runs_of(data / "grades/steps.jsonl")
    assert problems == []
    validities = [turn.grades[0].validity for turn in runs["desk-1"].turns]
    assert validities == ["pass", "fail", None]
    second = runs["desk-1"].turns[1].grades[0]
    assert (second.severity, second.dependency) == (None, "independent")
    assert second.grader == "lab/a+lab/b+lab/c"
    assert [member.validity for member in second.members] == ["fail", "fail", None]
    assert second.members[2].missing_reason == "refusal: content filter"
    tie = runs["desk-1"].turns[2].grades[0]
    assert tie.missing_reason == "tie: 1 fail, 1 neutral, 1 pass"
    assert {grade.rubric for grade in second.members} == {"steps@1"}


def test_a_grade_supersedes_a_missing_one(data: Path) -> None:
    """A first try without JSON, a second with a grade: the second counts."""
    runs, _ = runs_of(data / "grades/steps.jsonl")
    first, second = (turn.grades[0] for turn in runs["desk-2"].turns)
    assert first.validity == "pass"
    assert first.members[2].looping is True
    assert second.missing_reason == "0 of 3 graders gave a grade"


def test_a_later_missing_line_does_not_undo_a_grade(data: Path, tmp_path: Path) -> None:
    """Lines in the other order give the same."""
    lines = (data / "grades/steps.jsonl").read_text().splitlines()
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    runs, _ = runs_of(path)
    assert runs["desk-2"].turns[0].grades[0].validity == "pass"


def test_what_is_known_of_the_run_comes_along(data: Path) -> None:
    """Scenario, trial, condition, model and outcome are those of the graded run."""
    run = runs_of(data / "grades/steps.jsonl")[0]["desk-1"]
    assert (run.scenario, run.trial, run.condition, run.model) == ("desk", 1, "whole", "lab/agent")
    assert (run.success, run.exit_type) == (False, ExitType.FAIL_FINISH)
    assert run.notes == (
        "3 of 4 turns were graded",
        "1 grade(s) could not be had and are missing",
    )


def test_columns_of_each_kind(data: Path) -> None:
    """A missing grade is NaN; scores are means on the rubric's scale; fidelity is standardised."""
    steps = read(data / "grades/steps.jsonl")
    assert steps.columns["error"].tolist()[:2] == [0.0, 1.0]
    assert steps.columns["grade_missing"].tolist() == [0, 0, 1, 0, 1]
    score = read(data / "grades/score.jsonl")
    assert score.columns["quality"].tolist() == [pytest.approx(10 / 3), 1.5]
    assert (score.info["quality"].low, score.info["quality"].high) == (0, 4)
    fidelity = read(data / "grades/fidelity.jsonl").columns
    assert fidelity["goal_fidelity_raw"][[0, 2]].tolist() == [1, 0.5]
    assert fidelity["goal_fidelity"][[0, 2]].tolist() == [1, pytest.approx(1 / 3)]
    assert fidelity["goal_fidelity"][1] != fidelity["goal_fidelity"][1]
    rules = read(data / "grades/rules.jsonl").columns
    assert rules["adherence_judged"][0] == 0.5
    assert rules["n_rules_judged"].tolist() == [2, 0]


def test_the_last_session_says_who_votes(data: Path, tmp_path: Path) -> None:
    """A smaller panel later on: the others' verdicts stay in the file and no longer vote."""
    lines = (data / "grades/steps.jsonl").read_text().splitlines()
    session = json.loads(lines[0])
    session["panel"] = session["panel"][:1]
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join([*lines, json.dumps(session)]) + "\n")
    runs, _ = runs_of(path)
    assert [t.grades[0].validity for t in runs["desk-1"].turns] == ["pass", "fail", "fail"]
    assert len(read_grade_file(path, pytest.fail).turns["desk-1"][1]) == 3


@pytest.mark.parametrize(
    ("words", "construct"),
    [
        ("no hindsight, own results hidden", "no_hindsight"),
        ("hindsight", "hindsight"),
        ("objective as restated in the turn", None),
    ],
)
def test_what_the_graders_knew(
    data: Path, tmp_path: Path, words: str, construct: str | None
) -> None:
    """A grade has the construct that its rubric states, where that speaks of hindsight."""
    lines = (data / "grades/steps.jsonl").read_text("utf-8").splitlines()
    session = json.loads(lines[0])
    session["rubric"]["construct"] = words
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join([json.dumps(session, separators=(",", ":")), *lines[1:]]) + "\n")
    runs, _ = runs_of(path)
    found = {grade.construct for run in runs.values() for t in run.turns for grade in t.grades}
    assert found == {construct}


def test_grades_by_other_settings_do_not_count(data: Path, tmp_path: Path) -> None:
    """What was graded with another rubric text or budget is no vote on this one."""
    lines = (data / "grades/steps.jsonl").read_text().splitlines()
    session = json.loads(lines[0]) | {"settings": "another"}
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join([*lines, json.dumps(session)]) + "\n")
    assert [run.turns for run in runs_of(path)[0].values()] == [(), ()]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"turn": 0}, "wanted a turn from 1"),
        ({"answer": None}, "wanted either an answer or why"),
        ({"missing": {"reason": "refusal"}}, "wanted either an answer or why"),
        ({"missing": {"reason": "boredom"}, "answer": None}, "not of the wanted shape"),
        ({"run": ""}, "wanted the id of a run"),
        ({"turn": "three"}, "not of the wanted shape"),
    ],
)
def test_a_line_that_is_none_is_told(
    data: Path, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    """A bad line is named by number; the others count."""
    lines = (data / "grades/steps.jsonl").read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | change)
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join(lines) + "\n")
    runs, problems = runs_of(path)
    assert [p.record for p in problems] == [3]
    assert words in problems[0].reason
    assert len(runs["desk-1"].turns) == 3


def test_an_answer_off_the_scale_is_missing(data: Path, tmp_path: Path) -> None:
    """A validity that is none of the three is a missing grade, not a neutral one."""
    text = (data / "grades/steps.jsonl").read_text().replace('"validity":"pass"', '"validity":"ok"')
    path = tmp_path / "g.jsonl"
    path.write_text(text)
    grade = runs_of(path)[0]["desk-1"].turns[0].grades[0]
    assert grade.validity is None
    assert "wanted validity" in str(grade.members[0].missing_reason)


def test_it_is_recognised_by_its_first_line(data: Path) -> None:
    """The session line, and nothing else of the file, says what it is."""
    line = (data / "grades/steps.jsonl").read_bytes().splitlines()[0]
    assert READERS["grades"].looks_like(line, Path("x"))
    assert not READERS["grades"].looks_like(b'{"kind":"run","run":"a"}', Path("x"))
