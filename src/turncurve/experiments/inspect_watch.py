"""Samples of Inspect that are trials: looked at before each of the agent's turns.

A hook looks, since Inspect calls it within the sample before each call of a model. It is known to
Inspect once this module is imported, which only a study does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage
from inspect_ai.util import (
    LimitExceededError,
    Store,
    current_span_id,
    sample_limits,
    store,
)

from turncurve.errors import StudyError, TurncurveError
from turncurve.experiments.accept import CheckFailedError
from turncurve.experiments.inspect_states import SampleState
from turncurve.experiments.stage_study import Stage
from turncurve.experiments.trial_file import Trial
from turncurve.experiments.trial_watch import TrialWatch
from turncurve.readers.inspect_live import events_so_far, is_agents

MARK = "turncurve_trial"
"""Key of the sample's metadata and store that names its trial."""
OWN = frozenset({MARK})
Accepts = Callable[[Store], object]


class StoppedError(LimitExceededError):
    """The agent is to stop here, as at a limit."""

    def __init__(self) -> None:
        super().__init__("custom", value=0, limit=0, message="the trial ends here")


@dataclass(slots=True, kw_only=True)
class Watched:
    """A trial that is a sample.

    Args:
        trial: What was planned.
        watch: What was seen of it.
        start: The state it starts in.
        goal: What the agent is asked.
        accepts: The function of each target.
        messages: The conversation when it was looked at last.
        again: Whether it was stopped to be started again.
        problem: Why the trial, or the study, cannot go on.
    """

    trial: Trial
    watch: TrialWatch
    start: SampleState
    goal: str
    accepts: Mapping[str, Accepts]
    messages: Sequence[ChatMessage] = ()
    again: bool = False
    problem: TurncurveError | None = field(default=None)

    def accepted(self, stage: Stage) -> bool:
        """Whether a stage is accepted in the store as it is now.

        Raises:
            CheckFailedError: It cannot be told.
            StudyError: The function says neither True nor False.
        """
        target = stage.accept.target or ""
        try:
            found = self.accepts[target](store())
        except Exception as problem:  # the function is anybody's code
            raise CheckFailedError(f"{target}: {type(problem).__name__}: {problem}") from problem
        if not isinstance(found, bool):
            raise StudyError(f"{target}: wanted True or False, got {found!r:.80}")
        return found

    def look(self) -> None:
        """See what is accepted and what was taken; what goes wrong is kept."""
        limits = sample_limits()
        self.watch.taken.turns = int(limits.turn.usage)
        self.watch.taken.tokens = int(limits.token.usage)
        try:
            self.again = self.watch.look()
        except TurncurveError as problem:
            self.problem = problem


_UNDER_WAY: dict[str, Watched] = {}


def enrol(watched: Mapping[str, Watched]) -> None:
    """Have samples that carry these marks looked at; of nobody any more where there are none."""
    _UNDER_WAY.clear()
    _UNDER_WAY.update(watched)


def here() -> Watched | None:
    """The trial that the sample in which this is called is."""
    return _UNDER_WAY.get(str(store().get(MARK)))


def values(of: Store) -> dict[str, Any]:
    """What a store holds, without what a study puts there."""
    return {key: value for key, value in of.items() if key not in OWN}


@hooks(name="stage_trials", description="turncurve: looks at trials of matched stages")
class StageTrials(Hooks):
    """Stops a trial where its goal is reached, its budget spent, or a checkpoint is declared."""

    def enabled(self) -> bool:
        return bool(_UNDER_WAY)

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        trial = here()
        if trial is None or not is_agents(events_so_far(transcript().events), current_span_id()):
            return
        trial.messages = data.input
        trial.look()
        if trial.problem is not None or trial.again or trial.watch.over() is not None:
            raise StoppedError
        await asyncio.sleep(0)
