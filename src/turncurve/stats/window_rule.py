"""The rolling rule: the first turn whose trailing mean over graded turns is below a threshold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.chains import held
from turncurve.stats.noise import Noise, estimate_noise

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

MOST_RUNS = 2_000
"""How many runs the noise is estimated from at most."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTimes:
    """When a rule fired in each run, as survival data; arrays of shape (n_runs,).

    `time` is the turn of the alarm, or the last turn with a value. Both are meaningless where
    `n_values` is below the window: in such a run the rule can't fire.
    """

    time: FloatArray
    event: NDArray[np.bool_]
    entry: float
    """The turn after which runs are at risk, the same for all: window - 1, since no window is full
    before. A run whose window fills later has not had the event in the turns between."""
    n_values: IntArray
    at_risk: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarm:
    """The chance that the rule fires in a run that stays as it started.

    `std_error` is that of the simulation alone.
    """

    chance: float
    std_error: float
    n_fired: int
    n_draws: int
    level_turns: int
    """How many of a run's first values its level is the mean of."""
    correlation: float
    """Of the noise of neighbouring turns."""
    noise_sd: float
    two_valued: bool
    """Whether the runs were simulated as chains of two values, not as levels with noise."""
    n_runs: int
    n_turns: int


def rolling_mean(values: ArrayLike, run: ArrayLike, window: int) -> FloatArray:
    """Trailing mean over the last `window` values of the run; NaN until there are that many.

    Turns without a value are passed over: they neither count nor reset, and get NaN themselves.

    Args:
        values: The signal; shape (n_turns,), NaN where a turn has none.
        run: Which run a turn belongs to; shape (n_turns,), each run's turns together and in order.
        window: Number of values, >= 1.
    """
    y, owner = np.asarray(values, dtype=np.float64), np.asarray(run)
    if window < 1:
        raise ValueError(f"window: wanted at least 1 turn, got {window!r}")
    known = np.flatnonzero(~np.isnan(y))
    result = np.full(len(y), np.nan)
    if len(known) < window:
        return result
    dense, dense_run = y[known], owner[known]
    n = len(dense) - window + 1
    total = np.zeros(n)
    for offset in range(window):
        total += dense[offset : offset + n]
    full = dense_run[window - 1 :] == dense_run[:n]
    result[known[window - 1 :][full]] = total[full] / window
    return result


def is_below(values: ArrayLike, threshold: float) -> NDArray[np.bool_]:
    """True where a value is below the threshold by more than rounding; NaN is not."""
    slack = _ROUNDING * max(1.0, abs(threshold))
    return np.asarray(np.asarray(values, dtype=np.float64) < threshold - slack, dtype=np.bool_)


def rule_times(
    values: ArrayLike,
    run: ArrayLike,
    turn: ArrayLike,
    *,
    n_runs: int,
    window: int,
    threshold: float,
) -> RuleTimes:
    """The first turn of each run whose trailing mean is strictly below the threshold.

    A mean that equals the threshold up to rounding is not below it. With `window` 1 this is the
    first turn whose value is below the threshold.

    Args:
        values: Quality, high is good; shape (n_turns,), NaN where a turn has none.
        run: Position of a turn's run, 0 to n_runs - 1; each run's turns together and in order.
        turn: Turn numbers, from 1; shape (n_turns,).
        n_runs: Number of runs, those without a turn included.
        window: Number of graded turns in the mean.
        threshold: The mean below which the rule fires.
    """
    y, owner = np.asarray(values, dtype=np.float64), np.asarray(run, dtype=np.int64)
    at = np.asarray(turn, dtype=np.float64)
    known = ~np.isnan(y)
    fired = is_below(rolling_mean(y, owner, window), threshold)
    time = np.full(n_runs, -np.inf)
    np.maximum.at(time, owner[known], at[known])
    first = np.full(n_runs, np.inf)
    np.minimum.at(first, owner[fired], at[fired])
    event = np.isfinite(first)
    n_values = np.bincount(owner[known], minlength=n_runs).astype(np.int64)
    return RuleTimes(
        time=np.where(event, first, time),
        event=event,
        entry=float(window - 1),
        n_values=n_values,
        at_risk=n_values >= window,
    )


