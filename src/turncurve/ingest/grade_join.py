"""Grades of a file put beside the turns that they judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from turncurve.errors import ReadError
from turncurve.ingest.judged import JUDGED
from turncurve.readers.grade_lines import RunLine
from turncurve.readers.graded_turns import BY_RULE
from turncurve.signals.grades import DETAILS
from turncurve.table import RunTable, TurnTable
from turncurve.table.columns import objects

Tell = Callable[[ReadError], None]

CARRIED = ("error", "grade_missing", *DETAILS, "quality", *JUDGED)
"""Columns that a grade file may give."""


def place_of(path: str) -> str:
    """A file's folder and name, by which its runs are met again under another root."""
    return "/".join(Path(path).resolve().parts[-2:])


def join_grades(
    table: TurnTable, graded: TurnTable, origins: Mapping[str, RunLine], tell: Tell
) -> TurnTable:
    """The table with the columns that graders gave, by run and turn.

    A run is met by its file (folder and name), record and agent, and else by its id. Columns that
    the grade file gives replace those of the traces as a whole: grades of two sources are not
    mixed, so a turn that the file does not grade has none.

    Args:
        table: The runs.
        graded: The grade file, read as runs.
        origins: What the grade file says of where each of its runs is from, by id.
        tell: Told of runs and turns of the grade file that are not in the table.
    """
    given = {name for name in CARRIED if not np.isnan(graded.column(name)).all()}
    names = [n for n in CARRIED if n in given or (n in DETAILS and "error" in given)]
    where = _positions(table, graded, origins, tell)
    rows_from, rows_to = _rows(table, graded, where, tell)
    columns = {}
    for name in names:
        column = np.full(len(table.turn), np.nan)
        column[rows_to] = graded.columns[name][rows_from]
        columns[name] = column
    info = {name: JUDGED.get(name) or graded.info[name] for name in names}
    return replace(table.with_columns(columns, info), runs=_runs(table, graded, where, names))


def _positions(
    table: TurnTable, graded: TurnTable, origins: Mapping[str, RunLine], tell: Tell
) -> NDArray[np.int64]:
    """Row in the run table of each graded run; -1, and told, where there is none."""
    runs = table.runs
    by_id = {run: position for position, run in enumerate(runs.id)}
    by_place: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, path in enumerate(runs.path):
        by_place[_origin(path, runs.record[position], runs.agent[position])].append(position)
    found, lost = [], list[str]()
    for run in graded.runs.id:
        origin = origins.get(run)
        position = by_id.get(run, -1)
        if origin is not None:
            there = by_place.get((origin.file, str(origin.record), origin.agent), [])
            if there and position not in there:
                position = there[0] if len(there) == 1 else -1
            if position >= 0 and runs.n_turns[position] < origin.n_turns:
                position = -1
        if position < 0:
            lost.append(run)
        found.append(position)
    if lost:
        _tell_lost(graded, lost, tell)
    return np.array(found, dtype=np.int64)


def _origin(path: str, record: object, agent: str) -> tuple[object, ...]:
    return place_of(path), str(record), agent


def _tell_lost(graded: TurnTable, lost: Sequence[str], tell: Tell) -> None:
    more = f" and {len(lost) - 3:,} more" if len(lost) > 3 else ""
    reason = (
        f"{len(lost):,} of {graded.n_runs:,} graded runs are not among those read, or have fewer "
        f"turns than when they were graded: {', '.join(map(repr, lost[:3]))}{more}"
    )
    fix = "name the traces that were graded, or grade these"
    tell(ReadError(graded.runs.path[0], reason, fix=fix, kept=True))


def _rows(
    table: TurnTable, graded: TurnTable, where: NDArray[np.int64], tell: Tell
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of graded turns, and the rows of the table that they are about."""
    starts = table.offsets
    rows_from, rows_to, n_lost = list[int](), list[int](), 0
    for row, (run, turn) in enumerate(zip(graded.run.tolist(), graded.turn.tolist(), strict=True)):
        position = int(where[run])
        if position < 0:
            continue
        first, end = int(starts[position]), int(starts[position + 1])
        at = first + int(np.searchsorted(table.turn[first:end], turn))
        if at < end and table.turn[at] == turn:
            rows_from.append(row)
            rows_to.append(at)
        else:
            n_lost += 1
    if n_lost:
        reason = f"{n_lost:,} graded turns are not in their runs"
        fix = "the traces have changed since; grade them again"
        tell(ReadError(graded.runs.path[0], reason, fix=fix, kept=True))
    return np.array(rows_from, dtype=np.int64), np.array(rows_to, dtype=np.int64)


def _runs(
    table: TurnTable, graded: TurnTable, where: NDArray[np.int64], names: Sequence[str]
) -> RunTable:
    """Of each run: no reason left for what the grades give, its scale, and who judged."""
    runs = table.runs
    met = where[where >= 0]
    absent = list(runs.absent)
    for position in met.tolist():
        absent[position] = {k: v for k, v in absent[position].items() if k not in names}
    low, high = runs.quality_low.copy(), runs.quality_high.copy()
    if "quality" in names:
        low[met] = graded.runs.quality_low[where >= 0]
        high[met] = graded.runs.quality_high[where >= 0]
    notes = list(runs.notes)
    if "error" in names:
        notes = [tuple(note for note in said if not note.endswith(BY_RULE)) for said in notes]
        for run, position in enumerate(where.tolist()):
            if position >= 0:
                by_rule = [note for note in graded.runs.notes[run] if note.endswith(BY_RULE)]
                notes[position] = (*notes[position], *by_rule)
    return replace(
        runs,
        absent=objects(absent),
        quality_low=low,
        quality_high=high,
        notes=objects(notes),
    )
