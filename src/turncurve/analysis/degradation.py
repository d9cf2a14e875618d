"""The degradation curve: how a signal changes within a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.axes import (
    MOST_PARTS,
    Place,
    bounds_of,
    default_width,
    into_buckets,
    place,
)
from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import (
    NO_TURN,
    SUBAGENT,
    own_runs,
    repeats_scenarios,
    scenario_codes,
)
from turncurve.analysis.quality import scale_of
from turncurve.analysis.settings import Axis, Settings
from turncurve.errors import UnknownNameError
from turncurve.stats.curve import MeanCurve, mean_curve, within_scale
from turncurve.stats.estimate import none_if_nan
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Panel: TypeAlias = Literal["active", "balanced"]
"""All runs that reach a bucket, or only those long enough for every bucket."""
Unit: TypeAlias = Literal["run", "scenario"]
Segment: TypeAlias = Literal["with_compaction", "without_compaction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One bucket: the mean over runs of each run's mean there; None where it has no interval."""

    start: float
    end: float
    n_runs: int
    n_turns: int
    """Turns with a value."""
    value: float
    std_error: float | None
    low: float | None
    high: float | None
    partial: bool
    """The data end before the bucket does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A signal along an axis, by bucket. Buckets without any value are left out.

    Attributes:
        signal: The signal's name.
        estimand: What the values estimate, in a sentence.
        axis: What the curve runs along.
        panel: Which runs it is over.
        segment: Which part of each run; None for all of it.
        unit: What the interval takes as independent.
        bucket: Width of a bucket in the axis's unit; on "progress" the number of parts.
        min_turns: How far a run of the balanced panel must reach, in the axis's unit.
        level: Confidence level of each point's interval, by itself.
        n_runs: Runs with a value somewhere on the curve.
        excluded: Reason to number of runs left out; with `n_runs` they add up to all runs.
        warnings: What to know before reading the curve, in sentences.
    """

    signal: str
    estimand: str
    axis: Axis
    panel: Panel
    segment: Segment | None = None
    unit: Unit = "run"
    bucket: int
    min_turns: float | None = None
    level: float
    n_runs: int
    excluded: Mapping[str, int]
    points: tuple[CurvePoint, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A signal laid out along an axis: the turns that have both a value and a place, by bucket.

    Arrays of shape (n_rows,), one entry for each pair of a turn and a bucket that it lies in;
    `rows` holds the turns' positions in the table.
    """

    table: TurnTable
    signal: str
    settings: Settings
    place: Place
    width: int
    rows: NDArray[np.int64]
    run: NDArray[np.int64]
    bucket: NDArray[np.int64]
    values: FloatArray
    weight: FloatArray
    """How much the turn weighs within its run and bucket: above 0."""
    eligible: BoolArray
    """Shape (n_runs,): runs that the curve may be over."""
    excluded: Mapping[str, int]


def degradation_curve(
    table: TurnTable,
    signal: str,
    *,
    settings: Settings | None = None,
    panel: Panel = "active",
    unit: Unit = "run",
) -> Curve:
    """A signal's mean by bucket: over runs, of each run's mean within the bucket.

    Within a run's bucket a rate is over all that its turns count in its denominator; other signals
    are means over turns. By progress a turn counts in each bucket by the part of it there. Every
    run weighs the same in a bucket, and the interval is a t interval over runs. Runs of
    sub-agents are left out: they belong to their parents. The balanced panel keeps the runs that
    reach at least as far as half of all runs do, and cuts the curve there, so that every point is
    over the same runs, missing values apart; it removes change of composition, and is itself
    misleading where low quality makes runs end.

    Args:
        table: The runs.
        signal: A column of the table.
        settings: Axis, bucket and level.
        panel: "active" for all runs that reach a bucket; "balanced" for the same runs throughout.
        unit: "scenario" makes the interval that of a population of scenarios, by a cluster-robust
            standard error (CR2); runs without a scenario stand for themselves.

    Raises:
        UnknownNameError: The table has no such column.
        ValueError: The bucket is below 1, or on "progress" above 1,000.
    """
    frame = lay_out(table, signal, settings or Settings())
    if panel == "active":
        return curve_over(frame, np.ones(len(frame.rows), dtype=np.bool_), unit=unit)
    return _balanced(frame, unit)


def lay_out(table: TurnTable, signal: str, settings: Settings) -> Frame:
    """Find the turns that have a value and a place on the axis, and their buckets."""
    if signal not in table.columns:
        raise UnknownNameError("signal", signal, table.columns)
    if settings.bucket is not None and settings.bucket < 1:
        raise ValueError(f"bucket: wanted at least 1, got {settings.bucket!r}")
    if settings.axis == "progress" and (settings.bucket or 0) > MOST_PARTS:
        raise ValueError(f"bucket: wanted at most {MOST_PARTS:,} parts, got {settings.bucket!r}")
    own = own_runs(table)
    placed = place(table, settings)
    column, weight = table.columns[signal], turn_weights(table, signal)
    known = own[table.run] & ~np.isnan(column) & (weight > 0) & ~np.isnan(placed.x)
    rows = np.flatnonzero(known)
    width = settings.bucket or default_width(settings.axis, placed.x[own[table.run]])
    with_value = np.zeros(table.n_runs, dtype=np.bool_)
    with_value[table.run[rows]] = True
    without_turn = own & (table.runs.n_turns == 0)
    off_axis = own & ~without_turn & placed.off_axis
    reasons = {
        SUBAGENT: ~own,
        NO_TURN: without_turn,
        placed.reason: off_axis,
        "run without a value of the signal": own & ~without_turn & ~off_axis & ~with_value,
    }
    parts = into_buckets(table, settings.axis, placed.x, rows, width)
    return Frame(
        table=table,
        signal=signal,
        settings=settings,
        place=placed,
        width=width,
        rows=parts.rows,
        run=table.run[parts.rows],
        bucket=parts.bucket,
        values=column[parts.rows],
        weight=weight[parts.rows] * parts.share,
        eligible=with_value,
        excluded=excluded_counts(reasons),
    )


def turn_weights(table: TurnTable, signal: str) -> FloatArray:
    """How much each turn weighs in a signal's mean over turns of one run: a rate's denominator.

    1 where turns weigh the same, as they do in a run that gives the rate of its turns and of no
    turn the denominator. Else NaN or 0 where the turn has no denominator, and so no value.

    Returns:
        Shape (n_turns,).
    """
    info = table.info.get(signal)
    weight = table.columns.get(info.weight) if info and info.weight else None
    if weight is None:
        return np.ones(len(table.turn))
    counted = ~np.isnan(table.columns[signal]) & (weight > 0)
    told = np.bincount(table.run[counted], minlength=table.n_runs) > 0
    weights: FloatArray = np.where(told[table.run], weight, 1.0)
    return weights


def curve_over(
    frame: Frame,
    chosen: BoolArray,
    *,
    panel: Panel = "active",
    segment: Segment | None = None,
    unit: Unit = "run",
    min_turns: float | None = None,
) -> Curve:
    """The curve over some of a frame's rows; `chosen` has shape (n_rows,)."""
    used = np.zeros(frame.table.n_runs, dtype=np.bool_)
    used[frame.run[chosen]] = True
    repeated = repeats_scenarios(frame.table, used)
    curve = fitted(frame, chosen, unit)
    excluded = dict(frame.excluded)
    left_out = int((frame.eligible & ~used).sum())
    if left_out:
        excluded[_LEFT_OUT[panel if segment is None else segment]] = left_out
    return Curve(
        signal=frame.signal,
        estimand=_estimand(frame, panel, segment),
        axis=frame.settings.axis,
        panel=panel,
        segment=segment,
        unit=unit,
        bucket=frame.width,
        min_turns=min_turns,
        level=frame.settings.level,
        n_runs=int(used.sum()),
        excluded=excluded,
        points=_points(frame, curve),
        warnings=(
            *frame.place.notes,
            *_warnings(curve),
            *(_repeated(frame, chosen, curve) if repeated and unit == "run" else ()),
        ),
    )


def fitted(frame: Frame, chosen: BoolArray, unit: Unit) -> MeanCurve:
    """The mean by bucket of the chosen rows of a frame, with limits within the signal's scale."""
    run = frame.run[chosen]
    curve = mean_curve(
        frame.values[chosen],
        run,
        frame.bucket[chosen],
        weights=frame.weight[chosen],
        cluster=scenario_codes(frame.table)[run] if unit == "scenario" else None,
        level=frame.settings.level,
    )
    return within_scale(curve, *scale_of(frame.table, frame.signal, frame.settings))


_LEFT_OUT = {
    "active": "run without a value of the signal",
    "balanced": "run that ends too early for the balanced panel",
    "with_compaction": "run without a compaction",
    "without_compaction": "run that starts with a compaction",
}


def _balanced(frame: Frame, unit: Unit) -> Curve:
    reaches = np.sort(frame.place.reach[frame.eligible])[::-1]
    if len(reaches) < 2:
        nothing = np.zeros(len(frame.rows), dtype=np.bool_)
        return curve_over(frame, nothing, panel="balanced", unit=unit)
    far = float(reaches[max(1, (len(reaches) + 1) // 2 - 1)])
    x = frame.place.x[frame.rows]
    inside = (x >= -far) & (x < far) if frame.settings.axis == "event" else x <= far
    chosen = (frame.place.reach[frame.run] >= far) & inside
    return curve_over(frame, chosen, panel="balanced", unit=unit, min_turns=far)


def _points(frame: Frame, curve: MeanCurve) -> tuple[CurvePoint, ...]:
    x = frame.place.x[~np.isnan(frame.place.x)]
    points = []
    for i, bucket in enumerate(curve.bucket.tolist()):
        bounds = bounds_of(frame.settings.axis, bucket, frame.width, x)
        points.append(
            CurvePoint(
                start=bounds.start,
                end=bounds.end,
                n_runs=int(curve.n_runs[i]),
                n_turns=int(curve.n_turns[i]),
                value=float(curve.value[i]),
                std_error=None if np.isnan(curve.low[i]) else float(curve.std_error[i]),
                low=none_if_nan(curve.low[i]),
                high=none_if_nan(curve.high[i]),
                partial=bounds.partial,
            )
        )
    return tuple(points)


_AXIS_WORDS = {
    "turn": "by turn",
    "tokens": "by context tokens sent so far",
    "progress": "by share of the run",
    "event": "by turns since the event",
}


def _estimand(frame: Frame, panel: Panel, segment: Segment | None) -> str:
    runs = {
        "active": "the runs that are still going",
        "balanced": "the runs that reach the end of the curve",
    }[panel]
    part = {
        None: "",
        "with_compaction": ", from the bucket of their first compaction on",
        "without_compaction": ", before the bucket of their first compaction",
    }[segment]
    words = _AXIS_WORDS[frame.settings.axis]
    return f"Mean {frame.signal} {words}, over {runs}{part}; every run weighs the same in a bucket."


def _warnings(curve: MeanCurve) -> tuple[str, ...]:
    n, warnings = len(curve.bucket), []
    alone = int((curve.n_units < 2).sum())
    if alone:
        where = "No bucket has" if alone == n else f"In {alone} of {n} buckets there is not"
        warnings.append(
            f"{where} a second run, so no interval: the turns of one run are no replicates."
        )
    agreed = int(((curve.n_units > 1) & np.isnan(curve.low)).sum())
    if agreed:
        where = "In every bucket" if agreed == n else f"In {agreed} of {n} buckets"
        warnings.append(
            f"{where} all runs have the same value, so no interval: how far runs differ can't be "
            "told from runs that don't."
        )
    return tuple(warnings)


def _repeated(frame: Frame, chosen: BoolArray, by_run: MeanCurve) -> tuple[str]:
    by_scenario = fitted(frame, chosen, "scenario")
    both = (by_run.std_error > 0) & (by_scenario.std_error > 0)
    ratio = by_scenario.std_error[both] / by_run.std_error[both]
    wider = f" (standard errors x{np.median(ratio):.2f}, median over buckets)" if len(ratio) else ""
    return (
        "Scenarios repeat: the interval says what re-running this suite would give. For other "
        f"scenarios of the kind, take the scenario as the unit{wider}.",
    )
