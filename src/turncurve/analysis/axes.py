"""What a curve can run along, and how that is cut into buckets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.run_lengths import last_turns
from turncurve.analysis.settings import Axis, Settings
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

PARTS_OF_PROGRESS = 10
MOST_PARTS = 1_000
"""Of progress. A run is in every one of them, so their number times that of the runs is held."""
MOST_BUCKETS = 20
MOST_SINGLE_TURNS = 30

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where each turn stands on an axis.

    Attributes:
        x: Shape (n_turns,), NaN for a turn that has no place on it; by progress, where it ends.
        reach: How far along the axis each run was followed; shape (n_runs,), NaN if not at all.
        off_axis: True for runs that can have no place on it; shape (n_runs,).
        reason: Why those runs have none.
        notes: What to know about the axis, in sentences.
    """

    x: FloatArray
    reach: FloatArray
    off_axis: NDArray[np.bool_]
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Turns by bucket, one entry for each pair of a turn and a bucket that it lies in."""

    rows: IntArray
    """Position of the turn in the table."""
    bucket: IntArray
    share: FloatArray
    """Share of the turn that lies in the bucket: above 0, at most 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """First and last place of a bucket; `partial` if the data end before the bucket does."""

    start: float
    end: float
    partial: bool


def place(table: TurnTable, settings: Settings) -> Place:
    """Where each turn stands on the axis that the settings name."""
    return _PLACES[settings.axis](table, settings)


def first_event_turns(table: TurnTable, kind: str) -> FloatArray:
    """The first turn after each run's first event of a kind; shape (n_runs,), NaN without one."""
    chosen = table.events.kind == kind
    first = np.full(table.n_runs, np.nan)
    np.fmin.at(first, table.events.run[chosen], table.events.turn[chosen].astype(np.float64))
    return first


def default_width(axis: Axis, x: FloatArray) -> int:
    """The width that the axis is cut into where nobody says.

    By turn and by offset: single turns up to 30 of them, else the first of 5, 10, 20, 50, 100, ...
    that gives at most 20 buckets. By tokens: the first of 1, 2, 5, 10, ... that gives at most 20.
    By progress: 10 equal parts.
    """
    if axis == "progress":
        return PARTS_OF_PROGRESS
    known = x[~np.isnan(x)]
    if not len(known):
        return 1
    from_zero = axis == "tokens"
    span = float(known.max()) if from_zero else float(known.max() - known.min() + 1)
    if axis == "turn":
        span = float(known.max())
    if not from_zero and span <= MOST_SINGLE_TURNS:
        return 1
    return _round_width(span / MOST_BUCKETS, least=1 if from_zero else 5)


def into_buckets(table: TurnTable, axis: Axis, x: FloatArray, rows: IntArray, width: int) -> Parts:
    """The bucket of each turn; by progress every bucket that it covers a part of.

    Turn t of a run that ends with turn L covers (t - 1) / L to t / L of it, so a run of 4 turns is
    in each of 10 buckets.

    Args:
        table: The runs.
        axis: What they are laid along.
        x: The place of each turn; shape (n_turns,).
        rows: Turns of the table, none of which has NaN as its place.
        width: Width of a bucket in the axis's unit; on "progress" the number of parts.
    """
    if axis == "progress":
        return _parts_of_progress(table, rows, width)
    at = x[rows]
    if axis == "turn":
        bucket = (at - 1) // width
    elif axis == "tokens":
        bucket = np.maximum(np.ceil(at / width) - 1, 0)
    else:
        bucket = at // width
    return Parts(rows=rows, bucket=bucket.astype(np.int64), share=np.ones(len(rows)))


