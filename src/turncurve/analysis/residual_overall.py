"""Both sides over all tasks: predicted, observed, residual, gamma."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.over_clusters import Resampling, Sized, as_estimate
from turncurve.analysis.residual_plan import ResidualSettings
from turncurve.analysis.residual_tasks import TaskFigures
from turncurve.stats.cluster_bootstrap import ClusterInterval
from turncurve.stats.estimate import Estimate
from turncurve.stats.task_residual import (
    TaskSides,
    log_ratio_of_these_tasks,
    log_ratio_over_tasks,
    mean_of_these_tasks,
    mean_over_tasks,
    of_draws,
    residual_of_these_tasks,
    within_unit,
)

FloatArray: TypeAlias = NDArray[np.float64]
Over: TypeAlias = Literal["tasks", "these tasks", "one task"]
"""Other tasks of the kind; these very tasks; a single one."""

WIDEST = 1e9
STAGES_INDEPENDENT = "a stage's chance rests on nothing but what its checkpoint holds"
ALIKE = "trials of a stage, and end-to-end runs, are independent and alike"
NO_RATIO = "no end-to-end run succeeds, or none of the tasks is predicted to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The four estimates over tasks, what their limits are over, and why not over others."""

    predicted: Estimate
    observed: Estimate
    residual: Estimate
    gamma: Estimate
    over: Over


