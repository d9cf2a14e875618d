"""One run to its signals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from turncurve.errors import ReadError
from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Run
from turncurve.table import TurnTable


def table_of(
    run: Run,
    *,
    options: ReadOptions | None = None,
    on_problem: Callable[[ReadError], None] | None = None,
) -> TurnTable:
    """The turn table of one run by itself, a sub-agent's too.

    Args:
        run: The run.
        options: Rules and schema to check its turns against.
        on_problem: Told of each signal or rule that fails on it.
    """
    alone = replace(run, parent=None)
    return table_from_runs([alone], options=options or ReadOptions(), on_problem=on_problem)
