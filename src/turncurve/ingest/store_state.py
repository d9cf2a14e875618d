"""What a store holds, and whether it is sound and up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.ingest.file_state import place_of, why_not_as_it_was
from turncurve.table.store import Store
from turncurve.table.store_check import damage


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """What a store holds.

    Attributes:
        path: Its folder.
        turncurve_version: The version that made it.
        options: Options that shaped its columns; files by a hash of their content, None for none.
        n_parts: Parts on disk.
        n_files: Files behind it, whether or not they gave a run.
        n_unread: Those of them that no reader recognises.
        n_runs: Runs that count.
        n_turns: Their turns.
        n_problems: Problems told at the imports.
        n_bytes: Size on disk.
        runs_by_format: Format to number of runs.
        columns: Names of the columns of the turn table, derived signals apart.
    """

    path: str
    turncurve_version: str
    options: Mapping[str, str | bool | None]
    n_parts: int
    n_files: int
    n_unread: int
    n_runs: int
    n_turns: int
    n_problems: int
    n_bytes: int
    runs_by_format: Mapping[str, int]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCheck:
    """Whether a store is sound, and its trace files are as they were read.

    Attributes:
        damage: What is not as it was written; empty for a sound store.
        changed: Trace files whose content has changed since.
        gone: Trace files that are no longer there.
        n_unchanged: Trace files that are as they were.
    """

    damage: tuple[ReadError, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    n_unchanged: int


def store_info(path: str | Path) -> StoreInfo:
    """What a store holds.

    Raises:
        ReadError: It is no store, or a manifest is damaged.
    """
    store = Store(path)
    files = [file for _, file in store.files.values()]
    by_format: Counter[str] = Counter()
    for file in files:
        if file.format is not None:
            by_format[file.format] += file.n_runs
    names = {str(c["name"]) for m in store.parts.values() for s in m.segments for c in s.columns}
    return StoreInfo(
        path=str(path),
        turncurve_version=store.marker.turncurve_version,
        options=store.marker.options,
        n_parts=len(store.parts),
        n_files=len(files),
        n_unread=sum(file.is_unread for file in files),
        n_runs=store.n_runs,
        n_turns=int(store.runs().n_turns.sum()),
        n_problems=sum(len(file.problems) for file in files),
        n_bytes=sum(p.stat().st_size for p in Path(path).rglob("*") if p.is_file()),
        runs_by_format=dict(sorted(by_format.items())),
        columns=tuple(sorted(names)),
    )


def check_store(path: str | Path) -> StoreCheck:
    """Check a store's parts against their hashes and themselves, and its trace files' content.

    Raises:
        ReadError: It is no store, or a manifest is damaged.
    """
    store = Store(path)
    changed, gone, n_unchanged = list[str](), list[str](), 0
    for _, file in store.files.values():
        if why_not_as_it_was(file) is None:
            n_unchanged += 1
        elif place_of(file).is_file():
            changed.append(file.path)
        else:
            gone.append(file.path)
    return StoreCheck(
        damage=tuple(damage(store)),
        changed=tuple(changed),
        gone=tuple(gone),
        n_unchanged=n_unchanged,
    )
