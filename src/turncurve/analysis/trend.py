"""Signals against each run's own first turns: alarms, and the slope by turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.over_runs import mean_over_runs, share_of_runs
from turncurve.analysis.own_runs import own_runs
from turncurve.analysis.settings import Settings
from turncurve.analysis.turn_quantiles import Quantile, turn_quantiles
from turncurve.stats.chains import held_chains
from turncurve.stats.cusum import Direction, calibrated_cusum, false_alarm_rate
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.lag_one import lag_one_correlation
from turncurve.stats.slope import slopes_within
from turncurve.stats.survival import kaplan_meier
from turncurve.table import SignalInfo, TurnTable

BASELINE_TURNS = 8
FALSE_ALARM = 0.05
SHARES = (0.1, 0.25, 0.5)
MIN_TURNS = 8
"""Turns that a run needs for a slope."""
CORRELATED = 0.05
"""Correlation of neighbouring turns from which the false-alarm rate is worked out anew."""
MOST_SIMULATED = 100
"""Longest run in that simulation; the rate hardly depends on the length."""
SIMULATED = 400
"""Runs in it."""

FIRST = (
    *("quality", "error", "adherence", "schema_valid", "tool_error_rate"),
    *("repeated_action_consecutive", "output_tokens"),
)
"""Signals in the order that a reader wants them; others follow by name."""
SKIPPED = frozenset(
    {
        # These grow with the turn in every run, healthy or not.
        *("context_tokens", "cached_input_tokens", "cost_usd", "repeated_action"),
        *("repeated_result", "started_at", "phase_explore"),
        # A trailing window fills up over the first turns, and its neighbours share nine actions.
        "repeated_action_window",
        # These say what another signal says.
        *("tool_success", "tool_error", "retry", "spiral"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Where a run's signal first stood out against its own first turns.

    Attributes:
        run: The run's id.
        turn: The turn at which enough had piled up.
        onset: The turn at which it began to pile up.
    """

    run: str
    turn: int
    onset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One signal within the runs.

    Attributes:
        signal: Its name.
        direction: Which way it is watched: "down" where high is good, "up" where low is, "either"
            where neither is.
        baseline_turns: First turns with a value, which are a run's own baseline.
        false_alarm: Chance that a run in which nothing changes, and whose turns are independent,
            alarms at all; at most this.
        false_alarm_here: The same for turns that resemble their neighbours as these do, by
            simulation for a run of median length; None if no run is watched.
        n_runs: Runs watched: those with twice the baseline's turns.
        n_alarmed: Those that alarmed.
        share_alarmed: Their share.
        expected_by_chance: Alarms to expect if nothing changes in any run: `false_alarm_here` of
            each.
        chance: Chance of as many alarms or more then; None if no run is watched.
        first_alarm: Turn by which a share of the watched runs has alarmed.
        alarms: The runs and turns.
        slope: Mean over runs of the least-squares slope by turn, each run weighing the same.
        autocorrelation: Correlation of neighbouring turns around each run's line.
        excluded: Reason to number of runs not watched.
        warnings: What to keep in mind.
        why: Why no run is watched.
    """

    signal: str
    direction: Direction
    baseline_turns: int = BASELINE_TURNS
    false_alarm: float = FALSE_ALARM
    false_alarm_here: float | None = None
    n_runs: int = 0
    n_alarmed: int = 0
    share_alarmed: Estimate
    expected_by_chance: float = 0.0
    chance: float | None = None
    first_alarm: tuple[Quantile, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    slope: Estimate
    autocorrelation: float | None = None
    excluded: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    why: str | None = None


def trends_within_run(table: TurnTable, *, settings: Settings) -> tuple[Trend, ...]:
    """Each signal against the runs' own first turns, and its slope by turn.

    A run's first 8 turns with a value are its baseline; the turns after them go through a CUSUM
    in the signal's bad direction, whose limit is calibrated on the run itself (see
    `stats.cusum.calibrated_cusum`), so that a run in which nothing changes alarms with probability
    at most .05 over its whole length. Runs with fewer than 16 values are not watched, and counted.
    Signals that grow in every healthy run (context, cost, cumulative repeats), those that
    are a trailing mean, and the runs of sub-agents are left out.

    Args:
        table: Runs with signals; NaN is skipped.
        settings: Its `level` is that of every interval, its `seed` that of the shuffles.

    Returns:
        One trend a signal that has any value.
    """
    table = table.select(own_runs(table))
    return tuple(
        _trend(table, table.info[name], settings)
        for name in _watched(table)
        if not np.isnan(table.columns[name]).all()
    )


def _watched(table: TurnTable) -> list[str]:
    names = {
        name
        for name, info in table.info.items()
        if info.curve and name in table.columns and name not in SKIPPED
    }
    return [n for n in FIRST if n in names] + sorted(names.difference(FIRST))


def _trend(table: TurnTable, info: SignalInfo, settings: Settings) -> Trend:
    known = ~np.isnan(table.columns[info.name])
    run, turn, value = table.run[known], table.turn[known], table.columns[info.name][known]
    direction = _DIRECTION[info.better]
    counts = np.bincount(run, minlength=table.n_runs)
    ends = np.cumsum(counts)
    watched = np.flatnonzero(counts >= 2 * BASELINE_TURNS)
    rng = np.random.default_rng([settings.seed, crc32(info.name.encode())])
    alarm = np.full(len(watched), np.nan)
    alarms: list[Alarm] = []
    for i, r in enumerate(watched):
        own = slice(ends[r] - counts[r], ends[r])
        found = calibrated_cusum(
            value[own],
            rng=rng,
            baseline=BASELINE_TURNS,
            false_alarm=FALSE_ALARM,
            direction=direction,
        )
        if found.alarm is not None and found.onset is not None:
            alarm[i] = turn[own][found.alarm]
            onset = int(turn[own][found.onset])
            alarms.append(Alarm(run=str(table.runs.id[r]), turn=int(alarm[i]), onset=onset))
    correlation = lag_one_correlation(run, turn, value, n_units=table.n_runs)
    n, n_alarmed = len(watched), len(alarms)
    rate = FALSE_ALARM
    if n and correlation is not None and correlation >= CORRELATED:
        n_turns = min(int(np.median(counts[watched])), MOST_SIMULATED)
        of_watched = value[np.isin(run, watched)]
        unchanging = held_chains(of_watched, correlation, shape=(SIMULATED, n_turns), rng=rng)
        rate = _false_alarm_here(unchanging, direction, rng)
    return Trend(
        signal=info.name,
        direction=direction,
        n_runs=n,
        n_alarmed=n_alarmed,
        share_alarmed=_share(info.name, n_alarmed, n, settings.level),
        false_alarm_here=rate if n else None,
        expected_by_chance=rate * n,
        chance=_chance(n_alarmed, n, rate),
        first_alarm=_first_alarm(alarm, turn[ends[watched] - 1], settings.level),
        alarms=tuple(alarms),
        slope=_slope(table, info.name, settings.level),
        autocorrelation=correlation,
        excluded=excluded_counts(
            {f"fewer than {2 * BASELINE_TURNS} turns with a value": table.n_runs - n}
        ),
        warnings=_warnings(correlation, rate),
        why=None if n else f"no run has {2 * BASELINE_TURNS} turns with a value",
    )


_DIRECTION: Mapping[str | None, Direction] = {"high": "down", "low": "up", None: "either"}


def _share(signal: str, n_alarmed: int, n: int, level: float) -> Estimate:
    estimand = f"share of runs in which {signal} stands out against the run's first turns"
    if n == 0:
        return absent(estimand, f"no run has {2 * BASELINE_TURNS} turns with a value", level=level)
    return share_of_runs(estimand, n_alarmed, n, level=level)


def _false_alarm_here(
    sequences: NDArray[np.float64], direction: Direction, rng: np.random.Generator
) -> float:
    found = false_alarm_rate(
        sequences,
        rng=rng,
        baseline=BASELINE_TURNS,
        false_alarm=FALSE_ALARM,
        direction=direction,
    )
    return max(FALSE_ALARM, found)


def _chance(n_alarmed: int, n: int, rate: float) -> float | None:
    """P(n_alarmed or more of n) where each alarms with probability `rate`."""
    if n == 0:
        return None
    return 1.0 if n_alarmed == 0 else float(bdtrc(n_alarmed - 1, n, rate))


def _first_alarm(
    alarm: NDArray[np.float64], last: NDArray[np.int64], level: float
) -> tuple[Quantile, ...]:
    alarmed = ~np.isnan(alarm)
    if not alarmed.any():
        return ()
    curve = kaplan_meier(np.where(alarmed, alarm, last), alarmed, level=level)
    return turn_quantiles(curve, SHARES)


def _slope(table: TurnTable, signal: str, level: float) -> Estimate:
    estimand = f"mean over runs of the change of {signal} by turn within the run"
    slopes = slopes_within(
        table.run,
        table.turn,
        table.columns[signal],
        n_units=table.n_runs,
        min_values=MIN_TURNS,
    )
    used = ~np.isnan(slopes)
    if not used.any():
        return absent(estimand, f"no run has {MIN_TURNS} turns with a value", level=level)
    known = ~np.isnan(table.columns[signal]) & used[table.run]
    mean = mean_over_runs(
        estimand,
        slopes,
        level=level,
        excluded={f"fewer than {MIN_TURNS} turns with a value": int((~used).sum())},
    )
    return replace(
        mean,
        method="least squares a run, t over runs",
        n_turns=int(known.sum()),
        assumptions=(*mean.assumptions, "each run weighs the same, however short"),
    )


def _warnings(correlation: float | None, rate: float) -> tuple[str, ...]:
    if correlation is None or rate < FALSE_ALARM + 0.01:
        return ()
    return (
        f"neighbouring turns resemble each other (correlation {correlation:.2f}): a run in which "
        f"nothing changes alarms with a chance of {rate:.2f}, not {FALSE_ALARM:.2f}",
    )
