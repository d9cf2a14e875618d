"""What every analysis command does: read its runs, and write its result in each form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
import numpy as np

from turncurve.cli.options import Reading
from turncurve.cli.outputs import write_text
from turncurve.cli.paths import given_paths
from turncurve.cli.reading import read_runs
from turncurve.report.blocks import Block, as_markdown, as_text
from turncurve.report.layout import visible
from turncurve.report.plain import dump
from turncurve.report.result_page import result_page
from turncurve.table import TurnTable

SHOWN_NAMES = 10


def read_table_of(paths: Sequence[str], reading: Reading) -> tuple[TurnTable, int]:
    """The runs below the paths, and the number of problems that they had."""
    with given_paths(paths) as files:
        runs = read_runs(files, reading)
    return runs.table, len(runs.problems)


def of_condition(table: TurnTable, condition: str | None) -> TurnTable:
    """The runs of one condition.

    Raises:
        click.UsageError: There are several and none is named, or none has this name.
    """
    known = [str(name) for name in dict.fromkeys(table.runs.condition.tolist()) if name is not None]
    if condition is None:
        if len(known) < 2:
            return table
        named = ", ".join(visible(name) for name in known[:SHOWN_NAMES])
        raise click.UsageError(f"{len(known):,} conditions; name one with --condition: {named}")
    if condition not in known:
        named = ", ".join(visible(name) for name in known[:SHOWN_NAMES]) or "none"
        raise click.UsageError(
            f"no run of the condition {visible(condition)!r}; there are: {named}"
        )
    chosen = [name is not None and str(name) == condition for name in table.runs.condition]
    return table.select(np.array(chosen, dtype=np.bool_))


def write_result(
    targets: Sequence[tuple[str, str]],
    title: str,
    document: Mapping[str, Any],
    blocks: Sequence[Block],
    *,
    quiet: bool,
    page: Callable[[], str] | None = None,
) -> None:
    """Write a result to each target, in its form; the HTML is the blocks', or what `page` makes."""
    for form, target in targets:
        if form == "json":
            write_text(target, dump(document))
        elif form == "html":
            write_text(target, result_page(title, blocks) if page is None else page())
        elif form == "markdown":
            write_text(target, as_markdown(title, blocks))
        else:
            write_text(target, as_text(blocks))
        if target != "-" and not quiet:
            click.echo(f"wrote {target}", err=True)
