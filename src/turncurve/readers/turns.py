"""Tables of per-turn records: JSON lines, a JSON list, CSV or Parquet, one row a turn, many runs.

A first pass reads only the columns that say which run a row belongs to. Where the rows of each run
stand together, the second pass holds one run at a time; where they do not, it holds the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import Event, ExitType, Run, Turn, Usage, usage_with_cache_inside
from turncurve.readers._plain_turns import plain_columns
from turncurve.readers._row_identity import IDENTITY, Key, RunIdentity, given_name
from turncurve.readers._rows import Columns, Row, rows
from turncurve.readers._turn_table import is_turn_table, lacks_turn
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import (
    LARGEST,
    MOST_TOKENS,
    MOST_TURNS,
    as_float,
    as_int,
    as_json,
    parse_time,
)
from turncurve.table.plain import PlainRuns

_TEXT = ("run", "condition", "scenario", "action", "started_at")
_SHARES = ("error", "adherence", "format_error")
"""Measures that are a share, or true or false."""
_TOKENS = ("context_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
_OWN = frozenset(
    (
        *("turn", *IDENTITY, *_TEXT, *_TOKENS),
        *("quality", "tool_error", "schema_valid", "cost_usd", "seconds", "compaction", "success"),
    )
)
_COLUMNS = Columns(known=_OWN | {*_SHARES}, text=frozenset(_TEXT))
_EXPECTED = (
    *("quality", "error", *_TOKENS, "cost_usd", "tool_error", "schema_valid"),
    *("started_at", "seconds", "format_error"),
)
_INTERLEAVED = "the rows of runs are interleaved, so the whole file was held in memory"
_UNNAMED = re.compile(r"|Unnamed: \d+|__index_level_\d+__")
_NO_TIME = re.compile(r"\s*(?:nan|-[0-9.]+|0(?:\.0*)?)?\s*", re.IGNORECASE)
"""What a writer leaves when it knows no time: nothing, or a number of 0 or below."""
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_NO_COUNTER = "is it a time or a row's id? `turn` counts the model calls of one run, from 1"
_ADD_ONE = (
    "turns count from 1: add 1 to every `turn` of the file if it counts from 0, "
    "or leave the row out if it is the state before the first model call"
)


def _read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    identity = RunIdentity()
    for _, row in rows(path, _second_pass_tells, _COLUMNS, only=IDENTITY):
        identity.learn(row)
    is_together, n_rows = identity.is_together(), 0
    for key, group in _groups(path, on_problem, identity, is_together=is_together):
        n_rows += len(group)
        run = _run(identity.name(key, path), group, path, on_problem)
        if run and is_together:
            yield run
        elif run:
            yield replace(run, notes=(*run.notes, _INTERLEAVED))
    if not n_rows:
        fix = "wanted one row a turn, with a column `turn`"
        on_problem(ReadError(path, "the file has no row that could be read", fix=fix))


def _read_plain(path: Path) -> PlainRuns | None:
    """The runs of JSON lines in columns, where nothing in them is out of the ordinary."""
    found = plain_columns(path)
    if found is None:
        return None
    columns, arrays = found
    told: list[ReadError] = []
    rows: list[Row] = [*columns.first_rows()]
    sample = _run(str(rows[0][1]["run"]), rows, path, told.append)
    if sample is None or told or sample.notes:
        return None
    return columns.runs(sample, arrays)


def _second_pass_tells(_: ReadError) -> None:
    """The first pass meets the same problems."""


def _groups(
    path: Path, on_problem: OnProblem, identity: RunIdentity, *, is_together: bool
) -> Iterator[tuple[Key, list[Row]]]:
    held: dict[Key, list[Row]] = {}
    for number, row in rows(path, on_problem, _COLUMNS):
        key = identity.key(row)
        if is_together and key not in held:
            yield from held.items()
            held = {}
        held.setdefault(key, []).append((number, row))
    yield from held.items()


def _run(name: str, group: list[Row], path: Path, on_problem: OnProblem) -> Run | None:
    """The run of these rows; None where not one has a usable turn, which has then been told."""
    by_turn = _by_turn(name, group, path, on_problem)
    if not by_turn:
        return None
    cells = [_Cells(row, number, path, on_problem) for _, (number, row) in sorted(by_turn.items())]
    measures, ignored = _measures(cells), set[str]()
    turns = tuple(
        _turn(index, one, measures, ignored)
        for index, one in zip(sorted(by_turn), cells, strict=True)
    )
    compacted = [one.flag("compaction") for one in cells]
    success = _success(name, cells)
    absent = absent_signals(turns, {n: f"the file gives no `{n}` for this run" for n in _EXPECTED})
    if all(flag is None for flag in compacted):
        absent["compaction"] = "the file gives no `compaction` for this run"
    return Run(
        id=name,
        turns=turns,
        format="turns",
        path=str(path),
        record=min(one.record for one in cells),
        scenario=_first(cells, "scenario"),
        trial=_trial(cells),
        condition=_first(cells, "condition"),
        exit_type=ExitType.SUCCESS_FINISH if success else ExitType.UNKNOWN,
        success=success,
        events=tuple(
            Event(kind="compaction", turn=turn.index)
            for turn, flag in zip(turns, compacted, strict=True)
            if flag
        ),
        absent=absent,
        notes=_notes(ignored, by_turn),
    )


def _by_turn(name: str, group: list[Row], path: Path, on_problem: OnProblem) -> dict[int, Row]:
    by_turn: dict[int, Row] = {}
    for number, row in group:
        index, fix = as_int(row.get("turn")), None
        if index is not None and 1 <= index <= MOST_TURNS and index not in by_turn:
            by_turn[index] = (number, row)
            continue
        if row.get("turn") is None:
            reason = "wanted a column `turn` with a number from 1, got none"
        elif _is_above(row["turn"], MOST_TURNS):
            reason = f"wanted a `turn` of at most {MOST_TURNS:,}, got {row['turn']!r:.80}"
            fix = _NO_COUNTER
        elif index is None or index < 0:
            reason = f"wanted a whole number from 1 as `turn`, got {row['turn']!r:.80}"
        elif index == 0:
            reason, fix = f"turn 0 of run {name!r} was not read", _ADD_ONE
        else:
            reason = f"turn {index} of run {name!r} stands already in record {by_turn[index][0]}"
            fix = "that first one was read"
        on_problem(ReadError(path, reason, record=number, fix=fix))
    return by_turn


def _is_above(value: object, most: int) -> bool:
    """Whether a cell is a number above a limit, however large."""
    return isinstance(value, int | float | Decimal) and value > most


@dataclass(frozen=True, slots=True)
class _Cells:
    """One row, asked by column; a cell of the wrong kind is told and reads as missing."""

    row: Mapping[str, Any]
    record: int
    path: Path
    on_problem: OnProblem

    def number(self, name: str, *, least: float = -LARGEST, most: float = LARGEST) -> float | None:
        value = self.row.get(name)
        if value is None:
            return None
        number = _number(value)
        if number is not None and least <= number <= most:
            return number
        if not _is_nan(value):
            self.unusable(name, _wanted(value, number, least, most), value)
        return None

    def count(self, name: str) -> int | None:
        value = self.row.get(name)
        if type(value) is int and 0 <= value <= MOST_TOKENS:
            return value
        number = self.number(name, least=0, most=MOST_TOKENS - 1)
        return None if number is None else round(number)

    def flag(self, name: str) -> bool | None:
        value = self.row.get(name)
        number = _truth(value)
        if number in (0, 1):
            return bool(number)
        if value is not None and not _is_nan(value):
            self.unusable(name, "true or false, or 1 or 0,", value)
        return None

    def share(self, name: str) -> float | None:
        value = self.row.get(name)
        number = _truth(value)
        if number is not None and 0 <= number <= 1:
            return number
        if value is not None and not _is_nan(value):
            self.unusable(name, "true or false, or a share from 0 to 1,", value)
        return None

    def unusable(self, name: str, kind: str, value: object) -> None:
        reason = f"wanted {kind} as `{name}`, got {value!r:.80}"
        fix = "read as missing"
        self.on_problem(ReadError(self.path, reason, record=self.record, fix=fix, kept=True))


def _wanted(value: object, number: float | None, least: float, most: float) -> str:
    """What a cell should have held; limits that no one meets are named where they are left."""
    if _is_numeric(value) and (number is None or number > most):
        return f"a number from {least:g} to {most:.4g}"
    return "a number" if least == -LARGEST else f"a number from {least:g}"


def _is_numeric(value: object) -> bool:
    return isinstance(value, int | float | Decimal)


def _truth(value: object) -> float | None:
    """A number, or true and false as 1 and 0; None for anything else."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return _number(value)


