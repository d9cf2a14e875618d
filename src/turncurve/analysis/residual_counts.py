"""Trials sorted into tasks, stages and protocols, with what cannot count and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from turncurve.analysis.residual_plan import StudyPlan, TaskPlan
from turncurve.readers.stage_trials import StageTrial

EXCLUDED = "excluded: "
NOT_KNOWN = "outcome not known"
REPEATED = "trial given twice"
NOT_IN_STUDY = "task or stage that the study does not have"
NO_WHOLE = "task without end-to-end trials"
NOT_EVERY_STAGE = "task without trials of every stage"
NO_SUCH_ARC = "goes where the graph has no arc"
UNNAMED = "as given"
RETAIN = "retain"
"""The intervention that changes nothing: history goes on as it would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTrials:
    """What counts of one task under one protocol.

    Attributes:
        name: The task.
        plan: Its stages, and its graph if it has one.
        family: Tasks of one family are alike; None where it is one by itself.
        stages: Trials of each stage, at least one each.
        whole: End-to-end runs, at least one.
    """

    name: str
    plan: TaskPlan
    family: str | None
    stages: Mapping[str, tuple[StageTrial, ...]]
    whole: tuple[StageTrial, ...]

    @property
    def counts(self) -> tuple[list[int], list[int]]:
        """Successes and trials of each stage, in order."""
        each = [self.stages[stage] for stage in self.plan.stages]
        return [sum(bool(t.success) for t in trials) for trials in each], [*map(len, each)]

    @property
    def n_succeeded(self) -> int:
        """End-to-end runs that succeeded."""
        return sum(bool(trial.success) for trial in self.whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """All trials that count.

    Attributes:
        stages: By protocol.
        whole: End-to-end runs as deployed.
        arms: End-to-end runs by intervention; `retain` stands for those with none.
        excluded: Reason to number of trials left out before tasks were put together.
    """

    stages: Mapping[str, tuple[StageTrial, ...]]
    whole: tuple[StageTrial, ...]
    arms: Mapping[str, tuple[StageTrial, ...]]
    excluded: Mapping[str, int]


def protocol_of(trial: StageTrial) -> str:
    """How the trial's checkpoint was made and what it was given of the history, in words."""
    return ", ".join(filter(None, (trial.protocol, trial.history))) or UNNAMED


def sort_trials(trials: Iterable[StageTrial], plan: StudyPlan) -> Sorted:
    """Trials by protocol and by intervention; what cannot count is left out and counted."""
    stages, arms = (
        defaultdict[str, list[StageTrial]](list),
        defaultdict[str, list[StageTrial]](list),
    )
    excluded, seen = Counter[str](), set[tuple[object, ...]]()
    for trial in trials:
        reason = _why_not(trial, plan, seen)
        if reason is not None:
            excluded[reason] += 1
        elif trial.stage is None:
            arms[trial.intervention or ""].append(trial)
        else:
            stages[protocol_of(trial)].append(trial)
    deployed = arms.get("") or arms.get(RETAIN) or []
    control = arms.pop("", [])
    if control and RETAIN not in arms:
        arms[RETAIN] = control
    return Sorted(
        stages={name: tuple(group) for name, group in stages.items()},
        whole=tuple(deployed),
        arms={name: tuple(group) for name, group in arms.items()},
        excluded=dict(excluded),
    )


def _why_not(trial: StageTrial, plan: StudyPlan, seen: set[tuple[object, ...]]) -> str | None:
    if trial.excluded is not None:
        return f"{EXCLUDED}{trial.excluded}"
    if plan.tasks and not _is_planned(trial, plan.tasks.get(trial.task)):
        return NOT_IN_STUDY
    if trial.success is None:
        return NOT_KNOWN
    key = (trial.task, trial.stage, protocol_of(trial), trial.intervention, trial.trial)
    if trial.trial is not None and key in seen:
        return REPEATED
    seen.add(key)
    return None


def _is_planned(trial: StageTrial, task: TaskPlan | None) -> bool:
    return task is not None and (trial.stage is None or trial.stage in task.stages)


def tasks_of(
    stages: Sequence[StageTrial], whole: Sequence[StageTrial], plan: StudyPlan
) -> tuple[tuple[TaskTrials, ...], dict[str, int]]:
    """Tasks with trials of every stage and end to end, in order; and what was left out."""
    alone, ends = by_task(stages), by_task(whole)
    tasks, excluded = list[TaskTrials](), Counter[str]()
    for name in dict.fromkeys((*plan.tasks, *alone, *ends)):
        parts, runs = alone.get(name, ()), ends.get(name, ())
        known = plan.tasks.get(name) or _plan_of(parts, runs)
        kept, n_odd = _on_arcs(parts, known)
        excluded[NO_SUCH_ARC] += n_odd
        by_stage = {s: tuple(t for t in kept if t.stage == s) for s in known.stages}
        if not runs:
            excluded[NO_WHOLE] += len(kept)
        elif not known.stages or not all(by_stage.values()):
            excluded[NOT_EVERY_STAGE] += len(kept) + len(runs)
        else:
            family = next((t.family for t in (*runs, *kept) if t.family is not None), None)
            tasks.append(
                TaskTrials(name=name, plan=known, family=family, stages=by_stage, whole=runs)
            )
    return tuple(tasks), {reason: n for reason, n in excluded.items() if n}


def by_task(trials: Sequence[StageTrial]) -> dict[str, tuple[StageTrial, ...]]:
    """Trials of each task, in order."""
    found = defaultdict[str, list[StageTrial]](list)
    for trial in trials:
        found[trial.task].append(trial)
    return {name: tuple(group) for name, group in found.items()}


def _plan_of(stages: Sequence[StageTrial], whole: Sequence[StageTrial]) -> TaskPlan:
    """Stages as the longest way through the task has them, else as they first stand."""
    longest = max((trial.accepted or () for trial in whole), key=len, default=())
    seen = dict.fromkeys(trial.stage for trial in stages if trial.stage is not None)
    known = tuple(name for name in longest if name in seen)
    names = tuple(seen) if len(known) < len(seen) else known
    if not any(trial.next is not None for trial in stages):
        return TaskPlan(stages=names)
    arcs = {
        name: tuple(dict.fromkeys(_goes_to(t, names) for t in stages if t.stage == name))
        for name in names
    }
    return TaskPlan(stages=names, arcs=arcs)


def destination(trial: StageTrial, plan: TaskPlan) -> str:
    """Where a stage trial went: as it says, else on to the next stage, or to failure."""
    return _goes_to(trial, plan.stages)


def _goes_to(trial: StageTrial, names: tuple[str, ...]) -> str:
    if trial.next is not None:
        return trial.next
    if not trial.success:
        return "failure"
    after = names.index(trial.stage or "") + 1
    return names[after] if after < len(names) else "success"


def _on_arcs(trials: Sequence[StageTrial], plan: TaskPlan) -> tuple[tuple[StageTrial, ...], int]:
    """Trials that went where the graph allows, and the number of others."""
    if plan.arcs is None:
        kept = tuple(trial for trial in trials if trial.next is None)
    else:
        states = {*plan.stages, "success", "failure"}
        kept = tuple(
            trial
            for trial in trials
            if (to := destination(trial, plan)) in plan.arcs.get(trial.stage or "", ())
            and to in states
        )
    return kept, len(trials) - len(kept)
