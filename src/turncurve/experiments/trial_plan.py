"""Which trials a study is made of, and in which order."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import astuple, dataclass

from turncurve.experiments.stage_study import History, Protocol, Restart, StageStudy, starts


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial.

    Args:
        task: The task.
        stage: The stage; None: the whole task.
        trial: Which of its kind, from 1.
        protocol: Where the state comes from that a stage starts in.
        history: What is known of what went before.
        intervention: What becomes of the history of a whole run at the declared checkpoints.
    """

    task: str
    stage: str | None
    trial: int
    protocol: Protocol | None = None
    history: History | None = None
    intervention: Restart | None = None

    def seed(self, study_seed: int) -> int:
        """What the agent is given: the same for a trial whenever it is made.

        Arms of an intervention share it, so that they differ by nothing else.
        """
        same = [study_seed, *astuple(self)[:-1]]
        return int.from_bytes(hashlib.sha256(json.dumps(same).encode()).digest()[:4], "big")


def end_to_end_trials(study: StageStudy) -> list[TrialPlan]:
    """All trials of whole tasks, in the order that they are made in: at random, by the seed."""
    plans = [
        TrialPlan(task=task.id, stage=None, trial=trial)
        for task in study.tasks
        for trial in range(1, study.end_to_end_trials + 1)
    ]
    if study.intervention is not None:
        plans += [
            TrialPlan(task=task.id, stage=None, trial=trial, intervention=arm)
            for task in study.tasks
            for arm in study.intervention.arms
            for trial in range(1, study.intervention.trials + 1)
        ]
    return _shuffled(plans, study.seed)


def stage_trials(study: StageStudy) -> list[TrialPlan]:
    """All trials of stages, in the order that they are made in: at random, by the seed."""
    plans = [
        TrialPlan(task=task.id, stage=stage.id, trial=trial, protocol=protocol, history=history)
        for task in study.tasks
        for stage in task.stages
        for protocol, history in starts(study)
        for trial in range(1, study.stage_trials + 1)
    ]
    return _shuffled(plans, study.seed + 1)


def _shuffled(plans: list[TrialPlan], seed: int) -> list[TrialPlan]:
    random.Random(seed).shuffle(plans)
    return plans
