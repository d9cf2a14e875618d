"""A frozen study carried out by Inspect: each trial is a sample, kept as it ends."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from inspect_ai import Task, eval
from inspect_ai.agent import Agent, as_solver, is_agent
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import store
from msgspec.structs import replace

from turncurve.errors import StudyError
from turncurve.experiments.accept import CheckFailedError
from turncurve.experiments.callable_agent import load_target
from turncurve.experiments.checkpoints import arrived
from turncurve.experiments.inspect_states import SampleState, read_state, said, write_state
from turncurve.experiments.inspect_watch import (
    MARK,
    StoppedError,
    Watched,
    enrol,
    here,
    values,
)
from turncurve.experiments.stage_study import Budget, Stage, StageStudy, StageTask
from turncurve.experiments.study_files import conditions
from turncurve.experiments.trial_file import Trial, TrialFile
from turncurve.experiments.trial_plan import TrialPlan
from turncurve.experiments.trial_record import NO_START, ended, planned
from turncurve.experiments.trial_watch import TrialWatch

AT_ONCE = 200
"""Trials of one evaluation: so many are in memory at once, and in one log."""


class InspectStudy:
    """Makes trials of a frozen study as samples of evaluations.

    Args:
        study: The study.
        digest: Its frozen digest.
        file: Where trials are kept.
        states: Folder of the states that runs of the agent arrived at.
        logs: Folder of the evaluations' logs.
        on_trial: Called with each new trial.
    """

    def __init__(
        self,
        study: StageStudy,
        digest: str,
        file: TrialFile,
        *,
        states: Path,
        logs: Path,
        on_trial: Callable[[Trial], None],
    ) -> None:
        self._study, self._digest, self._file = study, digest, file
        self._states, self._logs, self._on_trial = states, logs, on_trial
        self._conditions = conditions(study)
        self._tasks = {task.id: task for task in study.tasks}
        targets = {s.accept.target or "" for task in study.tasks for s in task.stages}
        self._accepts = {target: load_target(target, study.folder) for target in targets}
        self._agent = load_target(study.agent.target or "", study.folder)

    def make(self, plans: Sequence[TrialPlan]) -> None:
        """Make trials; each is kept as it ends.

        Raises:
            StudyError: The study cannot be carried out; what was made is kept.
        """
        for of_stages in (False, True):
            some = [plan for plan in plans if (plan.stage is not None) == of_stages]
            for at in range(0, len(some), AT_ONCE):
                self._evaluate(some[at : at + AT_ONCE], of_stages=of_stages)

    def _evaluate(self, plans: Sequence[TrialPlan], *, of_stages: bool) -> None:
        if conditions(self._study) != self._conditions:
            raise StudyError(
                "the agent's configuration changed while the study was under way; trials made "
                "before are kept; put it back to go on"
            )
        watched = {str(number): one for number, one in enumerate(map(self._start, plans)) if one}
        if not watched:
            return
        budget = self._study.stage_budget if of_stages else self._study.end_to_end_budget
        enrol(watched)
        try:
            log = self._run(watched, budget, "stages" if of_stages else "end_to_end")
        finally:
            enrol({})
        for one in watched.values():
            if isinstance(one.problem, StudyError):
                raise one.problem
        self._crashed(watched, log)

    def _start(self, plan: TrialPlan) -> Watched | None:
        """A trial that is ready to be made; None: it cannot be, and that is kept."""
        trial = planned(plan, self._study, self._digest, self._conditions)
        task = self._tasks[plan.task]
        start = self._state(task, plan)
        if start is None:
            self._keep(replace(trial, excluded=NO_START))
            return None
        alone = [stage for stage in task.stages if stage.id == plan.stage]
        watched = Watched(
            trial=replace(trial, checkpoint=start.trial),
            watch=TrialWatch(
                stages=alone or task.stages,
                budget=self._study.stage_budget if alone else self._study.end_to_end_budget,
                accepts=lambda stage: watched.accepted(stage),
                on_accepted=lambda stage: not alone and self._arrived(task, stage, watched),
            ),
            start=start,
            goal=alone[0].goal if alone else task.goal,
            accepts=self._accepts,
        )
        return watched

    def _state(self, task: StageTask, plan: TrialPlan) -> SampleState | None:
        """The state that a trial starts in; None: no run has arrived there."""
        number = [stage.id for stage in task.stages].index(plan.stage) if plan.stage else 0
        if number == 0:
            return SampleState()
        before = task.stages[number - 1]
        if plan.protocol == "reference":
            made = before.reference
            return None if made is None else SampleState(store=made.store)

        def path(one: Trial) -> Path:
            return self._path(task.id, before.id, one.trial)

        trial = arrived(before, plan, self._file.trials, lambda one: path(one).is_file())
        if trial is None:
            return None
        state = read_state(path(trial), trial.trial)
        if plan.history == "reset":
            return SampleState(store=state.store, trial=state.trial)
        return state

    def _arrived(self, task: StageTask, stage: Stage, watched: Watched) -> bool:
        """Keep the state in which a stage was accepted; True: it is to be started again there."""
        after = dict(zip((s.id for s in task.stages), task.stages[1:], strict=False))
        if stage.id not in after:
            return False
        plan = watched.trial.plan
        if plan.intervention is None:
            path = self._path(task.id, stage.id, plan.trial)
            write_state(path, watched.messages, values(store()))
            return False
        given = self._study.intervention
        return given is not None and after[stage.id].id in given.at

    def _path(self, task: str, stage: str, trial: int) -> Path:
        return self._states / task / stage / f"{trial}.json"

    def _run(self, watched: dict[str, Watched], budget: Budget, name: str) -> EvalLog:
        samples = [
            Sample(id=mark, input=_asked(one), metadata={MARK: mark, "seed": one.trial.seed})
            for mark, one in watched.items()
        ]
        return eval(
            Task(
                name=f"{self._study.name}_{name}",
                dataset=MemoryDataset(samples),
                solver=_tried(self._agent),
                scorer=_kept(self._scored),
            ),
            model=self._study.agent.model,
            log_dir=str(self._logs),
            display="none",
            fail_on_error=False,
            time_limit=None if budget.seconds is None else max(1, round(budget.seconds)),
        )[0]

    def _scored(self, watched: Watched) -> bool:
        """Keep a trial whose sample has ended; whether it succeeded."""
        if not isinstance(watched.problem, StudyError):
            problem = watched.problem
            trial = ended(
                watched.trial,
                watched.watch,
                self._study,
                crashed=False,
                unknown=isinstance(problem, CheckFailedError),
                said=None if problem is None else str(problem),
            )
            self._keep(trial)
        return watched.watch.is_done

    def _crashed(self, watched: dict[str, Watched], log: EvalLog) -> None:
        """Keep the trials whose samples ended with an error."""
        if log.samples is None and log.error is not None:
            raise StudyError(f"the evaluation failed: {log.error.message}")
        kept = {trial.plan for trial in self._file.trials}
        for sample in log.samples or ():
            one = watched[str(sample.id)]
            if one.trial.plan not in kept:
                words = sample.error.message if sample.error else "the sample was not scored"
                self._keep(
                    ended(
                        one.trial, one.watch, self._study, crashed=True, unknown=False, said=words
                    )
                )

    def _keep(self, trial: Trial) -> None:
        self._file.write(trial)
        self._on_trial(trial)


def _asked(one: Watched) -> list[ChatMessage]:
    return [*said(one.start.messages), ChatMessageUser(content=one.goal)]


def _as_solver(made: Solver | Agent) -> Solver:
    return as_solver(made) if is_agent(made) else cast(Solver, made)


@solver(name="turncurve_trial")
def _tried(agent: Callable[[], Solver | Agent]) -> Solver:
    """The agent in the state that its trial starts in, as often as it is started again."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.store.set(MARK, state.metadata[MARK])
        trial = here()
        if trial is None:
            return state
        for key, value in trial.start.store.items():
            state.store.set(key, copy.deepcopy(value))
        while True:
            trial.again = False
            try:
                return await _as_solver(agent())(state, generate)
            except StoppedError:
                if not trial.again:
                    return state
            before = said(trial.messages) if trial.trial.intervention == "retain" else []
            state.messages = [*before, ChatMessageUser(content=trial.goal)]

    return solve


@scorer(metrics=[accuracy()], name="turncurve_stage")
def _kept(keep: Callable[[Watched], bool]) -> Scorer:
    """Whether the trial succeeded; its record is kept."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        trial: Any = here()
        trial.messages = state.messages
        trial.look()
        return Score(value=1.0 if keep(trial) else 0.0)

    return score
