"""The work behind `turncurve convert`: run by run, into files that appear whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from turncurve.cli.options import Reading
from turncurve.cli.outputs import write_whole
from turncurve.cli.paths import given_paths
from turncurve.cli.reading import read_again, read_runs
from turncurve.model import Run
from turncurve.report.export import atif, otel_events, turn_records
from turncurve.report.export.turn_signals import TurnSignals
from turncurve.report.figures import counted
from turncurve.report.json import plain
from turncurve.table import TurnTable

Known: TypeAlias = tuple[Run, list[Mapping[str, float]]]
"""A run, and the signals of each of its turns."""
Records: TypeAlias = Iterator[dict[str, Any]]

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80
_ROWS = 50_000


def convert_files(paths: Sequence[str], form: str, target: Path, reading: Reading) -> int:
    """Read, and write each run in another format; returns the number of unreadable records.

    Raises:
        click.ClickException: There is no run, or the target cannot be written.
    """
    with given_paths(paths) as files:
        runs = read_runs(files, reading)
        known = _known(runs.table, read_again(files, reading))
        n_written, losses = _WRITERS[form](runs.table, known, target)
    if not reading.quiet:
        for loss in losses:
            click.echo(f"turncurve: {loss}", err=True)
        click.echo(f"wrote {counted(n_written, 'run')} to {target}", err=True)
    return len(runs.problems)


def _known(table: TurnTable, runs: Iterator[Run]) -> Iterator[Known]:
    signals = TurnSignals(table)
    for run in runs:
        rows = list(signals.of_run(run.id))
        if len(rows) == len(run.turns):
            yield run, rows


def _to_atif(table: TurnTable, known: Iterator[Known], target: Path) -> tuple[int, Sequence[str]]:
    del table
    if target.exists() and not target.is_dir():
        raise click.UsageError(f"-o {target}: wanted a folder, one file a run")
    target.mkdir(parents=True, exist_ok=True)
    n = 0
    for run, signals in known:
        text = json.dumps(atif.trajectory(run, signals), allow_nan=False, ensure_ascii=False)
        write_whole(target / file_name(run.id), _writer_of(text + "\n"))
        n += 1
    return n, atif.LOSSES


def _to_events(table: TurnTable, known: Iterator[Known], target: Path) -> tuple[int, Sequence[str]]:
    names = frozenset(name for name, info in table.info.items() if info.curve)
    n = 0

    def write(path: Path) -> None:
        nonlocal n
        with path.open("w", encoding="utf-8") as out:
            for run, signals in known:
                document = otel_events.request(run, signals, names=names)
                out.write(json.dumps(document, allow_nan=False, ensure_ascii=False) + "\n")
                n += 1

    write_whole(_file(target), write)
    return n, otel_events.LOSSES


def _to_turns(table: TurnTable, known: Iterator[Known], target: Path) -> tuple[int, Sequence[str]]:
    form = _TURNS.get(target.suffix.lower())
    if form is None:
        endings = ", ".join(_TURNS)
        raise click.UsageError(f"-o {target}: wanted a name that ends in {endings}")
    columns = turn_records.columns_of(table)
    n = 0

    def records() -> Records:
        nonlocal n
        for run, signals in known:
            n += 1
            yield from turn_records.records(run, signals, columns)

    names = (*turn_records.NAMES, *columns)
    write_whole(_file(target), lambda path: form(path, records(), names))
    return n, turn_records.LOSSES


def _json_lines(path: Path, records: Records, names: Sequence[str]) -> None:
    del names
    with path.open("w", encoding="utf-8") as out:
        for record in records:
            given = {key: value for key, value in plain(record).items() if value is not None}
            out.write(json.dumps(given, allow_nan=False, ensure_ascii=False) + "\n")


def _csv(path: Path, records: Records, names: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, names)
        writer.writeheader()
        for record in records:
            writer.writerow(plain(record))


def _parquet(path: Path, records: Records, names: Sequence[str]) -> None:
    import pyarrow as pa  # noqa: PLC0415 - for this ending only
    import pyarrow.parquet as pq  # noqa: PLC0415

    kinds = {"turn": pa.int64(), "trial": pa.int64(), "success": pa.bool_()}
    text = dict.fromkeys(("run", "condition", "scenario", "action"), pa.string())
    schema = pa.schema([(name, {**kinds, **text}.get(name, pa.float64())) for name in names])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for record in records:
            rows.append(plain(record))
            if len(rows) >= _ROWS:
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))


_TURNS: Mapping[str, Callable[[Path, Records, Sequence[str]], None]] = {
    ".jsonl": _json_lines,
    ".csv": _csv,
    ".parquet": _parquet,
}
_WRITERS: Mapping[str, Callable[[TurnTable, Iterator[Known], Path], tuple[int, Sequence[str]]]] = {
    "turns": _to_turns,
    "atif": _to_atif,
    "otel-events": _to_events,
}


def file_name(run: str) -> str:
    """A name for a run's file: what a trace holds is never a path, and no two ids share one."""
    readable = _UNSAFE.sub("_", run)[:_LONGEST].strip("._") or "run"
    digest = hashlib.blake2b(run.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{readable}-{digest}.json"


def _writer_of(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _file(target: Path) -> Path:
    """The file to write.

    Raises:
        click.UsageError: It is a folder, or its folder is missing.
    """
    if target.is_dir():
        raise click.UsageError(f"cannot write {target}: it is a folder")
    if not target.parent.is_dir():
        raise click.UsageError(f"cannot write {target}: there is no such folder")
    return target
