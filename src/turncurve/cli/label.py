"""`turncurve label`: a person labels steps, blind to the grader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from turncurve.cli.options import Reading, WholeNumber, seed_option, text_reading_options


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--labels",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("labels.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where labels are kept; those that are there are not asked for again.",
)
@click.option("--labeller", required=True, metavar="NAME", help="Who labels.")
@click.option(
    "--design",
    type=click.Choice(["runs", "strata"]),
    default="runs",
    show_default=True,
    help="Whole runs at random, or as many early as middle and late turns.",
)
@click.option(
    "-n",
    "--number",
    "n",
    type=WholeNumber(1),
    default=10,
    show_default=True,
    help="Runs, or turns, to draw.",
)
@click.option(
    "--rubric",
    "named",
    default="steps",
    show_default=True,
    metavar="RUBRIC",
    help="What is asked: a rubric of steps.",
)
@click.option(
    "--hindsight",
    is_flag=True,
    help="Show how the run went on. Labels with hindsight answer another question than a grader "
    "without; the two are never compared.",
)
@seed_option
@text_reading_options
def label(  # noqa: PLR0913, PLR0917 - the options of a command line
    paths: Sequence[str],
    labels: Path,
    labeller: str,
    design: Literal["runs", "strata"],
    n: int,
    named: str,
    hindsight: bool,  # noqa: FBT001 - a flag of the command line
    seed: int,
    reading: Reading,
) -> None:
    """Label steps of the runs in PATH... key by key, blind to what any grader said.

    Each step is shown with what came before it. A label is on disk before the next step comes, so
    the work can be left at any time and goes on where it was. Questions can be skipped.

    Exit status: 0 done or left; 2 a usage error, no terminal, or no run could be read.
    """
    from turncurve.cli.make_labels import make_labels  # noqa: PLC0415 -- --help is light
    from turncurve.grading.label_book import LabelPlan  # noqa: PLC0415

    plan = LabelPlan(labeller=labeller, design=design, n=n, seed=seed, hindsight=hindsight)
    make_labels(paths, labels, plan, named, reading)
