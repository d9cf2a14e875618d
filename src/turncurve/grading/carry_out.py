"""A whole grading, for callers that are not asynchronous: canary, then runs, then the account."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from turncurve.grading.account import MOST_MISSING, Account, Grading
from turncurve.grading.anchors import Goals
from turncurve.grading.canary import (
    DEFAULT_DAYS,
    DEFAULT_STEPS,
    Canary,
    canary_session,
    canary_steps,
    choose_steps,
    run_canary,
)
from turncurve.grading.cost import Spending
from turncurve.grading.grade import grade_runs, run_grading
from turncurve.grading.journal import Held, check_same, held, open_journal
from turncurve.grading.model import Panel
from turncurve.grading.pace import Pace
from turncurve.grading.plan import Plan, plan
from turncurve.grading.rubric import Rubric
from turncurve.grading.session import GradeSettings, Progress, Session, session_line
from turncurve.model import Run

Runs: TypeAlias = Callable[[], Iterable[Run]]
"""Reads the runs, from the first on, each time it is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryChoice:
    """A canary: its file, how often it is graded again, and its size where it is made now."""

    path: Path
    every_days: float = DEFAULT_DAYS
    n_steps: int = DEFAULT_STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be graded with what.

    Attributes:
        rubric: What is asked.
        panel: Who is asked.
        settings: How.
        path: The grade file.
        canary: Looked after first, where there is one.
        most_missing: Share of missing grades above which they are a finding.
    """

    rubric: Rubric
    panel: Panel
    settings: GradeSettings
    path: Path
    canary: CanaryChoice | None = None
    most_missing: float = MOST_MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a grading."""

    grading: Grading
    canary: Canary | None = None


def carry_out(
    runs: Runs,
    job: Job,
    *,
    goals: Goals | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    pace: Pace | None = None,
) -> Outcome:
    """Grade all runs into the grade file.

    Raises:
        GradeError: The grader is dead, or the file was graded otherwise. What was had is kept.
        ReadError: The grade file or the canary is something else, or in use.
    """
    outcome: list[Outcome] = []

    async def work() -> None:
        canary, spending = None, Spending(limits=job.settings.limits)
        # The grade file is opened first: where that is refused, nothing has been paid for.
        line = session_line(job.rubric, job.panel, job.settings)
        with open_journal(job.path, line) as journal:
            if job.canary is not None:
                canary = await _look_after(runs, job, job.canary, spending, pace)
            session = Session(
                job.rubric,
                job.panel,
                job.settings,
                journal=journal,
                spending=spending,
                pace=pace,
                on_progress=on_progress,
            )
            account = Account()
            await grade_runs(runs(), session, goals=goals, on_run=account.add)
        grading = account.result(session, most_missing=job.most_missing)
        outcome.append(Outcome(grading=grading, canary=canary))

    run_grading(work())
    return outcome[0]


def plan_out(runs: Runs, job: Job) -> Plan:
    """What `carry_out` would take; nothing is called or written.

    Raises:
        GradeError: The grade file was graded otherwise.
    """
    journal = held(job.path, Held()) if job.path.is_file() else Held()
    if journal.session is not None:
        check_same(job.path, journal.session, session_line(job.rubric, job.panel, job.settings))
    return plan(runs(), job.rubric, job.panel, job.settings, journal)


async def _look_after(
    runs: Runs, job: Job, choice: CanaryChoice, spending: Spending, pace: Pace | None
) -> Canary:
    with canary_session(
        choice.path, job.rubric, job.panel, job.settings, spending=spending, pace=pace
    ) as (file, session):
        if not file.steps:
            chosen = choose_steps(runs(), job.rubric, choice.n_steps)
            context_tokens = job.settings.context_tokens
            file.add_steps(canary_steps(runs(), job.rubric, chosen, context_tokens))
        return await run_canary(file, session, every_days=choice.every_days)
