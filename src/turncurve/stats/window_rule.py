"""The rolling rule: the first turn whose trailing mean over graded turns is below a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTimes:
    """When a rule fired in each run, as survival data; arrays of shape (n_runs,).

    `time` is the turn of the alarm, or the last turn with a value. The run can fire only after
    `entry`, one turn before its window is first full. All three are meaningless where `n_values`
    is below the window: such a run was never at risk.
    """

    time: FloatArray
    event: NDArray[np.bool_]
    entry: FloatArray
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
    block: int
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
    means = rolling_mean(y, owner, window)
    slack = _ROUNDING * max(1.0, abs(threshold))
    fired = means < threshold - slack
    time = np.full(n_runs, -np.inf)
    np.maximum.at(time, owner[known], at[known])
    first = np.full(n_runs, np.inf)
    np.minimum.at(first, owner[fired], at[fired])
    full = np.full(n_runs, np.inf)
    ready = ~np.isnan(means)
    np.minimum.at(full, owner[ready], at[ready])
    event = np.isfinite(first)
    return RuleTimes(
        time=np.where(event, first, time),
        event=event,
        entry=full - 1,
        n_values=np.bincount(owner[known], minlength=n_runs).astype(np.int64),
        at_risk=np.isfinite(full),
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

    Each draw takes a real run's starting level and length and adds noise that is resampled from all
    runs. The level is the mean of the run's first max(10, 2 * window) values, shrunk towards the
    runs' mean by as much as noise alone would spread such means. The noise is what remains of each
    stretch of max(20, 4 * window) values when its least-squares line is taken out, so that a real
    decline does not count as noise; it is drawn in blocks of up to 2 * window turns, which keeps
    its short-range dependence.

    Args:
        values: Quality, high is good; shape (n_turns,), NaN where a turn has none.
        run: Which run a turn belongs to; shape (n_turns,), each run's turns together and in order.
        window: Number of graded turns in the mean.
        threshold: The mean below which the rule fires.
        rng: Source of randomness.
        n_draws: Number of simulated runs.
        n_turns: Length of the simulated runs; None takes each real run's own.

    Raises:
        NotEnoughDataError: No run has max(3, window) values, the least that show noise.

    References:
        Künsch (1989), Annals of Statistics 17:1217-1241; Politis & Romano (1992) (circular blocks).
    """
    y, owner = np.asarray(values, dtype=np.float64), np.asarray(run)
    known = ~np.isnan(y)
    y, owner = y[known], owner[known]
    _, starts, lengths = np.unique(owner, return_index=True, return_counts=True)
    long_enough = lengths >= max(3, window)
    if not long_enough.any():
        raise NotEnoughDataError(
            "a false-alarm chance: values in one run",
            need=max(3, window),
            got=int(lengths.max(initial=0)),
        )
    runs = [
        y[start : start + length]
        for start, length in zip(starts[long_enough], lengths[long_enough], strict=True)
    ]
    noise = _Noise.of(runs, stretch=max(20, 4 * window))
    level_turns = max(10, 2 * window)
    levels = _starting_levels(runs, level_turns, noise.variance)
    chosen = rng.integers(len(runs), size=n_draws)
    wanted = np.array([len(r) for r in runs])[chosen]
    if n_turns is not None:
        wanted = np.full(n_draws, n_turns)
    fired = 0
    block = 2 * window
    for length in np.unique(wanted):
        level = levels[chosen[wanted == length]]
        simulated = level[:, None] + noise.draw(len(level), int(length), block, rng)
        fired += int(_fires(simulated, window, threshold).sum())
    chance = fired / n_draws
    return FalseAlarm(
        chance=chance,
        std_error=float(np.sqrt(chance * (1 - chance) / n_draws)),
        n_fired=fired,
        n_draws=n_draws,
        level_turns=level_turns,
        block=block,
        n_runs=len(runs),
        n_turns=int(sum(len(r) for r in runs)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noise:
    """Residuals of stretches laid end to end; stretch i owns `size[i]` from `start[i]`."""

    residual: FloatArray
    start: IntArray
    size: IntArray
    variance: float

    @classmethod
    def of(cls, runs: list[FloatArray], *, stretch: int) -> _Noise:
        parts = [part for values in runs for part in _stretches(values, stretch)]
        residuals = [_detrended(part) for part in parts]
        size = np.array([len(part) for part in parts], dtype=np.int64)
        residual = np.concatenate(residuals)
        return cls(
            residual=residual,
            start=np.cumsum(size) - size,
            size=size,
            variance=float(np.mean(residual**2)),
        )

    def draw(self, n_draws: int, n_turns: int, block: int, rng: np.random.Generator) -> FloatArray:
        """Noise of shape (n_draws, n_turns), in circular blocks within stretches."""
        n_blocks = -(-n_turns // block)
        picked = rng.integers(len(self.residual), size=(n_draws, n_blocks))
        stretch = np.searchsorted(self.start, picked, side="right") - 1
        start, size = self.start[stretch], self.size[stretch]
        offset = (picked - start)[:, :, None] + np.arange(block)
        rows = start[:, :, None] + offset % size[:, :, None]
        return self.residual[rows].reshape(n_draws, -1)[:, :n_turns]


def _stretches(values: FloatArray, stretch: int) -> list[FloatArray]:
    """Parts of about `stretch` values; the last takes the remainder, so none is much shorter."""
    n_parts = max(1, len(values) // stretch)
    cuts = [stretch * i for i in range(1, n_parts)]
    return list(np.split(values, cuts))


def _detrended(values: FloatArray) -> FloatArray:
    """What a least-squares line leaves, scaled up for the two degrees of freedom it took."""
    n = len(values)
    t = np.arange(n) - (n - 1) / 2
    centred = values - values.mean()
    residual = centred - t * (t @ centred) / (t @ t)
    return np.asarray(residual * np.sqrt(n / (n - 2)), dtype=np.float64)


def _starting_levels(runs: list[FloatArray], turns: int, noise_variance: float) -> FloatArray:
    levels = np.array([values[:turns].mean() for values in runs])
    if len(runs) < 2:
        return levels
    by_noise = np.mean([noise_variance / min(turns, len(values)) for values in runs])
    spread = levels.var(ddof=1)
    kept = np.sqrt(max(0.0, 1 - by_noise / spread)) if spread > 0 else 0.0
    return np.asarray(levels.mean() + kept * (levels - levels.mean()), dtype=np.float64)


def _fires(simulated: FloatArray, window: int, threshold: float) -> NDArray[np.bool_]:
    """Whether each row's trailing mean is ever below the threshold."""
    n_draws, n_turns = simulated.shape
    run = np.repeat(np.arange(n_draws), n_turns)
    means = rolling_mean(simulated.reshape(-1), run, window).reshape(n_draws, n_turns)
    below = means < threshold - _ROUNDING * max(1.0, abs(threshold))
    return np.asarray(below.any(axis=1))
