"""The work behind `turncurve convert`: run by run, into files that appear whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click

from turncurve.cli.options import Reading
from turncurve.cli.outputs import PIECE, write_stdout, write_whole
from turncurve.cli.paths import given_paths
from turncurve.cli.reading import read_again, read_runs
from turncurve.model import Run
from turncurve.report.export import atif, otel_events, turn_records
from turncurve.report.export.turn_signals import TurnSignals
from turncurve.report.figures import counted
from turncurve.report.plain import plain
from turncurve.table import TurnTable

Known: TypeAlias = tuple[Run, list[Mapping[str, float]]]
"""A run, and the signals of each of its turns."""
Records: TypeAlias = Iterator[dict[str, Any]]

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80
_ROWS = 50_000
_STDOUT = Path("-")


def convert_files(paths: Sequence[str], form: str, target: Path, reading: Reading) -> int:
    """Read, and write each run in another format.

    Returns:
        How many records could not be read, and runs not be written.

    Raises:
        click.ClickException: There is no run, or the target cannot be written or is read itself.
    """
    writer = _WRITERS[form]
    writer.check(target)
    with given_paths(paths) as files:
        runs = read_runs(files, reading)
        _refuse_what_is_read(target, [Path(one.path) for one in runs.inputs])
        tally = _Tally(writer.losses)
        writer.write(runs.table, _known(runs.table, read_again(files, reading), tally), target)
    n_left_out = runs.table.n_runs - tally.n_runs
    if not reading.quiet:
        for loss, n in tally.losses.items():
            click.echo(f"turncurve: {counted(n, 'run')} {loss}", err=True)
        for loss in writer.says:
            click.echo(f"turncurve: {loss}", err=True)
        if n_left_out:
            reason = "their files changed or went while they were read, or are not as stored"
            click.echo(f"turncurve: left out {counted(n_left_out, 'run')}: {reason}", err=True)
        n_written = tally.n_runs - (0 if writer.holds_empty else tally.n_empty)
        click.echo(f"wrote {counted(n_written, 'run')} to {_said(target)}", err=True)
    return len(runs.problems) + n_left_out


class _Tally:
    """Counts the runs that were written, and what the format could not hold of them."""

    def __init__(self, losses: Callable[[Run], Iterator[str]]) -> None:
        self._losses_of = losses
        self.n_runs = 0
        self.n_empty = 0
        self.losses: Counter[str] = Counter()

    def add(self, run: Run) -> None:
        self.n_runs += 1
        self.n_empty += not run.turns
        self.losses.update(self._losses_of(run))


def _known(table: TurnTable, runs: Iterator[Run], tally: _Tally) -> Iterator[Known]:
    signals = TurnSignals(table)
    for run in runs:
        rows = list(signals.of_run(run.id))
        if run.id in signals and len(rows) == len(run.turns):
            tally.add(run)
            yield run, rows


def _to_atif(table: TurnTable, known: Iterator[Known], target: Path) -> None:
    del table
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise click.ClickException(f"cannot write {target}: {problem.strerror}") from problem
    for run, signals in known:
        text = json.dumps(atif.trajectory(run, signals), allow_nan=False, ensure_ascii=False)
        write_whole(target / file_name(run.id), _writer_of(text + "\n"))


def _to_events(table: TurnTable, known: Iterator[Known], target: Path) -> None:
    names = frozenset(name for name, info in table.info.items() if info.curve)

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8") as out:
            for run, signals in known:
                for document in otel_events.requests(run, signals, names=names):
                    out.write(json.dumps(document, allow_nan=False, ensure_ascii=False) + "\n")

    _write(target, write)


def _to_turns(table: TurnTable, known: Iterator[Known], target: Path) -> None:
    columns = turn_records.columns_of(table)
    records = (
        record for run, signals in known for record in turn_records.records(run, signals, columns)
    )
    names = (*turn_records.NAMES, *columns)
    _write(target, lambda path: _TURNS[_ending(target)](path, records, names))


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


def _ending(target: Path) -> str:
    return ".jsonl" if target == _STDOUT else target.suffix.lower()


def _check_turns(target: Path) -> None:
    if _ending(target) not in _TURNS:
        endings = ", ".join(_TURNS)
        raise click.UsageError(f"-o {target}: wanted a name that ends in {endings}, or -")
    _check_file(target)


def _check_file(target: Path) -> None:
    if target.is_dir():
        raise click.UsageError(f"cannot write {target}: it is a folder")
    if not target.parent.is_dir():
        raise click.UsageError(f"cannot write {target}: there is no such folder")


def _check_folder(target: Path) -> None:
    if target == _STDOUT or (target.exists() and not target.is_dir()):
        raise click.UsageError(f"-o {target}: wanted a folder, one file a run")


def _nothing(run: Run) -> Iterator[str]:
    del run
    yield from ()


class _Writer(NamedTuple):
    """How one format is written."""

    check: Callable[[Path], None]
    """Refuses a target that cannot be, before anything is read."""
    write: Callable[[TurnTable, Iterator[Known], Path], None]
    losses: Callable[[Run], Iterator[str]] = _nothing
    """What the format cannot hold of a run."""
    says: tuple[str, ...] = ()
    """What it cannot hold of any."""
    holds_empty: bool = False
    """Whether it can hold a run without a turn."""


_WRITERS: Mapping[str, _Writer] = {
    "turns": _Writer(_check_turns, _to_turns, turn_records.losses, (turn_records.LOSS,)),
    "atif": _Writer(_check_folder, _to_atif, atif.losses, holds_empty=True),
    "otel-events": _Writer(_check_file, _to_events, says=(otel_events.LOSS,)),
}


def _refuse_what_is_read(target: Path, inputs: Sequence[Path]) -> None:
    """Refuse to write over a file that is read, or among such.

    Raises:
        click.UsageError: That would happen.
    """
    place = target.resolve()
    if any(place in (path.resolve(), path.resolve().parent) for path in inputs):
        reason = "it is read, or holds files that are"
        raise click.UsageError(f"cannot write {target}: {reason}; name another place")


def file_name(run: str) -> str:
    """A name for a run's file: what a trace holds is never a path, and no two ids share one."""
    readable = _UNSAFE.sub("_", run)[:_LONGEST].strip("._") or "run"
    digest = hashlib.blake2b(run.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{readable}-{digest}.json"


def _writer_of(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _write(target: Path, write: Callable[[Path], object]) -> None:
    if target != _STDOUT:
        write_whole(target, write)
        return
    with tempfile.TemporaryDirectory(prefix="turncurve-") as folder:
        path = Path(folder, "out")
        write(path)
        with path.open(encoding="utf-8") as lines:
            while block := lines.readlines(PIECE):
                write_stdout("".join(block))


def _said(target: Path) -> str:
    return "standard output" if target == _STDOUT else str(target)
