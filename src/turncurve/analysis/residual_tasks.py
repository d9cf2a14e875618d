"""One task by itself: what its stages predict, by product or by chain, and what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.residual_counts import TaskTrials, destination
from turncurve.readers.stage_trials import FAILURE, SUCCESS
from turncurve.stats.absorbing_chain import (
    expected_steps,
    off_the_straight_way,
    posterior_transitions,
    straight_product,
    success_chance,
    transition_shares,
)
from turncurve.stats.estimate import none_if_nan
from turncurve.stats.shared_trials import shared_covariances
from turncurve.stats.stage_product import (
    posterior_rates,
    product_variances,
    smoothed,
    task_products,
)
from turncurve.stats.task_residual import of_draws

FloatArray: TypeAlias = NDArray[np.float64]
Model: TypeAlias = Literal["product", "chain"]

MOST_DRAWS, FEWEST_DRAWS = 20_000, 2_000
ALL_DRAWS = 60_000
"""Draws of a posterior over all tasks together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of trials with the limits of its posterior."""

    name: str
    n_succeeded: int | None
    """None for a prediction, which is no share of trials."""
    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainTask:
    """A task with ways back: what the chain says beside what a product would.

    Attributes:
        straight: Chance to go straight through, every way back counted as a failure: what a
            product of stages predicts of the same trials.
        steps: Mean transitions to either end; None where there may be no end.
        n_off: Trials that went neither to the next stage nor to failure.
        n: Trials.
    """

    straight: float
    steps: float | None
    n_off: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResidual:
    """One task; limits are those of Jeffreys' posterior of its own trials.

    Attributes:
        name: The task.
        family: Of alike tasks; None where it is one by itself.
        model: What predicts.
        stages: Each stage from its checkpoint.
        predicted: Chance of success that they predict; `n` is the stage trials.
        observed: Share of end-to-end runs that succeeded.
        residual: Predicted less observed.
        low: Its lower limit.
        high: Its upper limit.
        p_deficit: Posterior chance that the task does worse than its stages predict.
        chain: Of a task with a graph; None for others.
    """

    name: str
    family: str | None
    model: Model
    stages: tuple[Rate, ...]
    predicted: Rate
    observed: Rate
    residual: float
    low: float
    high: float
    p_deficit: float
    chain: ChainTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFigures:
    """A task's row, and what estimates over tasks are made of.

    Attributes:
        row: The task.
        variance: Of the prediction, of the observed share, and their covariance; shape (3,).
        shared: Whether one execution gave several of its records.
        predicted: Draws of the prediction's posterior.
        observed: Draws of the observed share's posterior.
        straight: Draws of a graph's straight way; None without one.
    """

    row: TaskResidual
    variance: FloatArray
    shared: bool
    predicted: FloatArray
    observed: FloatArray
    straight: FloatArray | None


def draws_for(n_tasks: int) -> int:
    """Posterior draws a task, so that all tasks together stay within bounds."""
    return max(FEWEST_DRAWS, min(MOST_DRAWS, ALL_DRAWS // max(n_tasks, 1)))


def task_figures(
    task: TaskTrials, *, draws: int, rng: np.random.Generator, level: float
) -> TaskFigures:
    """Both sides of one task.

    Args:
        task: Trials of every stage and end to end.
        draws: Of the posterior.
        rng: Source of randomness.
        level: Credible level of the limits.
    """
    s, n = task.counts
    c, m = task.n_succeeded, len(task.whole)
    observed = posterior_rates(c, m, draws=draws, rng=rng)[:, 0]
    stage = posterior_rates(s, n, draws=draws, rng=rng)
    rows = tuple(
        _rate(name, (s[i], n[i]), stage[:, i], level) for i, name in enumerate(task.plan.stages)
    )
    chain: ChainTask | None = None
    straight: FloatArray | None = None
    if task.plan.arcs is None:
        value, drawn = float(task_products(s, n, [0] * len(s))[0]), stage.prod(axis=1)
        own = float(product_variances(s, n, [0] * len(s))[0])
    else:
        value, drawn, chain, straight = _chain(task, draws, rng)
        own = float(drawn.var(ddof=1))
    extra, shared = _shared(task)
    variance = np.array([max(own + extra[0], 0.0), smoothed(c, m)[1], extra[1]])
    low, high = _limits(value - c / m, drawn - observed, level)
    ends = _limits(value, drawn, level)
    predicted = Rate(
        name="predicted", n_succeeded=None, n=sum(n), value=value, low=ends[0], high=ends[1]
    )
    row = TaskResidual(
        name=task.name,
        family=task.family,
        model="product" if chain is None else "chain",
        stages=rows,
        predicted=predicted,
        observed=_rate("observed", (c, m), observed, level),
        residual=value - c / m,
        low=low,
        high=high,
        p_deficit=float((drawn > observed).mean()),
        chain=chain,
    )
    return TaskFigures(
        row=row,
        variance=variance,
        shared=shared,
        predicted=drawn,
        observed=observed,
        straight=straight,
    )


def _rate(name: str, counts: tuple[int, int], drawn: FloatArray, level: float) -> Rate:
    succeeded, n = counts
    low, high = _limits(succeeded / n, drawn, level)
    return Rate(name=name, n_succeeded=succeeded, n=n, value=succeeded / n, low=low, high=high)


def _limits(value: float, drawn: FloatArray, level: float) -> tuple[float, float]:
    found = of_draws(value, drawn, level=level)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def _chain(
    task: TaskTrials, draws: int, rng: np.random.Generator
) -> tuple[float, FloatArray, ChainTask, FloatArray]:
    counts, allowed = _transitions(task)
    shares = transition_shares(counts)
    drawn = posterior_transitions(counts, allowed, draws=draws, rng=rng)
    steps = task.plan.steps
    found = ChainTask(
        straight=float(straight_product(shares)),
        steps=none_if_nan(float(expected_steps(shares))),
        n_off=int(counts[off_the_straight_way(len(counts))].sum()),
        n=int(counts.sum()),
    )
    return (
        float(success_chance(shares, steps=steps)),
        success_chance(drawn, steps=steps),
        found,
        straight_product(drawn),
    )


def _transitions(task: TaskTrials) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Counts of transitions, and which there can be; shape (n_states, n_states + 2)."""
    names = (*task.plan.stages, SUCCESS, FAILURE)
    at = {name: number for number, name in enumerate(names)}
    counts = np.zeros((len(task.plan.stages), len(names)))
    allowed = np.zeros(counts.shape, dtype=np.bool_)
    for stage, trials in task.stages.items():
        for to in (task.plan.arcs or {}).get(stage, ()):
            allowed[at[stage], at[to]] = to in at
        for trial in trials:
            counts[at[stage], at[destination(trial, task.plan)]] += 1
    return counts, allowed


def _shared(task: TaskTrials) -> tuple[FloatArray, bool]:
    """What executions that gave several records add to the errors, and whether there are any."""
    names = task.plan.stages
    records = [(i, t) for i, name in enumerate(names) for t in task.stages[name]]
    records += [(len(names), t) for t in task.whole]
    named = [trial.episode for _, trial in records if trial.episode is not None]
    if task.plan.arcs is not None or len(set(named)) == len(named):
        return np.zeros(2), False
    found = shared_covariances(
        [bool(trial.success) for _, trial in records],
        [cell for cell, _ in records],
        [
            f"in {trial.episode}" if trial.episode is not None else f"alone {number}"
            for number, (_, trial) in enumerate(records)
        ],
    )
    return found, True