def _number(value: object) -> float | None:
    number = as_float(value)
    if number is None and isinstance(value, bool | Decimal):
        return as_float(float(value))
    return number


def _is_nan(value: object) -> bool:
    return isinstance(value, float | Decimal) and value != value  # noqa: PLR0124 - true of NaN alone


def _measures(cells: list[_Cells]) -> list[str]:
    """The columns that a run's rows have beyond the format's own, in the order they come."""
    names = dict.fromkeys(name for one in cells for name in one.row)
    return [name for name in names if name not in _OWN and not _UNNAMED.fullmatch(name)]


def _turn(index: int, cells: _Cells, measures: list[str], ignored: set[str]) -> Turn:
    values = _values(cells)
    for name in measures:
        value = cells.row.get(name)
        is_share = name in _SHARES
        if _is_numeric(value) or (is_share and _truth(value) is not None):
            number = cells.share(name) if is_share else cells.number(name)
            if number is not None:
                values[name] = number
        elif value is not None:
            ignored.add(name)
    return Turn(
        index=index,
        usage=_usage(cells),
        cost_usd=cells.number("cost_usd", least=0),
        started_at=_started_at(cells),
        seconds=cells.number("seconds", least=0),
        action=_action(cells.row.get("action")),
        values=values,
        record=cells.record,
    )


