"""`turncurve power residual`: how many trials a residual needs."""

from __future__ import annotations

import click

from turncurve.cli.numbers import CHANCE, all_finite
from turncurve.cli.options import WholeNumber, finite, seed_option
from turncurve.cli.output_options import Outputs, result_options


@click.command("residual")
@result_options
@click.option(
    "--rate",
    "rates",
    type=click.FloatRange(0, 1, min_open=True),
    multiple=True,
    required=True,
    callback=all_finite,
    metavar="Q",
    help="Chance to pass a stage; once for each stage, in order.",
)
@click.option(
    "--stages",
    type=WholeNumber(min=1),
    metavar="N",
    help="So many stages of the one --rate.",
)
@click.option(
    "--residual",
    "residuals",
    type=float,
    multiple=True,
    callback=all_finite,
    metavar="D",
    help="Predicted less observed success to size for; can be given several times. Without it and "
    "--observed, a half, a quarter and three quarters of what the stages predict.",
)
@click.option(
    "--observed",
    type=click.FloatRange(0, 1),
    multiple=True,
    callback=all_finite,
    metavar="P",
    help="End-to-end success to tell from the prediction; can be given several times.",
)
@click.option(
    "--tasks",
    "n_tasks",
    type=WholeNumber(min=1),
    default=1,
    show_default=True,
    help="Tasks of such rates.",
)
@click.option(
    "--task-sd",
    type=click.FloatRange(min=0),
    callback=finite,
    default=0.1,
    show_default=True,
    help="Standard deviation of the tasks' true residuals, for the number of tasks to sample.",
)
@click.option(
    "--trials",
    type=WholeNumber(min=2),
    multiple=True,
    default=(10, 20, 40),
    show_default=True,
    metavar="N",
    help="Trials of each stage and end to end, whose smallest visible deficit is wanted; tasks are "
    "sized for the first.",
)
@click.option(
    "--power",
    type=CHANCE,
    default=0.8,
    show_default=True,
    help="Chance with which the residual is to be seen.",
)
@click.option(
    "--alpha", type=CHANCE, default=0.05, show_default=True, help="Chance of a false alarm."
)
@seed_option
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
def residual(
    outputs: Outputs,
    stages: int | None,
    observed: tuple[float, ...],
    quiet: bool,  # noqa: FBT001 - a flag of the command line
    **given: object,
) -> None:
    """How many trials tell what stages predict from what whole tasks do.

    Exit status: 0 done; 2 a usage error.
    """
    if given["power"] <= given["alpha"]:  # type: ignore[operator]
        raise click.UsageError("--power: wanted more than --alpha")
    targets = outputs.targets()
    from turncurve.analysis.residual_sizes import sizes_for  # noqa: PLC0415 -- light help
    from turncurve.cli.results import write_result  # noqa: PLC0415
    from turncurve.report.residual_power import (  # noqa: PLC0415
        TITLE,
        residual_power_blocks,
        residual_power_json,
    )

    try:
        result = sizes_for(stages=stages, observed=observed, **given)  # type: ignore[arg-type]
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    document, blocks = residual_power_json(result), residual_power_blocks(result)
    write_result(targets, TITLE, document, blocks, quiet=quiet)
