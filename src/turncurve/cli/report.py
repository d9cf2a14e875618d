"""`turncurve report`: trace files to the degradation report."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.analysis.settings import Settings
from turncurve.cli.options import Reading, curve_options, finite, reading_options
from turncurve.cli.output_options import ReportOutputs, output_options

DEFAULT = click.core.ParameterSource.DEFAULT


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@output_options
@curve_options
@click.option(
    "--signal",
    "signals",
    multiple=True,
    metavar="NAME",
    help="Draw this signal's curve; can be given several times. Without it, all that have a value.",
)
@click.option(
    "--target",
    type=float,
    callback=finite,
    metavar="X",
    help="Say up to which turn adherence surely stays at or above X: the re-grounding interval. "
    "Where no rule is checked, quality takes its place.",
)
@click.option(
    "--production",
    multiple=True,
    metavar="PATH",
    help="Traces from production: says whether PATH... holds runs as long as those.",
)
@reading_options
def report(
    paths: Sequence[str],
    signals: Sequence[str],
    target: float | None,
    production: Sequence[str],
    settings: Settings,
    reading: Reading,
    outputs: ReportOutputs,
) -> None:
    """Report how quality changes over the turns of the runs in PATH...

    PATH is a trace file, a folder of them, a pattern, or - for standard input. Without an output
    option the report is printed as text.

    Exit status: 0 done; 2 a usage error, no run could be read, or --strict and an unreadable
    record.
    """
    targets = outputs.targets()
    context = click.get_current_context()
    if settings.axis != "event" and context.get_parameter_source("event") != DEFAULT:
        raise click.UsageError("--event says what --axis event counts from; add --axis event")
    from turncurve.cli.make_report import Request, make_report  # noqa: PLC0415 -- --help is light

    request = Request(
        signals=signals, target=target, production=production, settings=settings, reading=reading
    )
    n_problems = make_report(paths, request, targets, with_text=not outputs.no_text)
    if reading.strict and n_problems:
        context.exit(2)
