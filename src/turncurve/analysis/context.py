"""How the context grows over a run, and when it would reach a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.analysis.own_runs import own_runs
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.order_statistics import sample_quantile
from turncurve.stats.slope import slopes_within
from turncurve.stats.survival import kaplan_meier, quantile
from turncurve.table import TurnTable

CrossingKind: TypeAlias = Literal["observed", "extrapolated", "never", "unknown"]

LIMITS = (100_000, 200_000)
SHOWN_SPIKES = 20
SPIKE_MADS = 6.0
LEAST_MAD = 0.1
"""The least that the deviation behind a spike is taken to be, as a share of the usual step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """When the context reaches a number of tokens.

    Attributes:
        tokens: The limit.
        turn: The turn by which it is reached; by at least half of the runs if there are several.
        kind: "observed" in the runs; "extrapolated" along each run's line; "never", since the line
            does not rise or a compaction came first; "unknown" where no run has a line.
        low: Lower end of the observed turn's interval; None where there is none.
        high: Upper end; None where it is open or there is none.
        n_crossed: Runs seen to reach it.
        n_runs: Runs with a known context size.
    """

    tokens: int
    turn: int | None
    kind: CrossingKind
    low: float | None = None
    high: float | None = None
    n_crossed: int = 0
    n_runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spike:
    """A turn that added far more context than its run's turns usually do."""

    run: str
    turn: int
    tokens_added: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGrowth:
    """Context size over the turns; None where no file says it.

    Attributes:
        start_tokens: Context of the first known turn; the median over the measured runs.
        end_tokens: Context of the last known turn; the median over the measured runs.
        tokens_per_turn: Tokens added over turns passed, between compactions; the median over the
            measured runs. For one run without a compaction, (last - first) / (turns from first to
            last).
        n_runs_measured: Runs behind these three figures: those with two known turns between
            compactions; where none has, all with a known context size, whose growth is absent.
        slope: Median over runs of the least-squares slope, segments between compactions sharing it.
        slope_quartiles: First and third quartile of the runs' slopes.
        crosses_100k: Turn of the crossing of 100,000 tokens, whatever its kind.
        crosses_200k: The same for 200,000.
        crossings: Both with their kind and counts.
        n_spikes: Turns whose step from the turn before is above the run's median step + 6 MAD, the
            MAD being at least a tenth of the median size of its steps.
        spikes: The largest of them, at most 20.
        max_tokens: Largest context of any turn.
        n_runs: Runs with a known context size.
        n_turns: Turns with one.
        n_drops: Turns where the context fell to less than half with no compaction on record.
        why: Why the sizes are absent.
    """

    start_tokens: float | None = None
    end_tokens: float | None = None
    tokens_per_turn: float | None = None
    n_runs_measured: int = 0
    slope: Estimate
    slope_quartiles: tuple[float, float] | None = None
    crosses_100k: int | None = None
    crosses_200k: int | None = None
    crossings: tuple[Crossing, ...] = ()
    n_spikes: int = 0
    spikes: tuple[Spike, ...] = ()
    max_tokens: float | None = None
    n_runs: int = 0
    n_turns: int = 0
    n_drops: int = 0
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The turns with a known context size, in table order."""

    run: NDArray[np.int64]
    turn: NDArray[np.int64]
    tokens: NDArray[np.float64]
    segment: NDArray[np.int64]
    """Number of the stretch between compactions; a run's first turn starts one too."""


