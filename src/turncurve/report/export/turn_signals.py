"""What is known of each turn of a run, beside the run itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from turncurve.table import TurnTable


class TurnSignals:
    """Looks up a run's rows of a table by its id.

    Args:
        table: A table with every signal.
    """

    def __init__(self, table: TurnTable) -> None:
        self._table = table
        self._position = {name: i for i, name in enumerate(table.runs.id.tolist())}
        self._offsets = table.offsets.tolist()

    def __contains__(self, run: str) -> bool:
        return run in self._position

    def rows(self, run: str) -> range:
        """The table's rows of a run; empty for a run that is not in it."""
        position = self._position.get(run)
        if position is None:
            return range(0)
        return range(self._offsets[position], self._offsets[position + 1])

    def of_run(self, run: str) -> Iterator[Mapping[str, float]]:
        """The signals of each turn, by name, without those that are missing."""
        rows = self.rows(run)
        columns = {
            name: column[rows.start : rows.stop].tolist()
            for name, column in self._table.columns.items()
        }
        for i in range(len(rows)):
            given = {name: values[i] for name, values in columns.items()}
            yield {name: value for name, value in given.items() if not math.isnan(value)}
