"""A grade file that is being written: each answer is on disk before it counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from turncurve.errors import GradeError, ReadError
from turncurve.ingest.lock import take_lock
from turncurve.readers.grade_file import why_no_line
from turncurve.readers.grade_lines import (
    GradeLine,
    Line,
    RunLine,
    SessionLine,
    decoded,
    encoded,
)
from turncurve.readers.grades import looks_like
from turncurve.readers.stream import json_lines


class Journal(Protocol):
    """Where answers are kept."""

    def had(self, key: str) -> GradeLine | None:
        """The answer of this name, without its raw reply; None if there is none."""

    def holds(self, key: str, run: str) -> bool:
        """Whether the answer of this name stands under this run."""

    def add_run(self, line: RunLine) -> None:
        """Say what is known of a run, once."""

    def write(self, line: GradeLine) -> None:
        """Keep an answer, or why there is none; it is safe when this returns."""


class Held:
    """The answers of some lines, by name."""

    def __init__(self) -> None:
        self._had: dict[str, GradeLine] = {}
        self._held: set[tuple[str, str]] = set()
        self.runs: dict[str, RunLine] = {}
        self.session: SessionLine | None = None

    def had(self, key: str) -> GradeLine | None:
        return self._had.get(key)

    def holds(self, key: str, run: str) -> bool:
        return (key, run) in self._held

    def add(self, line: Line) -> None:
        """Take in a line; a missing grade is none, so it is tried again."""
        if isinstance(line, SessionLine):
            self.session = line
        elif isinstance(line, RunLine):
            self.runs[line.run] = line
        elif line.answer is not None:
            self._had[line.key] = msgspec.structs.replace(line, raw="")
            self._held.add((line.key, line.run))


class MemoryJournal(Held):
    """Answers that are kept while a program runs."""

    def add_run(self, line: RunLine) -> None:
        self.add(line)

    def write(self, line: GradeLine) -> None:
        self.add(line)


class FileJournal(Held):
    """Answers in a grade file; see `open_journal`."""

    def __init__(self, path: Path, handle: int) -> None:
        super().__init__()
        self.path = path
        self._handle = handle

    def add_run(self, line: RunLine) -> None:
        if self.runs.get(line.run) != line:
            self._append(line)

    def write(self, line: GradeLine) -> None:
        self._append(line)

    def add_session(self, line: SessionLine) -> None:
        """Say who grades from here on, where that is not what the file says already."""
        if self.session is None or msgspec.structs.replace(self.session, at=line.at) != line:
            self._append(line)

    def _append(self, line: Line) -> None:
        data = memoryview(encoded(line))
        while data:
            data = data[os.write(self._handle, data) :]
        os.fsync(self._handle)
        self.add(line)


@contextmanager
def open_journal(path: Path, session: SessionLine) -> Iterator[FileJournal]:
    """A grade file for one writer alone, made where there is none.

    What a process that was killed left unfinished at its end is removed: that answer had not been
    counted yet.

    Raises:
        ReadError: The file is something else, cannot be written, or another process writes to it.
        GradeError: It was graded with another rubric text, budget or grader.
    """
    try:
        file = path.open("a+b", buffering=0)
    except OSError as problem:
        raise ReadError(path, f"cannot be written: {problem.strerror}") from problem
    with file:
        take_lock(file, path, "grade file")
        file.seek(0)
        start = file.read(65_536)
        if start and not looks_like(start, path):
            fix = "name a new file, or one that turncurve grade made"
            if not _is_unfinished_start(start):
                raise ReadError(path, "the file is no grade file", fix=fix)
        _mend_end(file.fileno())
        journal = FileJournal(path, file.fileno())
        for _, line in json_lines(path, lambda _: None, type=Line):
            if why_no_line(line) is None:
                journal.add(line)
        if journal.session is not None:
            _check(path, journal.session, session)
        journal.add_session(session)
        _sync_folder(path)
        yield journal


def _is_unfinished_start(start: bytes) -> bool:
    """Whether a process was killed while it wrote the file's first line."""
    return b"\n" not in start and b'{"kind":"session","turncurve_grades":'.startswith(start)


def _mend_end(handle: int) -> None:
    """Have the file end with a whole line."""
    size = os.fstat(handle).st_size
    end = bytearray()
    at = size
    while at > 0 and b"\n" not in end:
        step = min(65_536, at)
        at -= step
        end[:0] = os.pread(handle, step, at)
    last = end[end.rfind(b"\n") + 1 :]
    if not last:
        return
    try:
        decoded(bytes(last))
    except (msgspec.DecodeError, RecursionError):
        os.ftruncate(handle, size - len(last))
    else:
        os.write(handle, b"\n")


def _check(path: Path, before: SessionLine, now: SessionLine) -> None:
    """See that grades of this session may stand beside those of the last one."""
    differ = [*_differences(before, now)]
    if differ:
        raise GradeError(
            f"{path} was graded otherwise: {'; '.join(differ)}. Grades of two kinds are not "
            "comparable: name another file"
        )


def _differences(before: SessionLine, now: SessionLine) -> Iterator[str]:
    was, is_ = before.rubric, now.rubric
    if (was.name, was.version) != (is_.name, is_.version):
        yield f"with the rubric {was.name}@{was.version}, not {is_.name}@{is_.version}"
    elif was.digest != is_.digest:
        yield (
            f"with another text of the rubric {was.name}@{was.version} (raise the version when "
            "its words change)"
        )
    elif before.context_tokens != now.context_tokens:
        yield f"with --context-tokens {before.context_tokens}, not {now.context_tokens}"
    elif before.settings != now.settings:
        yield "with prompts of another version of turncurve"
    there = {member.grader: member.parameters for member in now.panel}
    for member in before.panel:
        if member.grader not in there:
            yield f"by {member.grader}, who is not in the panel now"
        elif member.parameters != there[member.grader]:
            yield f"by {member.grader} with the parameters {member.parameters}"


def _sync_folder(path: Path) -> None:
    handle = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
