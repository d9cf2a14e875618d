"""Trace files into a store: whole parts, each file once, by one process or several."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

import msgspec

from turncurve.errors import ReadError
from turncurve.ingest.discover import discover
from turncurve.ingest.import_part import Batch, write_manifest, write_part
from turncurve.ingest.lock import take_lock
from turncurve.ingest.look import Look, Looks
from turncurve.ingest.options import Problems, Progress, ReadOptions
from turncurve.ingest.stored import option_marks
from turncurve.readers import OnProblem
from turncurve.table.parquet import sync
from turncurve.table.store import (
    FORMAT_VERSION,
    MARKER,
    PARTS,
    Manifest,
    Marker,
    Store,
    StoredFile,
    is_store,
    part_name,
    read_marker,
)

BATCH_BYTES = 64 * 2**20
"""Bytes of trace files in a part, about: what an interruption costs."""
_SMALLEST_SHARE = 8 * 2**20
"""Bytes below which starting another process takes longer than reading them."""
_PARTS_PER_JOB = 4
_UNFINISHED = ".unfinished-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """How files get into a store.

    Attributes:
        jobs: Processes that read.
        prune: Take out files below the given paths that are no longer there.
        part_files: Most files in a part; an interruption costs what was read since the last part.
    """

    jobs: int = 1
    prune: bool = False
    part_files: int = 2_000


_DEFAULTS = ReadOptions()
_ONE_BY_ONE = Importing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did."""

    store: Path
    n_files: int
    """Files found."""
    n_unchanged: int
    """Files that the store held already, as they are."""
    n_read: int
    n_replaced: int
    """Of the files read, those that the store held as they were before."""
    n_removed: int
    """Files taken out, as they are no longer there."""
    n_runs: int
    """Runs in the store now."""
    unread: tuple[str, ...]
    """Files found that no reader recognises."""
    problems: tuple[ReadError, ...]
    """Of the files found, those unchanged included."""