def _parts_of_progress(table: TurnTable, rows: IntArray, n_parts: int) -> Parts:
    """Counted in parts of which a turn has `n_parts` and a bucket as many as the run has turns."""
    length = last_turns(table)[table.run[rows]]
    end = table.turn[rows] * n_parts
    first, last = (end - n_parts) // length, (end - 1) // length
    n_buckets = last - first + 1
    turn = np.repeat(np.arange(len(rows)), n_buckets)
    bucket = first[turn] + np.arange(len(turn)) - (np.cumsum(n_buckets) - n_buckets)[turn]
    start_inside = np.maximum(end[turn] - n_parts, bucket * length[turn])
    end_inside = np.minimum(end[turn], (bucket + 1) * length[turn])
    return Parts(rows=rows[turn], bucket=bucket, share=(end_inside - start_inside) / n_parts)


def bounds_of(axis: Axis, bucket: int, width: int, x: FloatArray) -> Bounds:
    """What a bucket covers, cut to what was observed.

    By turn and by offset both ends belong to the bucket. By tokens and by progress it holds places
    above its start up to its end.
    """
    if axis == "progress":
        return Bounds(start=bucket / width, end=(bucket + 1) / width, partial=False)
    if axis == "tokens":
        end = (bucket + 1) * width
        last = float(x.max())
        return Bounds(start=bucket * width, end=min(end, last), partial=last < end)
    first = bucket * width + (1 if axis == "turn" else 0)
    last = first + width - 1
    start = first if axis == "turn" else max(first, int(x.min()))
    end = min(last, int(x.max()))
    return Bounds(start=start, end=end, partial=start > first or end < last)


def _by_turn(table: TurnTable, settings: Settings) -> Place:  # noqa: ARG001 - one signature for all
    x = table.turn.astype(np.float64)
    return Place(x=x, reach=_highest(table, x), off_axis=np.zeros(table.n_runs, dtype=np.bool_))


def _by_tokens(table: TurnTable, settings: Settings) -> Place:  # noqa: ARG001
    """Context tokens sent up to and with each turn; unknown after a turn whose count is."""
    tokens = table.column("context_tokens")
    x = np.full(len(tokens), np.nan)
    for start, end in pairwise(table.offsets):
        x[start:end] = np.cumsum(tokens[start:end])
    reach = _highest(table, x)
    return Place(
        x=x,
        reach=reach,
        off_axis=np.isnan(reach),
        reason="context tokens of the first turn are not known",
        notes=("The axis adds up the context tokens of all turns so far.",),
    )


def _by_progress(table: TurnTable, settings: Settings) -> Place:  # noqa: ARG001
    last = last_turns(table)
    return Place(
        x=table.turn / last[table.run],
        reach=np.ones(table.n_runs),
        off_axis=np.zeros(table.n_runs, dtype=np.bool_),
        notes=("Progress counts from a run's own length, which is known only once it has ended.",),
    )


def _by_event(table: TurnTable, settings: Settings) -> Place:
    first, chosen = first_event_turns(table, settings.event), table.events.kind == settings.event
    x = table.turn - first[table.run]
    several = int((np.bincount(table.events.run[chosen], minlength=table.n_runs) > 1).sum())
    notes = ["Offset 0 is the first turn after the event."]
    if several:
        notes.append(f"Runs with several such events, of which the first counts: {several}.")
    after, before = _highest(table, x) + 1, _highest(table, -x)
    return Place(
        x=x,
        reach=np.minimum(after, before),
        off_axis=np.isnan(first),
        reason=f"run without the event {settings.event!r}",
        notes=tuple(notes),
    )


_PLACES: Mapping[Axis, Callable[[TurnTable, Settings], Place]] = {
    "turn": _by_turn,
    "tokens": _by_tokens,
    "progress": _by_progress,
    "event": _by_event,
}


def _highest(table: TurnTable, x: FloatArray) -> FloatArray:
    highest = np.full(table.n_runs, -np.inf)
    known = ~np.isnan(x)
    np.maximum.at(highest, table.run[known], x[known])
    highest[np.isinf(highest)] = np.nan
    return highest


def _round_width(wanted: float, *, least: int) -> int:
    """The first of 1, 2, 5, 10, 20, 50, ... that is at least as wide as wanted."""
    width = max(wanted - _ROUNDING, least)
    power = int(10 ** math.floor(math.log10(width)))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width)
