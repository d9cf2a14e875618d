"""How files are read, and who is told of what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from turncurve.errors import ReadError

Progress: TypeAlias = Callable[[int, int], None]
"""Told, after each file, how many files are done and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How files are read.

    Attributes:
        format: The reader to use; None lets the content of each file decide.
        condition_from: "folder" takes each run's condition from the folder below the given path.
        rules: YAML file of checkable rules, for adherence.
        output_schema: JSON Schema file, for schema validity.
        prices: Work out the cost of calls whose tokens and model are known and whose cost is not,
            from a kept price table (needs the extra `prices`).
        grades: File of grades that are put beside the turns of a table; see `join_grades`.
            It is never read as traces, though it may lie among them.
        leave_out: Files that are not read, though they may lie among the traces.
    """

    format: str | None = None
    condition_from: Literal["folder"] | None = None
    rules: Path | None = None
    output_schema: Path | None = None
    prices: bool = True
    grades: Path | None = None
    leave_out: tuple[Path, ...] = ()


class Problems:
    """Everything that could not be read, in order.

    Args:
        listener: Told of each problem at once: raises to stop, returns to go on.
    """

    def __init__(self, listener: Callable[[ReadError], None] | None = None) -> None:
        self.found: list[ReadError] = []
        self.stop: BaseException | None = None
        self._listener = listener

    def report(self, problem: ReadError) -> None:
        """Keep a problem and tell the listener; what it raises is kept as `stop`."""
        self.found.append(problem)
        if self._listener is None:
            return
        try:
            self._listener(problem)
        except BaseException as stop:
            self.stop = stop
            raise