def import_files(
    paths: Sequence[str | Path],
    store: str | Path,
    *,
    options: ReadOptions = _DEFAULTS,
    importing: Importing = _ONE_BY_ONE,
    on_problem: OnProblem | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Read files, folders and patterns into a store; what it holds already is not read again.

    A file is known by its place and a hash of its content, and of the files that its reader
    consults beside it. Files go into the store part by part, each whole or not at all, so an
    interrupted import goes on where it was. Importing the same files twice changes nothing.

    Args:
        paths: Files, folders (walked) and patterns.
        store: The store's folder; made where there is none.
        options: How files are read; those of the first import hold for all.
        importing: How many processes read, and what becomes of files that are gone.
        on_problem: Told of each problem: raises to stop, returns to go on.
        progress: Told how many files are done, and how many there are.

    Raises:
        ReadError: A path does not exist, another process writes to the store, the folder holds
            something else, or the store's columns were made with other options.
    """
    problems = Problems(on_problem)
    files = discover(paths)
    with _writing(Path(store), options) as folder:
        held = Store(folder)
        looks = Looks(held)
        found = [looks.look(file) for file in files]
        wanted = [look for look in found if not look.is_held]
        n_done, number = len(found) - len(wanted), max(held.parts, default=0)
        for batch, manifest in _read(
            [*_batches(wanted, importing)], folder, options, importing.jobs
        ):
            number += 1
            _commit(batch.folder, folder, number)
            n_done += len(manifest.files)
            if progress is not None:
                progress(n_done, len(found))
        gone = _gone(held, paths, found) if importing.prune else []
        if gone:
            _commit_gone(folder, number + 1, gone)
        _drop_replaced(folder)
        return _account(folder, found, len(wanted), len(gone), problems)


def _account(
    folder: Path, found: Sequence[Look], n_read: int, n_removed: int, problems: Problems
) -> Imported:
    now = Store(folder)
    files = [now.files[look.resolved][1] for look in found]
    for file in files:
        for one in file.told():
            problems.report(one)
    return Imported(
        store=folder,
        n_files=len(found),
        n_unchanged=len(found) - n_read,
        n_read=n_read,
        n_replaced=sum(look.is_known and not look.is_held for look in found),
        n_removed=n_removed,
        n_runs=now.n_runs,
        unread=tuple(f.path for f in files if f.is_unread),
        problems=tuple(problems.found),
    )


def _read(
    groups: Sequence[tuple[Look, ...]], folder: Path, options: ReadOptions, jobs: int
) -> Iterator[tuple[Batch, Manifest]]:
    """Read files batch by batch, each into an unfinished part that is whole when it is given."""
    # A process that outlives a killed import must not meet the folders of the next one.
    name = f"{_UNFINISHED}{secrets.token_hex(4)}"
    batches = [
        Batch(looks=looks, folder=folder / PARTS / f"{name}-{number}", options=options)
        for number, looks in enumerate(groups)
    ]
    if jobs <= 1 or len(batches) <= 1:
        for batch in batches:
            yield batch, write_part(batch)
        return
    with ProcessPoolExecutor(
        min(jobs, len(batches)), get_context("spawn"), initializer=_end_with_parent
    ) as pool:
        yield from zip(batches, pool.map(write_part, batches), strict=True)


def _end_with_parent() -> None:
    """Have a process of the pool end when the import does, be that killed."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _batches(wanted: Sequence[Look], importing: Importing) -> Iterator[tuple[Look, ...]]:
    """Files in their order, in groups of so many bytes or files, some for each process."""
    most = BATCH_BYTES
    if importing.jobs > 1:
        share = sum(look.size for look in wanted) // (_PARTS_PER_JOB * importing.jobs)
        most = min(most, max(share, _SMALLEST_SHARE))
    batch, size = list[Look](), 0
    for look in wanted:
        if batch and (size + look.size > most or len(batch) >= importing.part_files):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(look)
        size += look.size
    if batch:
        yield tuple(batch)


def _commit(part: Path, store: Path, number: int) -> None:
    part.rename(store / PARTS / part_name(number))
    sync(store / PARTS)


def _gone(held: Store, paths: Sequence[str | Path], found: Sequence[Look]) -> list[StoredFile]:
    """Files of the store below the given paths that are no longer there."""
    there = {look.resolved for look in found}
    below = [Path(path).resolve() for path in paths]
    return [
        file
        for name, (_, file) in held.files.items()
        if name not in there
        and not Path(name).exists()
        and any(Path(name).is_relative_to(root) for root in below)
    ]


def _commit_gone(store: Path, number: int, gone: Sequence[StoredFile]) -> None:
    part = store / PARTS / f"{_UNFINISHED}gone"
    part.mkdir()
    files = tuple(msgspec.structs.replace(f, gone=True, n_runs=0, problems=()) for f in gone)
    write_manifest(part, Manifest(files=files))
    _commit(part, store, number)


def _drop_replaced(folder: Path) -> None:
    """Remove parts of which no file counts any more, oldest first.

    What a later part says of a file that is gone must outlive every row of that file.
    """
    store = Store(folder)
    counted = {number for number, _ in store.files.values()}
    for number, manifest in store.parts.items():
        says_gone = any(file.gone for file in manifest.files)
        if number not in counted and not says_gone:
            shutil.rmtree(store.folder(number))


@contextmanager
def _writing(folder: Path, options: ReadOptions) -> Iterator[Path]:
    """A store's folder, made where there is none, for one writer alone; leftovers are removed."""
    (folder / PARTS).mkdir(parents=True, exist_ok=True) if _is_free(folder) else None
    with (folder / "lock").open("a") as lock:
        take_lock(lock, folder, "store")
        _mark(folder, options)
        for left in (folder / PARTS).glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        yield folder


def _is_free(folder: Path) -> bool:
    """Whether a folder is a store, or may become one.

    Raises:
        ReadError: It holds something else.
    """
    if is_store(folder) or not folder.exists():
        return True
    if not folder.is_dir():
        raise ReadError(folder, "wanted a folder for the store, got a file")
    if {path.name for path in folder.iterdir()} <= {"lock", PARTS}:
        return True
    fix = "name a new folder, or an empty one"
    raise ReadError(folder, "the folder is no store, and it is not empty", fix=fix)


def _mark(folder: Path, options: ReadOptions) -> None:
    """Say what the folder is, or see that it was made with the same options.

    Raises:
        ReadError: It was made with others.
    """
    marks = option_marks(options)
    if is_store(folder):
        made_with = read_marker(folder).options
        differ = [name for name, value in marks.items() if made_with.get(name) != value]
        if differ:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in differ)
            reason = f"the store was made with other options: {flags}"
            raise ReadError(folder, reason, fix="give the same ones, or name a new store")
        return
    marker = Marker(
        turncurve_store=FORMAT_VERSION, turncurve_version=version("turncurve"), options=marks
    )
    aside = folder / f"{MARKER}.unfinished"
    aside.write_bytes(msgspec.json.format(msgspec.json.encode(marker), indent=1) + b"\n")
    aside.replace(folder / MARKER)
