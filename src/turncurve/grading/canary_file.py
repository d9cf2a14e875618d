"""The file of a canary: its steps with their prompts, and the answers of every round."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import msgspec

from turncurve.grading.journal import Held, check_same
from turncurve.ingest.append_file import AppendFile, open_append
from turncurve.readers.grade_lines import GradeLine, RunLine, SessionLine
from turncurve.readers.stream import json_lines

_FIRST_WORDS = b'{"kind":"canary","session":'


class CanaryLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="canary"):
    """The first line: what the steps are graded with."""

    session: SessionLine


class StepLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="step"):
    """One step: where it is from, and all that a grader is sent about it."""

    run: str
    turn: int
    system: str
    parts: tuple[str, ...]


class StepsLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="steps"):
    """Stands after the last step: the set is whole."""

    n_steps: int


class RoundLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="round"):
    """Stands after the last answer of a round."""

    number: int
    at: float
    """Seconds since 1970, UTC."""


_Line: TypeAlias = CanaryLine | StepLine | StepsLine | RoundLine | GradeLine
_decoder: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


class CanaryFile(Held):
    """A canary's steps, rounds and answers; a journal of the session that grades it."""

    def __init__(self, path: Path, file: AppendFile) -> None:
        super().__init__()
        self.path = path
        self._file = file
        self.first: SessionLine | None = None
        self.rounds: list[RoundLine] = []
        self._steps: list[StepLine] = []
        self._is_whole = False

    @property
    def steps(self) -> list[StepLine]:
        """The steps; none where making the set was broken off."""
        return self._steps if self._is_whole else []

    def take(self, line: _Line) -> None:
        """Take in a line of the file."""
        if isinstance(line, CanaryLine):
            self.first = line.session
        elif isinstance(line, StepLine):
            self._steps.append(line)
        elif isinstance(line, StepsLine):
            self._steps = self._steps[-line.n_steps :] if line.n_steps else []
            self._is_whole = True
        elif isinstance(line, RoundLine):
            self.rounds.append(line)
        else:
            self.add(line)

    def add_run(self, line: RunLine) -> None:
        """A canary keeps nothing of runs but their steps."""

    def write(self, line: GradeLine) -> None:
        self._append(line)

    def add_round(self, line: RoundLine) -> None:
        """Say that a round is complete."""
        self._append(line)

    def add_steps(self, steps: Iterable[StepLine]) -> None:
        """Set the steps, once."""
        made = list(steps)
        for step in made:
            self._append(step)
        self._append(StepsLine(n_steps=len(made)))

    def key(self, number: int, step: StepLine, grader: str, sample: int) -> str:
        """The name of an answer: each round asks anew."""
        asked = [number, step.run, step.turn, step.system, step.parts, grader, sample]
        return blake2b(json.dumps(asked).encode(), digest_size=16).hexdigest()

    def _append(self, line: _Line) -> None:
        self._file.append(msgspec.json.encode(line) + b"\n")
        self.take(line)


@contextmanager
def open_canary(path: Path, session: SessionLine) -> Iterator[CanaryFile]:
    """A canary file for one writer alone, made where there is none.

    Raises:
        ReadError: The file is something else, cannot be written, or another process writes to it.
        GradeError: It was made with another rubric text, budget or grader.
    """
    with open_append(
        path,
        "canary file",
        is_own=lambda start: start.startswith(_FIRST_WORDS),
        first_words=_FIRST_WORDS,
        is_line=_is_line,
    ) as file:
        canary = CanaryFile(path, file)
        for _, line in json_lines(path, lambda _: None, type=_Line):
            canary.take(line)
        if canary.first is None:
            file.append(msgspec.json.encode(CanaryLine(session=session)) + b"\n")
            canary.first = session
        check_same(path, canary.first, session)
        yield canary


def _is_line(text: bytes) -> bool:
    try:
        _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
