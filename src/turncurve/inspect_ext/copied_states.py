"""Copies of an agent's states: its model, with the very messages it had before it at each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, get_model
from inspect_ai.util import span

from turncurve.grading.inspect_model import InspectModel
from turncurve.grading.model import GraderMessage, Parameters, Reply, Restater
from turncurve.inspect_ext.grader_panel import grader_of
from turncurve.model import Run, Turn

if TYPE_CHECKING:
    from inspect_ai.event import Event as LogEvent
    from inspect_ai.event import ModelEvent


def restater(
    named: str | Model | bool,  # noqa: FBT001 - a model, or whether the evaluated one
    run: Run,
    events: Sequence[LogEvent],
    *,
    keep_prompts: bool,
) -> Restater:
    """Who restates the objective in copies of a run's states.

    Args:
        named: A model, by name or as it is; True for the one under evaluation.
        run: The run.
        events: The sample's events, which its turns point to.
        keep_prompts: Whether the log is to hold what was asked and said.
    """
    model = get_model() if isinstance(named, bool) else get_model(named)
    asked = grader_of(model, keep_prompts=keep_prompts)
    found = {turn.index: _call(turn, events) for turn in run.turns}
    copies = {t: CopiedState(asked, event) for t, event in found.items() if event is not None}
    return Restater(model=asked, copies=copies)


class CopiedState:
    """A model that answers with the state of one turn before it.

    Args:
        model: The model.
        event: The call of the agent's model by which the turn was taken; it is never changed.
    """

    def __init__(self, model: InspectModel, event: ModelEvent) -> None:
        self._model, self._event = model, event

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def parameters(self) -> Parameters:
        """The model's."""
        return self._model.parameters

    async def generate(
        self, messages: Sequence[GraderMessage], schema: Mapping[str, Any] | None
    ) -> Reply:
        """The answer to the last of some messages; those before it are the copy's own.

        Raises:
            ProviderError: The call failed.
        """
        del schema
        state = [message.model_copy(deep=True) for message in self._event.input]
        question = ChatMessageUser(content=messages[-1].text)
        async with span("restated objective", type="probe"):
            return await self._model.ask(
                [*state, question], config=GenerateConfig(), tools=self._event.tools
            )


def _call(turn: Turn, events: Sequence[LogEvent]) -> ModelEvent | None:
    """The call by which a turn was taken; None in a log without events."""
    at = turn.record
    event = events[at] if isinstance(at, int) and at < len(events) else None
    return event if event is not None and event.event == "model" else None
