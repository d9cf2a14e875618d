"""Paths to runs, and to a turn table."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from turncurve.errors import ReadError
from turncurve.ingest.discover import discover, empty_folders
from turncurve.ingest.file_reader import FileReader, Input, read_file
from turncurve.ingest.grade_join import CARRIED, join_grades
from turncurve.ingest.identity import Identities, check_words, conditions_of, folder_name
from turncurve.ingest.options import Problems, Progress, ReadOptions
from turncurve.ingest.rows import Rows, settled
from turncurve.ingest.stored import StoreInput, open_store
from turncurve.model import Run
from turncurve.readers import READERS, OnProblem, Reader, raise_problem
from turncurve.readers.grade_file import read_grade_file
from turncurve.readers.grades import looks_like as is_grade_file
from turncurve.readers.stream import head
from turncurve.table import RunTable, TurnTable
from turncurve.table.concat import concat
from turncurve.table.store import Store, is_store

_DEFAULTS = ReadOptions()


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
    """Read files, folders, patterns and stores into one turn table with every signal.

    Args:
        paths: Files, folders (walked), patterns, and stores that `import_files` made.
        options: How files are read.
        on_problem: Told of each problem at once: raises to stop, returns to go on. All problems
            are in the result too.
        progress: Told after each file.

    Raises:
        ReadError: A path does not exist, a pattern matches nothing, or a store is damaged or was
            imported with other rules.
        RuleError: The rule or schema file does not say what it should.
        UnknownNameError: No reader has the name in `options.format`.
        BrokenPluginError: An installed reader or signal plugin does not load.
    """
    problems = Problems(on_problem)
    reading = _Reading(paths, options, problems)
    rows = Rows(options, problems)
    reading.rows_of_files(rows, progress)
    tables = [rows.table(), *(store.store.table() for store in reading.stores)]
    table = concat([table for table in tables if table.n_runs] or tables[:1])
    table = settled(table, reading.identities())
    if options.grades is not None:
        table = _with_grades(table, options.grades, problems)
    return Ingested(
        table=table,
        inputs=tuple(reading.inputs),
        unread=tuple(reading.unread),
        problems=tuple(problems.found),
    )


def _with_grades(table: TurnTable, path: Path, problems: Problems) -> TurnTable:
    """The table with the grades of a file.

    Raises:
        ReadError: The file has no graded turn.
    """
    known = read_grade_file(path, lambda _: None).runs if is_grade_file(head(path), path) else {}
    options = ReadOptions(prices=False)
    graded = read_table([path], options=options, on_problem=problems.report).table
    if all(np.isnan(graded.column(name)).all() for name in CARRIED):
        raise ReadError(path, "holds no grade of a turn", fix="name a file of turncurve grade")
    return join_grades(table, graded, known, problems.report)


def read(
    paths: str | Path | Sequence[str | Path],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem = raise_problem,
) -> TurnTable:
    """Read files, folders, patterns and stores into a turn table.

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
    """The same runs as `read_table`, one at a time, with the same ids, trials and conditions.

    The runs of a store are read again from the files that they came from; those of a file that is
    gone or has changed since are left out, and told with a `TextGoneError`.
    """
    problems = Problems(on_problem)
    reading = _Reading(paths, options, problems)
    identities = reading.identities()
    for run in reading.runs_of_files(progress):
        yield identities.place(run, Path(run.path))
    for stored in reading.stores:
        runs = identities.place_rows(stored.store.runs())
        places = stored.places(set(runs.path), problems)
        for _, run in _fetched(runs, range(len(runs.id)), places):
            yield run


def iter_named_runs(
    paths: Sequence[str | Path],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem | None = None,
    progress: Progress | None = None,
) -> Iterator[Run]:
    """The same runs as `iter_runs`, each under the id that its file gives it.

    Several files may speak of one run, as graders of the same steps do: `iter_runs` would make it
    two.

    Raises:
        InvariantError: An id of a run, or a name in it, is no text.
    """
    problems = Problems(on_problem)
    reading = _Reading(paths, options, problems)
    for run in reading.runs_of_files(progress):
        check_words(run)
        yield run
    for stored in reading.stores:
        runs = stored.store.runs()
        places = stored.places(set(runs.path), problems)
        for _, run in _fetched(runs, range(len(runs.id)), places):
            yield run


