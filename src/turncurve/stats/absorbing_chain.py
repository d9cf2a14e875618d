"""A task as states with ways back: the chance to end in success, from transitions out of each.

Rows of a transition matrix are states; its columns are the same states in the same order, then
success, then failure. The next state depends on the present one alone.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

PRIOR = 0.5
"""Weight of each allowed arc before any trial."""


def transition_shares(counts: ArrayLike) -> FloatArray:
    """Share of the trials out of each state that went to each other one.

    Args:
        counts: Trials by state and where they went; shape (n_states, n_states + 2).

    Raises:
        NotEnoughDataError: A state has no trial.
    """
    found = _checked(counts)
    total = found.sum(axis=1, keepdims=True)
    if (total == 0).any():
        raise NotEnoughDataError("a chain: trials out of every state", need=1, got=0)
    return np.asarray(found / total)


def posterior_transitions(
    counts: ArrayLike, allowed: ArrayLike, *, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of the transition matrix: Dirichlet, half a trial on each allowed arc before any.

    Args:
        counts: As for `transition_shares`.
        allowed: Which arcs there can be; same shape.
        draws: How many.
        rng: Source of randomness.

    Returns:
        Shape (draws, n_states, n_states + 2).

    Raises:
        ValueError: A trial took an arc that is not allowed, or a state has no arc.
    """
    found, may = _checked(counts), np.asarray(allowed, dtype=np.bool_)
    if (found[~may] > 0).any() or not may.any(axis=1).all():
        raise ValueError("wanted counts on allowed arcs only, and an arc out of every state")
    weight = rng.standard_gamma(np.where(may, found + PRIOR, 0.0), size=(draws, *found.shape))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True), dtype=np.float64)


def success_chance(shares: ArrayLike, *, steps: int | None = None) -> FloatArray:
    """The chance to end in success, from the first state on.

    Args:
        shares: Transition matrices; shape (..., n_states, n_states + 2).
        steps: Transitions within which success must come; None for any number.

    Returns:
        Shape (...). A walk that can turn in circles for ever never succeeds.

    References:
        Kemeny & Snell (1960), Finite Markov Chains, theorem 3.3.7.
    """
    p = np.asarray(shares, dtype=np.float64)
    n = p.shape[-2]
    if steps is not None:
        at, done = np.zeros(p.shape[:-1]), np.zeros(p.shape[:-2])
        at[..., 0] = 1.0
        for _ in range(steps):
            done = done + (at * p[..., n]).sum(axis=-1)
            at = (at[..., None] * p[..., :n]).sum(axis=-2)
        return np.asarray(done)
    ends = _can_end(p)
    q = np.where(ends[..., :, None] & ends[..., None, :], p[..., :n], 0.0)
    to_success = np.where(ends, p[..., n], 0.0)
    return np.asarray(np.linalg.solve(np.eye(n) - q, to_success[..., None])[..., 0, 0])


def expected_steps(shares: ArrayLike) -> FloatArray:
    """Mean number of transitions to either end, from the first state; NaN where there may be none.

    Args:
        shares: As for `success_chance`.
    """
    p = np.asarray(shares, dtype=np.float64)
    n = p.shape[-2]
    ends = _can_end(p)
    reached = _closure(p[..., :n] > 0)[..., 0, :]
    q = np.where(ends[..., :, None] & ends[..., None, :], p[..., :n], 0.0)
    mean = np.linalg.solve(np.eye(n) - q, np.ones((*p.shape[:-1], 1)))[..., 0, 0]
    return np.asarray(np.where((reached <= ends).all(axis=-1), mean, np.nan))


def straight_product(shares: ArrayLike) -> FloatArray:
    """The chance to go from each state to the next and from the last to success: no way back.

    What a product of stages would predict of the same trials, a retry counted as a failure.

    Args:
        shares: As for `success_chance`; the states in the order of the straight way.
    """
    p = np.asarray(shares, dtype=np.float64)
    n = p.shape[-2]
    return np.asarray(np.prod(np.diagonal(p[..., 1 : n + 1], axis1=-2, axis2=-1), axis=-1))


def off_the_straight_way(n_states: int) -> BoolArray:
    """Which arcs lead neither to the next state nor to failure; shape (n_states, n_states + 2)."""
    off = np.ones((n_states, n_states + 2), dtype=np.bool_)
    off[np.arange(n_states), np.arange(1, n_states + 1)] = False
    off[:, -1] = False
    return off


def _can_end(p: FloatArray) -> BoolArray:
    """From which states an end can be reached at all."""
    n = p.shape[-2]
    ends = p[..., n:].sum(axis=-1) > 0
    return np.asarray((_closure(p[..., :n] > 0) & ends[..., None, :]).any(axis=-1))


def _closure(arcs: BoolArray) -> BoolArray:
    """Which states each state can reach, itself included."""
    n = arcs.shape[-1]
    reach = (arcs | np.eye(n, dtype=np.bool_)).astype(np.float64)
    for _ in range(max(1, n.bit_length())):
        reach = np.minimum(reach @ reach, 1.0)
    return np.asarray(reach > 0)


def _checked(counts: ArrayLike) -> FloatArray:
    found = np.asarray(counts, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] != found.shape[0] + 2 or (found < 0).any():
        raise ValueError(
            "wanted counts of shape (n_states, n_states + 2), success and failure last, from 0; "
            f"got shape {found.shape}"
        )
    return found
