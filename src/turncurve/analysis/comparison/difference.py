"""The difference of two conditions by turn, and over turns, paired by scenario."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.margin import (
    MarginState,
    NonInferiority,
    margin_state,
    noninferiority,
)
from turncurve.analysis.comparison.pairs import Cells
from turncurve.analysis.comparison.settings import CompareSettings
from turncurve.analysis.comparison.suite_error import SuiteError, suite_error
from turncurve.stats.estimate import Estimate, absent, none_if_nan
from turncurve.stats.mean import mean_with_interval
from turncurve.stats.paired_curve import MIN_PAIRS, PairedCurve, paired_curve

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

AGREE = "the pairs do not differ from one another, which gives no interval"
_AREA = "Mean over turns of the difference b - a, over other scenarios of the kind."


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencePoint:
    """Both conditions at one bucket, over the scenarios that have a value in both.

    Errors and limits are over scenarios: would others of the kind agree? `suite` alone has trials
    as its units.

    Attributes:
        start: First turn.
        end: Last turn.
        n_pairs: Scenarios with a value in both.
        n_a_only: Scenarios with a value in a alone.
        n_b_only: Scenarios with a value in b alone.
        n_runs_a: Runs of a behind the pairs.
        n_runs_b: Runs of b.
        reach_a: Share of a's runs that get there, scenarios weighing the same.
        reach_b: Share of b's.
        a: Mean over the pairs' scenarios, each the mean of its runs; None with `reason`.
        a_low: Lower limit of this bucket by itself.
        a_high: Upper limit.
        b: Mean of b.
        b_low: Lower limit of this bucket by itself.
        b_high: Upper limit.
        difference: b - a.
        std_error: Its standard error over scenarios.
        df: Degrees of freedom.
        low: Lower limit of this bucket by itself: the naive band.
        high: Upper limit.
        band_low: Lower limit that holds at all buckets, and for the mean over turns, at once.
        band_high: Upper limit.
        p: Two-sided, as if this bucket had been chosen beforehand.
        p_adjusted: Two-sided, for the smallest of the whole family.
        suite: The error of running these scenarios again; None with `no_suite`.
        no_suite: Why there is none.
        margin: What the band says of the stated margin; None where none was stated.
        reason: Why there is no difference, or no interval.
    """

    start: int
    end: int
    n_pairs: int
    n_a_only: int
    n_b_only: int
    n_runs_a: int
    n_runs_b: int
    reach_a: float
    reach_b: float
    a: float | None
    a_low: float | None
    a_high: float | None
    b: float | None
    b_low: float | None
    b_high: float | None
    difference: float | None
    std_error: float | None
    df: float | None
    low: float | None
    high: float | None
    band_low: float | None
    band_high: float | None
    p: float | None
    p_adjusted: float | None
    suite: SuiteError | None
    no_suite: str | None
    margin: MarginState | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The difference b - a by turn and over turns.

    Attributes:
        points: One a bucket.
        horizon: Last turn of the mean over turns; None where no bucket has enough pairs.
        area: Mean of the difference over the buckets up to the horizon. Its own interval is for
            this mean chosen beforehand.
        area_band_low: Lower limit of the mean that holds together with all buckets.
        area_band_high: Upper limit.
        area_p_adjusted: Its p within the family.
        area_suite: Would running these scenarios again agree on the mean? Over runs that have a
            value at every turn up to the horizon; None with `no_area_suite`.
        no_area_suite: Why there is none.
        n_tested: Members of the family: buckets with enough pairs, and the mean over turns.
        n_resamples: Draws behind the band; None where it is Bonferroni's.
        noninferiority: None where no margin was stated.
        bucket: Turns in a bucket.
        level: Level of the intervals, and of the band as a whole.
    """

    points: tuple[DifferencePoint, ...]
    horizon: int | None
    area: Estimate
    area_band_low: float | None
    area_band_high: float | None
    area_p_adjusted: float | None
    area_suite: SuiteError | None
    no_area_suite: str | None
    n_tested: int
    n_resamples: int | None
    noninferiority: NonInferiority | None
    bucket: int
    level: float


