"""The chance to pass every stage of a task, as the product of the stages' own chances."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def rates(succeeded: ArrayLike, n: ArrayLike) -> FloatArray:
    """Share of trials that succeeded; NaN where there is no trial.

    Raises:
        ValueError: A count of successes is below 0 or above that of trials.
    """
    s, m = np.asarray(succeeded, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if s.shape != m.shape or ((s < 0) | (s > m)).any():
        raise ValueError("wanted as many counts of successes as of trials, from 0 to the trials")
    return np.asarray(np.divide(s, m, out=np.full(s.shape, np.nan), where=m > 0))


def task_products(succeeded: ArrayLike, n: ArrayLike, task: ArrayLike) -> FloatArray:
    """The product of each task's stage rates; without bias where stages have trials of their own.

    Independent rates are unbiased, and so is the product of independent unbiased numbers. Stages
    that share trials are not independent.

    Args:
        succeeded: Successes of one stage of one task; shape (n_cells,).
        n: Its trials; NaN results where there is none.
        task: Which task it belongs to, numbered from 0 without a gap; shape (n_cells,).

    Returns:
        One chance a task, NaN where a stage has no trial; shape (n_tasks,).
    """
    which = np.asarray(task, dtype=np.int64)
    product = np.ones(int(which.max(initial=-1)) + 1)
    np.multiply.at(product, which, rates(succeeded, n))
    return product


def product_of_means(succeeded: ArrayLike, n: ArrayLike, stage: ArrayLike) -> float:
    """The product of the stages' mean rates over tasks: to show how wrong it is, not to use.

    Where tasks differ, a task that is easy at one stage tends to be easy at the next, so that the
    mean of the tasks' products lies above this.

    Args:
        succeeded: As for `task_products`.
        n: As for `task_products`.
        stage: Which stage a cell is of, any labels; shape (n_cells,).
    """
    q, label = rates(succeeded, n), np.unique(np.asarray(stage), return_inverse=True)[1].reshape(-1)
    return float(np.prod(np.bincount(label, weights=q) / np.bincount(label)))


def product_variances(succeeded: ArrayLike, n: ArrayLike, task: ArrayLike) -> FloatArray:
    """The variance of each task's product of rates, from its trials alone.

    The variance of a product of independent numbers is the product of their second moments less
    that of their squared means. Rates stand half a success and half a failure nearer to 1/2 here,
    as otherwise 20 of 20 at every stage would be certain.

    Args:
        succeeded: As for `task_products`.
        n: As for `task_products`.
        task: As for `task_products`.

    References:
        Goodman (1960), JASA 55:708-713.
    """
    mean, variance = smoothed(succeeded, n)
    which = np.asarray(task, dtype=np.int64)
    moments, squares = np.ones((2, int(which.max(initial=-1)) + 1))
    np.multiply.at(moments, which, mean**2 + variance)
    np.multiply.at(squares, which, mean**2)
    return np.asarray(moments - squares, dtype=np.float64)


def smoothed(succeeded: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Rates with half a success and half a failure more, and their variance; never 0."""
    s, m = np.asarray(succeeded, dtype=np.float64), np.asarray(n, dtype=np.float64)
    mean = (s + 0.5) / (m + 1)
    return mean, np.asarray(mean * (1 - mean) / (m + 1), dtype=np.float64)


def posterior_rates(
    succeeded: ArrayLike, n: ArrayLike, *, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of each rate from its posterior under Jeffreys' prior, Beta(s + 1/2, f + 1/2).

    Their product over the stages of one task is the posterior of its product; where all trials
    succeed it stays below 1. Averaged over many tasks the pull towards 1/2 does not average out:
    use it for one task.

    Args:
        succeeded: Successes; shape (n_cells,).
        n: Trials; same shape.
        draws: How many.
        rng: Source of randomness.

    Returns:
        Shape (draws, n_cells).

    Raises:
        NotEnoughDataError: There is no cell, or one without a trial.

    References:
        Brown, Cai & DasGupta (2001), Statistical Science 16:101-133 (Jeffreys' interval).
    """
    s, m = np.atleast_1d(succeeded), np.atleast_1d(n)
    if not len(m) or (m < 1).any():
        raise NotEnoughDataError("posterior_rates: trials of every stage", need=1, got=0)
    rates(s, m)
    return np.asarray(rng.beta(s + 0.5, m - s + 0.5, size=(draws, len(m))), dtype=np.float64)
