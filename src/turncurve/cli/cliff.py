"""`turncurve cliff`: which step is a finding, and what it is tied to."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.cli.options import (
    Reading,
    WholeNumber,
    finite,
    level_option,
    reading_options,
    rising,
    seed_option,
)
from turncurve.cli.output_options import Outputs, result_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@result_options
@click.option(
    "--signal",
    metavar="NAME",
    help="Look at this signal; without it, the one that stands for quality.",
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
@click.option(
    "--bucket",
    type=WholeNumber(min=1),
    default=1,
    show_default=True,
    help="Turns whose mean is one value.",
)
@click.option(
    "--bar",
    type=click.FloatRange(min=0),
    default=3.0,
    show_default=True,
    help="Paired standard deviations that a finding must pass.",
)
@click.option(
    "--size",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    metavar="X",
    help="A change that a finding must pass in place of the bar.",
)
@click.option(
    "--event",
    metavar="KIND",
    help="Line runs up on this event; without it, the most frequent one.",
)
@level_option
@seed_option
@reading_options
def cliff(
    paths: Sequence[str],
    outputs: Outputs,
    condition: str | None,
    reading: Reading,
    **given: object,
) -> None:
    """Which step from one turn to the next is a finding, which is noise, and what it is tied to.

    Runs of one scenario are its trials. PATH is a trace file, a folder of them, a pattern, a store,
    or - for standard input.

    Exit status: 0 done; 2 a usage error, no run could be read, or --strict and an unreadable
    record.
    """
    targets = outputs.targets()
    from turncurve.analysis.cliff import CliffSettings  # noqa: PLC0415 -- --help is light
    from turncurve.analysis.cliff import cliff as analyse  # noqa: PLC0415
    from turncurve.cli.results import of_condition, read_table_of, write_result  # noqa: PLC0415
    from turncurve.report.cliff import TITLE, cliff_blocks, cliff_json  # noqa: PLC0415

    table, n_problems = read_table_of(paths, reading)
    result = analyse(of_condition(table, condition), CliffSettings(**given))  # type: ignore[arg-type]
    write_result(targets, TITLE, cliff_json(result), cliff_blocks(result), quiet=reading.quiet)
    if reading.strict and n_problems:
        click.get_current_context().exit(2)