def context_growth(table: TurnTable, *, level: float = 0.95) -> ContextGrowth:
    """How the context grows, where it jumps, and when it reaches 100,000 and 200,000 tokens.

    A compaction resets the context, so growth is taken within the segments between the compactions
    on record: steps across one are left out, and a run's segments share a slope. A format that
    keeps no record of compactions has one segment a run.

    Args:
        table: Runs with a `context_tokens` column; NaN there, and runs of sub-agents, are left out.
        level: Confidence level.

    Returns:
        Sizes, growth, crossings and spikes; absent with `why` if no turn has a context size.

    References:
        Brookmeyer & Crowley (1982), Biometrics 38:29-41, for the interval of an observed crossing.
    """
    table = table.select(own_runs(table))
    known = _known(table)
    if known is None:
        why = "no file gives the context size by turn"
        return ContextGrowth(slope=absent(_SLOPE, why, level=level), why=why)
    first, last = _run_ends(known.run)
    slopes = slopes_within(
        known.run, known.turn, known.tokens, n_units=table.n_runs, segment=known.segment
    )
    crossings = tuple(_crossing(known, slopes, limit, level) for limit in LIMITS)
    spikes = _spikes(known, table)
    growth = _tokens_per_turn(known)
    grew = ~np.isnan(growth)
    measured = grew if grew.any() else np.ones(len(first), dtype=np.bool_)
    return ContextGrowth(
        start_tokens=float(np.median(known.tokens[first[measured]])),
        end_tokens=float(np.median(known.tokens[last[measured]])),
        tokens_per_turn=float(np.median(growth[grew])) if grew.any() else None,
        n_runs_measured=int(measured.sum()),
        slope=_median_slope(slopes, len(known.turn), len(first), level),
        slope_quartiles=_quartiles(slopes),
        crosses_100k=crossings[0].turn,
        crosses_200k=crossings[1].turn,
        crossings=crossings,
        n_spikes=len(spikes),
        spikes=spikes[:SHOWN_SPIKES],
        max_tokens=float(known.tokens.max()),
        n_runs=len(first),
        n_turns=len(known.turn),
        n_drops=_n_drops(known),
    )


_ONE_TURN = "fewer than two turns with a context size"
_SLOPE = "median over runs of the least-squares slope of context tokens on turn"


def _known(table: TurnTable) -> _Known | None:
    tokens = table.columns.get("context_tokens")
    if tokens is None or np.isnan(tokens).all():
        return None
    new_segment = np.diff(table.run, prepend=-1) > 0
    compacted = table.columns.get("compaction")
    if compacted is not None:
        new_segment |= np.nan_to_num(compacted) > 0
    rows = ~np.isnan(tokens)
    return _Known(
        run=table.run[rows],
        turn=table.turn[rows],
        tokens=tokens[rows],
        segment=np.cumsum(new_segment, dtype=np.int64)[rows],
    )


