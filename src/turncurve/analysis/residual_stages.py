"""Where the whole task departs from its stages: each stage alone and on the way, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.residual_counts import TaskTrials
from turncurve.readers.stage_trials import AMOUNTS, StageTrial
from turncurve.stats.estimate import Estimate, absent, none_if_nan
from turncurve.stats.stage_product import rates
from turncurve.stats.stage_profile import Over, StageProfile, stage_profile

FloatArray: TypeAlias = NDArray[np.float64]

NOBODY_LOOKED = "no end-to-end run says which stages it passed"
NO_LOG = "one of the two rates is 0 or unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What trials took; means over the trials that say."""

    turns: float | None
    tokens: float | None
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """A stage over tasks.

    Attributes:
        stage: Its name, or its place where tasks call it differently.
        n_succeeded: Stage trials that passed, over all tasks.
        n: Stage trials.
        alone: Share that passes from the checkpoint, tasks weighed by their arrivals; None where
            nobody arrived.
        n_arrived: End-to-end runs that had passed every stage before.
        n_passed: Those of them that passed this one.
        on_the_way: Share of these.
        log_ratio: log(alone / on the way): above 0, the stage is worse on the way.
        p_adjusted: Of the log ratio, for a stage chosen because it stands out; None without one.
        predicted_reach: Mean over tasks of the product of the stages up to this one.
        observed_reach: Mean over tasks of the share of runs that passed all up to this one; None
            where nobody looked.
        use: What its trials took.
    """

    stage: str
    n_succeeded: int
    n: int
    alone: float | None
    n_arrived: int
    n_passed: int
    on_the_way: float | None
    log_ratio: Estimate
    p_adjusted: float | None
    predicted_reach: float | None
    observed_reach: float | None
    use: Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Departures:
    """End-to-end runs that the product does not describe.

    Attributes:
        n_looked: Runs that say which stages they passed.
        n_silent: Runs that do not; among the stages they count for nothing.
        n_without_all: Of these, successes that did not pass every stage: a stage was skipped, or a
            failure of it was made good.
        n_in_spite: Failures that passed every stage: the stages are not the whole task.
    """

    n_looked: int
    n_silent: int
    n_without_all: int
    n_in_spite: int


def stage_rows(
    tasks: Sequence[TaskTrials], *, over: Over, rng: np.random.Generator, level: float
) -> tuple[StageRow, ...]:
    """The stages in order; tasks with a graph are left out, as a stage may come several times.

    Args:
        tasks: Trials of every stage and end to end.
        over: What the limits of the log ratio are over.
        rng: Source of random flips.
        level: Confidence level.
    """
    straight = [task for task in tasks if task.plan.arcs is None]
    if not straight:
        return ()
    counts = _Counts(straight)
    profile = stage_profile(
        counts.arrived,
        counts.passed,
        (counts.succeeded, counts.n),
        over=over,
        rng=rng,
        level=level,
    )
    return tuple(_row(i, straight, counts, profile, level) for i in range(counts.n.shape[1]))


class _Counts:
    """Counts by task and stage; shape (n_tasks, n_stages), 0 where a task has no such stage."""

    def __init__(self, tasks: Sequence[TaskTrials]) -> None:
        shape = (len(tasks), max(len(task.plan.stages) for task in tasks))
        self.succeeded, self.n, self.arrived, self.passed = np.zeros((4, *shape))
        self.runs = np.zeros(len(tasks))
        for j, task in enumerate(tasks):
            s, n = task.counts
            self.succeeded[j, : len(s)], self.n[j, : len(n)] = s, n
            for run in task.whole:
                if run.accepted is not None:
                    self.runs[j] += 1
                    self._walk(j, task.plan.stages, run.accepted)

    def _walk(self, task: int, stages: tuple[str, ...], accepted: tuple[str, ...]) -> None:
        for i, stage in enumerate(stages):
            self.arrived[task, i] += 1
            if stage not in accepted:
                return
            self.passed[task, i] += 1

    def reach(self, i: int) -> tuple[float | None, float | None]:
        """Predicted and observed share that passes stages up to the i-th, of tasks that have it."""
        has = self.n[:, i] > 0
        part = slice(0, i + 1)
        predicted = rates(self.succeeded[has, part], self.n[has, part]).prod(axis=1).mean()
        looked = has & (self.runs > 0)
        if not looked.any():
            return float(predicted), None
        return float(predicted), float((self.passed[looked, i] / self.runs[looked]).mean())


def _row(
    i: int, tasks: Sequence[TaskTrials], counts: _Counts, profile: StageProfile, level: float
) -> StageRow:
    having = [task for task in tasks if len(task.plan.stages) > i]
    names = dict.fromkeys(task.plan.stages[i] for task in having)
    trials = [trial for task in having for trial in task.stages[task.plan.stages[i]]]
    predicted, observed = counts.reach(i)
    return StageRow(
        stage=next(iter(names)) if len(names) == 1 else f"stage {i + 1}",
        n_succeeded=int(counts.succeeded[:, i].sum()),
        n=int(counts.n[:, i].sum()),
        alone=none_if_nan(float(profile.alone[i])),
        n_arrived=int(counts.arrived[:, i].sum()),
        n_passed=int(counts.passed[:, i].sum()),
        on_the_way=none_if_nan(float(profile.on_the_way[i])),
        log_ratio=_log_ratio(i, profile, looked=bool(counts.runs.any()), level=level),
        p_adjusted=none_if_nan(float(profile.p_adjusted[i])),
        predicted_reach=predicted,
        observed_reach=observed,
        use=use_of(trials),
    )


def _log_ratio(i: int, profile: StageProfile, *, looked: bool, level: float) -> Estimate:
    what = "log of a stage's chance from its checkpoint over that of runs that reach it"
    value = none_if_nan(float(profile.log_ratio[i]))
    if value is None:
        return absent(what, NO_LOG if looked else NOBODY_LOOKED, level=level)
    low = none_if_nan(float(profile.low[i]))
    return Estimate(
        estimand=what,
        value=value,
        std_error=none_if_nan(float(profile.std_error[i])),
        low=low,
        high=none_if_nan(float(profile.high[i])),
        level=level,
        method="tasks weighed by arrivals",
        n_runs=int(profile.n_arrived[i]),
        n_clusters=int(profile.n_tasks[i]),
        warnings=() if low is not None else ("no interval: the tasks do not differ",),
    )


def use_of(trials: Sequence[StageTrial]) -> Use:
    """Means of what trials took, over those that say."""
    means = {}
    for name in AMOUNTS:
        known = [trial.amounts[name] for trial in trials if name in trial.amounts]
        means[name] = float(np.mean(known)) if known else None
    return Use(**means)


def departures_of(tasks: Sequence[TaskTrials]) -> Departures:
    """How many end-to-end runs succeeded or failed against what their stages say."""
    looked = silent = without = spite = 0
    for task in tasks:
        for run in task.whole:
            if run.accepted is None:
                silent += 1
                continue
            every = set(task.plan.stages) <= set(run.accepted)
            looked += 1
            without += bool(run.success) and not every
            spite += not run.success and every
    return Departures(n_looked=looked, n_silent=silent, n_without_all=without, n_in_spite=spite)
