"""`turncurve horizon`: up to which length of task an agent succeeds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from turncurve.cli.options import EXISTING_FILE, WholeNumber, level_option, seed_option
from turncurve.cli.output_options import Outputs, result_options


@click.command()
@click.argument("scores", type=EXISTING_FILE, metavar="SCORES")
@click.option(
    "--times",
    type=EXISTING_FILE,
    metavar="FILE",
    help="How long people take for each task: a table with task, minutes or hours, and perhaps the "
    "threshold of the score that takes so long. Without it, SCORES has minutes or hours itself.",
)
@result_options
@click.option(
    "--weights",
    type=click.Choice(["rows", "tasks", "families"]),
    default="rows",
    show_default=True,
    help="What weighs the same: each run against each time, each task, or each family, whose tasks "
    "then weigh by 1 over the root of their number.",
)
@click.option(
    "--ridge",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Penalty on the slope. Weights of tasks or families sum to 1, so that 0.1 is strong.",
)
@click.option(
    "--resample",
    type=click.Choice(["tasks", "runs"]),
    default="tasks",
    show_default=True,
    help="What is drawn: families and their tasks with all runs, or the runs within these too.",
)
@click.option(
    "--resamples",
    type=WholeNumber(min=100),
    default=2_000,
    show_default=True,
    help="Number of resamples behind each interval.",
)
@level_option
@seed_option
@click.option("--strict", is_flag=True, help="Exit with 2 if any record was unreadable.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
def horizon(  # noqa: PLR0913, PLR0917 - the options of a command line
    scores: Path,
    times: Path | None,
    outputs: Outputs,
    weights: Literal["rows", "tasks", "families"],
    ridge: float,
    resample: str,
    resamples: int,
    level: float,
    seed: int,
    strict: bool,  # noqa: FBT001 - a flag of the command line
    quiet: bool,  # noqa: FBT001 - a flag of the command line
) -> None:
    """Hours of work, for people, at which an agent succeeds half of the time, and 80 % of it.

    SCORES is a table (CSV, JSON lines, Parquet) with agent, task and score, a row a run, or a JSON
    object of models, their tasks and runs.

    Exit status: 0 done; 2 a usage error, no score has a time, or --strict and an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.analysis.horizon import HorizonSettings, horizons  # noqa: PLC0415 -- light help
    from turncurve.cli.reading import tell_problems  # noqa: PLC0415
    from turncurve.cli.results import write_result  # noqa: PLC0415
    from turncurve.errors import ReadError  # noqa: PLC0415
    from turncurve.readers.task_scores import read_task_scores, read_task_times  # noqa: PLC0415
    from turncurve.report.horizon import TITLE, horizons_blocks, horizons_json  # noqa: PLC0415

    problems: list[ReadError] = []
    known = list(read_task_scores(scores, problems.append))
    taken = list(read_task_times(times, problems.append)) if times is not None else []
    if not quiet:
        tell_problems(problems)
    settings = HorizonSettings(
        weighting=weights,
        ridge=ridge,
        resample_runs=resample == "runs",
        resamples=resamples,
        level=level,
        seed=seed,
    )
    result = horizons(known, taken, settings=settings)
    write_result(targets, TITLE, horizons_json(result), horizons_blocks(result), quiet=quiet)
    if strict and problems:
        click.get_current_context().exit(2)
