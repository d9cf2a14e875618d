"""A folder that keeps runs as columns, so that traces are read once.

`store.json` says what the folder is. Each folder in `parts` holds four Parquet files and a manifest
of the trace files behind them; a part is written aside and then renamed, so one that is there is
whole. A trace file that was read again stands in a later part, and its older rows no longer count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from turncurve.errors import ReadError
from turncurve.table.columns import SignalInfo
from turncurve.table.concat import concat
from turncurve.table.parquet import FILES, TableReader
from turncurve.table.turn_table import RunTable, TurnTable

FORMAT_VERSION = 1
MARKER = "store.json"
MANIFEST = "manifest.json"
PARTS = "parts"


class StoredProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could not be read in a file."""

    reason: str
    record: str | int | None = None
    fix: str | None = None
    kept: bool = False


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """One trace file as it was when it was read."""

    path: str
    """As given at the import."""
    resolved: str
    root: str
    """The path given at the import that it was found below."""
    folder: str
    """Name of the folder below the given path that holds it, for conditions by folder."""
    size: int
    times_ns: tuple[int, int] | None = None
    """When its content and its inode were last changed; None if too lately to tell a next time."""
    digest: str
    """Hash of its content."""
    beside: str
    """Hash of the files that readers may consult beside it."""
    joined: str | None = None
    """Hash of the folder's files of its kind, if its reader joins what they hold; else None."""
    format: str | None
    """The reader that took it; None if none did."""
    n_runs: int = 0
    problems: tuple[StoredProblem, ...] = ()
    is_unread: bool = False
    """No reader recognised it, and it is no file that some reader consults beside a trace."""
    gone: bool = False
    """Taken out of the store, since it was no longer there."""

    def told(self) -> Iterator[ReadError]:
        """What could not be read in it."""
        for one in self.problems:
            yield ReadError(self.path, one.reason, record=one.record, fix=one.fix, kept=one.kept)


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Four Parquet files of a part, all of whose row groups have the same columns."""

    name: str
    n_runs: int
    n_turns: int
    columns: tuple[dict[str, Any], ...]
    """What each column of the turns means, as `SignalInfo` has it."""
    digests: dict[str, str]
    """Hash of each Parquet file, by its name without the ending."""

    def info(self) -> dict[str, SignalInfo]:
        """The columns' meanings by name."""
        known = {field.name for field in fields(SignalInfo)}
        return {
            one["name"]: SignalInfo(**{k: v for k, v in one.items() if k in known})
            for one in self.columns
        }


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a part holds."""

    files: tuple[StoredFile, ...]
    segments: tuple[Segment, ...] = ()


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What a store is: its layout, and the options that shaped its columns."""

    turncurve_store: int
    turncurve_version: str
    options: dict[str, str | bool | None]


def is_store(path: str | Path) -> bool:
    """Whether a path is a store's folder."""
    return (Path(path) / MARKER).is_file()


class Store:
    """A store as it is on disk when it is opened.

    Args:
        path: The store's folder.

    Raises:
        ReadError: It is no store, is of a later version, or a part's manifest is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.marker = read_marker(self.path)
        self.parts: dict[int, Manifest] = {}
        for folder in sorted((self.path / PARTS).glob("[0-9]*")):
            self.parts[int(folder.name)] = _decoded(folder / MANIFEST, Manifest)
        self.files = self._current()

    def _current(self) -> dict[str, tuple[int, StoredFile]]:
        """Each file's last state, in the order in which reading the paths at once gives them."""
        current: dict[str, tuple[int, StoredFile]] = {}
        roots: dict[str, int] = {}
        for number, manifest in self.parts.items():
            for file in manifest.files:
                current[file.resolved] = (number, file)
                roots.setdefault(file.root, len(roots))
        known = [item for item in current.items() if not item[1][1].gone]
        return dict(sorted(known, key=lambda i: (roots[i[1][1].root], Path(i[1][1].path))))

    def folder(self, number: int) -> Path:
        """The folder of a part."""
        return self.path / PARTS / part_name(number)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[TurnTable]:
        """The runs of the store, so many at a time, as their files name them.

        A pass over them holds one table at a time. Runs come part by part: in the order in which
        they were read.

        Args:
            columns: The columns to read; None for all.
        """
        for number, manifest in self.parts.items():
            paths = self._stale_paths(number)
            for segment in manifest.segments:
                reader = TableReader(self.folder(number) / segment.name, segment.info())
                for table in reader.tables(columns):
                    yield _without(table, paths) if paths else table

    def table(self, columns: Sequence[str] | None = None) -> TurnTable:
        """All runs in one table, in the order of their files' paths, as their files name them."""
        tables = [table for table in self.tables(columns) if table.n_runs]
        return self._in_order(concat(tables))

    @property
    def n_runs(self) -> int:
        """Runs of the files as they were read last."""
        return sum(file.n_runs for _, file in self.files.values())

    def runs(self) -> RunTable:
        """All rows of the run table, in the order of `table`."""
        return self.table(columns=()).runs

    def _stale_paths(self, number: int) -> frozenset[str]:
        """Paths of files in a part whose rows a later part replaces."""
        return frozenset(
            file.path
            for file in self.parts[number].files
            if self.files.get(file.resolved, (None, file))[0] != number
        )

    def _in_order(self, table: TurnTable) -> TurnTable:
        rank = {file.path: i for i, (_, file) in enumerate(self.files.values())}
        place = np.array([rank[path] for path in table.runs.path], dtype=np.int64)
        if (np.diff(place) >= 0).all():
            return table
        return table.take_runs(np.argsort(place, kind="stable"))


def part_name(number: int) -> str:
    """The name of a part's folder."""
    return f"{number:08d}"


def read_marker(path: Path) -> Marker:
    """What the folder says it is.

    Raises:
        ReadError: It is no store, or one of a later version.
    """
    if not is_store(path):
        fix = "make one with: turncurve import PATH... --store DIR"
        raise ReadError(path, f"wanted a store, found no {MARKER}", fix=fix)
    marker: Marker = _decoded(path / MARKER, Marker)
    if marker.turncurve_store > FORMAT_VERSION:
        reason = f"a store of layout {marker.turncurve_store}, this version knows {FORMAT_VERSION}"
        raise ReadError(path, reason, fix=f"it was made by turncurve {marker.turncurve_version}")
    return marker


def digest_of(path: Path) -> str:
    """Hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def segment_of(folder: Path, counts: tuple[int, int], info: Sequence[SignalInfo]) -> Segment:
    """What a folder of four written Parquet files holds; `counts` are of runs and turns."""
    return Segment(
        name=folder.name,
        n_runs=counts[0],
        n_turns=counts[1],
        columns=tuple(asdict(one) for one in info),
        digests={name: digest_of(folder / f"{name}.parquet") for name in FILES},
    )


def _without(table: TurnTable, paths: frozenset[str]) -> TurnTable:
    return table.select(np.array([path not in paths for path in table.runs.path], dtype=np.bool_))


def _decoded(path: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as problem:
        raise ReadError(path, f"cannot be opened: {problem.strerror}") from problem
    except msgspec.DecodeError as problem:
        fix = "import into a new store"
        raise ReadError(path, f"is damaged: {problem}", fix=fix) from problem
