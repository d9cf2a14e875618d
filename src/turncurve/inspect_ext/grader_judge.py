"""Runs to a score by graders that read the turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inspect_ai.model import Model
from inspect_ai.scorer import Score
from inspect_ai.util import span

from turncurve.errors import GradeError
from turncurve.grading.anchors import Goals
from turncurve.grading.grade import GradedTurn, grade_turns, why_not
from turncurve.grading.prompt import room_for_run
from turncurve.grading.rubric import Rubric
from turncurve.grading.session import GradeSettings, Session
from turncurve.grading.turn_choice import TurnChoice, turn_numbers
from turncurve.grading.turn_text import Part
from turncurve.inspect_ext.copied_states import restater
from turncurve.inspect_ext.grader_panel import Graders
from turncurve.inspect_ext.sample_runs import SampleRuns
from turncurve.inspect_ext.turn_record import (
    Judged,
    JudgedRun,
    judged_grades,
    judged_numbers,
    score_of,
)
from turncurve.inspect_ext.turns_file import TurnsFolder
from turncurve.model import Grade, Run

MOST_CALLS = 64
"""Calls of one run under way at once; Inspect has a limit of its own for each model."""
MOST_REPLY = 300
"""Characters kept of a reply that is no answer; the log holds the whole."""
_NOT_ASKED = "no grader was asked: a limit was reached"


def grade_settings(
    rubric: Rubric,
    *,
    turns: int | str | Iterable[int | str] | None,
    every: int,
    samples: int,
    context_tokens: int,
    per_run: int,
) -> GradeSettings:
    """How a scorer grades; the arguments are those of the scorer.

    Raises:
        ValueError: One of them is out of its range.
        GradeError: The budget leaves no room for a run.
    """
    if samples < 1:
        raise ValueError(f"samples: wanted at least 1, got {samples}")
    room_for_run(rubric, context_tokens)
    return GradeSettings(
        choice=TurnChoice(turns=turn_numbers(turns), every=every),
        context_tokens=context_tokens,
        per_run=per_run,
        concurrency=MOST_CALLS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderJudge:
    """Judges the turns of runs by asking graders.

    Attributes:
        rubric: What is asked.
        settings: Which turns, and how.
        outcome: The score that was named as the runs' outcome.
        subagents: Whether the turns of sub-agents are graded too.
        restate: Who restates the objective in copies of the runs' states: a model, or True for the
            one under evaluation; False judges the turns as they are.
        other_goal: Another objective, by which the judge of objectives gets floor and ceiling.
        keep_prompts: Whether the log is to hold what models were asked and said.
        turns_dir: Folder for the detail of long runs; None is the one beside the log.
    """

    rubric: Rubric
    settings: GradeSettings
    outcome: str | None = None
    subagents: bool = False
    restate: str | Model | bool = False
    other_goal: str | None = None
    keep_prompts: bool = True
    turns_dir: str | None = None

    async def score(self, runs: SampleRuns, graders: Graders) -> Score:
        """The score of a sample: its main agent's; a grade that fails is missing, no error."""
        notes = [*runs.main.notes, *graders.notes]
        beneath = []
        async with span("turncurve grades", type="grader"):
            asked = await self._ask(runs.main, runs, graders)
            for run in runs.beneath if self.subagents else ():
                below = await self._ask(run, runs, graders)
                beneath.append((run.agent, self._judged(below).counts))
        if runs.beneath and not self.subagents:
            n_turns = sum(len(run.turns) for run in runs.beneath)
            notes.append(
                f"turns of sub-agents that were not graded: {n_turns} (subagents=true grades them)"
            )
        judged = JudgedRun(
            run=runs.main,
            judged=self._judged(asked),
            outcome_from=self.outcome,
            detail=_detail(asked),
            beneath=beneath,
            notes=[*notes, *asked.notes],
        )
        folder = TurnsFolder(None if self.turns_dir is None else Path(self.turns_dir))
        return score_of(judged, folder)

    async def _ask(self, run: Run, runs: SampleRuns, graders: Graders) -> _Asked:
        settings = self.settings
        if self.restate is not False:
            who = restater(self.restate, run, runs.events, keep_prompts=self.keep_prompts)
            settings = replace(settings, restater=who)
        session = Session(self.rubric, graders.panel, settings)
        asked = _Asked(run=run, grader=session.line.panel_name)
        asked.chosen = [run.turns[at].index for at in self.settings.choice.positions(run)]
        asked.why_not = why_not(run, self.rubric) or _NOT_ASKED
        if asked.why_not != _NOT_ASKED:
            return asked
        if settings.restater is not None:
            by = settings.restater.model.name
            asked.notes.append(f"objectives were restated by {by}, in copies of the agent's states")
        try:
            async for turn in grade_turns(run, session, goals=self._goals()):
                if turn is not None:
                    asked.turns[turn.turn] = turn
        except GradeError as problem:
            asked.why_not = str(problem)
            asked.notes.append(f"grading was given up: {problem}")
        return asked

    def _goals(self) -> Goals | None:
        if self.other_goal is None:
            return None
        return Goals(by_scenario={"": (Part(label="user", text=self.other_goal),)})

    def _judged(self, asked: _Asked) -> Judged:
        if self.rubric.kind == "steps":
            grades = [*asked.grades(self.rubric.id)]
            return judged_grades(grades, source="grader")
        mark = self.rubric.mark()
        scaled = self.rubric.kind == "score" and mark.low is not None and mark.high is not None
        return judged_numbers(
            [*asked.numbers()],
            grader=asked.grader,
            rubric=self.rubric.id,
            construct=self.rubric.construct,
            scale=(mark.low, mark.high) if scaled else None,  # type: ignore[arg-type]
            missing=asked.missing(),
        )