def _started_at(cells: _Cells) -> float | None:
    """When the turn began; a number of 0 or below is no time, and no fault either."""
    given = cells.row.get("started_at")
    time = parse_time(given.isoformat() if isinstance(given, date) else given)
    if time is None and given is not None and not _NO_TIME.fullmatch(str(given)):
        cells.unusable("started_at", "a time (ISO 8601, or seconds since 1970)", given)
    return time


def _values(cells: _Cells) -> dict[str, float]:
    """The signals that the format itself knows as columns, as far as a row gives them."""
    known = {
        "quality": cells.number("quality"),
        "tool_error": cells.share("tool_error"),
        "schema_valid": cells.flag("schema_valid"),
    }
    return {name: float(value) for name, value in known.items() if value is not None}


def _usage(cells: _Cells) -> Usage | None:
    context, cached, output, reasoning = map(cells.count, _TOKENS)
    if context is None and output is None:
        return None
    return usage_with_cache_inside(
        input_tokens=context,
        cached=cached if context is not None else None,
        output=output,
        reasoning=reasoning,
    )


def _action(value: object) -> str | None:
    """An action's key: its text, or the JSON of an action that is an object."""
    if value is None or isinstance(value, str):
        return value or None
    return as_json(value)


def _first(cells: list[_Cells], name: str) -> str | None:
    given = (given_name(one.row.get(name)) for one in cells)
    return next((value for value in given if value is not None), None)


def _trial(cells: list[_Cells]) -> int | None:
    one = next((one for one in cells if given_name(one.row.get("trial")) is not None), None)
    if one is None:
        return None
    text = given_name(one.row["trial"]) or ""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        one.unusable("trial", "a whole number of at most 18 digits", text)
        return None
    return int(text)


def _success(name: str, cells: list[_Cells]) -> bool | None:
    """The run's outcome; rows that contradict each other leave it unknown."""
    given = [(one.flag("success"), one) for one in cells]
    known = [(flag, one) for flag, one in given if flag is not None]
    if not known:
        return None
    success = known[0][0]
    for flag, one in known:
        if flag is not success:
            reason = (
                f"run {name!r} has success {success} in record {known[0][1].record}, here {flag}"
            )
            fix = "its success is read as unknown: give all rows of a run the same"
            one.on_problem(ReadError(one.path, reason, record=one.record, fix=fix, kept=True))
            return None
    return success


def _notes(ignored: set[str], by_turn: Mapping[int, Row]) -> tuple[str, ...]:
    notes = []
    if ignored:
        notes.append(f"columns that hold no numbers were left out: {', '.join(sorted(ignored))}")
    if list(by_turn) != sorted(by_turn):
        notes.append("the rows stood out of order and were sorted by turn")
    return tuple(notes)


READER = Reader(
    name="turns",
    title="table of per-turn records (JSON lines, CSV, Parquet)",
    recognised_by="a column or key `turn`",
    looks_like=is_turn_table,
    near_miss=lacks_turn,
    read=_read,
    read_plain=_read_plain,
)
