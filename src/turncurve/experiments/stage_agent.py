"""The seam by which agents are tried: one call makes one trial, or a part of one."""

from __future__ import annotations

from typing import Protocol

from turncurve.errors import TurncurveError
from turncurve.experiments.trial_watch import TrialWatch, Work


class AgentCrashedError(TurncurveError):
    """The agent ended with an error; the trial says which."""


class StageAgent(Protocol):
    """Who is tried."""

    def work(self, work: Work, watch: TrialWatch) -> bool:
        """Work until the goal is reached, the agent gives up, or the watch says that it is over.

        Returns:
            Whether it was stopped at a checkpoint, to be started again in the same folder.

        Raises:
            AgentCrashedError: The agent ended with an error.
        """
