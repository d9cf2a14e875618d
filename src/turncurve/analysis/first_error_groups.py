"""First errors of one condition: survival, incidence as runs end, mean turns, and onsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.first_error import SHARES, FirstError, first_error_of
from turncurve.analysis.first_error_settings import FirstErrorSettings
from turncurve.analysis.first_error_times import FirstErrorTimes, onsets
from turncurve.analysis.runs_alike import scenario_clusters
from turncurve.analysis.turn_quantiles import Quantile, turn_quantiles
from turncurve.errors import NotEnoughDataError
from turncurve.model import ExitType
from turncurve.stats.cumulative_incidence import CENSORED, EVENT, cumulative_incidence
from turncurve.stats.estimate import Estimate, absent, none_if_nan
from turncurve.stats.restricted_mean import restricted_mean
from turncurve.stats.survival import kaplan_meier
from turncurve.table import TurnTable

IntArray: TypeAlias = NDArray[np.int64]
COMPETES = 2
FEWEST_FOLLOWED = 5
"""Runs of a condition, or all of fewer, that must be followed to the horizon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incidence:
    """The share of runs that have had their first error by a turn, other ends competing.

    Attributes:
        turn: Turns at which some run had an error or ended otherwise.
        incidence: Share that has had its first error by then.
        low: Lower limit for running this suite again, which takes runs as independent.
        high: Upper limit.
        low_other_scenarios: Lower limit for other scenarios of the kind; empty where none repeats.
        high_other_scenarios: Upper limit.
        n_at_risk: Runs still followed that have had none before.
        n_events: Runs that had an error.
        n_competing: Runs that ended badly without one.
        ends: Exit type to number of such runs.
        n_clusters: Independent units for other scenarios: scenarios where they repeat, else runs.
    """

    turn: tuple[int, ...]
    incidence: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    low_other_scenarios: tuple[float | None, ...]
    high_other_scenarios: tuple[float | None, ...]
    n_at_risk: tuple[int, ...]
    n_events: int
    n_competing: int
    ends: Mapping[str, int]
    n_clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OnsetDelay:
    """How many turns an alarm comes after the turn at which its window turns bad.

    Attributes:
        median: Of the runs with an alarm.
        largest: Of them.
        n_runs: Runs with an alarm.
        onset: The one run's own onset, where there is one run and it had an alarm.
    """

    median: float
    largest: int
    n_runs: int
    onset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFirstErrors:
    """When runs of one condition first go wrong under one rule.

    Attributes:
        condition: Their condition; None where runs name none.
        times: Kaplan and Meier's curve and quantiles, with limits for running this suite again.
        other_scenarios: The same quantiles with limits for other scenarios of the kind; empty
            where no scenario repeats, as the two are then one.
        incidence: Aalen and Johansen's curve; None without a run.
        mean_turns: Mean of the turns up to the first error, restricted to a horizon.
        delay: From onset to alarm; None under rules of single turns.
    """

    condition: str | None
    times: FirstError
    other_scenarios: tuple[Quantile, ...]
    incidence: Incidence | None
    mean_turns: Estimate
    delay: OnsetDelay | None


def group_first_errors(
    table: TurnTable,
    condition: str | None,
    times: FirstErrorTimes,
    settings: FirstErrorSettings,
    *,
    horizon: int | None,
) -> GroupFirstErrors:
    """First errors of the runs of one condition.

    Args:
        table: The runs.
        condition: Its name.
        times: First errors of the runs of the condition.
        settings: Levels, ties, what competes.
        horizon: Turn to which the mean is restricted; None where there is none to choose.
    """
    entry, level = np.full(len(times.run), times.entry), settings.reading.level
    cluster = scenario_clusters(table, times)
    found = first_error_of(table, times, settings.reading, tie=settings.tie)
    wider: tuple[Quantile, ...] = ()
    if cluster is not None and len(times.run):
        curve = kaplan_meier(times.time, times.event, entry=entry, cluster=cluster, level=level)
        wider = turn_quantiles(curve, SHARES, tie=settings.tie, first_possible=times.entry + 1)
    return GroupFirstErrors(
        condition=condition,
        times=found,
        other_scenarios=wider,
        incidence=_incidence(table, times, cluster, settings),
        mean_turns=_mean_turns(times, cluster, level, horizon),
        delay=_delay(table, times),
    )


