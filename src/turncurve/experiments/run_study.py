"""A frozen study carried out, trial by trial: each is on disk before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path

from turncurve.errors import MissingExtraError, StudyError
from turncurve.experiments.callable_agent import CallableAgent, load_target
from turncurve.experiments.checkpoints import Checkpoints
from turncurve.experiments.command_agent import CommandAgent
from turncurve.experiments.make_trial import TrialMaker
from turncurve.experiments.stage_agent import StageAgent
from turncurve.experiments.stage_study import StageStudy
from turncurve.experiments.study_files import conditions
from turncurve.experiments.study_freeze import frozen_study
from turncurve.experiments.trial_file import Trial, TrialFile, open_trials
from turncurve.experiments.trial_plan import TrialPlan, end_to_end_trials, stage_trials


def run_study(
    path: Path,
    to: Path,
    *,
    workers: int = 1,
    on_trial: Callable[[Trial, int, int], None] = lambda *_: None,
) -> list[Trial]:
    """Carry out the study of a file; what an earlier call made is not made again.

    Trials of whole tasks come first where stages start from states of the agent's own runs.

    Args:
        path: The study's file; it must be frozen.
        to: Where trials are kept, a line each; states are kept in a folder beside it.
        workers: Trials under way at once.
        on_trial: Called with each new trial, the number that there are, and that of all.

    Returns:
        All trials, earlier ones first.

    Raises:
        StudyError: The study is not frozen, has changed, or cannot be carried out; trials that
            were made are kept.
        ReadError: The file of trials cannot be written.
    """
    study, frozen = frozen_study(path)
    rounds = planned_rounds(study)
    total = sum(map(len, rounds))
    with open_trials(to, frozen.digest) as file:

        def kept(trial: Trial) -> None:
            on_trial(trial, len(file.trials), total)

        make = _makes(study, frozen.digest, file, kept, workers)
        done = {trial.plan for trial in file.trials}
        for plans in rounds:
            make([plan for plan in plans if plan not in done])
        return list(file.trials)


def _makes(
    study: StageStudy,
    digest: str,
    file: TrialFile,
    kept: Callable[[Trial], None],
    workers: int,
) -> Callable[[list[TrialPlan]], None]:
    """What makes the trials of a plan and keeps them."""
    states = file.path.with_name(f"{file.path.name}.states")
    if study.agent.kind == "inspect":
        try:
            from turncurve.experiments.inspect_study import (  # noqa: PLC0415 - an extra, and slow
                InspectStudy,
            )
        except ModuleNotFoundError as problem:
            raise MissingExtraError("a study of an agent of Inspect", "inspect") from problem
        logs = file.path.with_name(f"{file.path.name}.logs")
        return InspectStudy(study, digest, file, states=states, logs=logs, on_trial=kept).make
    maker = TrialMaker(study, digest, agent_of(study), Checkpoints(states))
    return _Keeper(study, maker, file, kept, workers).make


def planned_rounds(study: StageStudy) -> list[list[TrialPlan]]:
    """The trials of a study, in rounds; a round needs what the one before it made."""
    rounds = [end_to_end_trials(study), stage_trials(study)]
    return rounds if set(study.protocols) - {"reference"} else [_merged(*rounds)]


def agent_of(study: StageStudy) -> StageAgent:
    """Who is tried.

    Raises:
        StudyError: It is an agent of Inspect, or cannot be had.
    """
    if study.agent.kind == "command":
        return CommandAgent(study.agent.command, study.folder)
    if study.agent.kind == "callable":
        return CallableAgent(load_target(study.agent.target or "", study.folder))
    raise StudyError("an agent of Inspect is tried by Inspect, not in a folder")


class _Keeper:
    """Makes trials at once and keeps each as it ends."""

    def __init__(
        self,
        study: StageStudy,
        maker: TrialMaker,
        file: TrialFile,
        kept: Callable[[Trial], None],
        workers: int,
    ) -> None:
        self._study, self._maker, self._file = study, maker, file
        self._kept, self._workers = kept, workers
        self._conditions = conditions(study)

    def make(self, plans: Iterable[TrialPlan]) -> None:
        left = iter(plans)
        with ThreadPoolExecutor(self._workers) as pool:
            under_way: set[Future[Trial]] = set()
            try:
                while True:
                    for plan in islice(left, self._workers - len(under_way)):
                        under_way.add(pool.submit(self._made, plan))
                    if not under_way:
                        return
                    ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for one in ended:
                        self._file.write(one.result())
                        self._kept(self._file.trials[-1])
            finally:
                for one in under_way:
                    if not one.cancel() and one.exception() is None:
                        self._file.write(one.result())

    def _made(self, plan: TrialPlan) -> Trial:
        now = conditions(self._study)
        changed = [part for part, digest in now.items() if digest != self._conditions[part]]
        if changed:
            raise StudyError(
                f"the agent's {', '.join(changed)} changed while the study was under way; trials "
                "made before are kept; put it back to go on"
            )
        return self._maker.make(plan, tuple(self._file.trials), now)


def _merged(first: list[TrialPlan], second: list[TrialPlan]) -> list[TrialPlan]:
    """Two lists as one, evenly, so that both meet the same times of day."""
    every = [((number + 0.5) / len(first), plan) for number, plan in enumerate(first)]
    every += [((number + 0.5) / len(second), plan) for number, plan in enumerate(second)]
    return [plan for _, plan in sorted(every, key=lambda one: one[0])]
