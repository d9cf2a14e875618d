"""Is the long run worse than its stages predict? Stage trials against end-to-end trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from turncurve.analysis.residual_conditions import (
    Conditions,
    conditions_of,
    refuse_differences,
)
from turncurve.analysis.residual_counts import Sorted, TaskTrials, sort_trials, tasks_of
from turncurve.analysis.residual_declared import departures_from
from turncurve.analysis.residual_interventions import Contrast, contrasts
from turncurve.analysis.residual_overall import Over, Sides
from turncurve.analysis.residual_plan import NO_PLAN, SIGN, ResidualSettings, StudyPlan
from turncurve.analysis.residual_stages import (
    Departures,
    StageRow,
    Use,
    departures_of,
    stage_rows,
    use_of,
)
from turncurve.analysis.residual_tasks import TaskResidual, draws_for, task_figures
from turncurve.analysis.residual_verdict import Judgement, Sizes, judge
from turncurve.errors import NotEnoughDataError, UnknownNameError
from turncurve.readers.stage_trials import StageTrial
from turncurve.stats.estimate import Estimate
from turncurve.stats.stage_product import product_of_means


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolResidual:
    """The residual under one way to make checkpoints.

    Attributes:
        protocol: Its name, and what a stage is given of the history.
        predicted: Success that the stages predict: mean of the tasks' own predictions.
        observed: Success of end-to-end runs of the same tasks.
        residual: Predicted less observed.
        gamma: log(predicted / observed).
        over: What the limits are over.
        p_deficit: Posterior chance of a deficit, of a single task; None over several.
        product_of_means: Product of the stages' means over tasks: not a prediction, and shown for
            how far it is off; None where tasks have graphs or stages of other names.
        straight: How much more a graph predicts than the product of its straight way; None without
            a graph.
        stages: Where the residual arises.
        departures: Runs that the product does not describe.
        tasks: Each task by itself.
        verdict: What it comes to.
        use: What end-to-end runs took.
        excluded: Reason to number of this protocol's trials left out.
        warnings: What to know before believing it.
    """

    protocol: str
    predicted: Estimate
    observed: Estimate
    residual: Estimate
    gamma: Estimate
    over: Over
    p_deficit: float | None
    product_of_means: float | None
    straight: Estimate | None
    stages: tuple[StageRow, ...]
    departures: Departures
    tasks: tuple[TaskResidual, ...]
    verdict: Judgement
    use: Use
    excluded: Mapping[str, int]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """The residual under the primary protocol, the others beside it, and what it rests on.

    Attributes:
        sign: The convention of the signs, in a sentence.
        primary: The protocol that the verdict is by.
        protocols: All protocols, the primary one first.
        signs_differ: Whether two protocols find opposite: a deficit under one, a surplus under
            another.
        interventions: Each held against keeping history.
        conditions: Whether both sides were of one agent.
        study: Digest of the study file; None without one.
        study_name: Its name and version.
        study_frozen: When it was frozen, UTC; None where it was not.
        departed: Where the trials are not as the study declares.
        n_trials: Trials read.
        excluded: Reason to number of trials left out whatever the protocol.
        settings: How it was estimated.
    """

    sign: str
    primary: ProtocolResidual
    protocols: tuple[ProtocolResidual, ...]
    signs_differ: bool
    interventions: tuple[Contrast, ...]
    conditions: Conditions
    study: str | None
    study_name: str | None
    study_frozen: str | None
    departed: tuple[str, ...]
    n_trials: int
    excluded: Mapping[str, int]
    settings: ResidualSettings


_DEFAULTS = ResidualSettings()


def residual(
    trials: Iterable[StageTrial],
    *,
    plan: StudyPlan = NO_PLAN,
    settings: ResidualSettings = _DEFAULTS,
) -> Residual:
    """Compare what stages predict, tried by themselves, with whole tasks.

    Of each task the chances of its stages are multiplied (or its graph is walked), and the mean of
    these predictions is held against end-to-end success of the same tasks, task by task. A residual
    is a contrast under the protocol by which checkpoints were made, and no cause.

    Args:
        trials: Of stages and of whole tasks.
        plan: What was declared beforehand.
        settings: How to estimate.

    Raises:
        NotEnoughDataError: No task has trials of every stage and end to end.
        NotComparableError: The trials are not all of one configuration.
        UnknownNameError: There is no such protocol.

    References:
        Peng et al. (2026), arXiv 2607.27283 (the residual and its sign); Goodman (1960), JASA
        55:708-713 (variance of a product).
    """
    given = tuple(trials)
    found = sort_trials(given, plan)
    names = _protocols(found, plan, settings)
    every = [trial for name in names for trial in found.stages[name]]
    conditions = conditions_of(every, found.whole, plan.digest)
    if settings.differing == "refuse":
        refuse_differences(conditions)
    made = [_protocol(name, found, plan, settings) for name in names]
    usable = [one for one in made if one is not None]
    if not usable:
        raise NotEnoughDataError(
            "residual: tasks with trials of every stage and end to end", need=1, got=0
        )
    ways = {one.verdict.verdict for one in usable}
    return Residual(
        sign=SIGN,
        primary=usable[0],
        protocols=tuple(usable),
        signs_differ={"deficit", "surplus"} <= ways,
        interventions=contrasts(found.arms, settings),
        conditions=conditions,
        study=plan.digest,
        study_name=plan.name,
        study_frozen=plan.frozen_at,
        departed=tuple(departures_from(plan, found)),
        n_trials=len(given),
        excluded=found.excluded,
        settings=settings,
    )


def _protocols(found: Sorted, plan: StudyPlan, settings: ResidualSettings) -> list[str]:
    """Protocols that there are trials of, the primary one first."""
    names = [name for name in plan.protocols if name in found.stages]
    names += [name for name in found.stages if name not in names]
    if settings.protocol is not None:
        if settings.protocol not in names:
            raise UnknownNameError("protocol", settings.protocol, names or ["none"])
        names.remove(settings.protocol)
        names.insert(0, settings.protocol)
    return names


def _protocol(
    name: str, found: Sorted, plan: StudyPlan, settings: ResidualSettings
) -> ProtocolResidual | None:
    tasks, excluded = tasks_of(found.stages[name], found.whole, plan)
    if not tasks:
        return None
    rng = np.random.default_rng(settings.seed)
    draws = draws_for(len(tasks))
    figures = [task_figures(task, draws=draws, rng=rng, level=settings.level) for task in tasks]
    sides = Sides(figures, settings)
    over, why = sides.over()
    overall = sides.overall(over)
    departures = departures_of(tasks)
    return ProtocolResidual(
        protocol=name,
        predicted=overall.predicted,
        observed=overall.observed,
        residual=overall.residual,
        gamma=overall.gamma,
        over=over,
        p_deficit=figures[0].row.p_deficit if len(figures) == 1 else None,
        product_of_means=_naive(tasks),
        straight=sides.straight(over),
        stages=stage_rows(
            tasks,
            over="tasks" if over == "tasks" else "trials",
            rng=rng,
            level=settings.level,
        ),
        departures=departures,
        tasks=tuple(one.row for one in figures),
        verdict=judge(
            lambda level: sides.residual(over, level),
            over,
            margin=plan.margin if settings.margin is None else settings.margin,
            level=settings.level,
            sizes=_sizes(tasks),
        ),
        use=use_of([trial for task in tasks for trial in task.whole]),
        excluded=excluded,
        warnings=tuple(_warnings(why, departures, tasks, shared=sides.shared)),
    )


def _naive(tasks: Sequence[TaskTrials]) -> float | None:
    """The product of mean rates; None where it is not of the same stages."""
    if any(t.plan.arcs is not None for t in tasks) or len({len(t.plan.stages) for t in tasks}) > 1:
        return None
    counts = [task.counts for task in tasks]
    place = [i for task in tasks for i in range(len(task.plan.stages))]
    succeeded = [one for s, _ in counts for one in s]
    return product_of_means(succeeded, [one for _, n in counts for one in n], place)


def _sizes(tasks: Sequence[TaskTrials]) -> Sizes:
    fewest = min(min(*task.counts[1], len(task.whole)) for task in tasks)
    return Sizes(n_tasks=len(tasks), n_trials=fewest)


def _warnings(
    why: str | None, departures: Departures, tasks: Sequence[TaskTrials], *, shared: bool
) -> Iterable[str]:
    if why is not None:
        yield why
    if departures.n_looked and departures.n_silent:
        yield (
            f"{departures.n_silent:,} of {departures.n_looked + departures.n_silent:,} end-to-end "
            "runs do not say which stages they passed and are in no row of the stages; if they "
            "passed none, say none (in JSON an empty list)"
        )
    if departures.n_without_all:
        yield (
            f"{departures.n_without_all:,} of {departures.n_looked:,} end-to-end runs succeeded "
            "without passing every stage: stages are skipped or made good, so their product is "
            "too low; a graph says what may happen"
        )
    if departures.n_in_spite:
        yield (
            f"{departures.n_in_spite:,} of {departures.n_looked:,} end-to-end runs failed though "
            "they passed every stage: the stages are not the whole task"
        )
    if shared:
        yield (
            "one execution gave several records: errors allow for it, but the product of rates "
            "that share trials is biased"
        )
    differing = Counter(len(task.plan.stages) for task in tasks)
    if len(differing) > 1:
        yield "tasks have different numbers of stages: later rows are of fewer tasks"
