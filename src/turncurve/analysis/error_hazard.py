"""Does a run's chance of its first error change as it goes on? Three curves, one of which tells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.first_error_settings import FirstErrorSettings
from turncurve.analysis.first_error_times import FirstErrorTimes
from turncurve.analysis.hazard_spans import HazardSpan, hazard_spans
from turncurve.analysis.runs_alike import ALIKE_IN_WORDS, RunsAlike, runs_alike
from turncurve.errors import NotEnoughDataError
from turncurve.stats.cloglog_hazard import cloglog_hazard
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.hazard_trend import FEWEST_CLUSTERS, HazardTrend, hazard_trend
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
Verdict: TypeAlias = Literal["rises", "flat", "falls", "cannot tell"]

WITHIN = (
    "Factor by which a doubling of the turn changes the chance of a first error among runs alike."
)


FARTHEST = 1_000.0
"""A limit of a factor is never given as more, nor as less than 1 over it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorHazard:
    """State accuracy, pooled hazard, and hazard within strata; the verdict is of the last alone.

    Attributes:
        verdict: "rises", "falls", "flat" (surely changed by less than the settings' factor), or
            "cannot tell".
        why: The verdict's ground, or what would settle it.
        within: Factor a doubling of the turn, among runs alike.
        without_first: The same from the second turn at risk on: a first turn that is unlike the
            others is no trend.
        pooled: The same factor of all runs together, which falls where runs differ.
        alike: What makes runs alike, in words.
        n_strata: Groups of runs alike that tell something.
        n_alone: Runs that are alike to no other, and tell nothing of the trend.
        from_turn: First turn of the trend.
        spans: The three curves.
    """

    verdict: Verdict
    why: str
    within: Estimate
    without_first: Estimate
    pooled: Estimate
    alike: str
    n_strata: int
    n_alone: int
    from_turn: int
    spans: tuple[HazardSpan, ...]


def error_hazard(
    table: TurnTable, times: FirstErrorTimes, settings: FirstErrorSettings
) -> ErrorHazard:
    """The three curves, and whether the hazard changes within strata.

    The independent units are scenarios where they repeat, else runs. Under the rolling rule the
    trend starts after twice the turns that fill the window: of runs that never change, more alarm
    at the first full window than at any later turn.

    Args:
        table: The runs.
        times: Their first errors.
        settings: What makes runs alike, and when a hazard is flat.
    """
    runs = runs_alike(table, times, settings.alike)
    late = runs.after(2 * runs.entry)
    trend, within = _within(late, settings)
    second = late.after(late.entry + 1)
    verdict, why = _verdict(within, settings)
    return ErrorHazard(
        verdict=verdict,
        why=why,
        within=within,
        without_first=_within(second, settings)[1],
        pooled=_pooled(late, settings),
        alike=ALIKE_IN_WORDS[settings.alike],
        n_strata=0 if trend is None else trend.n_strata,
        n_alone=int((np.bincount(runs.stratum) == 1).sum()) if len(runs.time) else 0,
        from_turn=late.entry + 1,
        spans=hazard_spans(table, times, runs, level=settings.reading.level),
    )


def _log2(runs: RunsAlike) -> FloatArray:
    return np.log2(np.arange(1, int(runs.time.max(initial=0)) + 1))


def _within(runs: RunsAlike, settings: FirstErrorSettings) -> tuple[HazardTrend | None, Estimate]:
    level = settings.reading.level
    try:
        found = hazard_trend(
            runs.time,
            runs.event,
            _log2(runs),
            stratum=runs.stratum,
            cluster=runs.cluster,
            entry=runs.entries,
            level=level,
        )
    except NotEnoughDataError as problem:
        few = problem.need == FEWEST_CLUSTERS and settings.alike == "scenario"
        more = "; run each scenario several times" if few else ""
        return None, absent(WITHIN, f"{problem}{more}", level=level)
    finite = math.isfinite(found.slope)
    return found, Estimate(
        estimand=WITHIN,
        value=math.exp(found.slope) if finite else None,
        reason=None if finite else "no finite factor fits: all events come at one end",
        low=_factor(found.low),
        high=_factor(found.high),
        level=level,
        method=(
            "events set against turns at risk of other runs alike; t over clusters, limits by "
            "inverting the test"
        ),
        df=found.df,
        n_turns=int((runs.time - runs.entry).sum()),
        n_runs=found.n_runs,
        n_clusters=found.n_clusters,
        excluded={} if not found.n_alone else {"run alike to no other": found.n_alone},
        assumptions=(f"runs of {ALIKE_IN_WORDS[settings.alike]} have the same hazard at a turn",),
    )


def _factor(slope: float) -> float | None:
    """The factor of a limit; one beyond what can be told apart is moved inwards."""
    if not math.isfinite(slope):
        return None
    return math.exp(min(max(slope, -math.log(FARTHEST)), math.log(FARTHEST)))


def _pooled(runs: RunsAlike, settings: FirstErrorSettings) -> Estimate:
    estimand = (
        "Factor by which a doubling of the turn changes the chance of a first error among the runs "
        "that have had none, whatever runs these are."
    )
    level = settings.reading.level
    try:
        found = cloglog_hazard(
            runs.time,
            runs.event,
            _log2(runs),
            cluster=runs.cluster,
            entry=runs.entries,
            level=level,
        )
    except NotEnoughDataError as problem:
        return absent(estimand, str(problem), level=level)
    return Estimate(
        estimand=estimand,
        value=math.exp(found.slope),
        low=math.exp(found.low),
        high=math.exp(found.high),
        level=level,
        method="complementary log-log model of first errors, t over clusters",
        df=found.df,
        n_turns=found.n_turns,
        n_runs=len(runs.time),
        n_clusters=found.n_clusters,
        warnings=("runs that differ make it fall, though no run's hazard does",),
    )


def _verdict(within: Estimate, settings: FirstErrorSettings) -> tuple[Verdict, str]:
    low, high, flat = within.low, within.high, settings.flat
    if low is not None and low > 1:
        return "rises", "the lower limit among runs alike is above 1"
    if high is not None and high < 1:
        return "falls", "the upper limit among runs alike is below 1"
    if within.value is None:
        return "cannot tell", within.reason or "no estimate"
    if low is None or high is None:
        return "cannot tell", "the data set no limit to the change"
    if low > 1 / flat and high < flat:
        return "flat", f"a doubling of the turn changes it by less than a factor of {flat:g}"
    factor = ((math.log(high) - math.log(low)) / 2 / math.log(flat)) ** 2
    return "cannot tell", (
        f"from {low:.2f} to {high:.2f} a doubling of the turn is open; about {factor:.1f} times as "
        f"many runs would tell a factor of {flat:g} from none"
    )
