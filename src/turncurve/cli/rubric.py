"""`turncurve rubric`: make, show and check what a grader is asked."""

from __future__ import annotations

from pathlib import Path

import click

from turncurve.cli.options import EXISTING_FILE
from turncurve.cli.outputs import write_text

KINDS = ("steps", "score", "rules", "fidelity")


@click.group()
def rubric() -> None:
    """What a grader is asked about each turn: a YAML file with a name and a version."""


@rubric.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="The file to write; it must be new."
)
def new(kind: str, output: str) -> None:
    r"""Write a rubric of a KIND to change: its words are yours, its answers are closed sets.

    \b
    steps     five questions about each step: valid, how hard, dependent, severe, looping
    score     one level a turn, 0 to 4 or 0 to 1
    rules     whether each turn keeps rules that no code can check
    fidelity  how near the objective of each turn is to the one that was set
    """
    from turncurve.grading.rubric_file import built_in_text  # noqa: PLC0415 -- --help is light

    if Path(output).exists():
        raise click.UsageError(f"{output} is there already; name a new file")
    write_text(output, built_in_text(kind))
    click.echo(f"wrote {output}", err=True)


@rubric.command()
@click.argument("named", metavar="RUBRIC")
@click.option("--json", "json_target", metavar="FILE|-", help="Write JSON instead of text.")
def show(named: str, json_target: str | None) -> None:
    """Print what a grader is told by RUBRIC, a file or the name of one that comes along."""
    from turncurve.grading.rubric_file import load_rubric  # noqa: PLC0415 -- --help is light
    from turncurve.report.plain import dump  # noqa: PLC0415
    from turncurve.report.rubric import rubric_json, rubric_text  # noqa: PLC0415

    loaded = load_rubric(named)
    text = dump(rubric_json(loaded)) if json_target else rubric_text(loaded)
    write_text(json_target or "-", text)


@rubric.command()
@click.argument("named", metavar="RUBRIC")
@click.option(
    "--grades",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Check too that these grades were made with this text.",
)
@click.pass_context
def check(ctx: click.Context, named: str, grades: Path | None) -> None:
    """Check that RUBRIC says what it should.

    Exit status: 0 it does; 1 it does not, or the grades were made with another text; 2 a usage
    error.
    """
    from turncurve.errors import RubricError  # noqa: PLC0415 -- --help is light
    from turncurve.grading.rubric_check import why_not_of  # noqa: PLC0415
    from turncurve.grading.rubric_file import load_rubric  # noqa: PLC0415
    from turncurve.report.rubric import rubric_line  # noqa: PLC0415

    try:
        loaded = load_rubric(named)
    except RubricError as problem:
        click.echo(f"turncurve: {problem}", err=True)
        ctx.exit(1)
    click.echo(rubric_line(loaded))
    reason = None if grades is None else why_not_of(grades, loaded)
    if reason is not None:
        click.echo(f"turncurve: {grades}: {reason}", err=True)
        ctx.exit(1)