def difference_of(
    cells: Cells, settings: CompareSettings, *, better: str | None, last_turn: int
) -> Difference:
    """The difference of two conditions at each bucket and over all, with one band for both.

    Args:
        cells: The signal of both.
        settings: Horizon, margin, level, seed and draws.
        better: Good direction of the signal, for the margin.
        last_turn: Last turn of the longest run, where the last bucket ends.
    """
    a, b = cells.of_scenarios()
    d = b - a
    horizon = horizon_of(d, cells.bucket, settings.horizon)
    means = area_by_scenario(d, horizon)
    curve = paired_curve(
        np.column_stack([d, means]),
        rng=np.random.default_rng([settings.seed, 1]),
        level=settings.level,
        resamples=settings.resamples,
    )
    suite, no_suite = _suite_over_turns(
        cells, np.flatnonzero(curve.n[:horizon] >= MIN_PAIRS), settings
    )
    last = min(horizon * cells.bucket, last_turn) if horizon else None
    points = tuple(_points(cells, curve, settings, better, last_turn))
    held = [(p.difference, p.low, p.high, p.margin) for p in points[:horizon]]
    return Difference(
        points=points,
        horizon=last,
        area=_area(means, cells, settings, last),
        area_band_low=none_if_nan(curve.band_low[-1]),
        area_band_high=none_if_nan(curve.band_high[-1]),
        area_p_adjusted=none_if_nan(curve.p_adjusted[-1]),
        area_suite=suite,
        no_area_suite=no_suite,
        n_tested=curve.n_tested,
        n_resamples=curve.n_resamples,
        noninferiority=noninferiority(held, settings.margin, better),
        bucket=cells.bucket,
        level=settings.level,
    )


