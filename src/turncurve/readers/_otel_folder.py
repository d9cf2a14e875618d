"""Which traces the OTLP files of one folder hold, and who gives the runs of each.

The spans of a trace, and the traces of a conversation, may be spread over the files of a folder.
The first of these files, by name, gives the run; so each file needs to know what the others hold:
of every trace its id, its number of spans, and the conversation that a span of it names.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from turncurve.readers._otel_ids import FileIndex, Named, index_of
from turncurve.readers._otel_records import looks_like
from turncurve.readers.stream import head

_COARSEST_CLOCK_NS = 2 * 10**9
"""Two changes of a file may bear one time if they are no further apart, on any file system."""
_FOLDERS = 16
"""Folders whose indices are kept."""

State: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Known:
    """A file's index, and its size and times then; None where a change might not show in them."""

    index: FileIndex
    state: State | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one file is to give."""

    groups: dict[str, str]
    """The conversation, or the trace itself, that each trace is read into."""
    waiting: Counter[str]
    """Spans of each of these in all files."""
    elsewhere: frozenset[str]
    """Traces of the file whose runs an earlier file gives."""
    others: tuple[Path, ...]
    """Later files that hold some of the spans."""


class Folder:
    """The files of one ending in a folder."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder, self._suffix = folder, suffix
        self._files: dict[str, _Known] = {}
        self._foreign: dict[str, State | None] = {}
        """Files that are no traces, as they were."""
        self._names: dict[str, str] = {}
        """Conversations of traces that their own file does not name so."""
        self._spread: dict[str, tuple[str, ...]] = {}
        """Files of each conversation that several hold, in their order."""
        self._state: int | None = None
        self._served: set[str] = set()

    def plan(self, path: Path) -> Plan:
        """What a file of the folder is to give."""
        self._refresh(path)
        own = self._files[path.name].index
        groups, waiting = dict[str, str](), Counter[str]()
        elsewhere, others = set[str](), set[str]()
        for trace, n_spans in own.spans.items():
            group = self._group(own, trace)
            files = self._spread.get(group, (path.name,))
            if files[0] != path.name:
                elsewhere.add(trace)
                continue
            groups[trace] = group
            waiting[group] += n_spans
            others.update(files[1:])
        for name in others:
            other = self._files[name].index
            for trace, n_spans in other.spans.items():
                group = self._group(other, trace)
                if group in waiting:
                    groups[trace] = group
                    waiting[group] += n_spans
        later = tuple(self._folder / name for name in sorted(others))
        return Plan(groups, waiting, frozenset(elsewhere), later)

    def _group(self, file: FileIndex, trace: str) -> str:
        if trace in self._names:
            return self._names[trace]
        named = file.names.get(trace)
        return trace if named is None else named.name

    def _refresh(self, path: Path) -> None:
        """Look at the folder again where it may have changed.

        All files are looked at once for each time that the folder is read; between, the file that
        is read and the folder's own time must do.
        """
        now = _time_of(self._folder)
        if now != self._state or path.name in self._served:
            self._state = now
            self._served.clear()
            self._look_at_all(path)
        elif self._look_at(path, is_own=True):
            self._settle()
        self._served.add(path.name)

    def _look_at_all(self, own: Path) -> None:
        near = {own.name: own}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    path = Path(entry.path)
                    if path.suffix == self._suffix and entry.name[0] != "." and entry.is_file():
                        near[entry.name] = path
        except OSError:
            pass
        for gone in self._files.keys() - near.keys():
            del self._files[gone]
        for path in near.values():
            self._look_at(path, is_own=path.name == own.name)
        self._settle()

    def _look_at(self, path: Path, *, is_own: bool) -> bool:
        """Know what a file holds; False where it holds what it held."""
        state, known = _state_of(path), self._files.get(path.name)
        if known is not None and state is not None and known.state == state:
            return False
        if not is_own:
            is_foreign = state is not None and self._foreign.get(path.name) == state
            if is_foreign or not looks_like(head(path), path):
                self._foreign[path.name] = state
                return self._files.pop(path.name, None) is not None
        now = self._files[path.name] = _Known(index_of(path), state)
        return known is None or known.index != now.index

    def _settle(self) -> None:
        """Work out who gives what, of all that several files hold."""
        names: dict[str, Named] = {}
        for known in self._files.values():
            for trace, named in known.index.names.items():
                names[trace] = min(named, names.get(trace, named))
        self._names = {}
        files_of: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self._files):
            file = self._files[name].index
            groups = dict[str, None]()
            for trace in file.spans:
                best, own = names.get(trace), file.names.get(trace)
                if best is not None and (own is None or own.name != best.name):
                    self._names[trace] = best.name
                groups[trace if best is None else best.name] = None
            for group in groups:
                files_of[group].append(name)
        self._spread = {group: tuple(files) for group, files in files_of.items() if len(files) > 1}


@lru_cache(maxsize=_FOLDERS)
def folder_of(folder: Path, suffix: str) -> Folder:
    """The index of the files of one ending in a folder."""
    return Folder(folder, suffix)


def _time_of(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _state_of(path: Path) -> State | None:
    """A file's size and times, if a later change is sure to give it others; else None."""
    try:
        now = path.stat()
    except OSError:
        return None
    if time.time_ns() - max(now.st_mtime_ns, now.st_ctime_ns) < _COARSEST_CLOCK_NS:
        return None
    return now.st_size, now.st_mtime_ns, now.st_ctime_ns
