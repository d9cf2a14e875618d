"""Problems in reading, bounded: the first of each kind in each file, and how many there were."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from turncurve.errors import ReadError

SHOWN_OF_A_KIND = 5
"""Problems of one kind in one file that are listed."""
SHOWN_IN_ALL = 1_000
"""Problems, and files with a count, that are listed in all."""
LONGEST_REASON = 500
"""Characters of a reason that are kept."""

_OF_THE_RECORD = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+(?:\.\d+)?")
"""What in a reason belongs to one record: quoted text and numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblems:
    """How many problems one file has, and how many of them are listed."""

    path: str
    n_problems: int
    n_listed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemList:
    """The problems of many files, listed up to a bound and counted in full.

    Attributes:
        listed: The first problems of each kind in each file, in the order in which they were met.
        n_problems: All of them.
        n_files: Files that have one.
        by_file: Files with the most problems first.
    """

    listed: tuple[ReadError, ...]
    n_problems: int
    n_files: int
    by_file: tuple[FileProblems, ...]


def bounded(problems: Sequence[ReadError]) -> ProblemList:
    """The first problems of each kind in each file.

    Two problems are of one kind if their reasons differ in numbers and quoted text alone.
    """
    seen: Counter[tuple[str, str]] = Counter()
    in_file: Counter[str] = Counter()
    listed: list[ReadError] = []
    for problem in problems:
        path = str(problem.path)
        in_file[path] += 1
        kind = (path, _OF_THE_RECORD.sub("", problem.reason[:LONGEST_REASON]))
        seen[kind] += 1
        if seen[kind] <= SHOWN_OF_A_KIND and len(listed) < SHOWN_IN_ALL:
            listed.append(problem)
    shown = Counter(str(problem.path) for problem in listed)
    return ProblemList(
        listed=tuple(listed),
        n_problems=len(problems),
        n_files=len(in_file),
        by_file=tuple(
            FileProblems(path=path, n_problems=n, n_listed=shown[path])
            for path, n in in_file.most_common(SHOWN_IN_ALL)
        ),
    )


def shortened(text: str) -> str:
    """A reason, cut where a record that came into it is long."""
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
