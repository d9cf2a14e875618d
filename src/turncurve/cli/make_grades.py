"""The work behind `turncurve grade`, apart from its options so that help stays light."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click
import yaml
from rich.console import Console

from turncurve.cli.grade_options import Grading
from turncurve.cli.options import Reading
from turncurve.cli.paths import given_paths
from turncurve.cli.progress import ProgressBar
from turncurve.cli.reading import read_again, read_runs
from turncurve.cli.results import write_result
from turncurve.grading.carry_out import CanaryChoice, Job, carry_out, plan_out
from turncurve.grading.cost import Limits, Pricing
from turncurve.grading.inspect_model import inspect_grader
from turncurve.grading.model import GraderModel, Member, Restater
from turncurve.grading.plan import survey
from turncurve.grading.restate import as_restated
from turncurve.grading.rubric_file import load_rubric
from turncurve.grading.session import GradeSettings, Progress
from turncurve.grading.turn_choice import TurnChoice
from turncurve.model import Run, Usage
from turncurve.report.figures import usd
from turncurve.report.grading import (
    PLAN_TITLE,
    TITLE,
    grading_blocks,
    grading_json,
    plan_blocks,
    plan_json,
)


def make_grades(
    paths: Sequence[str],
    grades: Path,
    grading: Grading,
    reading: Reading,
    targets: Sequence[tuple[str, str]],
) -> int:
    """Read, grade or plan, and write the account; returns the number of unreadable records.

    Raises:
        click.ClickException: No run could be read or graded.
        GradeError: The grader is dead, or grades of two kinds would share a file.
    """
    job = _job(grades, grading)
    ours = (grades, *([grading.canary] if grading.canary else []))
    reading = replace(reading, leave_out=ours)
    with given_paths(paths) as files:
        n_problems = len(read_runs(files, reading).problems)

        def runs(label: str | None = None) -> Iterable[Run]:
            return read_again(files, reading, label=label)

        seen = survey(runs("counting"), job.rubric, job.settings.choice)
        if not seen.n_runs:
            raise click.ClickException(
                f"no run can be graded with {job.rubric.id}: their files hold no text, or no "
                "objective where that is asked for"
            )
        if grading.dry_run:
            plan = plan_out(runs, job)
            write_result(
                targets, PLAN_TITLE, plan_json(plan), plan_blocks(plan), quiet=reading.quiet
            )
            return n_problems
        per_turn = sum(member.samples for member in job.panel)
        n_votes = seen.n_turns * (per_turn + (job.settings.restater is not None))
        with ProgressBar("grading", Console(stderr=True, quiet=reading.quiet)) as bar:

            def tell(progress: Progress) -> None:
                missing = f", {progress.n_missing:,} missing" if progress.n_missing else ""
                bar(progress.n_done, n_votes, f"{usd(progress.usd)}{missing}")

            outcome = carry_out(runs, job, goals=seen.goals, on_progress=tell)
    blocks = grading_blocks(outcome, str(grades))
    write_result(targets, TITLE, grading_json(outcome), blocks, quiet=reading.quiet)
    return n_problems


def _job(grades: Path, grading: Grading) -> Job:
    rubric, restater = load_rubric(grading.rubric), None
    if grading.restate is not None:
        rubric = as_restated(rubric)
        restater = Restater(model=_grader(grading.restate, grading))
    pricing = Pricing(per_million=grading.price)
    if grading.max_usd is not None:
        _check_prices(grading, pricing)
    settings = GradeSettings(
        choice=TurnChoice(turns=grading.turns, every=grading.every),
        context_tokens=grading.context_tokens,
        concurrency=grading.concurrency,
        per_run=grading.per_run,
        limits=Limits(usd=grading.max_usd, tokens=grading.max_tokens, calls=grading.max_calls),
        price=pricing,
        restater=restater,
    )
    names = list(dict.fromkeys(grading.models))
    if len(names) < len(grading.models):
        raise click.UsageError("--model: one is named twice; for more votes of one say --samples")
    panel = [Member(model=_grader(name, grading), samples=grading.samples) for name in names]
    canary = None
    if grading.canary is not None:
        canary = CanaryChoice(
            path=grading.canary,
            every_days=grading.canary_every,
            n_steps=grading.canary_steps,
        )
    return Job(
        rubric=rubric,
        panel=panel,
        settings=settings,
        path=grades,
        canary=canary,
        most_missing=grading.max_missing,
    )


def _check_prices(grading: Grading, pricing: Pricing) -> None:
    for name in (*grading.models, *([grading.restate] if grading.restate else [])):
        if pricing(name, Usage(input_uncached=1, output=1)) is None:
            raise click.UsageError(
                f"--max-usd: the price of {name} is not known; add --price IN OUT, or limit "
                "--max-tokens"
            )


def _grader(name: str, grading: Grading) -> GraderModel:
    # As YAML reads them: 0 is a number, low a word.
    parameters = {key: yaml.safe_load(value) for key, value in grading.parameters}
    return inspect_grader(
        name,
        parameters=parameters,
        base_url=grading.base_url,
        concurrency=grading.concurrency,
    )
