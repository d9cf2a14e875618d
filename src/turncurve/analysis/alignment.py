"""A step at an event that comes at another turn in each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.suite import Suite
from turncurve.errors import InvariantError, UnknownEventError
from turncurve.signals import SIGNALS
from turncurve.stats.mean import mean_with_interval
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

WIDTHS = (1, 3)
"""Turns before and after the event that a step compares."""
SHOWN = 5
"""Offsets shown on either side."""
N_PLACEBOS = 1_999
_OF_THE_END = frozenset({"limit", "error", "exit"})
"""Kinds that say how a run ended: nothing follows them, and they are outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetStep:
    """The mean change from the `width` turns before the event to those from it on.

    Attributes:
        width: Turns on either side.
        delta: Mean over units (scenarios where they repeat, else runs) of their runs' own changes.
        std_error: Its standard error.
        low: Lower limit, by t over the units.
        high: Upper limit.
        n_runs: Runs with a value on both sides.
        placebo_p: Chance of a change as large where the same turns are dealt out to other runs.
    """

    width: int
    delta: float
    std_error: float | None
    low: float | None
    high: float | None
    n_runs: int
    placebo_p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStep:
    """The largest change over the same runs by turn index, from `width` turns to the next ones."""

    width: int
    turn: int
    delta: float
    n_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetPoint:
    """The mean of runs at so many turns from the event; offset 0 is the first turn after it."""

    offset: int
    value: float
    n_runs: int
    n_missing: int
    """Runs with the event that have no value at this offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStep:
    """The step at an event, and the same change as the turn index shows it.

    Attributes:
        event: Kind of the event; its first occurrence in each run counts.
        step_by_turn: The largest step by turn index among the runs with the event, from one turn
            to the next.
        step_by_offset: The step at the event, with one turn on either side.
        steps_by_turn: The first for each width.
        steps_by_offset: The second for each width.
        sharpens: Whether the step at the event is larger than the one by turn index, by the widest
            sides that both have; the latter is the largest of many, so that a tie says the former.
        curve: Means by offset.
        n_runs: Runs with the event and a turn before and after it.
        n_excluded: Runs without the event, or without a turn on both sides.
        excluded: The same by reason.
        n_multiple: Runs in which it happened more than once.
    """

    event: str
    step_by_turn: TurnStep | None
    step_by_offset: OffsetStep | None
    steps_by_turn: tuple[TurnStep, ...]
    steps_by_offset: tuple[OffsetStep, ...]
    sharpens: bool | None
    curve: tuple[OffsetPoint, ...]
    n_runs: int
    n_excluded: int
    excluded: Mapping[str, int]
    n_multiple: int


def event_kinds(table: TurnTable) -> tuple[str, ...]:
    """Kinds of events that can be aligned on, the most frequent first."""
    kinds, counts = np.unique(table.events.kind.astype(str), return_counts=True)
    pairs = sorted(zip(-counts, kinds.tolist(), strict=True))
    return tuple(kind for _, kind in pairs if kind not in _OF_THE_END)


def event_step(
    suite: Suite, table: TurnTable, event: str, *, rng: np.random.Generator, level: float = 0.95
) -> EventStep:
    """Line the runs up on an event, and compare the turns before it with those after.

    The event must be one that the trace records. A pivot taken from the scores (each run's worst
    step, say) makes a drop out of noise and is refused.

    Args:
        suite: Runs of the table, with buckets of one turn.
        table: For the events.
        event: Its kind.
        rng: Source of the placebos.
        level: Confidence level.

    Raises:
        UnknownEventError: No run has such an event.
        InvariantError: The event is a score, or the end of a run; or buckets hold several turns.
    """
    _check(suite, table, event)
    rows = suite.run >= 0
    runs, unit = suite.run[rows], np.nonzero(rows)[1].astype(np.int64)
    values, last = suite.values[rows], suite.n_turns[rows]
    pivot, times = _pivots(table, event, runs)
    usable = (pivot > 1) & (pivot <= last)
    steps = tuple(
        found
        for width in WIDTHS
        if (found := _step(values[usable], pivot[usable], unit[usable], width, (rng, level)))
    )
    by_turn = tuple(
        step for width in WIDTHS if (step := _by_turn(values[usable], width)) is not None
    )
    sharpens = None
    if steps and len(by_turn) == len(steps):
        sharpens = bool(abs(steps[-1].delta) >= abs(by_turn[-1].delta))
    excluded = {
        f"no {event}": int((pivot == 0).sum()),
        "no turn before it": int(((pivot == 1) & (pivot <= last)).sum()),
        "no turn after it": int((pivot > last).sum()),
    }
    return EventStep(
        event=event,
        step_by_turn=by_turn[0] if by_turn else None,
        step_by_offset=steps[0] if steps else None,
        steps_by_turn=by_turn,
        steps_by_offset=steps,
        sharpens=sharpens,
        curve=_curve(values[usable], pivot[usable]),
        n_runs=int(usable.sum()),
        n_excluded=int((~usable).sum()),
        excluded={reason: n for reason, n in excluded.items() if n},
        n_multiple=int((times > 1).sum()),
    )


def _check(suite: Suite, table: TurnTable, event: str) -> None:
    if event in _OF_THE_END:
        raise InvariantError(f"cannot align on {event!r}: it ends the run, so no turn follows it")
    if suite.bucket != 1:
        raise InvariantError("cannot align buckets of several turns on an event")
    kinds = table.events.kind.astype(str)
    if event in kinds:
        return
    if event in SIGNALS.names() or event in table.columns:
        raise InvariantError(
            f"cannot align on {event!r}: it is a score. Runs lined up on their own scores show a "
            "drop where there is none; name an event that the traces record"
        )
    seen = {kind: len(np.unique(table.events.run[kinds == kind])) for kind in np.unique(kinds)}
    raise UnknownEventError(event, seen)


def _pivots(table: TurnTable, event: str, runs: IntArray) -> tuple[IntArray, IntArray]:
    """First turn after the event's first occurrence in each run (0 for none), and how often."""
    chosen = table.events.kind == event
    first = np.full(table.n_runs, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(first, table.events.run[chosen], table.events.turn[chosen])
    times = np.bincount(table.events.run[chosen], minlength=table.n_runs)
    return np.where(times > 0, first, 0)[runs], times[runs]


def _step(
    values: FloatArray,
    pivot: IntArray,
    unit: IntArray,
    width: int,
    chance: tuple[np.random.Generator, float],
) -> OffsetStep | None:
    rng, level = chance
    own = _changes(values, pivot, width)
    known = ~np.isnan(own)
    if not known.any():
        return None
    means = _unit_means(own[known], unit[known])
    mean = mean_with_interval(means, level=level)
    return OffsetStep(
        width=width,
        delta=mean.value,
        std_error=mean.std_error,
        low=mean.low,
        high=mean.high,
        n_runs=int(known.sum()),
        placebo_p=_placebo_p(values, pivot, unit, width, (rng, mean.value)),
    )


def _changes(values: FloatArray, pivot: IntArray, width: int) -> FloatArray:
    """Each run's mean over the turns from its pivot on, less that over the turns before."""
    sides = []
    for offsets in (range(width), range(-width, 0)):
        turns = pivot[:, None] + np.array(offsets) - 1
        inside = (turns >= 0) & (turns < values.shape[1])
        side = np.take_along_axis(values, np.clip(turns, 0, values.shape[1] - 1), axis=1)
        inside &= ~np.isnan(side)
        n = inside.sum(axis=1)
        total = np.where(inside, side, 0.0).sum(axis=1)
        sides.append(np.where(n > 0, total / np.where(n > 0, n, 1), np.nan))
    return np.asarray(sides[0] - sides[1])


def _unit_means(values: FloatArray, unit: IntArray) -> FloatArray:
    _, at = np.unique(unit, return_inverse=True)
    return np.asarray(np.bincount(at.ravel(), weights=values) / np.bincount(at.ravel()))


def _placebo_p(
    values: FloatArray,
    pivot: IntArray,
    unit: IntArray,
    width: int,
    chance: tuple[np.random.Generator, float],
) -> float | None:
    """Chance of as large a change where the pivots are dealt out anew."""
    rng, observed = chance
    turns, dealt = np.unique(pivot, return_inverse=True)
    if len(turns) < 2:
        return None
    # Every run's change at every pivot is worked out once; dealing chooses among them.
    order = np.argsort(unit, kind="stable")
    changes = np.stack(
        [_changes(values[order], np.full(len(values), turn), width) for turn in turns], axis=1
    )
    starts = np.flatnonzero(np.r_[True, np.diff(unit[order]) != 0])
    floor, n_large, n_done = abs(observed) * (1 - 1e-9), 0, 0
    for n in _blocks(len(values)):
        hands = rng.permuted(np.tile(dealt.ravel(), (n, 1)), axis=1)
        own = changes[np.arange(len(order)), hands]
        known = ~np.isnan(own)
        counts = np.add.reduceat(known, starts, axis=1, dtype=np.float64)
        sums = np.add.reduceat(np.where(known, own, 0.0), starts, axis=1)
        n_units = (counts > 0).sum(axis=1)
        total = (sums / np.where(counts > 0, counts, 1)).sum(axis=1)
        usable = n_units > 0
        n_done += int(usable.sum())
        n_large += int((np.abs(total[usable] / n_units[usable]) >= floor).sum())
    return (1 + n_large) / (1 + n_done) if n_done else None


def _blocks(n_runs: int) -> list[int]:
    """How many placebos to deal at once."""
    at_once = max(1, min(N_PLACEBOS, 2_000_000 // max(n_runs, 1)))
    whole, rest = divmod(N_PLACEBOS, at_once)
    return [at_once] * whole + [rest] * (rest > 0)


def _by_turn(values: FloatArray, width: int) -> TurnStep | None:
    """The largest change at a turn that half of the runs have."""
    best = None
    for turn in range(width + 1, values.shape[1] - width + 2):
        own = _changes(values, np.full(len(values), turn), width)
        own = own[~np.isnan(own)]
        if len(own) < max(1, len(values) / 2):
            continue
        delta = float(own.mean())
        if best is None or abs(delta) > abs(best.delta):
            best = TurnStep(width=width, turn=turn, delta=delta, n_runs=len(own))
    return best


def _curve(values: FloatArray, pivot: IntArray) -> tuple[OffsetPoint, ...]:
    points = []
    for offset in range(-SHOWN, SHOWN + 1):
        turn = pivot + offset - 1
        inside = (turn >= 0) & (turn < values.shape[1])
        at = values[np.flatnonzero(inside), turn[inside]]
        known = at[~np.isnan(at)]
        if len(known):
            n_missing = len(pivot) - len(known)
            mean = float(known.mean())
            points.append(
                OffsetPoint(offset=offset, value=mean, n_runs=len(known), n_missing=n_missing)
            )
    return tuple(points)


Session: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def align_on_event(sessions: Sequence[Session], event: str) -> dict[str, Any]:
    """The mean score by the number of turns from an event, from plain records.

    Args:
        sessions: One entry a session: its turns, in order, each a mapping with `score` (or
            `quality`; None for a turn without one) and, at the first turn after an event, `events`
            (the names of what happened before it) or `event` (one name). A mapping with `turns`
            will do, as will one with `scores` (by turn) and `events` (name to the first turn after
            it, counted from 1).
        event: Name of the event; its first occurrence counts.

    Returns:
        `by_offset`: offset to `{"mean", "n"}`, where offset 0 is the first turn after the event;
        `step`: mean over sessions of the score at offset 0 less that at -1, None where no session
        has both; `n_total`, `n_no_event`, `n_multiple`, and `n_missing`: sessions with the event
        that lack one of the two scores.
    """
    read = [_session(session, event) for session in sessions]
    with_event = [(scores, at) for scores, at, _ in read if at]
    offsets: dict[int, list[float]] = {}
    steps = []
    for scores, at in with_event:
        for turn, score in enumerate(scores, start=1):
            if score is not None:
                offsets.setdefault(turn - at, []).append(score)
        before = scores[at - 2] if 2 <= at <= len(scores) + 1 else None
        after = scores[at - 1] if at <= len(scores) else None
        if before is not None and after is not None:
            steps.append(after - before)
    return {
        "by_offset": {
            offset: {"mean": float(np.mean(values)), "n": len(values)}
            for offset, values in sorted(offsets.items())
        },
        "step": float(np.mean(steps)) if steps else None,
        "n_total": len(read),
        "n_no_event": len(read) - len(with_event),
        "n_multiple": sum(times > 1 for _, _, times in read),
        "n_missing": len(with_event) - len(steps),
    }


def _session(session: Session, event: str) -> tuple[list[float | None], int, int]:
    """Scores by turn, the first turn after the event (0 for none), and how often it happened."""
    if isinstance(session, Mapping) and "scores" in session:
        at = dict(session.get("events") or {}).get(event)
        return list(session["scores"]), int(at or 0), int(at is not None)
    turns = session["turns"] if isinstance(session, Mapping) else session
    scores = [turn.get("score", turn.get("quality")) for turn in turns]
    marked = [
        number
        for number, turn in enumerate(turns, start=1)
        if event in (turn.get("events") or ()) or turn.get("event") == event
    ]
    return scores, marked[0] if marked else 0, len(marked)
