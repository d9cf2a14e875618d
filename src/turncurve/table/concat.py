"""Several turn tables as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turncurve.table.columns import SignalInfo
from turncurve.table.turn_table import CallTable, EventTable, RunTable, TurnTable


def concat(tables: Sequence[TurnTable]) -> TurnTable:
    """The runs of several tables in one, in their order; a column that one lacks is NaN there.

    Ids are taken as they stand: whoever puts tables together settles them.
    """
    if len(tables) == 1:
        return tables[0]
    n_runs = np.cumsum([0, *(table.n_runs for table in tables)])
    n_rows = np.cumsum([0, *(len(table.turn) for table in tables)])
    return TurnTable(
        runs=RunTable(**_joined(RunTable, [table.runs for table in tables], {})),
        run=_shifted([table.run for table in tables], n_runs),
        turn=end_to_end([table.turn for table in tables], np.int64),
        columns={name: _column(tables, name, n_rows) for name in _names(tables)},
        calls=CallTable(**_joined(CallTable, [table.calls for table in tables], {"row": n_rows})),
        events=EventTable(
            **_joined(EventTable, [table.events for table in tables], {"run": n_runs})
        ),
        info=_info(tables),
    )


def split(table: TurnTable, n_turns: int) -> Iterator[TurnTable]:
    """The table in parts of whole runs, each of about so many turns or runs."""
    size = np.maximum(table.offsets[1:], np.arange(1, table.n_runs + 1))
    part = (size - 1) // (2 * n_turns)
    if not len(part) or part[0] == part[-1]:
        yield table
        return
    for number in np.unique(part):
        yield table.take_runs(np.flatnonzero(part == number))


def _names(tables: Sequence[TurnTable]) -> list[str]:
    return list(dict.fromkeys(name for table in tables for name in table.columns))


def _info(tables: Sequence[TurnTable]) -> Mapping[str, SignalInfo]:
    info: dict[str, SignalInfo] = {}
    for table in tables:
        for name, one in table.info.items():
            info.setdefault(name, one)
    return info


def _column(tables: Sequence[TurnTable], name: str, starts: NDArray[Any]) -> NDArray[np.float64]:
    column = np.full(int(starts[-1]), np.nan)
    for table, start in zip(tables, starts.tolist(), strict=False):
        if name in table.columns:
            column[start : start + len(table.turn)] = table.columns[name]
    return column


def _joined(
    kind: type[RunTable | CallTable | EventTable],
    parts: Sequence[RunTable | CallTable | EventTable],
    shift: Mapping[str, NDArray[Any]],
) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for field in fields(kind):
        arrays = [getattr(part, field.name) for part in parts]
        if field.name in shift:
            columns[field.name] = _shifted(arrays, shift[field.name])
        else:
            columns[field.name] = np.concatenate(arrays) if arrays else np.array([])
    return columns


def _shifted(arrays: Sequence[NDArray[np.int64]], by: NDArray[Any]) -> NDArray[np.int64]:
    return end_to_end([a + s for a, s in zip(arrays, by.tolist(), strict=False)], np.int64)


def end_to_end(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Several arrays as one; of none, an empty one of the given type."""
    return np.concatenate(arrays) if arrays else np.array([], dtype=dtype)
