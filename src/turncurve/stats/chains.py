"""Simulated sequences whose neighbours resemble each other and in which nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def held(
    fresh: Iterable[FloatArray], correlation: float, *, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Turns that repeat the turn before with chance `correlation` and else take a fresh value.

    Values keep the distribution of the fresh ones, and neighbours correlate by `correlation`; from
    fresh values of two kinds it is the two-state Markov chain.

    Args:
        fresh: Independent values of one turn after another; shape (n_sequences,) each.
        correlation: Of neighbouring turns, from 0; below, it is taken as 0.
        rng: Source of randomness.
    """
    value: FloatArray | None = None
    for new in fresh:
        value = new if value is None else np.where(rng.random(len(new)) < correlation, value, new)
        yield value


def held_chains(
    values: FloatArray, correlation: float, *, shape: tuple[int, int], rng: np.random.Generator
) -> FloatArray:
    """Sequences of `held` values, the fresh ones drawn from `values`.

    Args:
        values: What turns were like; shape (n,), at least one.
        correlation: Of neighbouring turns.
        shape: Number of sequences, and of their turns.
        rng: Source of randomness.
    """
    n_sequences, n_turns = shape
    fresh = (values[rng.integers(len(values), size=n_sequences)] for _ in range(n_turns))
    return np.stack(list(held(fresh, correlation, rng=rng)), axis=1)
