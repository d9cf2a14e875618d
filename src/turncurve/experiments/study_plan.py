"""What the estimate of a residual needs to know of a study."""

from __future__ import annotations

from pathlib import Path

from turncurve.analysis.residual_plan import StudyPlan, TaskPlan
from turncurve.experiments.stage_study import StageStudy, StageTask, starts
from turncurve.experiments.study_freeze import Frozen, frozen_study
from turncurve.experiments.trial_record import NO_START, UNKNOWN


def frozen_plan(path: Path) -> StudyPlan:
    """The plan of a study file that is as it was when it was frozen.

    Raises:
        StudyError: It does not say what it should, was not frozen, or has changed since.
    """
    return study_plan(*frozen_study(path))


def study_plan(study: StageStudy, frozen: Frozen) -> StudyPlan:
    """The plan of a study; its first pair of state and history is the primary one."""
    return StudyPlan(
        digest=frozen.digest,
        name=f"{study.name}, version {study.version}",
        frozen_at=frozen.at,
        tasks={task.id: _task(task, study) for task in study.tasks},
        protocols=tuple(f"{protocol}, {history}" for protocol, history in starts(study)),
        margin=study.margin,
        stage_trials=study.stage_trials,
        whole_trials=study.end_to_end_trials,
        exclude=(*study.exclude, UNKNOWN, NO_START),
    )


def _task(task: StageTask, study: StageStudy) -> TaskPlan:
    """A task's stages in line, or the states of the study's chain, which all its tasks share."""
    if study.chain:
        return TaskPlan(stages=tuple(study.chain), arcs=study.chain)
    return TaskPlan(stages=tuple(stage.id for stage in task.stages))