class Sides:
    """Both sides of every task, and the intervals that they allow.

    Args:
        figures: The tasks; at least one.
        settings: Level, seed, resamples.
    """

    def __init__(self, figures: Sequence[TaskFigures], settings: ResidualSettings) -> None:
        self._figures, self._settings = figures, settings
        self.predicted = np.array([one.row.predicted.value for one in figures])
        self.observed = np.array([one.row.observed.value for one in figures])
        variance = np.stack([one.variance for one in figures])
        self.sides = TaskSides(
            predicted=self.predicted,
            predicted_variance=variance[:, 0],
            observed=self.observed,
            observed_variance=variance[:, 1],
            covariance=variance[:, 2],
        )
        self.family = [one.row.family or f"\0{one.row.name}" for one in figures]
        self.shared = any(one.shared for one in figures)
        self._runs = sum(one.row.predicted.n + one.row.observed.n for one in figures)
        self._resampling = Resampling(
            level=settings.level, resamples=settings.resamples, seed=settings.seed
        )

    def over(self) -> tuple[Over, str | None]:
        """What limits are over, and why not over other tasks where that was asked for."""
        if len(self._figures) == 1:
            said = "limits say what more trials of it would give, nothing of other tasks"
            return "one task", f"there is one task: {said}"
        if self._settings.inference == "suite":
            return "these tasks", None
        found = mean_over_tasks(self.predicted - self.observed, family=self.family)
        if found.low is None:
            said = "limits say what more trials of these tasks would give"
            return "these tasks", f"{found.reason}: {said}"
        return "tasks", None

    def overall(self, over: Over) -> Overall:
        """The four estimates with limits over tasks, these tasks or the one task."""
        chance = Sized(estimand="", n_turns=0, n_runs=self._runs, lowest=0.0)
        about = f"mean over {_WHICH[over]}"
        return Overall(
            predicted=self._estimate(
                replace(chance, estimand=f"success that the stages predict, {about}"),
                self._mean(over, predicted=True),
                "",
            ),
            observed=self._estimate(
                replace(chance, estimand=f"success of end-to-end runs, {about}"),
                self._mean(over, predicted=False),
                "",
            ),
            residual=self._estimate(
                replace(chance, estimand=f"predicted less observed success, {about}", lowest=-1.0),
                self.residual(over, self._settings.level),
                "",
            ),
            gamma=self._gamma(over),
            over=over,
        )

    def residual(self, over: Over, level: float) -> ClusterInterval:
        """The mean residual with limits at a level."""
        if over == "tasks":
            return mean_over_tasks(self.predicted - self.observed, family=self.family, level=level)
        one = self._figures[0]
        if over == "one task" and not self.shared:
            return of_draws(one.row.residual, one.predicted - one.observed, level=level)
        return residual_of_these_tasks(self.sides, level=level)

    def _mean(self, over: Over, *, predicted: bool) -> ClusterInterval:
        level, one = self._settings.level, self._figures[0]
        values = self.predicted if predicted else self.observed
        if over == "tasks":
            return within_unit(mean_over_tasks(values, family=self.family, level=level))
        if over == "one task" and not self.shared:
            return of_draws(
                float(values[0]), one.predicted if predicted else one.observed, level=level
            )
        sides = self.sides
        variance = sides.predicted_variance if predicted else sides.observed_variance
        return mean_of_these_tasks(values, variance, level=level)

    def _gamma(self, over: Over) -> Estimate:
        sized = Sized(
            estimand=f"log of predicted over observed success, means over {_WHICH[over]}",
            n_turns=0,
            n_runs=self._runs,
            lowest=-WIDEST,
            highest=WIDEST,
        )
        level = self._settings.level
        if over == "tasks":
            found = log_ratio_over_tasks(
                self.predicted, self.observed, self._resampling.draw, family=self.family,
                level=level,
            )  # fmt: skip
        elif over == "one task" and not self.shared:
            return self._gamma_of_one(sized)
        else:
            found = log_ratio_of_these_tasks(self.sides, level=level)
        return self._estimate(sized, found, NO_RATIO)

    def _gamma_of_one(self, sized: Sized) -> Estimate:
        one = self._figures[0]
        drawn = np.log(one.predicted / one.observed)
        known = one.row.predicted.value > 0 and one.row.observed.value > 0
        middle = float(np.median(drawn))
        value = float(np.log(one.row.predicted.value / one.row.observed.value)) if known else middle
        found = self._estimate(sized, of_draws(value, drawn, level=self._settings.level), NO_RATIO)
        if known:
            return found
        told = "the value is the posterior's median, as the ratio itself would be infinite or 0"
        return replace(found, warnings=(*found.warnings, told))

    def _estimate(self, sized: Sized, found: ClusterInterval, why: str) -> Estimate:
        made = as_estimate(sized, found, why, self._resampling)
        draws = len(self._figures[0].predicted) if "posterior" in made.method else None
        return replace(
            made,
            n_clusters=len(self._figures),
            n_resamples=draws or made.n_resamples,
            assumptions=(STAGES_INDEPENDENT, ALIKE),
        )

    def straight(self, over: Over) -> Estimate | None:
        """How much less a product of stages predicts than the graph does, over tasks with one."""
        having = [one for one in self._figures if one.row.chain is not None]
        if not having:
            return None
        gaps = np.array([one.row.predicted.value - _straight(one) for one in having])
        sized = Sized(
            estimand="success that the graph predicts less the product of its straight way",
            n_turns=0,
            n_runs=sum(one.row.predicted.n for one in having),
        )
        drawn = [_gap_draws(one) for one in having]
        if over == "tasks" and len(having) > 1:
            found = mean_over_tasks(gaps, level=self._settings.level)
        else:
            # Of these tasks: their posteriors are independent, and so is each draw of the mean.
            found = of_draws(float(gaps.mean()), np.mean(drawn, axis=0), level=self._settings.level)
        return replace(self._estimate(sized, found, ""), n_clusters=len(having))


_WHICH: dict[Over, str] = {
    "tasks": "tasks of the kind",
    "these tasks": "these tasks",
    "one task": "this task",
}


def _straight(one: TaskFigures) -> float:
    assert one.row.chain is not None
    return one.row.chain.straight


def _gap_draws(one: TaskFigures) -> FloatArray:
    assert one.straight is not None
    return one.predicted - one.straight


Residual: TypeAlias = Callable[[float], ClusterInterval]
"""The mean residual with its limits, by level."""