def false_alarm_chance(
    values: ArrayLike,
    run: ArrayLike,
    *,
    window: int,
    threshold: float,
    rng: np.random.Generator,
    n_draws: int = 2_000,
    n_turns: int | None = None,
) -> FalseAlarm:
    """The chance that the rolling rule fires in a run whose quality never changes.

    Each draw takes a real run's starting level and length, and adds noise like that of all runs
    (`estimate_noise`; a real decline does not count as noise). The level is the mean of the run's
    first max(10, 2 * window) values, shrunk towards the runs' mean by as much as noise alone would
    spread such means. Where the values are of two kinds, pass and fail say, a draw is a two-state
    Markov chain with this level as its mean and the noise's correlation instead, since their noise
    depends on the level. Of more than 2,000 runs, 2,000 are drawn to go by.

    Args:
        values: Quality, high is good; shape (n_turns,), NaN where a turn has none.
        run: Which run a turn belongs to; shape (n_turns,), each run's turns together and in order.
        window: Number of graded turns in the mean.
        threshold: The mean below which the rule fires.
        rng: Source of randomness.
        n_draws: Number of simulated runs.
        n_turns: Length of the simulated runs; None takes each real run's own.

    Raises:
        NotEnoughDataError: No run has max(4, window) values, the least that show noise.
    """
    y, owner = np.asarray(values, dtype=np.float64), np.asarray(run)
    known = ~np.isnan(y)
    y, owner = y[known], owner[known]
    needed = max(4, window)
    _, lengths = np.unique(owner, return_counts=True)
    if lengths.max(initial=0) < needed:
        raise NotEnoughDataError(
            "a false-alarm chance: values in one run", need=needed, got=int(lengths.max(initial=0))
        )
    ends = np.cumsum(lengths)
    usable = np.flatnonzero(lengths >= needed)
    if len(usable) > MOST_RUNS:
        usable = np.sort(rng.choice(usable, MOST_RUNS, replace=False))
    runs = [y[ends[i] - lengths[i] : ends[i]] for i in usable]
    noise = estimate_noise(runs, stretch=max(30, 6 * window))
    level_turns = max(10, 2 * window)
    levels = _starting_levels(runs, level_turns, noise)
    chosen = rng.integers(len(runs), size=n_draws)
    length = np.array([len(r) for r in runs])[chosen]
    if n_turns is not None:
        length = np.full(n_draws, n_turns)
    kinds = np.unique(np.concatenate(runs))
    turns = int(length.max())
    if len(kinds) == 2:
        simulated = _two_valued(levels[chosen], kinds, noise.correlation, turns, rng)
    else:
        simulated = (levels[chosen] + deviation for deviation in noise.draw(n_draws, turns, rng))
    fired = int(_fires(simulated, length, window, threshold).sum())
    chance = fired / n_draws
    return FalseAlarm(
        chance=chance,
        std_error=float(np.sqrt(chance * (1 - chance) / n_draws)),
        n_fired=fired,
        n_draws=n_draws,
        level_turns=level_turns,
        correlation=noise.correlation,
        noise_sd=noise.std_dev,
        two_valued=len(kinds) == 2,
        n_runs=len(runs),
        n_turns=int(sum(len(r) for r in runs)),
    )


def _starting_levels(runs: list[FloatArray], turns: int, noise: Noise) -> FloatArray:
    levels = np.array([values[:turns].mean() for values in runs])
    if len(runs) < 2:
        return levels
    by_noise = np.mean([noise.variance_of_mean(min(turns, len(values))) for values in runs])
    spread = levels.var(ddof=1)
    kept = np.sqrt(max(0.0, 1 - by_noise / spread)) if spread > 0 else 0.0
    return np.asarray(levels.mean() + kept * (levels - levels.mean()), dtype=np.float64)


def _two_valued(
    level: FloatArray, kinds: FloatArray, correlation: float, turns: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    low, high = kinds.tolist()
    share = (level - low) / (high - low)
    fresh = (np.where(rng.random(len(share)) < share, high, low) for _ in range(turns))
    return held(fresh, correlation, rng=rng)


def _fires(
    simulated: Iterable[FloatArray], length: IntArray, window: int, threshold: float
) -> NDArray[np.bool_]:
    """Whether the rule fires in each simulated run; `simulated` is one turn of all at a time."""
    recent = np.zeros((window, len(length)))
    fired = np.zeros(len(length), dtype=np.bool_)
    for turn, values in enumerate(simulated):
        recent[turn % window] = values
        if turn + 1 >= window:
            fired |= is_below(recent.mean(axis=0), threshold) & (turn < length)
            if (fired | (turn + 1 >= length)).all():
                break
    return fired
