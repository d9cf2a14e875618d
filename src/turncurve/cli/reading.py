"""Reading for a command: a progress bar, problems on stderr, and an error if nothing was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import click
from rich.console import Console

from turncurve.cli.options import Reading
from turncurve.cli.paths import as_given
from turncurve.cli.progress import ProgressBar
from turncurve.errors import ReadError, TextGoneError
from turncurve.ingest import (
    Imported,
    Importing,
    Ingested,
    ReadOptions,
    explain,
    fetch_runs,
    import_files,
    iter_named_runs,
    iter_runs,
    read_table,
)
from turncurve.model import Run
from turncurve.report.figures import counted
from turncurve.report.layout import visible
from turncurve.table import TurnTable
from turncurve.table.store import is_store

SHOWN_PROBLEMS = 20


def read_runs(paths: Sequence[str], reading: Reading) -> Ingested:
    """Read all runs below the paths.

    Raises:
        click.ClickException: There is no run in them.
    """
    with ProgressBar("reading", Console(stderr=True, quiet=reading.quiet)) as bar:
        runs = read_table(paths, options=_options(reading), progress=bar)
    named = _named(runs)
    says_it_all = runs.table.n_runs == 0 and len(runs.problems) == 1 and not runs.unread
    if not reading.quiet and not says_it_all:
        tell_problems(named.problems, named.unread)
    if runs.table.n_runs == 0:
        raise click.ClickException(_why_nothing(named, runs.unread))
    return named


def import_runs(
    paths: Sequence[str], store: str, reading: Reading, importing: Importing
) -> Imported:
    """Read all files below the paths into a store; what could not be read goes to stderr."""
    with ProgressBar("importing", Console(stderr=True, quiet=reading.quiet)) as bar:
        done = import_files(
            paths, store, options=_options(reading), importing=importing, progress=bar
        )
    if not reading.quiet:
        tell_problems(done.problems, done.unread)
    return done


def read_again(
    paths: Sequence[str], reading: Reading, *, label: str | None = "writing"
) -> Iterator[Run]:
    """All runs once more, one at a time, with the same ids as `read_runs` gave them.

    A file behind a store that is gone or has changed is told on stderr. Without a label nothing is
    told, and no progress is drawn: whoever asks draws its own.
    """
    told = list[ReadError]()
    quiet = reading.quiet or label is None
    with ProgressBar(label or "", Console(stderr=True, quiet=quiet)) as bar:
        yield from iter_runs(paths, options=_options(reading), on_problem=told.append, progress=bar)
    if not quiet:
        tell_problems([one for one in told if isinstance(one, TextGoneError)], ())


def named_runs(paths: Sequence[str], told: list[ReadError], *, quiet: bool) -> Iterator[Run]:
    """All runs, one at a time, under the ids that their files give them.

    Args:
        paths: Files, folders, patterns and stores.
        told: Takes up each problem.
        quiet: No progress bar.
    """
    with ProgressBar("reading", Console(stderr=True, quiet=quiet)) as bar:
        yield from iter_named_runs(
            paths,
            on_problem=lambda one: told.append(
                ReadError(
                    as_given(one.path), one.reason, record=one.record, fix=one.fix, kept=one.kept
                )
            ),
            progress=bar,
        )


def read_texts(
    paths: Sequence[str], reading: Reading, table: TurnTable
) -> Callable[[Sequence[int]], Iterator[Run]]:
    """A function that reads runs at some positions of the table once more, for their text.

    Only files that hold one of them are opened. One behind a store that is gone or has changed is
    told on stderr.
    """
    stores = [path for path in paths if is_store(path)]

    def fetch(positions: Sequence[int]) -> Iterator[Run]:
        told = list[ReadError]()
        for _, run in fetch_runs(table, positions, stores=stores, on_problem=told.append):
            yield run
        if not reading.quiet:
            tell_problems(told, ())

    return fetch


def _options(reading: Reading) -> ReadOptions:
    return ReadOptions(
        format=reading.format,
        condition_from=reading.condition_from,
        rules=reading.rules,
        output_schema=reading.output_schema,
        grades=reading.grades,
        leave_out=reading.leave_out,
    )


def _named(runs: Ingested) -> Ingested:
    """Standard input under its own name, not that of the file it was kept in."""
    return replace(
        runs,
        inputs=tuple(replace(i, path=as_given(i.path)) for i in runs.inputs),
        unread=tuple(as_given(path) for path in runs.unread),
        problems=tuple(
            ReadError(as_given(p.path), p.reason, record=p.record, fix=p.fix, kept=p.kept)
            for p in runs.problems
        ),
    )


def tell_problems(problems: Sequence[ReadError], unread: Sequence[str] = ()) -> None:
    """Say on stderr what could not be read; of many problems the first."""
    for problem in problems[:SHOWN_PROBLEMS]:
        click.echo(f"turncurve: {visible(str(problem), 500)}", err=True)
    more = len(problems) - SHOWN_PROBLEMS
    if more > 0:
        click.echo(
            f"turncurve: and {counted(more, 'more problem')}; --json counts them by file", err=True
        )
    if unread:
        named = ", ".join(visible(path) for path in unread[:3])
        rest = f" and {len(unread) - 3:,} more" if len(unread) > 3 else ""
        click.echo(f"turncurve: no reader knows {named}{rest}", err=True)


def _why_nothing(runs: Ingested, unread: Sequence[str]) -> str:
    if len(runs.problems) == 1:
        return f"no run could be read: {visible(str(runs.problems[0]), 500)}"
    if runs.problems:
        return f"no run could be read; the first problem: {visible(str(runs.problems[0]), 500)}"
    if runs.unread:
        return (
            f"no run could be read: no reader knows {visible(runs.unread[0])} "
            f"({visible(explain(unread[0]).reason or 'it has changed', 500)}); "
            "turncurve formats lists what can be read"
        )
    return "no run could be read: there is no file"
