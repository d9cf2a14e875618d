"""Answers of graders to what a turn is worth: a grade, or numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from turncurve.model import Construct, Grade
from turncurve.model.consensus import consensus, has_quorum, majority
from turncurve.readers._graded_steps import grade_of_step
from turncurve.readers.grade_file import GradeFile
from turncurve.readers.grade_lines import GradeLine, Kind

TOP_SIMILARITY = 4
"""Level of a goal that is the same in other words."""
_NO_GRADE = {"grade_missing": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the graders made of one turn: a grade of its step, or numbers by signal name."""

    grade: Grade | None = None
    values: dict[str, float] = field(default_factory=dict)


def judge(file: GradeFile, run: str, turn: int) -> Judgement | None:
    """What the votes on a turn come to; None where nobody who counts was asked about it."""
    votes = file.votes(file.turns.get(run, {}).get(turn, {}).values())
    if not votes:
        return None
    n_asked, kind = file.n_asked(votes), _kind(file, votes)
    if kind == "steps":
        name = file.session.panel_name if file.session else votes[0].grader
        grades = [step_grade(line) for line in votes]
        grade = consensus(grades, grader=name, n_asked=n_asked)
        return Judgement(grade=replace(grade, construct=_construct(file)))
    had = [line for line in votes if line.answer is not None]
    if not has_quorum(len(had), n_asked):
        return Judgement(values=dict(_NO_GRADE))
    if kind == "score":
        values = _score(had)
    elif kind == "rules":
        values = _rules(had)
    else:
        values = _fidelity(had, file, run)
    return Judgement(values=values)


def step_grade(line: GradeLine) -> Grade:
    """One grader's answer to one step as a grade; missing where there is none, or none of these."""
    if line.missing is not None:
        return _missing(line, f"{line.missing.reason}: {line.missing.detail}"[:500])
    answer = line.answer or {}
    step = {**answer, "is_looping": answer.get("looping")}
    grade = grade_of_step(step, grader=line.grader)
    return replace(grade, rubric=line.rubric or None)


def _missing(line: GradeLine, reason: str) -> Grade:
    return Grade(
        grader=line.grader,
        rubric=line.rubric or None,
        validity=None,
        missing_reason=reason.removesuffix(": "),
    )


def _construct(file: GradeFile) -> Construct | None:
    """What the graders knew, by the first words of the rubric's construct."""
    words = "" if file.session is None else file.session.rubric.construct
    if words.startswith("no hindsight"):
        return "no_hindsight"
    return "hindsight" if words.startswith("hindsight") else None


def _kind(file: GradeFile, votes: Sequence[GradeLine]) -> Kind:
    """As the session says; where its line is lost, as the answers look."""
    if file.session is not None:
        return file.session.rubric.kind
    answer = next((line.answer for line in votes if line.answer), {"validity": None})
    if "validity" in answer:
        return "steps"
    if "similarity" in answer:
        return "fidelity"
    return "score" if "score" in answer else "rules"


def _score(had: Sequence[GradeLine]) -> dict[str, float]:
    """The mean of the levels."""
    levels = [*_numbers(had, "score")]
    if not levels:
        return dict(_NO_GRADE)
    return {"quality": sum(levels) / len(levels), "grade_missing": 0.0}


def _rules(had: Sequence[GradeLine]) -> dict[str, float]:
    """The share of rules kept, among those that a majority says apply to the turn."""
    rules = dict.fromkeys(name for line in had for name in line.answer or {})
    said = [majority([str((line.answer or {}).get(rule)) for line in had]) for rule in rules]
    n_kept, n_broken = said.count("kept"), said.count("broken")
    values = {"n_rules_judged": float(n_kept + n_broken), "grade_missing": 0.0}
    if n_kept + n_broken:
        values["adherence_judged"] = n_kept / (n_kept + n_broken)
    return values


def _fidelity(had: Sequence[GradeLine], file: GradeFile, run: str) -> dict[str, float]:
    """How near the restated goal is, as it stands and between the judge's floor and ceiling."""
    levels = [*_numbers(had, "similarity")]
    values = {"grade_missing": 0.0}
    if 2 * len(levels) <= len(had):
        return values  # a turn that restates no goal
    raw = sum(levels) / len(levels) / TOP_SIMILARITY
    values["goal_fidelity_raw"] = raw
    floor, ceiling = _anchor(file, run, "floor"), _anchor(file, run, "ceiling")
    if floor is not None and ceiling is not None and floor < ceiling:
        values["goal_fidelity"] = (raw - floor) / (ceiling - floor)
    return values


def _anchor(file: GradeFile, run: str, anchor: str) -> float | None:
    lines = [line for (name, _), line in file.anchors.get(run, {}).items() if name == anchor]
    levels = [*_numbers(file.votes(lines), "similarity")]
    return sum(levels) / len(levels) / TOP_SIMILARITY if levels else None


def _numbers(lines: Sequence[GradeLine], name: str) -> Iterator[float]:
    """The whole numbers from 0 to 4 among the answers to a question."""
    for line in lines:
        value = (line.answer or {}).get(name)
        if type(value) is int and 0 <= value <= TOP_SIMILARITY:
            yield float(value)
