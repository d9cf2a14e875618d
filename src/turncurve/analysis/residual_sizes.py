"""How many trials a residual of a size needs at given stage rates, and which one trials can see."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from turncurve.errors import NotEnoughDataError
from turncurve.stats.residual_power import (
    ResidualDesign,
    best_trials,
    equal_trials,
    tasks_needed,
    visible_residual,
)
from turncurve.stats.residual_trials import SimulatedPower, trials_by_simulation
from turncurve.stats.step_power import Rule

MOST_SIMULATED = 2_000
"""Trials by the formula beyond which no study is made up: the formula is exact enough there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPowerSettings:
    """What is to be seen.

    Attributes:
        rates: Chance to pass each stage, in order.
        residuals: Residuals to size for: above 0 a deficit, below a surplus.
        n_tasks: Tasks of such rates.
        task_sd: Standard deviation of the tasks' true residuals, for other tasks of the kind.
        trials: Trials of each stage and end to end, whose smallest visible deficit is wanted; the
            first is what tasks are sized for.
        power: Wanted chance to see the residual.
        alpha: Chance of a false alarm.
        seed: Seed of the made-up studies.
    """

    rates: tuple[float, ...]
    residuals: tuple[float, ...]
    n_tasks: int = 1
    task_sd: float = 0.1
    trials: tuple[int, ...] = (10, 20, 40)
    power: float = 0.8
    alpha: float = 0.05
    seed: int = 20_261_130


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedResidual:
    """What one residual needs.

    Attributes:
        residual: Predicted less observed.
        observed: End-to-end success that it leaves.
        by_formula: Trials of each stage and as many end-to-end runs, of each task, by the normal
            formula; None where none suffice.
        simulated: The number at which the analysis itself reached the power, on made-up studies;
            None where the formula has none, or one so large that it is exact.
        best: Trials of each stage and end-to-end runs that see as much with the fewest in all, in
            the formula's proportions and raised as the simulation asks.
        n_equal: All trials of all tasks, as many of each.
        n_best: All trials of all tasks, in the best proportions.
        tasks: Tasks to sample, with the first number of trials each, to see it in others of their
            kind; None where none suffice.
    """

    residual: float
    observed: float
    by_formula: int | None
    simulated: SimulatedPower | None
    best: tuple[int, ...] | None
    n_equal: int | None
    n_best: int | None
    tasks: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleResidual:
    """The smallest deficit that so many trials see, by the formula; None where none is."""

    n_trials: int
    deficit: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPower:
    """What residuals need, and what trials see; `predicted` is the product of the rates."""

    predicted: float
    sized: tuple[SizedResidual, ...]
    visible: tuple[VisibleResidual, ...]
    settings: ResidualPowerSettings


SHARES = (0.5, 0.25, 0.75)
"""Residuals that are sized where none is asked for: shares of the prediction."""


def sizes_for(
    *,
    rates: Sequence[float],
    stages: int | None = None,
    residuals: Sequence[float] = (),
    observed: Sequence[float] = (),
    **settings: Any,
) -> ResidualPower:
    """As `residual_power`, from what a person may say instead of residuals.

    Args:
        rates: Chance to pass each stage.
        stages: So many stages of the one rate; None for a rate a stage.
        residuals: Residuals to size for.
        observed: End-to-end success to tell from the prediction. Without either, half, a quarter
            and three quarters of the prediction are residuals to size for.
        **settings: As in `ResidualPowerSettings`.

    Raises:
        ValueError: Several rates and a number of stages are given, or a residual leaves no chance.
    """
    if stages is not None and len(rates) != 1:
        raise ValueError(f"stages: wanted one rate for all of them, got {len(rates)}")
    every = tuple(rates) * (stages or 1)
    predicted = math.prod(every)
    asked = (*residuals, *(predicted - each for each in observed))
    return residual_power(
        ResidualPowerSettings(
            rates=every,
            residuals=asked or tuple(share * predicted for share in SHARES),
            **settings,
        )
    )


def residual_power(settings: ResidualPowerSettings) -> ResidualPower:
    """Size a study of matched stages.

    Args:
        settings: Rates, residuals, tasks.

    Raises:
        NotEnoughDataError: There is no stage, or no residual to size for.
        ValueError: A residual leaves no chance between 0 and 1.
    """
    if not settings.rates or not settings.residuals:
        raise NotEnoughDataError("residual_power: a stage rate and a residual", need=1, got=0)
    rule = Rule(alpha=settings.alpha)
    return ResidualPower(
        predicted=math.prod(settings.rates),
        sized=tuple(_sized(each, settings, rule) for each in settings.residuals),
        visible=tuple(
            VisibleResidual(
                n_trials=n,
                deficit=visible_residual(
                    settings.rates, rule, n_trials=n, n_tasks=settings.n_tasks,
                    power=settings.power,
                ),
            )
            for n in settings.trials
        ),
        settings=settings,
    )  # fmt: skip


def _sized(residual: float, settings: ResidualPowerSettings, rule: Rule) -> SizedResidual:
    observed = math.prod(settings.rates) - residual
    if not -1e-12 <= observed <= 1:
        raise ValueError(
            f"residual: wanted one that leaves a chance from 0 to 1 of "
            f"{math.prod(settings.rates):.4g}, got {residual:g}"
        )
    design = ResidualDesign(
        rates=settings.rates, observed=max(observed, 0.0), n_tasks=settings.n_tasks
    )
    n, best = (
        equal_trials(design, rule, power=settings.power),
        best_trials(design, rule, power=settings.power),
    )
    simulated = None
    if n is not None and n <= MOST_SIMULATED:
        simulated = trials_by_simulation(
            design,
            [n] * (len(settings.rates) + 1),
            rng=np.random.default_rng(settings.seed),
            alpha=settings.alpha,
            power=settings.power,
        )
    raised = 1.0 if simulated is None or n is None else simulated.trials[0] / n
    best = None if best is None else tuple(math.ceil(raised * each) for each in best)
    equal = simulated.trials[0] if simulated is not None else n
    return SizedResidual(
        residual=residual,
        observed=design.observed,
        by_formula=n,
        simulated=simulated,
        best=best,
        n_equal=None if equal is None else equal * (len(settings.rates) + 1) * settings.n_tasks,
        n_best=None if best is None else sum(best) * settings.n_tasks,
        tasks=tasks_needed(
            design, rule, n_trials=settings.trials[0], task_sd=settings.task_sd,
            power=settings.power,
        ),
    )  # fmt: skip
