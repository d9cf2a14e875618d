"""The scorer that has models grade turns by a rubric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from turncurve.inspect_ext.metrics import RUBRIC_METRICS

if TYPE_CHECKING:
    from inspect_ai.model import Model


@scorer(metrics=RUBRIC_METRICS)
def degradation_scorer(  # noqa: PLR0913, PLR0917 - each can be given on the command line
    rubric: str = "steps",
    model: str | Model | Sequence[str | Model] | None = None,
    model_role: str = "grader",
    outcome: str | None = None,
    turns: int | str | Sequence[int | str] | None = None,
    every: int = 1,
    samples: int = 1,
    restate: str | Model | bool = False,  # noqa: FBT001, FBT002 - as above
    other_goal: str | None = None,
    subagents: bool = False,  # noqa: FBT001, FBT002 - as above
    context_tokens: int = 24_000,
    per_run: int = 1,
    keep_prompts: bool = True,  # noqa: FBT001, FBT002 - as above
    turns_dir: str | None = None,
) -> Scorer:
    """Have models grade the turns by a rubric, live or on a finished log.

    A grade that fails is missing, with its reason, and never an error of the sample. See
    docs/howto/inspect-ai.md.

    Args:
        rubric: What is asked: a file, or steps, score, rules or fidelity.
        model: Who grades, by name or as it is; several vote. None: who has the role.
        model_role: The role whose model grades where none is named; where none has it, the model
            under evaluation does.
        outcome: Name of an earlier scorer whose result is the run's outcome; where only one can be,
            it is found.
        turns: Numbers of the turns to grade; None for all.
        every: Grade every k-th turn only.
        samples: Ask each grader so often about each turn; its answers vote.
        restate: With a fidelity rubric: have the model under evaluation (True), or another,
            restate the objective in a copy of each chosen turn's state, and judge that.
        other_goal: With a fidelity rubric: the objective of another task, by which the judge's
            floor and ceiling are found.
        subagents: Grade the turns of sub-agents too.
        context_tokens: Tokens that a prompt may have; the oldest turns are left out first.
        per_run: Turns of a run under way at once; 1 keeps a provider's prompt cache warm.
        keep_prompts: Whether the log holds what graders were asked and said, beside the verdicts.
        turns_dir: Folder for the detail of runs over 100 turns; by default `.turncurve` beside the
            log.
    """
    # All of this takes seconds to import, and evaluations without the scorer do without it.
    from turncurve.grading.restate import as_restated  # noqa: PLC0415
    from turncurve.grading.rubric_file import load_rubric  # noqa: PLC0415
    from turncurve.inspect_ext.grader_judge import GraderJudge, grade_settings  # noqa: PLC0415

    asked = load_rubric(rubric) if restate is False else as_restated(load_rubric(rubric))
    judge = GraderJudge(
        rubric=asked,
        settings=grade_settings(
            asked,
            turns=turns,
            every=every,
            samples=samples,
            context_tokens=context_tokens,
            per_run=per_run,
        ),
        outcome=outcome,
        subagents=subagents,
        restate=restate,
        other_goal=other_goal,
        keep_prompts=keep_prompts,
        turns_dir=turns_dir,
    )

    async def score(state: TaskState, target: Target) -> Score:
        del target
        from turncurve.inspect_ext.grader_panel import graders  # noqa: PLC0415
        from turncurve.inspect_ext.sample_runs import runs_of_state  # noqa: PLC0415

        panel = graders(model, model_role, samples=samples, keep_prompts=keep_prompts)
        return await judge.score(runs_of_state(state, outcome=outcome), panel)

    return score
