"""What every analysis command does: read its runs, and write its result in each form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from turncurve.cli.options import Reading
from turncurve.cli.outputs import write_text
from turncurve.cli.paths import given_paths
from turncurve.cli.reading import read_runs
from turncurve.report.blocks import Block, as_markdown, as_text
from turncurve.report.json import dump
from turncurve.table import TurnTable


def read_table_of(paths: Sequence[str], reading: Reading) -> tuple[TurnTable, int]:
    """The runs below the paths, and the number of problems that they had."""
    with given_paths(paths) as files:
        runs = read_runs(files, reading)
    return runs.table, len(runs.problems)


def write_result(
    targets: Sequence[tuple[str, str]],
    title: str,
    document: Mapping[str, Any],
    blocks: Sequence[Block],
    *,
    quiet: bool,
) -> None:
    """Write a result to each target, in its form."""
    for form, target in targets:
        if form == "json":
            write_text(target, dump(document))
        elif form == "markdown":
            write_text(target, as_markdown(title, blocks))
        else:
            write_text(target, as_text(blocks))
        if target != "-" and not quiet:
            click.echo(f"wrote {target}", err=True)
