"""What it does to errors when one execution gives several records: trials, not records, count."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.stats.stage_product import rates

FloatArray: TypeAlias = NDArray[np.float64]


def shared_covariances(success: ArrayLike, cell: ArrayLike, episode: ArrayLike) -> FloatArray:
    """What shared executions add to the errors of one task's product and success rate.

    The linear part of the product moves by product / rate * (success - rate) / n with each trial of
    a stage; trials of one execution move together.

    Args:
        success: 1 or 0; shape (n_records,).
        cell: Stage of the record, from 0 without a gap; the largest is the end-to-end run.
        episode: Execution that it is part of, any labels.

    Returns:
        What is to be added to the variance of the product, and the covariance of the product with
        the success rate; shape (2,). Both are 0 where no execution gives two records.
    """
    x, which = np.asarray(success, dtype=np.float64), np.asarray(cell, dtype=np.int64)
    n = np.bincount(which)
    rate = rates(np.bincount(which, weights=x), n)
    stages = rate[:-1]
    others = np.array([np.prod(np.delete(stages, i)) for i in range(len(stages))])
    slope = np.append(others, 1.0)
    moved = slope[which] * (x - rate[which]) / n[which]
    units, unit = np.unique(np.asarray(episode), return_inverse=True)
    by_cell = np.zeros((len(units), len(n)))
    np.add.at(by_cell, (unit.reshape(-1), which), moved)
    product = by_cell[:, :-1].sum(axis=1)
    apart = (by_cell[:, :-1] ** 2).sum()
    return np.array([(product**2).sum() - apart, (product * by_cell[:, -1]).sum()])
