"""`turncurve battery`: what graded steps say of degradation, and what it survives."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.cli.options import (
    Reading,
    WholeNumber,
    finite,
    level_option,
    reading_options,
    seed_option,
)
from turncurve.cli.output_options import Outputs, result_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@result_options
@click.option(
    "--by",
    type=click.Choice(["condition", "model", "file"]),
    help="What a configuration is; without it conditions, or else models, if there are several.",
)
@click.option(
    "--missing",
    type=click.Choice(["excluded", "neutral"]),
    default="excluded",
    show_default=True,
    help="What a grade that was tried and is missing counts as; neutral only to reproduce older "
    "tools.",
)
@click.option(
    "--min-turns",
    type=WholeNumber(min=2),
    default=3,
    show_default=True,
    help="Graded turns that a run needs for a slope of its own.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    callback=finite,
    default=0.1,
    show_default=True,
    help="Change of a share of turns, over the middle 90 % of positions, that does not matter.",
)
@click.option(
    "--resamples",
    type=WholeNumber(min=99),
    default=999,
    show_default=True,
    help="Shuffles behind the test of failures that come together.",
)
@level_option
@seed_option
@reading_options
def battery(paths: Sequence[str], outputs: Outputs, reading: Reading, **given: object) -> None:
    """Does degradation survive its confounds? Everything that graded turns say of it.

    Slopes of the failing share within runs, alone and at equal complexity and phase; rates,
    cascades, loops, first failures, missing grades. PATH is a file of graded steps, a grade file,
    an Inspect log with grades, a table with a column `error` of 0 and 1, a store, a folder, a
    pattern, or - for standard input; for traces, --grades names their grades.

    Exit status: 0 done; 2 a usage error, no run could be read, no turn is graded, or --strict and
    an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.analysis.battery import BatterySettings  # noqa: PLC0415 -- --help is light
    from turncurve.analysis.battery import battery as analyse  # noqa: PLC0415
    from turncurve.cli.results import read_table_of, write_result  # noqa: PLC0415
    from turncurve.report.battery import TITLE, battery_blocks  # noqa: PLC0415
    from turncurve.report.battery_json import battery_json  # noqa: PLC0415

    table, n_problems = read_table_of(paths, reading)
    result = analyse(table, BatterySettings(**given))  # type: ignore[arg-type]
    write_result(targets, TITLE, battery_json(result), battery_blocks(result), quiet=reading.quiet)
    if reading.strict and n_problems:
        click.get_current_context().exit(2)
