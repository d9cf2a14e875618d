"""`turncurve convert`: traces and their signals into formats that other tools read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from turncurve.cli.options import Reading, text_reading_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--to",
    "form",
    required=True,
    type=click.Choice(["turns", "atif", "otel-events"]),
    help="turns: one record a turn, as JSON lines, CSV or Parquet by the ending of TARGET. atif: "
    "one ATIF trajectory a run, in the folder TARGET. otel-events: signals and grades as "
    "OpenTelemetry events, one OTLP request a run, in the file TARGET.",
)
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    metavar="TARGET",
    type=click.Path(path_type=Path),
    help="The file to write, or - for standard output (turns as JSON lines); for atif the folder, "
    "made where there is none.",
)
@text_reading_options
def convert(paths: Sequence[str], form: str, target: Path, reading: Reading) -> None:
    """Write the runs in PATH..., with every signal by turn, in another format.

    What the format has no place for is said on stderr. PATH is a trace file, a folder of them, a
    pattern, a store, or - for standard input.

    Exit status: 0 done; 2 a usage error, no run could be read, or --strict and an unreadable
    record.
    """
    from turncurve.cli.convert_files import convert_files  # noqa: PLC0415 -- --help is light

    n_lost = convert_files(paths, form, target, reading)
    if reading.strict and n_lost:
        click.get_current_context().exit(2)