def ends_badly(table: TurnTable, competing: tuple[str, ...]) -> NDArray[np.bool_]:
    """Runs whose exit is of one of these types; shape (n_runs,).

    A run of unknown exit that is known to have failed counts as one that finished and failed.
    """
    exits = table.runs.exit_type.astype(str)
    failed = (exits == ExitType.UNKNOWN.value) & (table.runs.success == 0)
    known = np.where(failed, ExitType.FAIL_FINISH.value, exits)
    return np.asarray(np.isin(known, competing), dtype=np.bool_)


def _incidence(
    table: TurnTable,
    times: FirstErrorTimes,
    cluster: IntArray | None,
    settings: FirstErrorSettings,
) -> Incidence | None:
    if not len(times.run):
        return None
    competes = ends_badly(table, settings.competing)[times.run] & ~times.event
    kind = np.where(times.event, EVENT, np.where(competes, COMPETES, CENSORED))
    entry, level = np.full(len(times.run), times.entry), settings.reading.level
    curve = cumulative_incidence(times.time, kind, entry=entry, level=level)
    wider = None
    if cluster is not None:
        wider = cumulative_incidence(times.time, kind, entry=entry, cluster=cluster, level=level)
    names, n = np.unique(table.runs.exit_type[times.run][competes].astype(str), return_counts=True)
    return Incidence(
        turn=tuple(int(turn) for turn in curve.time),
        incidence=tuple(curve.incidence.tolist()),
        low=tuple(map(none_if_nan, curve.low)),
        high=tuple(map(none_if_nan, curve.high)),
        low_other_scenarios=() if wider is None else tuple(map(none_if_nan, wider.low)),
        high_other_scenarios=() if wider is None else tuple(map(none_if_nan, wider.high)),
        n_at_risk=tuple(curve.n_at_risk.tolist()),
        n_events=curve.n_events,
        n_competing=curve.n_competing,
        ends=dict(zip(names.tolist(), n.tolist(), strict=True)),
        n_clusters=(wider or curve).n_clusters,
    )


def _mean_turns(
    times: FirstErrorTimes, cluster: IntArray | None, level: float, horizon: int | None
) -> Estimate:
    if horizon is None:
        return absent("Mean turns up to the first error.", "no run counts", level=level)
    estimand = f"Mean of the turn of the first error, or of turn {horizon} if that comes first."
    entry = np.full(len(times.run), times.entry)
    try:
        found = restricted_mean(
            times.time, times.event, horizon, entry=entry, cluster=cluster, level=level
        )
    except NotEnoughDataError as problem:
        return absent(estimand, str(problem), level=level)
    return Estimate(
        estimand=estimand,
        value=found.value,
        std_error=found.std_error,
        low=found.low,
        high=found.high,
        level=level,
        method="area under Kaplan and Meier's curve"
        + (", t over scenarios" if cluster is not None else ", Greenwood's variance"),
        df=found.df,
        n_runs=found.n_runs,
        n_clusters=found.n_clusters,
        assumptions=("a censored run would have gone on like the others",),
        warnings=() if found.low is not None else ("no interval: nothing varies up to there",),
    )


def _delay(table: TurnTable, times: FirstErrorTimes) -> OnsetDelay | None:
    if times.test.window == 1 or not times.event.any():
        return None
    onset = onsets(table, times)[times.event]
    delay = times.time[times.event] - onset
    return OnsetDelay(
        median=float(np.median(delay)),
        largest=int(delay.max()),
        n_runs=len(delay),
        onset=int(onset[0]) if len(times.run) == 1 else None,
    )


def horizon_of(parts: list[FirstErrorTimes], asked: int | None) -> int | None:
    """The turn to which means are restricted: the last to which every condition was followed.

    In each, five runs (or all, of fewer) must have been followed so far.
    """
    if asked is not None:
        return asked
    reach = [
        np.sort(part.time)[::-1][min(5, len(part.time)) - 1] for part in parts if len(part.time)
    ]
    return int(min(reach)) if reach else None
