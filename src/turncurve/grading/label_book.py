"""Labels of a person in a grade file: what is to be labelled, what is, and what is shown."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from turncurve.errors import GradeError
from turncurve.grading.journal import FileJournal, open_journal
from turncurve.grading.key import content_digests
from turncurve.grading.label_design import Design, Drawn, draw
from turncurve.grading.prompt import DEFAULT_CONTEXT_TOKENS, settings_digest
from turncurve.grading.rubric import Rubric
from turncurve.grading.run_line import run_line
from turncurve.grading.turn_text import Part, parts_of_messages, parts_of_turn
from turncurve.model import Run, Turn
from turncurve.readers.grade_lines import (
    FORMAT_VERSION,
    GradeLine,
    MemberMark,
    SessionLine,
    Value,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """Who labels what.

    Args:
        labeller: Who labels.
        design: How turns are drawn.
        n: Runs, or turns, that are drawn.
        seed: Of the draw.
        hindsight: The labeller sees how the run went on.
    """

    labeller: str
    design: Design = "runs"
    n: int = 10
    seed: int = 0
    hindsight: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A turn to label, with its run.

    Args:
        drawn: What was drawn.
        run: The run.
        turn: The turn.
        key: Name of the label.
    """

    drawn: Drawn
    run: Run
    turn: Turn
    key: str


def drawn_steps(runs: Iterable[Run], plan: LabelPlan, rubric: Rubric) -> list[Step]:
    """The turns to label; only runs of which one was drawn stay in memory.

    Raises:
        GradeError: No turn has text, or fewer are there than are to be drawn.
    """
    held = {run.id: run for run in runs if any(map(_has_text, run.turns))}
    if not held:
        raise GradeError("no turn can be labelled: the files hold no text")
    places = {
        name: [turn.index for turn in run.turns if _has_text(turn)] for name, run in held.items()
    }
    steps = []
    for drawn in draw(places, plan.design, plan.n, plan.seed):
        run = held[drawn.run]
        turn = next(one for one in run.turns if one.index == drawn.turn)
        steps.append(Step(drawn=drawn, run=run, turn=turn, key=_key(run, turn, plan, rubric)))
    return steps


@contextmanager
def open_labels(path: Path, plan: LabelPlan, rubric: Rubric) -> Iterator[FileJournal]:
    """The file of labels, for one labeller and one design alone; made where there is none.

    Raises:
        ReadError: The file is something else, or in use.
        GradeError: It holds labels of another kind; or the rubric is not one of steps.
    """
    if rubric.kind != "steps":
        raise GradeError(f"{rubric.id}: labels are of a rubric of steps, not of {rubric.kind}")
    mark = rubric.mark()
    if plan.hindsight:
        mark = msgspec.structs.replace(mark, construct="hindsight, the whole run shown")
    session = SessionLine(
        turncurve_grades=FORMAT_VERSION,
        settings=settings_digest(rubric, DEFAULT_CONTEXT_TOKENS),
        rubric=mark,
        panel=(
            MemberMark(
                grader=plan.labeller,
                parameters={"design": plan.design, "n": plan.n, "seed": plan.seed},
            ),
        ),
        context_tokens=DEFAULT_CONTEXT_TOKENS,
        at=time.time(),
    )
    with open_journal(path, session) as journal:
        yield journal


def keep(journal: FileJournal, step: Step, answer: dict[str, Value], plan: LabelPlan) -> None:
    """Keep a label; it is on disk when this returns. A later one of the same turn replaces it."""
    journal.add_run(run_line(step.run))
    journal.write(
        GradeLine(
            key=step.key,
            settings=journal.session.settings if journal.session else "",
            run=step.run.id,
            turn=step.turn.index,
            grader=plan.labeller,
            rubric=journal.session.rubric.name if journal.session else "",
            answer=answer,
            probability=step.drawn.probability,
            calls=0,
            at=time.time(),
        )
    )


def past_and_step(step: Step, *, hindsight: bool) -> Sequence[tuple[str, tuple[Part, ...]]]:
    """What a labeller sees: the task, every turn before, the turn, and with hindsight the rest."""
    run = step.run
    found = [("THE TASK", parts_of_messages(run.turns[0].before))]
    for turn in run.turns:
        if turn.index > step.turn.index and not hindsight:
            break
        own = turn.index == step.turn.index
        title = f"TURN {turn.index}: THE STEP TO LABEL" if own else f"TURN {turn.index}"
        found.append((title, parts_of_turn(turn, told=turn is not run.turns[0])))
    return [(title, parts) for title, parts in found if parts]


def _has_text(turn: Turn) -> bool:
    return bool(turn.text or turn.tool_calls or turn.action)


def _key(run: Run, turn: Turn, plan: LabelPlan, rubric: Rubric) -> str:
    content = [*content_digests(run)][run.turns.index(turn)]
    return f"label:{plan.labeller}:{rubric.digest}:{content}:{turn.index}"
