"""The runs of a found file: which reader takes it, and whatever goes wrong in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from turncurve.errors import InvariantError, ReadError, TurncurveError, UnknownNameError
from turncurve.ingest.discover import Found, is_companion, reader_of, recognises
from turncurve.ingest.identity import check_words
from turncurve.ingest.options import Problems, ReadOptions
from turncurve.model import Run
from turncurve.readers import READERS, Reader
from turncurve.readers.stream import head
from turncurve.table.plain import PlainRuns

_HINT = "without --format its content decides; turncurve formats --explain says who takes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file that was read."""

    path: str
    format: str
    n_runs: int


class Target(Protocol):
    """What runs are added to."""

    @property
    def takes_plain(self) -> bool:
        """Whether runs may come as columns."""

    def add(self, run: Run) -> None:
        """Add a run."""

    def add_plain(self, plain: PlainRuns) -> bool:
        """Add runs that are columns already; False, and nothing added, where it can't be done."""


class FileReader:
    """Reads found files one after another, and keeps account of them.

    Args:
        options: How files are read.
        problems: Told of each record that cannot be read.

    Raises:
        UnknownNameError: No reader has the name in `options.format`.
        BrokenPluginError: An installed reader plugin does not load.
    """

    def __init__(self, options: ReadOptions, problems: Problems) -> None:
        if options.format is not None and options.format not in READERS.names():
            raise UnknownNameError("reader", options.format, READERS.names())
        self._forced = options.format
        self._problems = problems
        self._readers = {name: READERS[name] for name in READERS}
        self.inputs: list[Input] = []
        self.unread: list[str] = []

    def runs(self, file: Found) -> Iterator[Run]:
        """The runs of one file, as the file names them."""
        reader = self._reader_of(file)
        if reader is not None:
            yield from self._runs_by(reader, file)

    def _runs_by(self, reader: Reader, file: Found) -> Iterator[Run]:
        n_runs, n_told = 0, len(self._problems.found)
        forced = self._forced is not None and not _takes(reader, file.path)
        runs = self._read_forced if forced else self._read_own
        for run in runs(reader, file.path):
            n_runs += 1
            if self._is_named(run):
                yield run
        if n_runs == 0 and len(self._problems.found) == n_told:
            self._problems.report(ReadError(file.path, f"holds no run: {reader.no_run}"))
        self.inputs.append(Input(path=str(file.path), format=reader.name, n_runs=n_runs))

    def rows(self, file: Found, rows: Target) -> None:
        """Add the runs of one file to the rows of a table, by columns where that is possible."""
        reader = self._reader_of(file)
        if reader is None:
            return
        n_runs = self._add_plain(reader, file.path, rows)
        if n_runs:
            self.inputs.append(Input(path=str(file.path), format=reader.name, n_runs=n_runs))
            return
        for run in self._runs_by(reader, file):
            rows.add(run)

    def may_join(self, path: Path) -> bool:
        """Whether a reader that may look into other files of the folder may take this one."""
        if self._forced is not None:
            return self._readers[self._forced].joins_files
        return any(one.joins_files and _takes(one, path) for one in self._readers.values())

    def _add_plain(self, reader: Reader, path: Path, rows: Target) -> int:
        """Add a file's runs by columns; gives how many, 0 where they must be read one by one."""
        if reader.read_plain is None or not rows.takes_plain or not _takes(reader, path):
            return 0
        plain = reader.read_plain(path)
        return len(plain.id) if plain is not None and rows.add_plain(plain) else 0

    def _is_named(self, run: Run) -> bool:
        """Whether what names the run can be used; told where it can't."""
        try:
            check_words(run)
        except InvariantError as problem:
            self._problems.report(ReadError(run.path, str(problem), record=run.record))
            return False
        return True

    def _read_own(self, reader: Reader, path: Path) -> Iterator[Run]:
        yield from read_file(reader, path, self._problems)

    def _read_forced(self, reader: Reader, path: Path) -> Iterator[Run]:
        """Read a file that the reader would not take; without a run, one problem says it all."""
        held: list[ReadError] = []
        tell = held.append

        def listen(problem: ReadError) -> None:
            tell(problem)

        runs = read_file(reader, path, Problems(listen))
        first = next(runs, None)
        if first is None:
            lacks = reader.near_miss and reader.near_miss(head(path), path)
            reason = (
                f"gives no run as {reader.name!r}, which knows its files by {reader.recognised_by}"
                + (f"; it has {lacks}" if lacks else "")
            )
            self._problems.report(ReadError(path, reason, fix=_HINT))
            return
        tell = self._problems.report
        for problem in held:
            tell(problem)
        yield first
        yield from runs

    def _reader_of(self, file: Found) -> Reader | None:
        """The reader that takes a file; one that nobody takes is listed, one that fails told."""
        if self._forced is not None:
            forced = self._readers[self._forced]
            beside = not file.named and is_companion(file.path, [forced])
            return None if beside else forced
        readers = self._readers.values()
        try:
            reader = reader_of(file.path, readers, self._problems.report)
        except ReadError as problem:
            if problem is self._problems.stop:
                raise
            self._problems.report(problem)
            return None
        if reader is None and (file.named or not is_companion(file.path, readers)):
            self.unread.append(str(file.path))
        return reader


def read_file(reader: Reader, path: Path, problems: Problems) -> Iterator[Run]:
    """The runs of one file; whatever goes wrong in it is one problem, and other files go on."""
    try:
        yield from reader.read(path, problems.report)
    except ReadError as problem:
        if problem is problems.stop:
            raise
        problems.report(problem)
    except Exception as problem:
        if problem is problems.stop:
            raise
        reason = f"the reader {reader.name!r} failed: {problem!r}"
        if isinstance(problem, TurncurveError):
            reason = str(problem)
        problems.report(ReadError(path, reason))


def _takes(reader: Reader, path: Path) -> bool:
    """Whether a reader that was asked for by name would have taken the file by itself."""
    try:
        return recognises(reader, path)
    except Exception:  # noqa: BLE001 - whoever reads the file says what is wrong with it
        return True
