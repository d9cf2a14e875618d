"""A trial while it is under way: what it has taken, which stages are accepted, when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turncurve.experiments.stage_study import Budget, Ending, Stage


class TrialOver(BaseException):
    """A trial is to end here: no error, so that an agent that catches errors lets it pass."""


@dataclass(slots=True, kw_only=True)
class Taken:
    """What a trial has taken so far; None where nobody says."""

    turns: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(slots=True, kw_only=True)
class TrialWatch:
    """Looks at a trial after each of its turns.

    Args:
        stages: The stages that are to be accepted, in order.
        budget: What the trial may take.
        accepts: Whether a stage is accepted in the state as it is now.
        on_accepted: Called with each stage once it is accepted; may stop the agent by returning
            True, so that it is started again.
        clock: Seconds, that only go forward.
    """

    stages: Sequence[Stage]
    budget: Budget
    accepts: Callable[[Stage], bool]
    on_accepted: Callable[[Stage], bool] = lambda _: False
    clock: Callable[[], float] = time.monotonic
    taken: Taken = field(default_factory=Taken)
    reached: list[str] = field(default_factory=list)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def is_done(self) -> bool:
        """Whether every stage is accepted."""
        return len(self.reached) == len(self.stages)

    def seconds(self) -> float:
        """How long the trial has been under way."""
        return self.clock() - self.started

    def seconds_left(self) -> float | None:
        """How long it may go on; None: as long as it likes."""
        if self.budget.seconds is None:
            return None
        return max(0.0, self.budget.seconds - self.seconds())

    def turns_left(self) -> int | None:
        """How many turns it may still take; None: as many as it likes."""
        if self.budget.turns is None:
            return None
        return max(0, self.budget.turns - (self.taken.turns or 0))

    def look(self) -> bool:
        """See which stages are accepted by now; True: the agent is to be started again.

        A stage counts once the state was such at one look, whatever becomes of it later; several
        may be accepted at one look.
        """
        again = False
        while (stage := self.next) is not None and self.accepts(stage):
            again = self.accept(stage) or again
        return again and not self.is_done

    @property
    def next(self) -> Stage | None:
        """The stage that is to be accepted next; None: all are."""
        return None if self.is_done else self.stages[len(self.reached)]

    def accept(self, stage: Stage) -> bool:
        """Count a stage as accepted; True: the agent is to be started again."""
        self.reached.append(stage.id)
        return self.on_accepted(stage)

    def over(self) -> Ending | None:
        """Why the trial is to end; None: it may go on."""
        if self.is_done:
            return "accepted"
        if self.turns_left() == 0:
            return "turns"
        if self.budget.tokens is not None and (self.taken.tokens or 0) >= self.budget.tokens:
            return "tokens"
        if self.seconds_left() == 0:
            return "seconds"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Where and how an agent works in one trial.

    Args:
        goal: What it is asked.
        folder: Its copy of the workspace.
        history: A file in which it keeps what it knows, outside the folder; it is there at the
            start where something went before.
        seed: For its random choices.
        task: The task.
        stage: The stage that is tried alone; None: the whole.
    """

    goal: str
    folder: Path
    history: Path
    seed: int
    task: str
    stage: str | None
