"""Lists that grow with files and runs, cut in the report's JSON, and what was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_ROWS = 1_000
"""Entries of a list with one entry a file, condition, exit or run."""
MOST_EVENTS = 10_000
"""Entries of the list of events, which has one a kind and turn."""

_FIRST = "the first"
_MOST = "those of most runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A list that is not whole.

    Attributes:
        listed: Entries that are there.
        of: Entries there would be.
        rule: Which are there: "the first" in the order of the runs, or "those of most runs".
    """

    listed: int
    of: int
    rule: str


def cut(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Cut]]:
    """The report's JSON data with long lists cut, and by name which were.

    Counts are never cut: `n_spirals`, `n_alarmed` and the like are of all runs.
    """
    kept, told = dict(document), _Told()
    for name in ("inputs", "unread"):
        kept[name] = told.first(name, kept[name], MOST_ROWS)
    kept["events"] = told.first("events", kept["events"], MOST_EVENTS)
    kept["conditions"] = told.most("conditions", kept["conditions"])
    kept["summary"] = _with_exits(kept["summary"], told)
    repetition = kept["repetition"]
    spirals = told.first("repetition.spirals", repetition["spirals"], MOST_ROWS)
    kept["repetition"] = {**repetition, "spirals": spirals}
    kept["trends"] = [
        {**each, "alarms": told.first(f"trends.{each['signal']}.alarms", each["alarms"], MOST_ROWS)}
        for each in kept["trends"]
    ]
    return kept, told.cuts


class _Told:
    """Cuts lists and keeps what it cut."""

    def __init__(self) -> None:
        self.cuts: dict[str, Cut] = {}

    def first(self, name: str, rows: Sequence[Any], most: int) -> list[Any]:
        if len(rows) > most:
            self.cuts[name] = Cut(listed=most, of=len(rows), rule=_FIRST)
        return list(rows[:most])

    def most(self, name: str, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        if len(rows) <= MOST_ROWS:
            return list(rows)
        self.cuts[name] = Cut(listed=MOST_ROWS, of=len(rows), rule=_MOST)
        return sorted(rows, key=lambda row: -row["n_runs"])[:MOST_ROWS]


def _with_exits(summary: Mapping[str, Any], told: _Told) -> dict[str, Any]:
    exits = summary["exits"]
    counted = [{"text": text, "n_runs": n} for text, n in exits.items()]
    kept = told.most("summary.exits", counted)
    return {**summary, "exits": {row["text"]: row["n_runs"] for row in kept}}
