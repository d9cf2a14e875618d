"""Which run a row of a table belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from turncurve.readers.fields import as_float, as_int, as_text

IDENTITY = ("run", "condition", "scenario", "trial")

Key: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class RunIdentity:
    """Which run a row belongs to, learned from a pass over the identifying columns.

    `run` names the run. Where one name is used for rows of several conditions, scenarios or
    trials, each of these is a run of its own. Without `run` these three together name it.
    """

    known: dict[object, Key] = field(default_factory=dict)
    reused: set[object] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    seen: set[Key] = field(default_factory=set)
    scattered: set[Key] = field(default_factory=set)
    last: Key = ()

    def learn(self, row: Mapping[str, Any]) -> None:
        full = _identity(row)
        run, *rest = full
        if not self.last or run != self.last[0]:
            self._start((run,))
        if full != self.last:
            self._start(full)
            self.columns |= {n for n, v in zip(IDENTITY, full, strict=True) if v is not None}
            before = self.known.get(run, (None,) * len(rest))
            if any(a and b and a != b for a, b in zip(before, rest, strict=True)):
                self.reused.add(run)
            self.known[run] = tuple(a or b for a, b in zip(before, rest, strict=True))
        self.last = full

    def _start(self, key: Key) -> None:
        if key in self.seen:
            self.scattered.add(key)
        self.seen.add(key)

    def is_together(self) -> bool:
        """Whether the rows of each run stand together."""
        return not any(len(key) == self._length(key[0]) for key in self.scattered)

    def _length(self, run: object) -> int:
        return 1 if run is not None and run not in self.reused else len(IDENTITY)

    def key(self, row: Mapping[str, Any]) -> Key:
        identity = _identity(row)
        return identity[: self._length(identity[0])]

    def name(self, key: Key, path: Path) -> str:
        if len(key) == 1:
            return str(key[0])
        parts = [
            "-" if value is None else str(value)
            for name, value in zip(IDENTITY, key, strict=True)
            if name in self.columns and not (name == "run" and value is None)
        ]
        return "/".join(parts) or path.name.split(".")[0]


def _identity(row: Mapping[str, Any]) -> Key:
    cell = row.get  # asked of every row twice
    run, condition = given_name(cell("run")), given_name(cell("condition"))
    return run, condition, given_name(cell("scenario")), given_name(cell("trial"))


def given_name(value: object) -> str | None:
    """A name as text; None where it is missing. 1, 1.0 and "1" are one name."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    whole = as_int(value)
    if whole is not None:
        return str(whole)
    if isinstance(value, float) and as_float(value) is None:
        return None
    return as_text(value).strip() or None