def table_from_runs(
    runs: Iterable[Run],
    *,
    options: ReadOptions = _DEFAULTS,
    on_problem: OnProblem | None = None,
) -> TurnTable:
    """A turn table with every signal, of runs that are in memory already.

    Ids, conditions and trials are settled as for files.
    """
    problems = Problems(on_problem)
    rows = Rows(options, problems)
    for run in runs:
        rows.add(run)
    return settled(rows.table(), Identities())


def fetch_runs(
    table: TurnTable,
    runs: Iterable[int],
    *,
    stores: Iterable[str | Path] = (),
    on_problem: OnProblem | None = None,
) -> Iterator[tuple[int, Run]]:
    """Read chosen runs again, for their text; only the files that hold them are opened.

    Args:
        table: A table that `read_table` gave, or a selection of its runs.
        runs: Positions in its run table.
        stores: The stores that the table came from, so that a file of theirs that is gone or has
            changed is not read.
        on_problem: Told of each such file, with a `TextGoneError`.

    Yields:
        Position and run, file by file; the run has the table's id, trial and condition. A run that
        its file no longer gives is left out.
    """
    wanted, problems = set(runs), Problems(on_problem)
    paths = {table.runs.path[position] for position in wanted}
    places: dict[str, Path | None] = {}
    for store in stores:
        places |= StoreInput(store=Store(store)).places(paths, problems)
    yield from _fetched(table.runs, wanted, places)


def _fetched(
    table: RunTable, runs: Iterable[int], places: Mapping[str, Path | None]
) -> Iterator[tuple[int, Run]]:
    """Runs of the table, file by file; `places` says where a file is to be read, if at all."""
    wanted = set(runs)
    by_file: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, key in enumerate(zip(table.format, table.path, strict=True)):
        by_file[key].append(position)
    for (name, path), positions in by_file.items():
        place = places.get(path, Path(path))
        if place is not None and not wanted.isdisjoint(positions):
            yield from _fetch(table, READERS[name], place, positions, wanted)


def _fetch(
    runs: RunTable, reader: Reader, path: Path, positions: list[int], wanted: set[int]
) -> Iterator[tuple[int, Run]]:
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
                    path=runs.path[position],
                    parent=runs.parent[position],
                    condition=runs.condition[position],
                    trial=int(runs.trial[position]),
                ),
            )
        if wanted.isdisjoint(left):
            return


class _Reading:
    """One pass over the files and stores of some paths."""

    def __init__(
        self, paths: Sequence[str | Path], options: ReadOptions, problems: Problems
    ) -> None:
        self._reader = FileReader(options, problems)
        loose = [path for path in paths if not is_store(path)]
        no_traces = (*options.leave_out, *([options.grades] if options.grades else []))
        apart = {path.resolve() for path in no_traces}
        self._files = [file for file in discover(loose) if file.path.resolve() not in apart]
        for folder in empty_folders(loose):
            problems.report(ReadError(folder, "the folder holds no file, hidden ones apart"))
        self._by_folder = options.condition_from == "folder"
        self.stores: list[StoreInput] = [
            open_store(path, options) for path in paths if is_store(path)
        ]
        for stored in self.stores:
            for problem in stored.problems():
                problems.report(problem)

    @property
    def inputs(self) -> list[Input]:
        """The files that were read, those behind a store included."""
        return [*self._reader.inputs, *(one for s in self.stores for one in s.inputs())]

    @property
    def unread(self) -> list[str]:
        """Files that no reader recognises."""
        return [*self._reader.unread, *(path for s in self.stores for path in s.unread())]

    def runs_of_files(self, progress: Progress | None = None) -> Iterator[Run]:
        """The runs of all files, as these name them."""
        for done, file in enumerate(self._files, start=1):
            yield from self._reader.runs(file)
            if progress is not None:
                progress(done, len(self._files))

    def rows_of_files(self, rows: Rows, progress: Progress | None = None) -> None:
        """Add the runs of all files to the rows of a table, as the files name them."""
        for done, file in enumerate(self._files, start=1):
            self._reader.rows(file, rows)
            if progress is not None:
                progress(done, len(self._files))

    def identities(self) -> Identities:
        """What settles ids, trials and conditions over all files and stores."""
        if not self._by_folder:
            return Identities()
        folders = {file.path: folder_name(file) for file in self._files}
        for stored in self.stores:
            folders |= stored.folders()
        return Identities(conditions_of(folders))
