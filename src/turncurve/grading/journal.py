"""A grade file that is being written: each answer is on disk before it counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from turncurve.errors import GradeError
from turncurve.ingest.append_file import AppendFile, open_append
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

FIRST_WORDS = b'{"kind":"session","turncurve_grades":'


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

    def __init__(self, file: AppendFile) -> None:
        super().__init__()
        self._file = file

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
        self._file.append(encoded(line))
        self.add(line)


@contextmanager
def open_journal(path: Path, session: SessionLine) -> Iterator[FileJournal]:
    """A grade file for one writer alone, made where there is none.

    Raises:
        ReadError: The file is something else, cannot be written, or another process writes to it.
        GradeError: It was graded with another rubric text, budget or grader.
    """
    with open_append(
        path,
        "grade file",
        is_own=lambda start: looks_like(start, path),
        first_words=FIRST_WORDS,
        is_line=_is_line,
    ) as file:
        journal = held(path, FileJournal(file))
        if journal.session is not None:
            check_same(path, journal.session, session)
        journal.add_session(session)
        yield journal


H = TypeVar("H", bound=Held)


def held(path: Path, into: H) -> H:
    """The answers of a grade file; a line that is none is passed over."""
    for _, line in json_lines(path, lambda _: None, type=Line):
        if why_no_line(line) is None:
            into.add(line)
    return into


def _is_line(text: bytes) -> bool:
    try:
        decoded(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def check_same(path: Path, before: SessionLine, now: SessionLine) -> None:
    """See that grades of this session may stand beside those of the last one."""
    differ = [*_differences(before, now)]
    if differ:
        raise GradeError(
            f"{path} was graded otherwise: {'; '.join(differ)}. Grades of two kinds are not "
            "comparable: name another file"
        )


def _restating(session: SessionLine) -> str:
    by = session.restated_by
    if by is None:
        return "objectives as the turns say them"
    return f"objectives restated by {by.grader} with the parameters {by.parameters}"


def _differences(before: SessionLine, now: SessionLine) -> Iterator[str]:
    was, is_ = before.rubric, now.rubric
    if before.restated_by != now.restated_by:
        yield f"with {_restating(before)}, not with {_restating(now)}"
    elif (was.name, was.version) != (is_.name, is_.version):
        yield f"with the rubric {was.name}@{was.version}, not {is_.name}@{is_.version}"
    elif was.digest != is_.digest:
        yield (
            f"with another text of the rubric {was.name}@{was.version} (raise the version when "
            "its words change)"
        )
    elif was.construct != is_.construct:
        yield f"with graders who knew: {was.construct}, not: {is_.construct}"
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
