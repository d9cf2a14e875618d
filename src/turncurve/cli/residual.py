"""`turncurve residual`: is the long run worse than its stages predict?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from turncurve.cli.default_group import DefaultGroup
from turncurve.cli.options import (
    EXISTING_FILE,
    WholeNumber,
    finite,
    level_option,
    seed_option,
)
from turncurve.cli.output_options import Outputs, result_options
from turncurve.cli.residual_study import check, freeze, new, run

if TYPE_CHECKING:
    from turncurve.readers.stage_trials import StageTrial


@click.group(
    cls=DefaultGroup,
    default="estimate",
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="",
    subcommand_metavar="TRIALS... | COMMAND [ARGS]...",
)
def residual() -> None:
    """Whether whole tasks do worse than their stages, tried by themselves, predict.

    `turncurve residual TRIALS...` is short for `turncurve residual estimate TRIALS...`; a file that
    is called like a command is named as ./new.
    """


@residual.command()
@click.argument("trials", nargs=-1, required=True, metavar="TRIALS...")
@click.option(
    "--study",
    "study_file",
    type=EXISTING_FILE,
    metavar="FILE",
    help="The study file that was frozen before the first trial: tasks, stages, graphs, protocols, "
    "margin. Trials that name another one are refused.",
)
@result_options
@click.option(
    "--inference",
    type=click.Choice(["population", "suite"]),
    default="population",
    show_default=True,
    help="What limits are of: other tasks of the kind, or these very tasks. One task speaks of "
    "itself alone.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    callback=finite,
    metavar="D",
    help="Residual that would not matter, for the test of equivalence; without it, the study's. "
    "With none, nothing is found consistent.",
)
@click.option(
    "--protocol",
    metavar="NAME",
    help="The primary way to make checkpoints, as the table of protocols calls it; without it, the "
    "study's first, or that of the first stage trial.",
)
@click.option(
    "--differing",
    type=click.Choice(["refuse", "report"]),
    default="refuse",
    show_default=True,
    help="What to do where model, prompt, tools, memory, limits or study are not the same in all "
    "trials.",
)
@click.option(
    "--resamples",
    type=WholeNumber(min=100),
    default=2_000,
    show_default=True,
    help="Number of resamples of tasks.",
)
@level_option
@seed_option
@click.option("--strict", is_flag=True, help="Exit with 2 if any record was unreadable.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
def estimate(  # noqa: PLR0913, PLR0917 - the options of a command line
    trials: Sequence[str],
    study_file: Path | None,
    outputs: Outputs,
    inference: Literal["population", "suite"],
    margin: float | None,
    protocol: str | None,
    differing: Literal["refuse", "report"],
    resamples: int,
    level: float,
    seed: int,
    strict: bool,  # noqa: FBT001 - a flag of the command line
    quiet: bool,  # noqa: FBT001 - a flag of the command line
) -> None:
    """Hold trials of stages against end-to-end runs of the same tasks.

    TRIALS are tables (CSV, JSON lines, Parquet; - for standard input) with a row a trial: task,
    stage (empty for an end-to-end run) and success; and perhaps trial, episode, family, protocol,
    history, intervention, accepted, next, excluded, model, prompt, tools, memory, limits, study,
    turns, tokens, cost_usd, seconds.

    Exit status: 0 done; 2 a usage error, no task has trials of every stage and end to end, trials
    of different configurations, or --strict and an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.analysis.residual import residual as analyse  # noqa: PLC0415 -- light help
    from turncurve.analysis.residual_plan import NO_PLAN, ResidualSettings  # noqa: PLC0415
    from turncurve.cli.results import write_result  # noqa: PLC0415
    from turncurve.experiments.study_plan import frozen_plan  # noqa: PLC0415
    from turncurve.report.residual import TITLE, residual_blocks, residual_json  # noqa: PLC0415

    if level <= 0.5:
        raise click.UsageError(f"--level: wanted above 0.5, got {level:g}")
    plan = NO_PLAN if study_file is None else frozen_plan(study_file)
    found, n_problems = _read(trials, quiet=quiet)
    settings = ResidualSettings(
        inference=inference,
        margin=margin,
        protocol=protocol,
        differing=differing,
        level=level,
        seed=seed,
        resamples=resamples,
    )
    result = analyse(found, plan=plan, settings=settings)
    write_result(targets, TITLE, residual_json(result), residual_blocks(result), quiet=quiet)
    if strict and n_problems:
        click.get_current_context().exit(2)


def _read(trials: Sequence[str], *, quiet: bool) -> tuple[list[StageTrial], int]:
    """The trials of the files, and the number of records that are none.

    Raises:
        click.ClickException: A file does not exist, or there is no trial in any.
    """
    from turncurve.cli.paths import as_given, given_paths  # noqa: PLC0415 -- --help is light
    from turncurve.cli.reading import tell_problems  # noqa: PLC0415
    from turncurve.errors import ReadError  # noqa: PLC0415
    from turncurve.readers.stage_trials import read_stage_trials  # noqa: PLC0415

    problems, found = list[ReadError](), list["StageTrial"]()
    with given_paths(trials) as files:
        for file in files:
            if not Path(file).is_file():
                raise click.ClickException(f"{as_given(file)}: there is no such file")
            found += read_stage_trials(Path(file), problems.append)
    if not quiet:
        tell_problems(problems)
    if not found:
        first = f": {problems[0]}" if problems and quiet else ""
        raise click.ClickException(
            f"{', '.join(trials)}: no trial; wanted rows with task, stage and success{first}"
        )
    return found, len(problems)


for command in (new, check, freeze, run):
    residual.add_command(command)
