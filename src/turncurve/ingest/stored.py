"""A store as one of the things that can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from turncurve.errors import ReadError, TextGoneError
from turncurve.ingest.file_reader import Input
from turncurve.ingest.file_state import place_of, why_not_as_it_was
from turncurve.ingest.options import Problems, ReadOptions
from turncurve.signals import compute_derived
from turncurve.table import TurnTable
from turncurve.table.store import Store, StoredFile


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInput:
    """An opened store, and what its import had to tell."""

    store: Store

    def inputs(self) -> list[Input]:
        """The files behind it that a reader took."""
        return [
            Input(path=file.path, format=file.format, n_runs=file.n_runs)
            for file in self._files()
            if file.format is not None
        ]

    def unread(self) -> list[str]:
        """Files that no reader recognised."""
        return [file.path for file in self._files() if file.is_unread]

    def problems(self) -> Iterator[ReadError]:
        """What could not be read at the import, file by file."""
        for file in self._files():
            yield from file.told()

    def folders(self) -> dict[Path, str]:
        """Each file's folder below the path that was given at the import."""
        return {Path(file.path): file.folder for file in self._files()}

    def places(self, paths: Collection[str], problems: Problems) -> dict[str, Path | None]:
        """Where each of some files is to be read again; None, and told, if it is not as it was."""
        places: dict[str, Path | None] = {}
        for file in self._files():
            if not file.n_runs or file.path not in paths:
                continue
            reason = why_not_as_it_was(file)
            places[file.path] = place_of(file) if reason is None else None
            if reason is not None:
                problems.report(TextGoneError(file.path, reason))
        return places

    def _files(self) -> Iterator[StoredFile]:
        return (file for _, file in self.store.files.values())


def open_store(path: str | Path, options: ReadOptions) -> StoreInput:
    """Open a store for an analysis.

    Raises:
        ReadError: It is damaged, or its columns were made with other rules than those asked for.
    """
    store = Store(path)
    wanted = option_marks(options)
    for name in ("rules", "output_schema"):
        if wanted[name] is not None and wanted[name] != store.marker.options.get(name):
            flag = f"--{name.replace('_', '-')}"
            reason = f"was imported without the file that {flag} names, or with another"
            fix = f"import into a new store with {flag}"
            raise ReadError(path, reason, fix=fix)
    return StoreInput(store=store)


def option_marks(options: ReadOptions) -> dict[str, str | bool | None]:
    """The options that shape a store's columns; files by a hash of their content."""
    return {
        "rules": _mark(options.rules),
        "output_schema": _mark(options.output_schema),
        "prices": options.prices,
        "format": options.format,
    }


def stored_signals(path: str | Path) -> Iterator[TurnTable]:
    """Every signal of every run of a store, so many runs at a time.

    For passes over more turns than memory holds: one table of about 65,000 turns is held at a
    time. Ids and trials are those that the files give, unsettled.
    """
    for table in Store(path).tables():
        yield compute_derived(table)


def _mark(path: Path | None) -> str | None:
    return None if path is None else hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
