"""State accuracy, pooled hazard and hazard among runs alike, over spans that double."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.first_error_times import FirstErrorTimes, error_states
from turncurve.analysis.runs_alike import RunsAlike
from turncurve.stats.hazard_trend import hazards_by_span
from turncurve.stats.proportion import clopper_pearson
from turncurve.stats.ratio import ratio_of_sums
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
_Limits: TypeAlias = tuple[float | None, float | None, float | None]
"""Value, lower and upper limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardSpan:
    """The three curves over a span of turns; each doubles the one before.

    Attributes:
        start: First turn; JSON writes "from" and "to".
        end: Last turn.
        n_turns: Turns at risk: of runs that have had no error before.
        n_events: First errors.
        hazard: First errors a turn at risk, of all runs together.
        low: Lower limit of `hazard`, over clusters.
        high: Upper limit.
        n_values: Turns whose state is known, after a first error too.
        accuracy: Share of those that are not in error.
        accuracy_low: Lower limit, over clusters.
        accuracy_high: Upper limit.
        within: Hazard among runs alike, over their hazard in all turns.
        within_low: Lower limit.
        within_high: Upper limit.
    """

    start: int
    end: int
    n_turns: int
    n_events: int
    hazard: float | None
    low: float | None
    high: float | None
    n_values: int
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    within: float | None
    within_low: float | None
    within_high: float | None


def hazard_spans(
    table: TurnTable, times: FirstErrorTimes, runs: RunsAlike, *, level: float
) -> tuple[HazardSpan, ...]:
    """The three curves: in turns 1, 2, 3-4, 5-8, ..., or from where the rule can first fire.

    Limits of a span without a first error take its turns at risk as independent, which they are
    as far as first errors go.

    Args:
        table: The runs.
        times: Their first errors.
        runs: The same, by what makes runs alike.
        level: Confidence level.
    """
    if not len(runs.time):
        return ()
    starts, ends = _bounds(runs)
    ratios = hazards_by_span(
        runs.time,
        runs.event,
        ends,
        stratum=runs.stratum,
        cluster=runs.cluster,
        entry=runs.entries,
        level=level,
    )
    state, unit = error_states(table, times), np.full(table.n_runs, -1)
    unit[times.run] = runs.cluster
    known = ~np.isnan(state)
    spans = []
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        rows = known & (table.turn >= start) & (table.turn <= end)
        at_risk = np.clip(runs.time - start + 1, 0, end - start + 1)
        had = runs.event & (runs.time >= start) & (runs.time <= end)
        hazard = _hazard(had, at_risk, runs.cluster, level)
        accuracy = _accuracy(state[rows], unit[table.run[rows]], level)
        ratio = ratios[k]
        within = (None,) * 3 if ratio is None else (ratio.value, ratio.low, ratio.high)
        spans.append(
            HazardSpan(
                start=start,
                end=end,
                n_turns=int(at_risk.sum()),
                n_events=int(had.sum()),
                hazard=hazard[0],
                low=hazard[1],
                high=hazard[2],
                n_values=int(rows.sum()),
                accuracy=accuracy[0],
                accuracy_low=accuracy[1],
                accuracy_high=accuracy[2],
                within=within[0],
                within_low=within[1],
                within_high=within[2],
            )
        )
    return tuple(spans)


def _bounds(runs: RunsAlike) -> tuple[list[int], list[int]]:
    """First and last turns of the spans."""
    longest = int(runs.time.max())
    doubled = [2**k for k in range(math.ceil(math.log2(longest)) + 1)]
    ends = [min(end, longest) for end in doubled if end > runs.entry]
    return [runs.entry + 1, *(end + 1 for end in ends[:-1])], ends


def _hazard(had: NDArray[np.bool_], at_risk: IntArray, cluster: IntArray, level: float) -> _Limits:
    n_turns = int(at_risk.sum())
    if n_turns == 0:
        return None, None, None
    if not had.any():
        none = clopper_pearson(0, n_turns, level=level)
        return none.value, none.low, none.high
    code = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    sums = (np.bincount(code, weights=had), np.bincount(code, weights=at_risk))
    ratio = ratio_of_sums(*sums, level=level, scale="log")
    return ratio.value, ratio.low, None if ratio.high is None else min(ratio.high, 1.0)


def _accuracy(in_error: FloatArray, cluster: IntArray, level: float) -> _Limits:
    if not len(in_error):
        return None, None, None
    code = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    ratio = ratio_of_sums(np.bincount(code, weights=1 - in_error), np.bincount(code), level=level)
    if ratio.low is None or ratio.high is None:
        return ratio.value, None, None
    return ratio.value, max(ratio.low, 0.0), min(ratio.high, 1.0)
