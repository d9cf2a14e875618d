"""The work behind `turncurve label`, apart from its options so that help stays light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from turncurve.cli.label_screen import terminal
from turncurve.cli.label_steps import label_steps, label_words
from turncurve.cli.options import Reading
from turncurve.cli.outputs import write_text
from turncurve.cli.paths import given_paths
from turncurve.cli.reading import read_again, read_runs
from turncurve.grading.label_book import LabelPlan, drawn_steps, open_labels
from turncurve.grading.rubric_file import load_rubric


def make_labels(
    paths: Sequence[str], labels: Path, plan: LabelPlan, named: str, reading: Reading
) -> None:
    """Read runs, draw steps, and have them labelled.

    Raises:
        click.ClickException: There is no terminal, or no run could be read.
        GradeError: There is nothing to label, or the file holds labels of another kind.
    """
    rubric = load_rubric(named)
    reading = replace(reading, leave_out=(labels,))
    with given_paths(paths) as files:
        read_runs(files, reading)
        steps = drawn_steps(read_again(files, reading), plan, rubric)
    with open_labels(labels, plan, rubric) as journal:
        try:
            with terminal() as screen:
                made = label_steps(steps, journal, plan, rubric, screen)
        except (OSError, ModuleNotFoundError) as problem:
            raise click.ClickException(
                "labelling needs a terminal for input and output; run it in one"
            ) from problem
        write_text("-", label_words(steps, journal, made, labels))
