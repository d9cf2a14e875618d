"""What a reader is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.table.plain import PlainRuns

OnProblem: TypeAlias = Callable[[ReadError], None]
"""Told of each record that cannot be read: raise to stop, return to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One trace format.

    Attributes:
        name: The format's name, as in `--format`.
        title: The format in a few words, for people.
        recognised_by: What `looks_like` goes by, in a sentence: shown by `formats --explain`.
        looks_like: Cheap test of the first bytes (decompressed, at most 64 KiB) and the path.
            Content decides; a name may only break ties.
        read: Generator of the runs of one file, one at a time, in bounded memory. Each bad record
            goes to `on_problem`; the others are still read.
        companions: Names of files that this reader consults beside a trace (outcomes, say); a walk
            does not list them as unknown. Shell patterns of the name, or of folder and name.
        joins_files: Whether a run may be spread over files of one folder, or belong to one in
            another file there: the reader of one then looks into others of the same ending.
        near_miss: What a file lacks that is nearly of this format, in words, or None; asked of the
            same bytes where no reader takes a file.
        no_run: What a sound file is that gives no run, in words: told where one gave none.
        read_plain: The same runs in columns, for a file that holds numbers and nothing out of the
            ordinary; None for any other file. It tells no problem: it gives all runs or nothing.
        extra: The optional dependency that reading needs, as in `pip install 'turncurve[extra]'`.
    """

    name: str
    title: str
    recognised_by: str
    looks_like: Callable[[bytes, Path], bool]
    read: Callable[[Path, OnProblem], Iterator[Run]]
    companions: tuple[str, ...] = ()
    joins_files: bool = False
    near_miss: Callable[[bytes, Path], str | None] | None = None
    no_run: str = "a file without a run"
    read_plain: Callable[[Path], PlainRuns | None] | None = None
    extra: str | None = None


def raise_problem(problem: ReadError) -> None:
    """Stop at the first unreadable record."""
    raise problem
