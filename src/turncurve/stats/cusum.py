"""CUSUM of a sequence against its own first values, calibrated on the sequence itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

Direction: TypeAlias = Literal["down", "up", "either"]
"""Which way a change is bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cusum:
    """A CUSUM of one sequence.

    Attributes:
        path: The sum after each value; 0 over the baseline; shape (n_values,).
        limit: The sum at which it alarms; infinite for a sequence of equal values.
        alarm: Position, from 0, of the first value whose sum reaches the limit; None if none does.
        onset: Position of the first value after the sum was last 0 before the alarm, which is
            where the change is estimated to begin; None without an alarm.
    """

    path: NDArray[np.float64]
    limit: float
    alarm: int | None
    onset: int | None


def cusum_path(
    values: ArrayLike, *, baseline: int, reference: float = 0.5, direction: Direction = "down"
) -> NDArray[np.float64]:
    """The one-sided CUSUM of values against the mean of the first of them.

    C = max(0, C + z - reference) after the baseline, where z is a value's distance from the
    baseline's mean in the bad direction, in standard deviations of the whole sequence. For
    "either" it is the larger of the two one-sided sums.

    Args:
        values: The sequences, along the last axis; no NaN.
        baseline: Number of first values that give the mean.
        reference: What a value may deviate without adding to the sum, in standard deviations.
        direction: The bad direction.

    Returns:
        Same shape as `values`: the sum, 0 over the baseline and where all values are equal.

    References:
        Page (1954), Biometrika 41:100-115.
    """
    sequence = np.asarray(values, dtype=np.float64)
    spread = sequence.std(axis=-1, ddof=1, keepdims=True)
    distance = sequence - sequence[..., :baseline].mean(axis=-1, keepdims=True)
    z = np.divide(distance, spread, out=np.zeros_like(distance), where=spread > 0)
    watched = z[..., baseline:]
    path = np.zeros_like(sequence)
    if direction != "up":
        path[..., baseline:] = page_sum(-watched, reference)
    if direction != "down":
        path[..., baseline:] = np.maximum(path[..., baseline:], page_sum(watched, reference))
    return path


def page_sum(z: ArrayLike, reference: float) -> NDArray[np.float64]:
    """Page's upper sum, C = max(0, C + z - reference) from 0, along the last axis.

    Args:
        z: Standardised values, no NaN.
        reference: What a value may be above 0 without adding to the sum.

    References:
        Page (1954), Biometrika 41:100-115.
    """
    # With S the plain sum, C = S - min(0, S_1, ..., S_n) solves the recursion.
    total = np.cumsum(np.asarray(z, dtype=np.float64) - reference, axis=-1)
    lowest = np.minimum(np.minimum.accumulate(total, axis=-1), 0.0)
    return np.asarray(total - lowest, dtype=np.float64)


def calibrated_cusum(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    baseline: int = 8,
    reference: float = 0.5,
    false_alarm: float = 0.05,
    direction: Direction = "down",
    shuffles: int = 199,
) -> Cusum:
    """A CUSUM whose chance of any alarm in a sequence of this length is at most `false_alarm`.

    The table constants (reference .5, limit 4 or 5) are for a known mean and standard deviation and
    for normal values; a mean from 8 values, and values such as 0 and 1, break both. The limit is
    taken from the sequence itself instead: the same values are shuffled, and it alarms if the
    largest sum is among the largest of the shuffled ones, rank (1 + number as large) / (shuffles
    + 1) at most `false_alarm`. If the values are exchangeable (no trend, no dependence between
    neighbours) that chance is exact for any distribution.

    Args:
        values: One sequence; shape (n_values,); no NaN.
        rng: Source of randomness.
        baseline: Number of first values that give the mean.
        reference: What a value may deviate without adding to the sum, in standard deviations.
        false_alarm: Chance of an alarm where nothing changes; at least 1 / (shuffles + 1).
        direction: The bad direction.
        shuffles: Number of shuffles.

    Returns:
        The path, the limit and the first alarm.

    Raises:
        NotEnoughDataError: There is no value after the baseline.

    References:
        Page (1954), Biometrika 41:100-115; Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol.
        9:39 (the rank of a shuffled statistic).
    """
    sequence = np.asarray(values, dtype=np.float64)
    n = len(sequence)
    allowed = int(np.floor(false_alarm * (shuffles + 1) + 1e-9)) - 1
    if n <= baseline:
        raise NotEnoughDataError("calibrated_cusum: values", need=baseline + 1, got=n)
    if allowed < 0:
        raise ValueError(
            f"calibrated_cusum: a false-alarm chance of {false_alarm!r} needs at least "
            f"{int(np.ceil(1 / false_alarm)) - 1} shuffles, got {shuffles}"
        )
    path = cusum_path(sequence, baseline=baseline, reference=reference, direction=direction)
    if np.ptp(sequence) == 0:
        return Cusum(path=path, limit=np.inf, alarm=None, onset=None)
    shuffled = rng.permuted(np.broadcast_to(sequence, (shuffles, n)), axis=1)
    sums = cusum_path(shuffled, baseline=baseline, reference=reference, direction=direction)
    # Tied sums count as larger, so the limit lies just above the first sum that is too common.
    most = np.sort(sums.max(axis=1))[::-1]
    limit = float(np.nextafter(most[allowed] + 1e-9 * (1 + most[allowed]), np.inf))
    over = np.flatnonzero(path >= limit)
    if len(over) == 0:
        return Cusum(path=path, limit=limit, alarm=None, onset=None)
    alarm = int(over[0])
    onset = int(np.flatnonzero(path[:alarm] == 0)[-1]) + 1
    return Cusum(path=path, limit=limit, alarm=alarm, onset=onset)


def false_alarm_rate(
    sequences: ArrayLike,
    *,
    rng: np.random.Generator,
    baseline: int = 8,
    false_alarm: float = 0.05,
    direction: Direction = "down",
) -> float:
    """How often `calibrated_cusum` alarms in sequences in which nothing changes.

    Where neighbours do not resemble each other that is at most `false_alarm`; where they do, more.

    Args:
        sequences: Simulated sequences as rows; 400 give a standard error of about .01 at .05.
        rng: Source of randomness.
        baseline: As given to `calibrated_cusum`.
        false_alarm: As given to `calibrated_cusum`.
        direction: As given to `calibrated_cusum`.
    """
    rows = np.asarray(sequences, dtype=np.float64)
    alarms = sum(
        calibrated_cusum(
            sequence, rng=rng, baseline=baseline, false_alarm=false_alarm, direction=direction
        ).alarm
        is not None
        for sequence in rows
    )
    return alarms / len(rows)
