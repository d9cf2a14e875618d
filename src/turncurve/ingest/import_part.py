"""Some trace files read into one part of a store, aside from those that count."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from turncurve.errors import ReadError
from turncurve.ingest.file_reader import FileReader
from turncurve.ingest.file_state import times_of
from turncurve.ingest.identity import folder_name
from turncurve.ingest.look import Joined, Look, hash_of
from turncurve.ingest.options import Problems, ReadOptions
from turncurve.ingest.rows import Rows
from turncurve.model import Run
from turncurve.readers import READERS
from turncurve.table import SignalInfo, TurnTable
from turncurve.table.concat import split
from turncurve.table.parquet import TableWriter, sync
from turncurve.table.plain import PlainRuns
from turncurve.table.store import (
    MANIFEST,
    Manifest,
    Segment,
    StoredFile,
    StoredProblem,
    digest_of,
    segment_of,
)

GROUP_TURNS = 65_536
"""Turns in a row group, about: what a pass over a store holds at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Files that become one part, written into a folder that does not count yet."""

    looks: tuple[Look, ...]
    folder: Path
    options: ReadOptions
    group_turns: int = GROUP_TURNS


def write_part(batch: Batch) -> Manifest:
    """Read the files and write them; the part is on disk, whole, when this returns."""
    shutil.rmtree(batch.folder, ignore_errors=True)
    batch.folder.mkdir(parents=True)
    problems = Problems()
    reader = FileReader(batch.options, problems)
    groups = _Groups(batch, Rows(batch.options, problems))
    joined = Joined()
    files = [_read(look, reader, groups, problems, joined) for look in batch.looks]
    manifest = Manifest(files=tuple(files), segments=groups.segments())
    write_manifest(batch.folder, manifest)
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a part's manifest, and see that the part is on disk."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    (folder / MANIFEST).write_bytes(text + b"\n")
    sync(folder)


def _read(
    look: Look, reader: FileReader, groups: _Groups, problems: Problems, joined: Joined
) -> StoredFile:
    found = look.found
    n_told, n_inputs, n_unread = len(problems.found), len(reader.inputs), len(reader.unread)
    n_runs = groups.n_runs
    size, times = look.size, None
    try:
        now = Path(look.resolved).stat()
        size, times = now.st_size, times_of(now)
        digest = digest_of(found.path)
        others = hash_of(joined.digests(found.path)) if reader.may_join(found.path) else None
        reader.rows(found, groups)
    except OSError as problem:
        digest, others = "", None
        problems.report(ReadError(found.path, f"cannot be read: {problem.strerror}"))
    taken = reader.inputs[n_inputs:]
    is_joined = bool(taken) and READERS[taken[0].format].joins_files
    return StoredFile(
        path=str(found.path),
        resolved=look.resolved,
        root=str(found.root),
        folder=folder_name(found),
        size=size,
        times_ns=times,
        digest=digest,
        beside=look.beside,
        joined=others if is_joined else None,
        format=taken[0].format if taken else None,
        n_runs=groups.n_runs - n_runs,
        is_unread=str(found.path) in reader.unread[n_unread:],
        problems=tuple(
            StoredProblem(reason=one.reason, record=one.record, fix=one.fix, kept=one.kept)
            for one in problems.found[n_told:]
        ),
    )


class _Groups:
    """Runs to row groups: rows are written out whenever there are enough of them.

    A group that brings a column which those before it lack starts a new segment.
    """

    def __init__(self, batch: Batch, rows: Rows) -> None:
        self._folder = batch.folder
        self._enough = batch.group_turns
        self._rows = rows
        self._open: _Open | None = None
        self._done: list[Segment] = []
        self._written = 0

    @property
    def n_runs(self) -> int:
        """Runs so far."""
        return self._written + self._rows.n_runs

    def add(self, run: Run) -> None:
        """Add a run."""
        self._rows.add(run)
        if max(self._rows.n_turns, self._rows.n_runs) >= self._enough:
            self._write()

    @property
    def takes_plain(self) -> bool:
        """Whether runs may come as columns."""
        return self._rows.takes_plain

    def add_plain(self, plain: PlainRuns) -> bool:
        """Add runs that are columns already; False, and nothing added, where it can't be done."""
        is_added = self._rows.add_plain(plain)
        if self._rows.n_turns >= self._enough:
            self._write()
        return is_added

    def segments(self) -> tuple[Segment, ...]:
        """Write out what is left; gives what was written."""
        if self._rows.n_runs:
            self._write()
        self._close()
        return tuple(self._done)

    def _write(self) -> None:
        for table in split(self._rows.table(), self._enough):
            self._write_group(table)

    def _write_group(self, table: TurnTable) -> None:
        self._written += table.n_runs
        if self._open is None or not self._open.writer.fits(table):
            self._close()
            folder = self._folder / f"{len(self._done):04d}"
            folder.mkdir()
            writer = TableWriter(folder, list(table.columns))
            info = tuple(table.info[name] for name in table.columns)
            self._open = _Open(folder, writer, info)
        self._open.writer.write(table)
        self._open.n_runs += table.n_runs
        self._open.n_turns += len(table.turn)

    def _close(self) -> None:
        if self._open is not None:
            self._open.writer.close()
            sync(self._open.folder)
            counts = (self._open.n_runs, self._open.n_turns)
            self._done.append(segment_of(self._open.folder, counts, self._open.info))
            self._open = None


@dataclass(slots=True)
class _Open:
    """A segment that is being written."""

    folder: Path
    writer: TableWriter
    info: tuple[SignalInfo, ...]
    n_runs: int = 0
    n_turns: int = 0
