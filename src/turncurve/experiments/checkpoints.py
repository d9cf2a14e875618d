"""States in which stages start: kept when a run of the agent arrives at them, or made before."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from turncurve.experiments.stage_study import Stage, StageTask
from turncurve.experiments.study_files import IGNORED
from turncurve.experiments.trial_file import Trial
from turncurve.experiments.trial_plan import TrialPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A state to start from.

    Args:
        folder: The work folder; None: there is none, and work starts in an empty one.
        history: The history that led there; None: there is none.
        trial: The trial of the whole task that arrived there; None: it was made beforehand.
    """

    folder: Path | None
    history: Path | None = None
    trial: int | None = None


class Checkpoints:
    """The states that runs of the agent arrived at, in a folder beside the trials.

    Args:
        folder: Where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, task: str, stage: Stage, trial: int, work: Path, history: Path) -> None:
        """Keep the state in which a stage was accepted; it is there whole or not at all."""
        home = self._home(task, stage.id, trial)
        home.parent.mkdir(parents=True, exist_ok=True)
        spare = home.with_name(f".{home.name}-{uuid4().hex[:8]}")
        copy_folder(work, spare / "work")
        if history.is_file():
            shutil.copy2(history, spare / "history")
        if home.exists():
            shutil.rmtree(home)
        os.replace(spare, home)  # noqa: PTH105 - a folder

    def find(self, task: StageTask, plan: TrialPlan, trials: Sequence[Trial]) -> Checkpoint | None:
        """The state that a trial of a stage starts in; None: no run has arrived there.

        Args:
            task: The task.
            plan: The trial.
            trials: The trials of whole tasks that were made.
        """
        number = [stage.id for stage in task.stages].index(plan.stage or "")
        if number == 0:
            return Checkpoint(folder=task.workspace)
        before = task.stages[number - 1]
        if plan.protocol == "reference":
            made = before.reference
            return None if made is None else Checkpoint(folder=made.folder, history=made.history)
        chosen = arrived(before, plan, trials, lambda one: self._home_of(before, one).is_dir())
        if chosen is None:
            return None
        home = self._home_of(before, chosen)
        history = home / "history"
        return Checkpoint(
            folder=home / "work",
            history=history if history.is_file() else None,
            trial=chosen.trial,
        )

    def _home_of(self, stage: Stage, trial: Trial) -> Path:
        return self._home(trial.task, stage.id, trial.trial)

    def _home(self, task: str, stage: str, trial: int) -> Path:
        return self._folder / task / stage / str(trial)


def copy_folder(start: Path | None, end: Path) -> None:
    """A copy of a folder as a new one; of none, an empty one."""
    if start is None:
        end.mkdir(parents=True)
    else:
        shutil.copytree(start, end, symlinks=True, ignore=shutil.ignore_patterns(*IGNORED))


def arrived(
    before: Stage, plan: TrialPlan, trials: Sequence[Trial], is_kept: Callable[[Trial], bool]
) -> Trial | None:
    """The trial of a whole task whose state a trial of a stage starts in; None: none arrived.

    Args:
        before: The stage before, which must have been accepted.
        plan: The trial of the stage.
        trials: The trials that were made.
        is_kept: Whether the state in which `before` was accepted was kept.
    """
    had = [
        one
        for one in trials
        if one.kind == "end_to_end"
        and one.task == plan.task
        and one.intervention is None
        and before.id in one.reached
        and is_kept(one)
    ]
    had.sort(key=lambda one: one.trial)
    if plan.protocol == "harvested":
        return next((one for one in had if one.success), None)
    return random.Random(plan.seed(0)).choice(had) if had else None