@dataclass(slots=True, kw_only=True)
class _Asked:
    """What graders said of a run's turns, as far as they were asked."""

    run: Run
    grader: str
    chosen: Sequence[int] = ()
    turns: dict[int, GradedTurn] = field(default_factory=dict)
    why_not: str = _NOT_ASKED
    """Why a chosen turn is not among them."""
    notes: list[str] = field(default_factory=list)

    def grades(self, rubric: str) -> Iterator[Grade | None]:
        """Of turns 1, 2, ...; None for one that was not chosen."""
        unasked = Grade(grader=self.grader, rubric=rubric, missing_reason=self.why_not)
        for turn in self.run.turns:
            if turn.index in self.turns:
                yield self.turns[turn.index].grade
            else:
                yield unasked if turn.index in self.chosen else None

    def numbers(self) -> Iterator[Mapping[str, float] | None]:
        """Likewise."""
        for turn in self.run.turns:
            if turn.index in self.turns:
                yield self.turns[turn.index].judgement.values
            else:
                yield {"grade_missing": 1.0} if turn.index in self.chosen else None

    def missing(self) -> dict[int, str]:
        """Why chosen turns have no answer, by turn."""
        why = {turn: self.why_not for turn in self.chosen if turn not in self.turns}
        for turn, graded in self.turns.items():
            if graded.is_missing:
                why[turn] = "; ".join(
                    dict.fromkeys(
                        f"{line.missing.reason}: {line.missing.detail}".removesuffix(": ")
                        for line in graded.answers
                        if line.missing is not None
                    )
                )
        return dict(sorted(why.items()))


def _detail(asked: _Asked) -> dict[str, Any]:
    """What copies restated and what prompts left out, by turn; replies that were no answers."""
    graded = [asked.turns.get(turn.index) for turn in asked.run.turns]
    elided = {
        "turns": [one and one.elided.turns for one in graded],
        "characters": [one and one.elided.characters for one in graded],
    }
    restated = [one and one.restated and one.restated[:MOST_REPLY] for one in graded]
    replies = [
        {
            "turn": line.turn,
            "grader": line.grader,
            "sample": line.sample,
            "why": line.missing.reason,
            "reply": line.raw[:MOST_REPLY],
        }
        for one in graded
        for line in (one.answers if one else ())
        if line.missing is not None
    ]
    return {
        **({"restated": restated} if any(restated) else {}),
        **({"elided": elided} if any(map(any, elided.values())) else {}),
        **({"replies": replies} if replies else {}),
    }
