"""Up to which turn a signal is known to keep a target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.axes import bounds_of
from turncurve.analysis.degradation import Frame, lay_out
from turncurve.analysis.quality import scale_of
from turncurve.analysis.settings import Settings
from turncurve.stats.curve import MeanCurve, cell_means, mean_curve, simultaneous_band
from turncurve.stats.estimate import none_if_nan
from turncurve.stats.share_limit import lower_limits
from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerPoint:
    """One bucket of the band: the mean over runs, and its lower limit; None with a single run."""

    start: int
    end: int
    n_runs: int
    n_turns: int
    value: float
    low: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrounding:
    """Up to which turn a signal is known to keep a target.

    Attributes:
        signal: The signal.
        target: What it should keep.
        turn: The last turn to which the lower limit stays at or above the target, a bucket's end.
        at_least: True if the limit never falls below it, so the turn is where the runs end.
        level: Chance that the limit holds in all buckets together.
        bucket: Turns in a bucket.
        n_runs: Runs with a value.
        band: The mean and its lower limit by bucket.
        why: Why there is no turn.
    """

    signal: str
    target: float
    turn: int | None = None
    at_least: bool = False
    level: float
    bucket: int | None = None
    n_runs: int = 0
    band: tuple[LowerPoint, ...] = ()
    why: str | None = None


def regrounding_interval(
    table: TurnTable, *, target: float = 0.9, settings: Settings, signal: str = "adherence"
) -> Regrounding:
    """The last turn to which a signal is known to stay at or above a target.

    The curve by bucket of turns gets a lower limit that holds at all its buckets at once; the
    interval ends with the last bucket before that limit first falls below the target. A bucket with
    fewer than two runs has no limit, and ends the interval.

    On a known scale the limit is that of `stats.share_limit.lower_limits`. A signal without one has
    a one-sided t band, and no limit where all runs of a bucket are equal.

    Args:
        table: Runs with the signal; those of sub-agents are left out.
        target: What the signal should keep, on its own scale.
        settings: Width of the buckets, level, seed and number of resamples; the axis is the turn.
        signal: The signal, one whose high values are good.

    Returns:
        The turn; None, with `why`, if there is no value or the first bucket is below already.

    References:
        Korn & Graubard (1998), Survey Methodology 24:193-201, for the limit on a known scale;
        Westfall & Young (1993), Resampling-Based Multiple Testing, for t limits that hold together.
    """
    level = settings.level
    if signal not in table.columns or np.isnan(table.columns[signal]).all():
        return Regrounding(signal=signal, target=target, level=level, why=f"no turn has {signal}")
    frame = lay_out(table, signal, replace(settings, axis="turn"))
    if len(frame.rows) == 0:
        return Regrounding(signal=signal, target=target, level=level, why=f"no run has {signal}")
    band = _band(frame)
    first_below = next(
        (i for i, point in enumerate(band) if point.low is None or point.low < target), None
    )
    kept = band[:first_below]
    return Regrounding(
        signal=signal,
        target=target,
        turn=kept[-1].end if kept else None,
        at_least=first_below is None,
        level=level,
        bucket=frame.width,
        n_runs=len(np.unique(frame.run)),
        band=band,
        why=None if kept else _why(band[0], target),
    )


def _band(frame: Frame) -> tuple[LowerPoint, ...]:
    curve, lows = _limits(frame)
    points = []
    for i, bucket in enumerate(curve.bucket.tolist()):
        bounds = bounds_of("turn", bucket, frame.width, frame.place.x)
        points.append(
            LowerPoint(
                start=int(bounds.start),
                end=int(bounds.end),
                n_runs=int(curve.n_runs[i]),
                n_turns=int(curve.n_turns[i]),
                value=float(curve.value[i]),
                low=none_if_nan(lows[i]),
            )
        )
    return tuple(points)


def _limits(frame: Frame) -> tuple[MeanCurve, NDArray[np.float64]]:
    settings = frame.settings
    low, high = scale_of(frame.table, frame.signal, settings)
    if low is not None and high is not None:
        shares = lower_limits(
            frame.values,
            frame.run,
            frame.bucket,
            low=low,
            high=high,
            weights=frame.weight,
            level=settings.level,
        )
        curve = mean_curve(frame.values, frame.run, frame.bucket, weights=frame.weight)
        return curve, shares.low
    curve = simultaneous_band(
        cell_means(frame.values, frame.run, frame.bucket, weights=frame.weight),
        rng=np.random.default_rng(settings.seed),
        level=settings.level,
        resamples=settings.resamples,
        side="low",
    )
    return curve, np.where(curve.std_error == 0, np.nan, curve.low)


def _why(first: LowerPoint, target: float) -> str:
    where = (
        f"turn {first.start}" if first.start == first.end else f"turns {first.start} to {first.end}"
    )
    if first.low is None:
        few = "one run gives" if first.n_runs == 1 else f"{first.n_runs} equal runs give"
        return f"{where}: {few} no lower limit"
    return (
        f"at {where} the lower limit is {first.low:.3g} already, below {target:g} "
        f"(mean {first.value:.3g} over {first.n_runs} runs)"
    )
