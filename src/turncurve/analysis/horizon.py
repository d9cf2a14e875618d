"""How long a task may be for an agent to succeed with a given chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.excluded import excluded_counts
from turncurve.errors import NotEnoughDataError
from turncurve.readers.task_scores import TaskScore, TaskTime
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.horizon import LogisticFits, hierarchical_counts, logistic_fits

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Weighting: TypeAlias = Literal["rows", "tasks", "families"]

CHANCES = (0.5, 0.8)
MOST_LOST = 0.1
"""Share of resamples without a horizon above which there is no interval."""

NO_TIME = "score of a task without a time"
ZERO_TIME = "time of 0, which has no logarithm"


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonSettings:
    """How horizons are estimated.

    Attributes:
        weighting: What weighs the same: every row (a run against a time), every task, or every
            family with its tasks' weights falling with the root of their number.
        ridge: Penalty on the slope, against weights that sum to `weight_sum` of the result.
        resample_runs: Draw the runs within tasks too, where otherwise a task is drawn with all of
            its runs.
        resamples: Number of resamples.
        level: Confidence level.
        seed: Seed of the resamples.
    """

    weighting: Weighting = "rows"
    ridge: float = 0.0
    resample_runs: bool = False
    resamples: int = 2_000
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHorizon:
    """The horizons of one agent.

    Attributes:
        p50: Hours that people take for tasks at which the agent succeeds with a chance of 50 %.
        p80: Likewise for 80 %.
        p50_fit: The same from the one curve through all data, in place of the resamples' median.
        p80_fit: Likewise.
        slope: Change of the log odds of success when the time doubles, of that curve.
        n_rows: Scores against times.
        n_succeeded: Of those, the sum of successes.
        n_runs: Runs.
        n_tasks: Tasks.
        n_families: Families.
        weight_sum: What the weights sum to, which a ridge is to be read against.
        n_lost: Resamples without a horizon of 50 %: all succeed, all fail, or success does not
            fall with time.
    """

    p50: Estimate
    p80: Estimate
    p50_fit: float | None
    p80_fit: float | None
    slope: float | None
    n_rows: int
    n_succeeded: float
    n_runs: int
    n_tasks: int
    n_families: int
    weight_sum: float
    n_lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizons:
    """Horizons by agent, in the order of the scores."""

    horizons: Mapping[str, AgentHorizon]
    settings: HorizonSettings
    unit: str
    excluded: Mapping[str, int]
    """Reason to number of scores, or of times, left out."""


_DEFAULTS = HorizonSettings()


def horizons(
    scores: Sequence[TaskScore],
    times: Sequence[TaskTime] = (),
    *,
    settings: HorizonSettings = _DEFAULTS,
) -> Horizons:
    """Estimate up to which length of task each agent succeeds with a chance of 50 % and of 80 %.

    A logistic curve of success over the logarithm of the time that people take is fitted to every
    run against every time of its task. Where a time is that of a threshold, success is to reach
    it; otherwise the score itself counts, a half as half a success. The value is the median of
    resamples of families and of the tasks within them, and the interval their quantiles, so that
    the two are of one distribution.

    Args:
        scores: Runs of agents on tasks.
        times: How long people take; without any, the times in the scores count.
        settings: Weights, penalty, resamples.

    Raises:
        NotEnoughDataError: No score has a time.

    References:
        Kwa et al. (2025), arXiv 2503.14499 (time horizons, weights and the levels of resampling).
    """
    rows, excluded = _rows(scores, times)
    if not rows:
        raise NotEnoughDataError("horizons: scores of tasks with a time", need=1, got=0)
    found: dict[str, AgentHorizon] = {}
    for number, agent in enumerate(dict.fromkeys(row.agent for row in rows)):
        own = [row for row in rows if row.agent == agent]
        rng = np.random.default_rng([settings.seed, number])
        found[agent] = _agent(_Points(own, settings), settings, rng)
    return Horizons(horizons=found, settings=settings, unit="hours", excluded=excluded)


@dataclass(frozen=True, slots=True)
class _Row:
    """One run against one time of its task."""

    agent: str
    family: str
    task: str
    run: int
    minutes: float
    success: float


def _rows(
    scores: Sequence[TaskScore], times: Sequence[TaskTime]
) -> tuple[list[_Row], dict[str, int]]:
    of_task: dict[str, list[TaskTime]] = {}
    for time in times:
        of_task.setdefault(time.task, []).append(time)
    rows, n_untimed, n_zero = list[_Row](), 0, 0
    for number, score in enumerate(scores):
        known = of_task.get(score.task, [])
        if not times and score.minutes is not None:
            known = [TaskTime(task=score.task, minutes=score.minutes, threshold=None)]
        n_untimed += not known
        n_zero += sum(time.minutes == 0 for time in known)
        rows += [_row(score, time, number) for time in known if time.minutes > 0]
    return rows, excluded_counts({NO_TIME: n_untimed, ZERO_TIME: n_zero})


def _row(score: TaskScore, time: TaskTime, number: int) -> _Row:
    reached = score.score if time.threshold is None else float(score.score >= time.threshold)
    return _Row(score.agent, score.family, score.task, number, time.minutes, reached)


class _Points:
    """One agent's rows as arrays: one entry for the rows of a unit that take the same time.

    A unit is what a resample draws or leaves: a task with its runs, or a run.
    """

    def __init__(self, rows: Sequence[_Row], settings: HorizonSettings) -> None:
        time = np.log2([row.minutes for row in rows])
        success = np.array([row.success for row in rows], dtype=np.float64)
        family = _numbers([row.family for row in rows])
        task = _numbers([(row.family, row.task) for row in rows])
        run = _numbers([row.run for row in rows])
        self.n_rows, self.n_succeeded = len(rows), float(success.sum())
        self.n_families, self.n_tasks, self.n_runs = (
            len(np.unique(each)) for each in (family, task, run)
        )
        unit = run if settings.resample_runs else task
        first = np.unique(unit, return_index=True)[1]
        self._family, self._task = family[first], task[first]
        weight = _weights(settings.weighting, family, task)
        pairs, where = np.unique(np.stack([unit, time]), axis=1, return_inverse=True)
        self._unit, self.x = pairs[0].astype(np.int64), pairs[1]
        self.weights = np.bincount(where.ravel(), weights=weight)
        self.y = np.bincount(where.ravel(), weights=weight * success) / self.weights

    def resampled(self, settings: HorizonSettings, rng: np.random.Generator) -> FloatArray:
        """Weights of the entries in each resample; shape (resamples, n_entries)."""
        counts = hierarchical_counts(
            self._family, self._task, rng=rng, resamples=settings.resamples
        )
        return np.asarray(counts[:, self._unit] * self.weights)


def _weights(weighting: Weighting, family: IntArray, task: IntArray) -> FloatArray:
    if weighting == "rows":
        return np.ones(len(task))
    in_task = 1 / np.bincount(task)[task]
    if weighting == "families":
        first = np.unique(task, return_index=True)[1]
        in_task /= np.sqrt(np.bincount(family[first])[family])
    return np.asarray(in_task / in_task.sum(), dtype=np.float64)


def _numbers(names: Sequence[object]) -> IntArray:
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def _agent(points: _Points, settings: HorizonSettings, rng: np.random.Generator) -> AgentHorizon:
    fit = logistic_fits(points.x, points.y, points.weights, ridge=settings.ridge)
    again = logistic_fits(points.x, points.y, points.resampled(settings, rng), ridge=settings.ridge)
    p50, p80 = (_estimate(chance, fit, again, points, settings) for chance in CHANCES)
    slope = float(fit.slope[0])
    return AgentHorizon(
        p50=p50,
        p80=p80,
        p50_fit=_hours(fit, CHANCES[0]),
        p80_fit=_hours(fit, CHANCES[1]),
        slope=None if np.isnan(slope) else slope,
        n_rows=points.n_rows,
        n_succeeded=points.n_succeeded,
        n_runs=points.n_runs,
        n_tasks=points.n_tasks,
        n_families=points.n_families,
        weight_sum=float(points.weights.sum()),
        n_lost=int(np.isnan(again.where(CHANCES[0])).sum()),
    )


def _hours(fit: LogisticFits, chance: float) -> float | None:
    where = float(fit.where(chance)[0])
    return None if np.isnan(where) else 2**where / 60


def _estimate(
    chance: float,
    fit: LogisticFits,
    again: LogisticFits,
    points: _Points,
    settings: HorizonSettings,
) -> Estimate:
    estimand = f"hours that people take for tasks at which success has a chance of {chance:.0%}"
    if _hours(fit, chance) is None:
        return absent(estimand, _why_not(points), level=settings.level)
    middle, low, high, warnings = _limits(chance, fit, again, points, settings)
    return Estimate(
        estimand=estimand,
        value=middle,
        low=low,
        high=high,
        level=settings.level,
        method="logistic curve over log2 time; median and quantiles of resampled families and "
        + ("tasks and runs" if settings.resample_runs else "tasks"),
        n_runs=points.n_runs,
        n_clusters=points.n_tasks,
        warnings=warnings,
        assumptions=("success falls with log time as a logistic curve does",),
        seed=settings.seed,
        n_resamples=settings.resamples,
    )


def _limits(
    chance: float,
    fit: LogisticFits,
    again: LogisticFits,
    points: _Points,
    settings: HorizonSettings,
) -> tuple[float | None, float | None, float | None, tuple[str, ...]]:
    """The middle of the resamples and their quantiles, or the curve's own value and why alone."""
    if points.n_tasks < 2:
        return _hours(fit, chance), None, None, ("no interval: there is one task",)
    drawn = 2 ** again.where(chance) / 60
    known = drawn[~np.isnan(drawn)]
    lost = 1 - len(known) / len(drawn)
    if lost > MOST_LOST:
        warning = f"no interval: {lost:.0%} of the resamples have no horizon"
        return _hours(fit, chance), None, None, (warning,)
    tail = (1 - settings.level) / 2
    low, middle, high = (float(each) for each in np.quantile(known, [tail, 0.5, 1 - tail]))
    warning = f"{lost:.1%} of the resamples have no horizon and are left out"
    return middle, low, high, (warning,) if lost else ()


def _why_not(points: _Points) -> str:
    if not points.y.any():
        return "no run succeeds: the horizon lies below the shortest task"
    if points.y.all():
        return "every run succeeds: the horizon lies above the longest task"
    if np.ptp(points.x) == 0:
        return "all tasks take the same time"
    return "success does not fall with time, or one time parts successes from failures"
