"""One trial from a plan: a state to start in, the agent at work, what became of it."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from turncurve.errors import StudyError
from turncurve.experiments.accept import Acceptances, CheckFailedError
from turncurve.experiments.checkpoints import Checkpoint, Checkpoints, copy_folder
from turncurve.experiments.command_agent import filled
from turncurve.experiments.stage_agent import AgentCrashedError, StageAgent
from turncurve.experiments.stage_study import Restart, Stage, StageStudy, StageTask
from turncurve.experiments.trial_file import Trial
from turncurve.experiments.trial_plan import TrialPlan
from turncurve.experiments.trial_record import NO_START, ended, planned
from turncurve.experiments.trial_watch import TrialWatch, Work

COMPRESS_SECONDS = 300.0


class TrialMaker:
    """Makes trials of a frozen study in copies of its folders.

    Args:
        study: The study.
        digest: Its frozen digest.
        agent: Who is tried.
        checkpoints: States that runs of the agent arrived at.
    """

    def __init__(
        self, study: StageStudy, digest: str, agent: StageAgent, checkpoints: Checkpoints
    ) -> None:
        self._study = study
        self._digest = digest
        self._agent = agent
        self._checkpoints = checkpoints
        self._accepts = Acceptances(study)
        self._tasks = {task.id: task for task in study.tasks}
        self._keeps = bool({"harvested", "own_prefix"} & set(study.protocols))

    def make(self, plan: TrialPlan, had: Sequence[Trial], conditions: dict[str, str]) -> Trial:
        """Make a trial.

        Args:
            plan: What is tried.
            had: The trials that were made.
            conditions: Digest of each part of the agent's configuration, now.

        Raises:
            StudyError: The study cannot be carried out.
        """
        task = self._tasks[plan.task]
        trial = planned(plan, self._study, self._digest, conditions)
        start: Checkpoint | None = Checkpoint(folder=task.workspace)
        if plan.stage is not None:
            start = self._checkpoints.find(task, plan, had)
        if start is None:
            return replace(trial, excluded=NO_START)
        with TemporaryDirectory(prefix="turncurve-trial-") as room:
            work, history = Path(room, "work"), Path(room, "history")
            copy_folder(start.folder, work)
            if start.history is not None and plan.history in {"retained", "compressed"}:
                history.write_bytes(start.history.read_bytes())
                if plan.history == "compressed":
                    self._compress(history)
            watch = self._watch(task, plan, work, history)
            goal = task.goal if plan.stage is None else watch.stages[0].goal
            place = Work(
                goal=goal,
                folder=work,
                history=history,
                seed=trial.seed,
                task=task.id,
                stage=plan.stage,
            )
            done = self._carried_out(trial, place, watch, plan.intervention)
        return replace(done, checkpoint=start.trial)

    def _watch(self, task: StageTask, plan: TrialPlan, work: Path, history: Path) -> TrialWatch:
        study = self._study
        if plan.stage is not None:
            stages = [stage for stage in task.stages if stage.id == plan.stage]
            return TrialWatch(
                stages=stages,
                budget=study.stage_budget,
                accepts=lambda stage: self._accepts(stage.accept, work),
            )
        after = {a.id: b.id for a, b in pairwise(task.stages)}
        at = study.intervention.at if plan.intervention and study.intervention else ()

        def on_accepted(stage: Stage) -> bool:
            if stage.id not in after:
                return False
            if self._keeps and plan.intervention is None:
                self._checkpoints.keep(task.id, stage, plan.trial, work, history)
            return after[stage.id] in at

        return TrialWatch(
            stages=task.stages,
            budget=study.end_to_end_budget,
            accepts=lambda stage: self._accepts(stage.accept, work),
            on_accepted=on_accepted,
        )

    def _carried_out(
        self, trial: Trial, place: Work, watch: TrialWatch, restart: Restart | None
    ) -> Trial:
        said, crashed, unknown = None, False, False
        try:
            while self._agent.work(place, watch):
                self._restarted(place.history, restart)
                place = dataclasses.replace(place, seed=(place.seed + 1) % 2**32)
        except AgentCrashedError as problem:
            said, crashed = str(problem), True
        except CheckFailedError as problem:
            said, unknown = str(problem), True
        return ended(trial, watch, self._study, crashed=crashed, unknown=unknown, said=said)

    def _restarted(self, history: Path, restart: Restart | None) -> None:
        """What becomes of a history at a checkpoint."""
        if restart == "reset":
            history.unlink(missing_ok=True)
        elif restart == "compress" and history.is_file():
            self._compress(history)

    def _compress(self, history: Path) -> None:
        words = filled(self._study.agent.compress, {"study": str(self._study.folder)})
        try:
            done = subprocess.run(
                words,
                input=history.read_bytes(),
                capture_output=True,
                timeout=COMPRESS_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as problem:
            raise StudyError(f"agent, compress: {words[0]!r} failed: {problem}") from problem
        history.write_bytes(done.stdout)
