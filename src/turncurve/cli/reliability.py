"""`turncurve reliability`: how often all of k trials succeed."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.cli.options import Reading, level_option, reading_options
from turncurve.cli.output_options import Outputs, result_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@result_options
@click.option(
    "--crashes",
    type=click.Choice(["exclude", "fail"]),
    default="exclude",
    show_default=True,
    help="What a run that crashed before its outcome was judged counts as.",
)
@level_option
@reading_options
def reliability(
    paths: Sequence[str], outputs: Outputs, crashes: str, level: float, reading: Reading
) -> None:
    """Chance that all of k trials of a scenario succeed (pass^k), or at least one (pass@k).

    Runs of one scenario are its trials. PATH is a trace file, a folder of them, a pattern, a store,
    or - for standard input.

    Exit status: 0 done; 2 a usage error, no run could be read, no run has a scenario and an
    outcome, or --strict and an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.analysis.reliability import reliability as analyse  # noqa: PLC0415 -- light help
    from turncurve.cli.results import read_table_of, write_result  # noqa: PLC0415
    from turncurve.report.reliability import (  # noqa: PLC0415
        TITLE,
        reliability_blocks,
        reliability_json,
    )

    table, n_problems = read_table_of(paths, reading)
    result = analyse(table, crashes_fail=crashes == "fail", level=level)
    document, blocks = reliability_json(result), reliability_blocks(result)
    write_result(targets, TITLE, document, blocks, quiet=reading.quiet)
    if reading.strict and n_problems:
        click.get_current_context().exit(2)