def horizon_of(differences: FloatArray, bucket: int, turn: int | None) -> int:
    """Buckets up to the horizon: to the stated turn, or the last that half of the pairs reach.

    0 where no bucket has enough pairs.
    """
    n = (~np.isnan(differences)).sum(axis=0)
    n_pairs = int((~np.isnan(differences)).any(axis=1).sum())
    need = MIN_PAIRS if turn is not None else max(MIN_PAIRS, -(-n_pairs // 2))
    buckets = np.arange(1, len(n) + 1)
    inside = buckets <= (len(n) if turn is None else -(-turn // bucket))
    enough = np.flatnonzero((n >= need) & inside)
    return int(enough[-1]) + 1 if len(enough) else 0


def area_by_scenario(differences: FloatArray, horizon: int) -> FloatArray:
    """What each scenario adds to the mean over buckets of the mean differences; shape (S,).

    The mean of these is the mean over buckets, of those with enough pairs, of the difference
    curve; their spread is its spread over scenarios. For scenarios that are all in every bucket
    they are the scenarios' own means over buckets. NaN for a scenario without a pair.
    """
    d = differences[:, :horizon]
    known = ~np.isnan(d)
    n = known.sum(axis=0)
    used = n >= MIN_PAIRS
    d, known, n = d[:, used], known[:, used], n[used]
    some = known.any(axis=1)
    if not some.any():
        return np.full(len(differences), np.nan)
    mean = np.where(known, d, 0.0).sum(axis=0) / n
    off = np.where(known, d - mean, 0.0) * (some.sum() / n)
    return np.where(some, mean.mean() + off.mean(axis=1), np.nan)


def _area(
    means: FloatArray, cells: Cells, settings: CompareSettings, horizon: int | None
) -> Estimate:
    if horizon is None:
        why = f"at no turn have {MIN_PAIRS} scenarios a value in both"
        return absent(_AREA, why, level=settings.level)
    mean = mean_with_interval(means, level=settings.level)
    used = ~np.isnan(means)
    runs = [(run[:, used] >= 0).sum() for run in (cells.a_run, cells.b_run)]
    return Estimate(
        estimand=_AREA,
        value=mean.value,
        std_error=mean.std_error,
        low=mean.low,
        high=mean.high,
        level=settings.level,
        method=f"mean over turns 1 to {horizon} of the differences by bucket, t over scenarios",
        df=mean.df,
        n_runs=int(sum(runs)),
        n_clusters=mean.n,
        assumptions=("runs of one trial share nothing but the list of scenarios",),
        warnings=() if mean.low is not None else (AGREE,),
    )


def _points(
    cells: Cells, curve: PairedCurve, settings: CompareSettings, better: str | None, last_turn: int
) -> Iterable[DifferencePoint]:
    a, b = cells.of_scenarios()
    has = [np.asarray(~np.isnan(x).all(axis=0)) for x in (cells.a, cells.b)]
    reach = [share.mean(axis=0) for share in cells.reach()]
    for i in range(a.shape[1]):
        paired = ~np.isnan(a[:, i])
        enough = curve.n[i] >= MIN_PAIRS
        first, second = (
            mean_with_interval(x[paired, i], level=settings.level) if enough else None
            for x in (a, b)
        )
        suite, no_suite = (
            suite_error(cells.a[:, :, i], cells.b[:, :, i], cells.by, settings.level)
            if enough
            else (None, _few(curve.n[i]))
        )
        yield DifferencePoint(
            start=i * cells.bucket + 1,
            end=min((i + 1) * cells.bucket, last_turn),
            n_pairs=int(curve.n[i]),
            n_a_only=int((has[0][:, i] & ~paired).sum()),
            n_b_only=int((has[1][:, i] & ~paired).sum()),
            n_runs_a=int((~np.isnan(cells.a[:, paired, i])).sum()),
            n_runs_b=int((~np.isnan(cells.b[:, paired, i])).sum()),
            reach_a=float(reach[0][i]),
            reach_b=float(reach[1][i]),
            a=None if first is None else first.value,
            a_low=None if first is None else first.low,
            a_high=None if first is None else first.high,
            b=None if second is None else second.value,
            b_low=None if second is None else second.low,
            b_high=None if second is None else second.high,
            difference=none_if_nan(curve.value[i]),
            std_error=none_if_nan(curve.std_error[i]),
            df=int(curve.n[i]) - 1 if enough else None,
            low=none_if_nan(curve.low[i]),
            high=none_if_nan(curve.high[i]),
            band_low=none_if_nan(curve.band_low[i]),
            band_high=none_if_nan(curve.band_high[i]),
            p=none_if_nan(curve.p[i]),
            p_adjusted=none_if_nan(curve.p_adjusted[i]),
            suite=suite,
            no_suite=no_suite,
            margin=_margin(curve, i, settings.margin, better) if enough else None,
            reason=_few(curve.n[i]) if not enough else AGREE if np.isnan(curve.low[i]) else None,
        )


def _few(n: int) -> str:
    return f"scenarios with a value in both: {n}, and a difference needs {MIN_PAIRS}"


def _suite_over_turns(
    cells: Cells, buckets: NDArray[np.int64], settings: CompareSettings
) -> tuple[SuiteError | None, str | None]:
    if not len(buckets):
        return None, f"at no turn have {MIN_PAIRS} scenarios a value in both"
    # The mean of a run that has a gap is NaN, and the run is left out.
    a, b = (values[:, :, buckets].mean(axis=2) for values in (cells.a, cells.b))
    return suite_error(a, b, cells.by, settings.level)


def _margin(
    curve: PairedCurve, at: int, margin: float | None, better: str | None
) -> MarginState | None:
    if margin is None:
        return None
    limits = (none_if_nan(curve.band_low[at]), none_if_nan(curve.band_high[at]))
    return margin_state(float(curve.value[at]), limits, margin, better)
