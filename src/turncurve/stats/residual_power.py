"""How many trials a residual of a size needs, at given stage rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from turncurve.stats.step_power import Rule, trials_needed


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualDesign:
    """What is to be told apart: what the stages predict, and what the whole task does.

    Attributes:
        rates: Chance to pass each stage; above 0, at most 1.
        observed: Chance that an end-to-end run succeeds; from 0 to 1.
        n_tasks: Tasks of such rates.
    """

    rates: tuple[float, ...]
    observed: float
    n_tasks: int = 1

    def __post_init__(self) -> None:
        if not self.rates or not all(0 < rate <= 1 for rate in self.rates):
            raise ValueError(f"rates: wanted chances above 0, at most 1, got {self.rates!r}")
        if not 0 <= self.observed <= 1:
            raise ValueError(f"observed: wanted a chance from 0 to 1, got {self.observed!r}")
        if self.n_tasks < 1:
            raise ValueError(f"n_tasks: wanted at least 1, got {self.n_tasks!r}")

    @property
    def predicted(self) -> float:
        """The product of the rates."""
        return math.prod(self.rates)

    @property
    def residual(self) -> float:
        """Predicted less observed."""
        return self.predicted - self.observed

    @property
    def unit_errors(self) -> tuple[float, ...]:
        """Standard error of one task's residual that one trial of each stage, then one run, adds.

        By the delta method: predicted * sqrt((1 - q) / q) for a stage, sqrt(p (1 - p)) for a run.
        """
        stages = (self.predicted * math.sqrt((1 - rate) / rate) for rate in self.rates)
        return (*stages, math.sqrt(self.observed * (1 - self.observed)))


def residual_error(design: ResidualDesign, trials: Sequence[float]) -> float:
    """Standard error of the mean residual of these tasks.

    Args:
        design: Rates and tasks.
        trials: Of each stage in order, and end-to-end runs last; for each task.
    """
    variance = sum(
        error**2 / n for error, n in zip(design.unit_errors, trials, strict=True) if error
    )
    return math.sqrt(variance / design.n_tasks)


def equal_trials(design: ResidualDesign, rule: Rule, *, power: float = 0.8) -> int | None:
    """Trials of each stage, and as many end-to-end runs, of each task; None where none suffice.

    Args:
        design: What is to be told apart.
        rule: What counts as significant.
        power: Wanted chance to see the residual.
    """
    k = len(design.unit_errors)
    return trials_needed(
        design.residual,
        lambda n: (residual_error(design, [n] * k) or math.ulp(1.0), math.inf),
        rule,
        power=power,
    )


def best_trials(
    design: ResidualDesign, rule: Rule, *, power: float = 0.8
) -> tuple[int, ...] | None:
    """Trials of each stage and end-to-end runs that see as much with the fewest in all.

    Each is in proportion to the error that one trial of it adds (Neyman's allocation), so a stage
    that hardly ever fails needs few.

    Args:
        design: What is to be told apart.
        rule: What counts as significant.
        power: Wanted chance to see the residual.
    """
    errors = design.unit_errors
    total = sum(errors)
    if total == 0:
        return None if design.residual == 0 else (2,) * len(errors)

    def split(n: float) -> list[float]:
        return [max(2.0, n * error / total) for error in errors]

    n = trials_needed(
        design.residual,
        lambda n: (residual_error(design, split(n)), math.inf),
        rule,
        power=power,
    )
    return None if n is None else tuple(math.ceil(each) for each in split(n))


def tasks_needed(
    design: ResidualDesign,
    rule: Rule,
    *,
    n_trials: int,
    task_sd: float = 0.0,
    power: float = 0.8,
) -> int | None:
    """Tasks to sample so that the mean residual of their kind is seen, by a t over tasks.

    Args:
        design: What is to be told apart; its number of tasks is not used.
        rule: What counts as significant.
        n_trials: Trials of each stage and end-to-end runs of each task.
        task_sd: Standard deviation of the tasks' true residuals.
        power: Wanted chance to see the residual.
    """
    one = ResidualDesign(rates=design.rates, observed=design.observed)
    within = residual_error(one, [n_trials] * len(one.unit_errors))
    each = math.hypot(within, task_sd) or math.ulp(1.0)
    return trials_needed(design.residual, lambda n: (each / math.sqrt(n), n - 1), rule, power=power)


def visible_residual(
    rates: tuple[float, ...], rule: Rule, *, n_trials: int, n_tasks: int = 1, power: float = 0.8
) -> float | None:
    """The smallest deficit that so many trials see; None where not even a success rate of 0 is.

    Args:
        rates: Chance to pass each stage.
        rule: What counts as significant.
        n_trials: Trials of each stage and end-to-end runs of each task.
        n_tasks: Tasks of such rates.
        power: Wanted chance to see it.
    """
    top = math.prod(rates)

    def seen(deficit: float) -> bool:
        design = ResidualDesign(rates=rates, observed=max(top - deficit, 0.0), n_tasks=n_tasks)
        needed = equal_trials(design, rule, power=power)
        return needed is not None and needed <= n_trials

    if not seen(top):
        return None
    low, high = 0.0, top
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high
