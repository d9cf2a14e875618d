"""`turncurve grade`: a language model's judgement of each turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from turncurve.cli.grade_options import Grading, grade_options
from turncurve.cli.options import Reading, text_reading_options
from turncurve.cli.output_options import Outputs, result_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--grades",
    default="grades.jsonl",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The grade file (.jsonl): made where there is none, gone on with where there is one.",
)
@grade_options
@result_options
@text_reading_options
def grade(
    paths: Sequence[str], grades: Path, grading: Grading, outputs: Outputs, reading: Reading
) -> None:
    """Have a language model grade the turns of the runs in PATH...

    Each answer is on disk before it counts, so a run of the command that is broken off goes on
    where it was, and pays for nothing twice. A grade that fails is missing, with its reason, and is
    tried again by the next run. Message text is sent to the model that you name, and to nobody
    else.

    Exit status: 0 done, or stopped at a limit; 2 a usage error, no run could be graded, the grader
    is dead, or --strict and an unreadable record.
    """
    targets = outputs.targets()
    from turncurve.cli.make_grades import make_grades  # noqa: PLC0415 -- --help is light

    n_problems = make_grades(paths, grades, grading, reading, targets)
    if reading.strict and n_problems:
        click.get_current_context().exit(2)
