"""The work behind `turncurve label`: one step after another, each label kept as it is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turncurve.cli.label_screen import Screen, page
from turncurve.grading.journal import FileJournal
from turncurve.grading.label_book import LabelPlan, Step, keep
from turncurve.grading.label_keys import Label, pressed
from turncurve.grading.rubric import Rubric
from turncurve.report.figures import counted

SCROLLED = 5


def label_steps(
    steps: Sequence[Step], journal: FileJournal, plan: LabelPlan, rubric: Rubric, screen: Screen
) -> int:
    """Show steps until all have a label or the labeller quits; those that have one come not again.

    Returns:
        Labels that were made now.
    """
    at, made = _next(steps, journal, -1), 0
    while at is not None:
        event = _one(steps, at, journal, plan, rubric, screen)
        if event == "quit":
            break
        if event == "back":
            at = max(0, at - 1)
            continue
        made += 1
        at = _next(steps, journal, at)
    return made


def label_words(steps: Sequence[Step], journal: FileJournal, made: int, path: Path) -> str:
    """How far the labelling is, and what to do next."""
    done = sum(journal.had(step.key) is not None for step in steps)
    left = f"{counted(len(steps) - done, 'step')} left" if done < len(steps) else "all of them"
    return (
        f"{counted(made, 'label')} made; {done:,} of {counted(len(steps), 'step')} have one in "
        f"{path}, {left}.\nHold a grader against them: turncurve validate GRADES {path}"
    )


def _next(steps: Sequence[Step], journal: FileJournal, after: int) -> int | None:
    """The next step without a label, those before come last."""
    order = [*range(after + 1, len(steps)), *range(after + 1)]
    return next((n for n in order if journal.had(steps[n].key) is None), None)


def _one(
    steps: Sequence[Step],
    at: int,
    journal: FileJournal,
    plan: LabelPlan,
    rubric: Rubric,
    screen: Screen,
) -> str:
    """Label one step; how it ended: "done", "back" or "quit"."""
    step, up = steps[at], 0
    label = Label(turn=step.turn.index)
    place = f"step {at + 1:,} of {len(steps):,}"
    while True:
        size = screen.size
        screen.show(
            page(step, label, rubric, place=place, up=up, size=size, hindsight=plan.hindsight)
        )
        label, event = pressed(label, screen.key())
        if event in {"up", "down"}:
            up = max(-10_000, up + SCROLLED) if event == "up" else up - SCROLLED
            up = max(up, 0) if not plan.hindsight else up
        elif event == "done":
            keep(journal, step, label.answer, plan)
            return "done"
        elif event in {"back", "quit"}:
            return event
