"""Whether a store's parts are what their manifests say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from turncurve.errors import InvariantError, ReadError
from turncurve.table.parquet import FILES, TableReader
from turncurve.table.store import Segment, Store, digest_of
from turncurve.table.turn_table import TurnTable


def damage(store: Store) -> Iterator[ReadError]:
    """Everything in the parts that is not as it was written, each with what would mend it.

    Each Parquet file must have the hash that its manifest gives. The rows are then read: runs and
    turns as many as said, sorted, every reference to a row that is there, and each file with as
    many runs as it gave.
    """
    for number, manifest in store.parts.items():
        counted: Counter[str] = Counter()
        is_whole = True
        for segment in manifest.segments:
            folder = store.folder(number) / segment.name
            found = [*_changed(folder, segment)] or [*_wrong(folder, segment, counted)]
            is_whole = is_whole and not found
            yield from found
        said = {file.path: file.n_runs for file in manifest.files if file.n_runs}
        if is_whole and counted != said:
            differ = sorted(set(counted.items()) ^ set(said.items()))
            reason = f"holds other runs than its manifest says, of {differ[0][0]} for one"
            yield _damaged(store.folder(number), reason)


def _changed(folder: Path, segment: Segment) -> Iterator[ReadError]:
    for name in FILES:
        path = folder / f"{name}.parquet"
        if not path.is_file():
            yield _damaged(path, "is missing")
        elif digest_of(path) != segment.digests.get(name):
            yield _damaged(path, "is not what was written: its hash differs")


def _wrong(folder: Path, segment: Segment, counted: Counter[str]) -> Iterator[ReadError]:
    n_runs = n_turns = 0
    try:
        for table in TableReader(folder, segment.info()).tables():
            n_runs, n_turns = n_runs + table.n_runs, n_turns + len(table.turn)
            counted.update(table.runs.path.tolist())
            if reason := _inconsistent(table):
                yield _damaged(folder, reason)
    except (pa.ArrowException, OSError, InvariantError, KeyError, ValueError) as problem:
        yield _damaged(folder, f"cannot be read: {problem}")
        return
    if (n_runs, n_turns) != (segment.n_runs, segment.n_turns):
        said = f"{segment.n_runs:,} runs of {segment.n_turns:,} turns"
        yield _damaged(folder, f"wanted {said}, holds {n_runs:,} of {n_turns:,}")


def _inconsistent(table: TurnTable) -> str | None:
    """What contradicts itself in a table, in words."""
    counts = np.bincount(table.run, minlength=table.n_runs)
    if len(counts) != table.n_runs or (counts != table.runs.n_turns).any():
        return "a run has another number of turns than its row says"
    if ((np.diff(table.turn) <= 0) & (np.diff(table.run) == 0)).any():
        return "the turns of a run are out of order"
    for name, position, n in (
        ("call", table.calls.row, len(table.turn)),
        ("event", table.events.run, table.n_runs),
    ):
        if len(position) and (
            position.min() < 0 or position.max() >= n or (np.diff(position) < 0).any()
        ):
            return f"a {name} belongs to no row, or is out of order"
    return None


def _damaged(path: Path, reason: str) -> ReadError:
    fix = "remove this part's folder and import again: its files are then read anew"
    return ReadError(path, reason, fix=fix)
