"""What keeping, resetting or compressing history does to end-to-end success, task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from turncurve.analysis.over_clusters import Resampling, Sized, as_estimate
from turncurve.analysis.residual_conditions import changed_parts
from turncurve.analysis.residual_counts import RETAIN, by_task
from turncurve.analysis.residual_plan import ResidualSettings
from turncurve.analysis.residual_stages import Use, use_of
from turncurve.readers.stage_trials import StageTrial
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.stage_product import smoothed
from turncurve.stats.task_residual import TaskSides, mean_over_tasks, residual_of_these_tasks

EXPECTED = frozenset({"memory"})
"""Parts of the configuration that an intervention on history is to change."""
NO_TASK = "no task has end-to-end trials with and without it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Success with an intervention less success without, paired by task.

    Attributes:
        intervention: Its name.
        control: What it is held against.
        n_succeeded: Successes with it, in the tasks that have both.
        n: Trials with it.
        control_succeeded: Successes without.
        control_n: Trials without.
        difference: With less without; above 0, it helps.
        n_paired: Trials of one task and number (or seed) on both sides.
        changed: Parts of the configuration that differ between the two.
        recorded: Whether the trials say of their configuration at all.
        unexpected: Those of them that were to stay the same.
        use: What trials with it took.
        control_use: What trials without took.
    """

    intervention: str
    control: str
    n_succeeded: int
    n: int
    control_succeeded: int
    control_n: int
    difference: Estimate
    n_paired: int
    changed: tuple[str, ...]
    recorded: bool
    unexpected: tuple[str, ...]
    use: Use
    control_use: Use


def contrasts(
    arms: Mapping[str, Sequence[StageTrial]], settings: ResidualSettings
) -> tuple[Contrast, ...]:
    """Each intervention against `retain`, which is what runs without any are.

    Args:
        arms: End-to-end trials by intervention.
        settings: Level, inference.
    """
    control = arms.get(RETAIN, ())
    return tuple(
        _contrast(name, trials, control, settings)
        for name, trials in arms.items()
        if name != RETAIN
    )


def _contrast(
    name: str,
    trials: Sequence[StageTrial],
    control: Sequence[StageTrial],
    settings: ResidualSettings,
) -> Contrast:
    a, b = by_task(trials), by_task(control)
    both = [task for task in a if task in b]
    kept_a = [trial for task in both for trial in a[task]]
    kept_b = [trial for task in both for trial in b[task]]
    sides, n_paired = _sides([(a[task], b[task]) for task in both])
    changed = changed_parts(kept_a, kept_b)
    families = [
        next((t.family for t in a[task] if t.family is not None), f"\0{task}") for task in both
    ]
    return Contrast(
        intervention=name,
        control=RETAIN,
        n_succeeded=sum(bool(trial.success) for trial in kept_a),
        n=len(kept_a),
        control_succeeded=sum(bool(trial.success) for trial in kept_b),
        control_n=len(kept_b),
        difference=_difference(name, sides, families, len(kept_a) + len(kept_b), settings),
        n_paired=n_paired,
        changed=changed,
        recorded=any(trial.conditions for trial in (*kept_a, *kept_b)),
        unexpected=tuple(part for part in changed if part not in EXPECTED),
        use=use_of(kept_a),
        control_use=use_of(kept_b),
    )


def _sides(
    pairs: Sequence[tuple[Sequence[StageTrial], Sequence[StageTrial]]],
) -> tuple[TaskSides, int]:
    """Both sides of each task; trials of one number are pairs, which lowers the error."""
    rows, n_paired = np.zeros((len(pairs), 5)), 0
    for j, (a, b) in enumerate(pairs):
        rates = [np.mean([bool(t.success) for t in side]) for side in (a, b)]
        variances = [smoothed(sum(bool(t.success) for t in side), len(side))[1] for side in (a, b)]
        other = {trial.trial: bool(trial.success) for trial in b if trial.trial is not None}
        met = [(bool(t.success), other[t.trial]) for t in a if t.trial in other]
        moved = [(x - rates[0]) * (y - rates[1]) for x, y in met]
        rows[j] = *rates, *variances, sum(moved) / (len(a) * len(b))
        n_paired += len(met)
    return TaskSides(
        predicted=rows[:, 0],
        observed=rows[:, 1],
        predicted_variance=rows[:, 2],
        observed_variance=rows[:, 3],
        covariance=rows[:, 4],
    ), n_paired


def _difference(
    name: str, sides: TaskSides, families: Sequence[str], n: int, settings: ResidualSettings
) -> Estimate:
    what = f"end-to-end success with {name} less with {RETAIN}"
    gaps = sides.predicted - sides.observed
    if not len(gaps):
        return absent(what, NO_TASK, level=settings.level)
    found = mean_over_tasks(gaps, family=families, level=settings.level)
    told: tuple[str, ...] = ()
    if settings.inference == "suite" or found.low is None:
        reason = found.reason if settings.inference == "population" else None
        told = () if reason is None else (f"{reason}: limits are of these tasks",)
        found = residual_of_these_tasks(sides, level=settings.level)
    sized = Sized(estimand=what, n_turns=0, n_runs=n)
    made = as_estimate(sized, found, "", Resampling(level=settings.level, seed=settings.seed))
    return replace(made, n_clusters=len(gaps), warnings=(*made.warnings, *told))
