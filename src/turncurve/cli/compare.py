"""`turncurve compare`: two conditions, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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
@click.argument("paths", nargs=-1, required=True, metavar="A [B]")
@result_options
@click.option("--a", metavar="NAME", help="Runs of A: those of this condition.")
@click.option("--b", metavar="NAME", help="Runs of B: those of this condition.")
@click.option(
    "--by",
    type=click.Choice(["condition", "model", "agent"]),
    default="condition",
    show_default=True,
    help="What --a and --b name.",
)
@click.option(
    "--pair",
    "pair_by",
    type=click.Choice(["scenario", "trial"]),
    default="scenario",
    show_default=True,
    help="Pair the means of scenarios, or runs of the same scenario and trial, as where trials "
    "share a seed.",
)
@click.option(
    "--signal",
    metavar="NAME",
    help="Compare this signal; without it, the one that stands for quality.",
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
    "--bucket",
    type=WholeNumber(min=1),
    help="Turns whose mean is one value; without it, chosen from the longest run.",
)
@click.option(
    "--horizon",
    type=WholeNumber(min=1),
    metavar="TURN",
    help="Last turn of the mean over turns; without it, the last that half of the scenarios reach.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    metavar="X",
    help="A difference that would not matter: says whether B is shown to be no worse by more.",
)
@click.option(
    "--rule",
    metavar="NAME",
    help="What counts as an error for the time to the first one; without it, the first that both "
    "have.",
)
@click.option(
    "--threshold",
    type=float,
    callback=finite,
    help="Quality below which a turn is bad, for that rule.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "not-shown"]),
    help="Exit with 1 where B is surely worse at some turn or over turns; or unless it is shown to "
    "be no worse than the --margin.",
)
@level_option
@seed_option
@reading_options
def compare(
    paths: Sequence[str],
    outputs: Outputs,
    reading: Reading,
    fail_on: Literal["worse", "not-shown"] | None,
    **given: Any,
) -> None:
    """What changed from A to B, and at which turns, over the scenarios that both ran.

    A and B are each a trace file, a folder of them, a quoted pattern, a store, or - for standard
    input. With one path, A and B are two conditions in it.

    Exit status: 0 done; 1 --fail-on was given and B fails; 2 a usage error, no run could be read,
    the two cannot be compared, or --strict and an unreadable record.
    """
    targets = outputs.targets()
    if fail_on == "not-shown" and given["margin"] is None:
        raise click.UsageError("--fail-on not-shown: say with --margin what would not matter")
    from turncurve.analysis.compare import compare as analyse  # noqa: PLC0415 -- --help is light
    from turncurve.analysis.compare_gate import gate  # noqa: PLC0415
    from turncurve.analysis.comparison.settings import CompareSettings  # noqa: PLC0415
    from turncurve.cli.results import write_result  # noqa: PLC0415
    from turncurve.cli.two_sides import read_two_sides  # noqa: PLC0415
    from turncurve.report.compare import TITLE, compare_blocks, compare_json  # noqa: PLC0415
    from turncurve.report.compare_page import compare_page  # noqa: PLC0415

    sides = read_two_sides(paths, reading, given.pop("by"), (given.pop("a"), given.pop("b")))
    result = analyse(sides.a, sides.b, CompareSettings(**given), names=sides.names)
    document, blocks = compare_json(result), compare_blocks(result)
    page = lambda: compare_page(result)  # noqa: E731 - made only where it is asked for
    write_result(targets, TITLE, document, blocks, quiet=reading.quiet, page=page)
    outcome = None if fail_on is None else gate(result, fail_on)
    if outcome == "not judged":
        raise click.ClickException(f"--fail-on {fail_on}: nothing to judge: {result.judged.why}")
    if reading.strict and sides.n_problems:
        click.get_current_context().exit(2)
    if outcome == "failed":
        click.echo(f"turncurve: --fail-on {fail_on}: {result.judged.verdict}", err=True)
        click.get_current_context().exit(1)
