"""Do events come together within a unit, more than their number makes them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.stretches import stretches

IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Togetherness:
    """Mean length of stretches of events, beside its distribution in shuffled sequences.

    Attributes:
        mean_length: Events over stretches.
        expected: The same of the shuffled sequences, on average.
        low: Lower limit of their middle `level`.
        high: Upper limit.
        p: Two-sided, of a random order; never 0.
        level: Share of the shuffles between the limits.
        n_events: Events.
        n_stretches: Stretches of them.
        n_resamples: Shuffles.
    """

    mean_length: float
    expected: float
    low: float
    high: float
    p: float
    level: float
    n_events: int
    n_stretches: int
    n_resamples: int


def togetherness(
    event: ArrayLike,
    unit: ArrayLike,
    *,
    block: ArrayLike | None = None,
    rng: np.random.Generator,
    resamples: int = 999,
    level: float = 0.95,
) -> Togetherness:
    """Compare the mean length of stretches of events with that of the same events shuffled.

    Shuffling within units keeps each unit's number of events and takes away their order. Shuffling
    within smaller blocks also keeps how the share of events differs between them, so that a drift
    or a phase is not read as events that bring each other about.

    Args:
        event: True where the event is; shape (n_values,).
        unit: Unit of each value, never falling; shape (n_values,).
        block: Block of each value, which lies within one unit; shape (n_values,). None: the unit.
        rng: Source of randomness.
        resamples: Number of shuffles.
        level: Share of the shuffles between the limits.

    Raises:
        NotEnoughDataError: No block has both events and other values: nothing can be shuffled.

    References:
        Wald & Wolfowitz (1940), Annals of Mathematical Statistics 11:147-162, for the number of
        stretches; Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9:39, for its rank.
    """
    events, units = np.asarray(event, dtype=np.bool_), np.asarray(unit, dtype=np.int64)
    given = units if block is None else np.asarray(block)
    blocks = np.unique(given, return_inverse=True)[1].ravel()
    n, n_with = np.bincount(blocks), np.bincount(blocks, weights=events)
    n_mixed = int(((n_with > 0) & (n_with < n)).sum())
    if not n_mixed:
        raise NotEnoughDataError("togetherness: blocks with and without the event", need=1, got=0)
    n_events, n_seen = int(events.sum()), len(stretches(units, events).length)
    place = np.argsort(blocks, kind="stable")
    shuffled = np.empty_like(events)
    counts = np.empty(resamples, dtype=np.int64)
    for draw in range(resamples):
        shuffled[place] = events[np.argsort(blocks + rng.random(len(blocks)))]
        counts[draw] = len(stretches(units, shuffled).length)
    lengths = n_events / counts
    low, high = np.quantile(lengths, [(1 - level) / 2, (1 + level) / 2])
    fewer, more = int((counts <= n_seen).sum()), int((counts >= n_seen).sum())
    return Togetherness(
        mean_length=n_events / n_seen,
        expected=float(lengths.mean()),
        low=float(low),
        high=float(high),
        p=min(1.0, 2 * (1 + min(fewer, more)) / (resamples + 1)),
        level=level,
        n_events=n_events,
        n_stretches=n_seen,
        n_resamples=resamples,
    )
