"""`turncurve power`: how many runs are needed."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.cli.numbers import CHANCE, all_finite
from turncurve.cli.options import (
    Reading,
    WholeNumber,
    finite,
    level_option,
    reading_options,
    rising,
)
from turncurve.cli.output_options import Outputs, result_options
from turncurve.cli.power_residual import residual


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def power() -> None:
    """How many runs are needed to see an effect, and which effect so many runs can see."""


@power.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@result_options
@click.option(
    "--step",
    "steps",
    type=float,
    multiple=True,
    callback=all_finite,
    metavar="D",
    help="Size of a step to see, in the signal's unit; can be given several times. Without it, 5, "
    "10 and 20 % of the scale.",
)
@click.option(
    "--sd",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    metavar="X",
    help="Standard deviation of the trials' mean changes; without it, the pilot's.",
)
@click.option(
    "--turn",
    type=WholeNumber(min=2),
    help="Turn at which the step is; without it, the spread is that of all turns.",
)
@click.option(
    "--trials",
    type=WholeNumber(min=2),
    multiple=True,
    metavar="N",
    help="Trials whose smallest visible step is wanted; can be given several times.",
)
@click.option(
    "--scenarios",
    "n_scenarios",
    type=WholeNumber(min=1),
    metavar="N",
    help="Scenarios of the runs to come; without it, those of the pilot.",
)
@click.option(
    "--positions",
    "n_positions",
    type=WholeNumber(min=1),
    metavar="N",
    help="Turns that are looked at; without it, those that a fifth of the pilot's runs have.",
)
@click.option(
    "--critical",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    metavar="T",
    help="Critical value of the largest |t| over all turns, in place of Bonferroni's.",
)
@click.option(
    "--power",
    type=CHANCE,
    default=0.8,
    show_default=True,
    help="Chance with which the step is to be seen.",
)
@click.option(
    "--alpha", type=CHANCE, default=0.05, show_default=True, help="Chance of a false alarm."
)
@click.option(
    "--signal",
    metavar="NAME",
    help="Size for this signal; without it, the one that stands for quality.",
)
@click.option(
    "--scale",
    "quality_scale",
    nargs=2,
    type=float,
    callback=rising,
    metavar="LOW HIGH",
    help="Lowest and highest score of the rubric, where the files do not say.",
)
@click.option(
    "--condition", metavar="NAME", help="Runs of this condition, where there are several."
)
@level_option
@reading_options
def steps(
    paths: Sequence[str],
    outputs: Outputs,
    condition: str | None,
    reading: Reading,
    **given: object,
) -> None:
    """How many trials a step from one turn to the next needs, and their price.

    PATH is the pilot: a trace file, a folder of them, a pattern, a store, or - for standard input.
    Runs of one scenario are its trials. Without a PATH, --sd and --step do.

    Exit status: 0 done; 2 a usage error, no run could be read, or --strict and an unreadable
    record.
    """
    if not paths and (given["sd"] is None or not given["steps"]):
        raise click.UsageError("wanted a PATH to a pilot, or both --sd and --step")
    if given["power"] <= given["alpha"]:  # type: ignore[operator]
        raise click.UsageError("--power: wanted more than --alpha")
    targets = outputs.targets()
    from turncurve.analysis.step_power import StepPowerSettings, step_power  # noqa: PLC0415
    from turncurve.cli.results import of_condition, read_table_of, write_result  # noqa: PLC0415
    from turncurve.report.step_power import (  # noqa: PLC0415
        TITLE,
        step_power_blocks,
        step_power_json,
    )

    table, n_problems = read_table_of(paths, reading) if paths else (None, 0)
    pilot = None if table is None else of_condition(table, condition)
    result = step_power(pilot, StepPowerSettings(**given))  # type: ignore[arg-type]
    document, blocks = step_power_json(result), step_power_blocks(result)
    write_result(targets, TITLE, document, blocks, quiet=reading.quiet)
    if reading.strict and n_problems:
        click.get_current_context().exit(2)


power.add_command(residual)
