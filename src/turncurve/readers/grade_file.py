"""A grade file folded: of each turn the answers that count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

from turncurve.errors import ReadError
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import MOST_TURNS
from turncurve.readers.grade_lines import GradeLine, Line, RunLine, SessionLine
from turncurve.readers.stream import json_lines

K = TypeVar("K")

Voter: TypeAlias = tuple[str, int]
"""A grader and which of its samples."""


@dataclass(slots=True, kw_only=True)
class GradeFile:
    """What the lines of a grade file come to.

    Of several answers of one voter to one turn the last grade counts, and a missing one only where
    no grade came.
    """

    session: SessionLine | None = None
    """The last one."""
    runs: dict[str, RunLine] = field(default_factory=dict)
    turns: dict[str, dict[int, dict[Voter, GradeLine]]] = field(default_factory=dict)
    """Answers by run, turn and voter."""
    anchors: dict[str, dict[tuple[str, Voter], GradeLine]] = field(default_factory=dict)
    """Answers on floor and ceiling by run."""
    records: dict[str, int] = field(default_factory=dict)
    """Line at which each run first stands."""

    def add(self, number: int, line: Line) -> None:
        """Take in the next line."""
        if isinstance(line, SessionLine):
            self.session = line
            return
        self.records.setdefault(line.run, number)
        if isinstance(line, RunLine):
            self.runs[line.run] = line
            return
        voter = (line.grader, line.sample)
        if line.anchor == "restated":
            return
        if line.anchor is not None:
            _keep(self.anchors.setdefault(line.run, {}), (line.anchor, voter), line)
        else:
            of_turn = self.turns.setdefault(line.run, {}).setdefault(line.turn, {})
            _keep(of_turn, voter, line)

    def run_ids(self) -> list[str]:
        """All runs, in the order in which they first stand in the file."""
        return list(self.records)

    def votes(self, lines: Iterable[GradeLine]) -> list[GradeLine]:
        """Of some answers those of the last session's panel and settings, in the panel's order."""
        found = list(lines)
        if self.session is None:
            return found
        asked = [m.grader for m in self.session.panel]
        most = {m.grader: m.samples for m in self.session.panel}
        counted = [
            line
            for line in found
            if line.settings == self.session.settings and line.sample <= most.get(line.grader, 0)
        ]
        return sorted(counted, key=lambda line: (asked.index(line.grader), line.sample))

    def n_asked(self, votes: Sequence[GradeLine]) -> int:
        """Votes that a turn is to have; as many as it has where no session line says so."""
        return len(votes) if self.session is None else self.session.n_asked


def _keep(of: dict[K, GradeLine], key: K, line: GradeLine) -> None:
    known = of.get(key)
    if known is None or known.answer is None or line.answer is not None:
        of[key] = line


def read_grade_file(path: Path, on_problem: OnProblem) -> GradeFile:
    """Fold a grade file; a line that is none is told, and the others count."""
    file = GradeFile()
    for number, line in json_lines(path, on_problem, type=Line):
        reason = why_no_line(line)
        if reason is None:
            file.add(number, line)
        else:
            on_problem(ReadError(path, reason, record=number, fix="the other lines were read"))
    return file


def why_no_line(line: Line) -> str | None:
    """What is wrong with a line of the right shape; None if nothing is."""
    if isinstance(line, SessionLine):
        whole = line.panel and all(member.samples >= 1 for member in line.panel)
        return None if whole else "wanted a panel of graders with at least one sample each"
    if not line.run:
        return "wanted the id of a run, got ''"
    return _why_no_grade(line) if isinstance(line, GradeLine) else None


def _why_no_grade(line: GradeLine) -> str | None:
    if not 1 <= line.turn <= MOST_TURNS:
        return f"wanted a turn from 1 to {MOST_TURNS:,}, got {line.turn}"
    if (line.answer is None) == (line.missing is None):
        return "wanted either an answer or why it is missing"
    return None
