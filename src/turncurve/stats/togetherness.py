"""Do events come together within a unit, more than their number makes them?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.stretches import stretches

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]

AT_ONCE = 4_000_000
"""Values of shuffled sequences held at a time."""


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
    if not ((n_with > 0) & (n_with < n)).any():
        raise NotEnoughDataError("togetherness: blocks with and without the event", need=1, got=0)
    n_events, n_seen = int(events.sum()), len(stretches(units, events).length)
    follows = (np.diff(units, prepend=-1) == 0)[:, None]
    at_once = max(1, AT_ONCE // len(events))
    parts = []
    for done in range(0, resamples, at_once):
        order = shuffled(events, blocks, rng=rng, n=min(at_once, resamples - done))
        goes_on = order[1:] & order[:-1] & follows[1:]
        parts.append(n_events - np.count_nonzero(goes_on, axis=0))
    counts = np.concatenate(parts)
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


def shuffled(
    event: BoolArray, block: IntArray, *, rng: np.random.Generator, n: int
) -> NDArray[np.bool_]:
    """The events in `n` random orders within blocks, each as likely as any other.

    From the first place of each block to its last, an event stands there with the chance of those
    that are left among the places that are left: all blocks and orders at once.

    Args:
        event: Shape (n_values,).
        block: From 0; shape (n_values,).
        rng: Source of randomness.
        n: Number of orders.

    Returns:
        Shape (n_values, n).
    """
    size = np.bincount(block)
    events_left = np.repeat(np.bincount(block, weights=event).astype(np.int32)[:, None], n, axis=1)
    by_block = np.argsort(block, kind="stable")
    place = np.empty(len(block), dtype=np.int64)
    place[by_block] = np.arange(len(block)) - np.repeat(np.cumsum(size) - size, size)
    by_place = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place))
    found = np.empty((len(block), n), dtype=np.bool_)
    for k, (start, end) in enumerate(pairwise([0, *ends.tolist()])):
        rows = by_place[start:end]
        of = block[rows]
        left = events_left[of]
        here = rng.random(left.shape) * (size[of] - k)[:, None] < left
        found[rows] = here
        events_left[of] = left - here
    return found
