"""Paths to runs, and to a turn table."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from turncurve.errors import (
    InvariantError,
    ReadError,
    RuleError,
    TurncurveError,
    UnknownNameError,
)
from turncurve.ingest.build import TableBuilder
from turncurve.ingest.checks import no_rules, no_schema, rule_check, schema_check
from turncurve.ingest.discover import (
    Found,
    discover,
    empty_folders,
    is_companion,
    reader_of,
    recognises,
)
from turncurve.ingest.identity import Identities, folder_conditions
from turncurve.ingest.measure import Addition, Measure
from turncurve.ingest.options import Problems, Progress, ReadOptions
from turncurve.ingest.prices import Prices, no_prices
from turncurve.model import Run
from turncurve.readers import READERS, OnProblem, Reader, raise_problem
from turncurve.readers.stream import head
from turncurve.signals import compute_derived
from turncurve.table import TurnTable

_DEFAULTS = ReadOptions()
_HINT = "without --format its content decides; turncurve formats --explain says who takes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file that was read."""

    path: str
    format: str
    n_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What came of reading some paths."""

    table: TurnTable
    inputs: tuple[Input, ...]
    unread: tuple[str, ...]
    """Files that no reader recognises."""
    problems: tuple[ReadError, ...]


def read_table(
    paths: Sequence[str | Path],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem | None = None,
    progress: Progress | None = None,
) -> Ingested:
    """Read files, folders and patterns into one turn table with every signal.

    Args:
        paths: Files, folders (walked) and patterns.
        options: How files are read.
        on_problem: Told of each problem at once: raises to stop, returns to go on. All problems
            are in the result too.
        progress: Told after each file.

    Raises:
        ReadError: A path does not exist, or a pattern matches nothing.
        RuleError: The rule or schema file does not say what it should.
        UnknownNameError: No reader has the name in `options.format`.
        BrokenPluginError: An installed reader or signal plugin does not load.
    """
    problems = Problems(on_problem)
    reading = _Reading(paths, options, problems)
    builder = TableBuilder(Measure(problems.report, _additions(options)))
    for run in reading.runs(progress):
        _add(builder, run, problems)
    return Ingested(
        table=compute_derived(builder.table()),
        inputs=tuple(reading.inputs),
        unread=tuple(reading.unread),
        problems=tuple(problems.found),
    )


def read(
    paths: str | Path | Sequence[str | Path],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem = raise_problem,
) -> TurnTable:
    """Read files, folders and patterns into a turn table.

    Args:
        paths: One path or pattern, or several.
        options: How files are read.
        on_problem: Told of each record that cannot be read. By default the first one raises; to go
            on past them, give a function that returns, such as `list.append`.

    Raises:
        ReadError: A record cannot be read, and `on_problem` is not given.
    """
    several = [paths] if isinstance(paths, str | Path) else paths
    return read_table(several, options=options, on_problem=on_problem).table


def iter_runs(
    paths: Sequence[str | Path],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem | None = None,
    progress: Progress | None = None,
) -> Iterator[Run]:
    """The same runs as `read_table`, one at a time, with the same ids, trials and conditions."""
    reading = _Reading(paths, options, Problems(on_problem))
    return reading.runs(progress)


def table_from_runs(
    runs: Iterable[Run],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem | None = None,
) -> TurnTable:
    """A turn table with every signal, of runs that are in memory already.

    Ids, conditions and trials are settled as for files.
    """
    identities, problems = Identities(), Problems(on_problem)
    builder = TableBuilder(Measure(problems.report, _additions(options)))
    for run in runs:
        placed = _placed(identities, run, Path(run.path), problems)
        if placed is not None:
            _add(builder, placed, problems)
    return compute_derived(builder.table())


def fetch_runs(table: TurnTable, runs: Iterable[int]) -> Iterator[tuple[int, Run]]:
    """Read chosen runs again, for their text; only the files that hold them are opened.

    Args:
        table: A table that `read_table` gave, or a selection of its runs.
        runs: Positions in its run table.

    Yields:
        Position and run, file by file; the run has the table's id, trial and condition. A run that
        its file no longer gives is left out.
    """
    wanted = set(runs)
    by_file: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, key in enumerate(zip(table.runs.format, table.runs.path, strict=True)):
        by_file[key].append(position)
    for (name, path), positions in by_file.items():
        if wanted.isdisjoint(positions):
            continue
        yield from _fetch(table, READERS[name], Path(path), positions, wanted)


def _fetch(
    table: TurnTable, reader: Reader, path: Path, positions: list[int], wanted: set[int]
) -> Iterator[tuple[int, Run]]:
    runs = table.runs
    left = deque(positions)
    for run in read_file(reader, path, Problems()):
        position = left[0]
        # A selected table may lack runs of the file, so each is met by its record and its length.
        if (run.record, len(run.turns)) != (runs.record[position], runs.n_turns[position]):
            continue
        left.popleft()
        if position in wanted:
            yield (
                position,
                replace(
                    run,
                    id=runs.id[position],
                    parent=runs.parent[position],
                    condition=runs.condition[position],
                    trial=int(runs.trial[position]),
                ),
            )
        if wanted.isdisjoint(left):
            return


def _placed(identities: Identities, run: Run, path: Path, problems: Problems) -> Run | None:
    """The run with its final id; None, and a problem, where what names it cannot be used."""
    try:
        return identities.place(run, path)
    except InvariantError as problem:
        problems.report(ReadError(run.path, str(problem), record=run.record))
        return None


def _add(builder: TableBuilder, run: Run, problems: Problems) -> None:
    """Add a run; one that does not fit into a table is a problem, and the others go on."""
    try:
        builder.add(run)
    except Exception as problem:
        if problem is problems.stop or isinstance(problem, RuleError):
            raise
        reason = f"run {run.id!r} does not fit into a table: {problem!r}"
        problems.report(ReadError(run.path, reason, record=run.record))


def _additions(options: ReadOptions) -> list[Addition]:
    return [
        rule_check(options.rules) if options.rules else no_rules,
        schema_check(options.output_schema) if options.output_schema else no_schema,
        Prices() if options.prices else no_prices,
    ]


class _Reading:
    """One pass over the files of some paths."""

    def __init__(
        self, paths: Sequence[str | Path], options: ReadOptions, problems: Problems
    ) -> None:
        if options.format is not None and options.format not in READERS.names():
            raise UnknownNameError("reader", options.format, READERS.names())
        self._files = discover(paths)
        self._options = options
        self._problems = problems
        for folder in empty_folders(paths):
            problems.report(ReadError(folder, "the folder holds no file, hidden ones apart"))
        self._readers = {name: READERS[name] for name in READERS}
        self.inputs: list[Input] = []
        self.unread: list[str] = []

    def runs(self, progress: Progress | None = None) -> Iterator[Run]:
        by_folder = self._options.condition_from == "folder"
        identities = Identities(folder_conditions(self._files) if by_folder else None)
        for done, file in enumerate(self._files, start=1):
            for run in self._read(file):
                placed = _placed(identities, run, file.path, self._problems)
                if placed is not None:
                    yield placed
            if progress is not None:
                progress(done, len(self._files))

    def _read(self, file: Found) -> Iterator[Run]:
        reader = self._reader_of(file)
        if reader is None:
            return
        n_runs, n_told = 0, len(self._problems.found)
        forced = self._options.format is not None and not _takes(reader, file.path)
        runs = self._read_forced if forced else self._read_own
        for run in runs(reader, file.path):
            n_runs += 1
            yield run
        if n_runs == 0 and len(self._problems.found) == n_told:
            self._problems.report(ReadError(file.path, f"holds no run: {reader.no_run}"))
        self.inputs.append(Input(path=str(file.path), format=reader.name, n_runs=n_runs))

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
        forced = self._options.format
        if forced is not None:
            beside = not file.named and is_companion(file.path, [self._readers[forced]])
            return None if beside else self._readers[forced]
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