def _run_ends(label: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the first and the last row of each stretch of equal labels."""
    return np.flatnonzero(np.diff(label, prepend=-1)), np.flatnonzero(np.diff(label, append=-1))


def _tokens_per_turn(known: _Known) -> NDArray[np.float64]:
    """One entry a run with a known turn; NaN where no segment has two."""
    first, last = _run_ends(known.segment)
    _, run = np.unique(known.run[first], return_inverse=True)
    added = np.bincount(run, weights=known.tokens[last] - known.tokens[first])
    passed = np.bincount(run, weights=known.turn[last] - known.turn[first])
    growth: NDArray[np.float64] = np.full(len(passed), np.nan)
    return np.divide(added, passed, out=growth, where=passed > 0)


def _median_slope(
    slopes: NDArray[np.float64], n_turns: int, n_known: int, level: float
) -> Estimate:
    n_runs = int((~np.isnan(slopes)).sum())
    if n_runs == 0:
        return absent(_SLOPE, "no run has two turns with a context size", level=level)
    median = sample_quantile(slopes, 0.5, level=level)
    open_ended = median.low is None or median.high is None
    return Estimate(
        estimand=_SLOPE,
        value=median.value,
        low=None if open_ended else median.low,
        high=None if open_ended else median.high,
        level=level,
        method="least squares a run, one intercept a segment; interval from order statistics",
        n_turns=n_turns,
        n_runs=n_runs,
        n_clusters=n_runs,
        excluded=excluded_counts({_ONE_TURN: n_known - n_runs}),
        assumptions=("runs are independent",),
        warnings=(f"an interval of a median needs more runs than {n_runs}",) if open_ended else (),
    )


def _quartiles(slopes: NDArray[np.float64]) -> tuple[float, float] | None:
    if np.isnan(slopes).all():
        return None
    low, high = np.nanpercentile(slopes, [25, 75])
    return float(low), float(high)


def _spikes(known: _Known, table: TurnTable) -> tuple[Spike, ...]:
    next_turn = (np.diff(known.segment) == 0) & (np.diff(known.turn) == 1)
    step = np.flatnonzero(next_turn) + 1
    added = known.tokens[step] - known.tokens[step - 1]
    run = known.run[step]
    spikes: list[Spike] = []
    for start, end in zip(*_run_ends(run), strict=True):
        steps = added[start : end + 1]
        median = np.median(steps)
        deviation = np.median(np.abs(steps - median))
        bar = median + SPIKE_MADS * max(deviation, LEAST_MAD * np.median(np.abs(steps)))
        spikes.extend(
            Spike(
                run=str(table.runs.id[run[start]]),
                turn=int(known.turn[step[start + i]]),
                tokens_added=float(steps[i]),
            )
            for i in np.flatnonzero(steps > bar)
        )
    return tuple(sorted(spikes, key=lambda spike: -spike.tokens_added))


def _n_drops(known: _Known) -> int:
    fell = known.tokens[1:] < known.tokens[:-1] / 2
    return int((fell & (np.diff(known.segment) == 0)).sum())


def _crossing(known: _Known, slopes: NDArray[np.float64], limit: int, level: float) -> Crossing:
    first, last = _run_ends(known.run)
    over = known.tokens >= limit
    turn = np.full(len(slopes), np.inf)
    np.minimum.at(turn, known.run[over], known.turn[over])
    runs = known.run[first]
    reached = np.isfinite(turn[runs])
    counts = {"n_crossed": int(reached.sum()), "n_runs": len(runs)}
    if reached.any():
        seen = np.where(reached, turn[runs], known.turn[last])
        median = quantile(kaplan_meier(seen, reached, level=level), 0.5)
        if median.time is not None:
            several = len(runs) > 1
            return Crossing(
                tokens=limit,
                turn=int(median.time),
                kind="observed",
                low=median.low if several else None,
                high=median.high if several else None,
                **counts,
            )
    by_run = np.where(reached, turn[runs], _extrapolated(known, slopes, limit)[runs])
    by_run = np.sort(by_run[~np.isnan(by_run)])
    if len(by_run) == 0:
        return Crossing(tokens=limit, turn=None, kind="unknown", **counts)
    middle = by_run[(len(by_run) + 1) // 2 - 1]
    if np.isinf(middle):
        return Crossing(tokens=limit, turn=None, kind="never", **counts)
    return Crossing(tokens=limit, turn=int(middle), kind="extrapolated", **counts)


def _extrapolated(known: _Known, slopes: NDArray[np.float64], limit: int) -> NDArray[np.float64]:
    """Smallest turn after a run's last at which its line is at the limit; shape (n_runs,).

    Infinite where the line does not rise, or where a compaction came before the limit was reached:
    what compacted the context once will do so again. NaN where there is no line.
    """
    n_runs = len(slopes)
    n = np.maximum(np.bincount(known.run, minlength=n_runs), 1)
    mean_turn = np.bincount(known.run, weights=known.turn, minlength=n_runs) / n
    mean_tokens = np.bincount(known.run, weights=known.tokens, minlength=n_runs) / n
    first, last = _run_ends(known.run)
    last_turn, compacted = np.zeros(n_runs), np.zeros(n_runs, dtype=bool)
    last_turn[known.run[last]] = known.turn[last]
    compacted[known.run[first]] = known.segment[last] > known.segment[first]
    rising = slopes > 0
    turns = np.divide(limit - mean_tokens, slopes, out=np.full(n_runs, np.inf), where=rising)
    exact = mean_turn + turns
    rounding = 1e-9 * np.where(rising, np.abs(exact), 0)
    turn = np.maximum(np.ceil(exact - rounding), last_turn + 1)
    return np.where(np.isnan(slopes), np.nan, np.where(rising & ~compacted, turn, np.inf))
