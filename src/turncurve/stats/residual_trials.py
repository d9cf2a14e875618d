"""The power of the residual's own test, from made-up studies: formulas promise a bit too much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.quantiles import normal_quantile
from turncurve.stats.residual_power import ResidualDesign
from turncurve.stats.stage_product import posterior_rates, smoothed

FloatArray: TypeAlias = NDArray[np.float64]

STUDIES = 1_000
DRAWS = 400
GROWTH = 1.04
"""Factor between one number of trials that is tried and the next."""
MOST = 5_000
"""Trials beyond which the formula's number is left as it is: there it is exact enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPower:
    """Power of made-up studies, with the error that comes from making up so many."""

    trials: tuple[int, ...]
    """Of each stage, and end-to-end runs last."""
    power: float
    std_error: float
    n_studies: int


def simulated_power(
    design: ResidualDesign,
    trials: Sequence[int],
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    studies: int = STUDIES,
) -> SimulatedPower:
    """Share of made-up studies whose interval of the residual leaves 0 out.

    The interval is that of the analysis for these tasks: Jeffreys' posterior for one task, normal
    limits for several.

    Args:
        design: What is to be told apart.
        trials: Of each stage in order, and end-to-end runs last; for each task.
        rng: Source of randomness.
        alpha: Chance of a false alarm, both sides together.
        studies: How many are made up.
    """
    n, rates = np.asarray(trials), np.array((*design.rates, design.observed))
    passed = rng.binomial(n, rates, size=(studies, design.n_tasks, len(n)))
    if design.n_tasks == 1:
        seen = [_posterior_seen(each[0], n, alpha, rng) for each in passed]
        share = float(np.mean(seen))
    else:
        share = float(_normal_seen(passed, n, alpha).mean())
    return SimulatedPower(
        trials=tuple(int(each) for each in n),
        power=share,
        std_error=math.sqrt(share * (1 - share) / studies),
        n_studies=studies,
    )


def trials_by_simulation(
    design: ResidualDesign,
    start: Sequence[int],
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    power: float = 0.8,
) -> SimulatedPower:
    """The trials that the test itself needs, in the proportion of a formula's.

    Args:
        design: What is to be told apart.
        start: Trials by the formula: of each stage, and end-to-end runs last.
        rng: Source of randomness; every number is tried on the same studies' seed.
        alpha: Chance of a false alarm.
        power: Wanted chance to see the residual.

    Returns:
        The first that reaches the power; the last one tried where none does.
    """
    seed, factor = int(rng.integers(2**32)), 1.0
    while True:
        trials = [max(2, round(factor * n)) for n in start]
        found = simulated_power(design, trials, rng=np.random.default_rng(seed), alpha=alpha)
        if found.power >= power or max(trials) > MOST:
            return found
        factor *= GROWTH


def _posterior_seen(
    passed: NDArray[np.int64], n: NDArray[np.int64], alpha: float, rng: np.random.Generator
) -> bool:
    drawn = posterior_rates(passed, n, draws=DRAWS, rng=rng)
    residual = drawn[:, :-1].prod(axis=1) - drawn[:, -1]
    low, high = np.quantile(residual, [alpha / 2, 1 - alpha / 2])
    return not low <= 0 <= high


def _normal_seen(passed: NDArray[np.int64], n: NDArray[np.int64], alpha: float) -> FloatArray:
    rate, (mean, variance) = passed / n, smoothed(passed, np.broadcast_to(n, passed.shape))
    stages, squares = slice(0, -1), mean**2
    spread = np.prod((squares + variance)[..., stages], axis=-1)
    spread += variance[..., -1] - np.prod(squares[..., stages], axis=-1)
    residual = (rate[..., stages].prod(axis=-1) - rate[..., -1]).mean(axis=-1)
    error = np.sqrt(spread.sum(axis=-1)) / passed.shape[1]
    return np.asarray(np.abs(residual) > normal_quantile(1 - alpha) * error)
