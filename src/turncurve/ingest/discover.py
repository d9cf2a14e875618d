"""Which files there are below the given paths, and who reads each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.readers import READERS, OnProblem, Reader
from turncurve.readers.stream import compression, head
from turncurve.table.store import is_store

_NO_TRACES = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file below a given path."""

    path: Path
    root: Path
    """The given path; the folder of the file where the file itself was given."""
    named: bool
    """True where the file itself was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Which reader takes a file, and why."""

    path: Path
    reader: str | None
    recognised_by: str | None
    """What that reader goes by, in a sentence."""
    others: tuple[str, ...] = ()
    """Readers that would take it too, had the first not."""
    compression: str | None = None
    reason: str | None = None
    """Why no reader takes it."""
    failed: tuple[str, ...] = ()
    """Readers that failed to look at it, each with what went wrong."""


def discover(paths: Sequence[str | Path]) -> list[Found]:
    """Every file below the given files, folders and patterns, each once, in a fixed order.

    Hidden files and folders are left out. Links to folders are not followed; a link to a file is,
    where its target lies below the same given path.

    Raises:
        ReadError: A path is no file and no folder, or a pattern matches nothing.
    """
    found: dict[Path, Found] = {}
    for given in paths:
        for root in _expand(given):
            for file in _files(root):
                found.setdefault(file.path.resolve(), file)
    return list(found.values())


def empty_folders(paths: Iterable[str | Path]) -> list[Path]:
    """The given folders that hold no file that could be a trace."""
    folders = [root for given in paths for root in _expand(given) if root.is_dir()]
    return [folder for folder in folders if next(_walk(folder), None) is None]


def explain(path: str | Path) -> Explanation:
    """Which reader takes a file, and why.

    Raises:
        ReadError: The path is no readable file.
    """
    path = Path(path)
    if not path.is_file():
        raise ReadError(path, "wanted a file, found none", fix="name one file, not a folder")
    takers, failed = _takers(path)
    if not takers:
        return Explanation(
            path=path,
            reader=None,
            recognised_by=None,
            compression=compression(path),
            failed=failed,
            reason=_why_not(path),
        )
    return Explanation(
        path=path,
        reader=takers[0],
        recognised_by=READERS[takers[0]].recognised_by,
        others=tuple(takers[1:]),
        compression=compression(path),
        failed=failed,
    )


def _takers(path: Path) -> tuple[list[str], tuple[str, ...]]:
    takers, failed = [], []
    for name in READERS:
        try:
            if recognises(READERS[name], path):
                takers.append(name)
        except Exception as problem:  # noqa: BLE001 - one reader fails on one file as a whole
            failed.append(_failed(name, problem))
    return takers, tuple(failed)


def _why_not(path: Path) -> str:
    """Why no reader takes a file: what it lacks, where it is nearly of a format."""
    start = head(path)
    if not start.strip():
        return "the file is empty" if not path.stat().st_size else "nothing but blanks is in it"
    for name in READERS:
        near_miss = READERS[name].near_miss
        if near_miss is not None and (reason := near_miss(start, path)):
            return reason
    return "no reader recognises its content"


def _failed(name: str, problem: Exception) -> str:
    return f"the reader {name!r} failed to look at it: {problem!r}"


def reader_of(path: Path, readers: Iterable[Reader], on_problem: OnProblem) -> Reader | None:
    """The first reader that recognises a file.

    One that fails to look at it is a problem, and the next one is asked.

    Raises:
        ReadError: The file cannot be opened, or is packed and damaged from its start.
    """
    start = head(path)
    if not start:
        try:
            packed = compression(path)
        except OSError as problem:
            raise ReadError(path, f"cannot be opened: {problem.strerror}") from problem
        if packed:
            raise ReadError(path, f"packed with {packed}, and damaged from its start")
    for reader in readers:
        try:
            if reader.looks_like(start, path):
                return reader
        except Exception as problem:  # noqa: BLE001 - one reader fails on one file as a whole
            on_problem(ReadError(path, _failed(reader.name, problem)))
    return None


def recognises(reader: Reader, path: Path) -> bool:
    """Whether a reader would take a file."""
    return reader.looks_like(head(path), path)


def is_companion(path: Path, readers: Iterable[Reader]) -> bool:
    """Whether one of the readers consults such a file beside a trace."""
    return any(path.match(pattern) for reader in readers for pattern in reader.companions)


def _expand(given: str | Path) -> list[Path]:
    path = Path(given)
    if path.is_file() or path.is_dir():
        return [path]
    if path.exists():
        fix = "write what comes from it into a file, or pipe it in as `-` on the command line"
        raise ReadError(given, "wanted a file or a folder, got a pipe or a device", fix=fix)
    if has_magic(str(given)):
        # `Path.glob` takes no absolute pattern.
        matches = [Path(match) for match in glob(str(given), recursive=True)]  # noqa: PTH207
        matches = [match for match in matches if match.is_file() or match.is_dir()]
        if matches:
            return sorted(matches)
        raise ReadError(given, "the pattern matches nothing")
    raise ReadError(given, "no such file or folder")


def _files(root: Path) -> Iterator[Found]:
    if not root.is_dir():
        yield Found(root, root.parent, named=True)
        return
    below = root.resolve()
    for path in sorted(_walk(root)):
        if not path.is_symlink() or path.resolve().is_relative_to(below):
            yield Found(path, root, named=False)


def _walk(root: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if _may_hold_traces(Path(folder, name))]
        for name in names:
            path = Path(folder, name)
            if not name.startswith(".") and path.is_file():
                yield path


def _may_hold_traces(folder: Path) -> bool:
    """Whether a folder is worth a look: not hidden, nobody's cache, and no store."""
    return not (folder.name.startswith(".") or folder.name in _NO_TRACES or is_store(folder))
