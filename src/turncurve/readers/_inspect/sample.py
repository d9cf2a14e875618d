"""The events of one Inspect sample, sorted to the agents that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from turncurve.model import Event, EventKind, Usage
from turncurve.readers._inspect.agents import AgentDraft, agent_of, draft_of_messages
from turncurve.readers._inspect.outcome import score_number
from turncurve.readers._inspect.places import Place, is_grader_role, places, unique_events
from turncurve.readers._inspect.usage import usage_of

if TYPE_CHECKING:
    from inspect_ai.event import Event as LogEvent
    from inspect_ai.event import ModelEvent, ScoreEvent
    from inspect_ai.log import EvalSample

_INJECTION_SOURCES = ("chaos", "injection")


@dataclass(slots=True, kw_only=True)
class Reading:
    """The agents of one sample, the main one first, and what is no agent's turn."""

    drafts: list[AgentDraft] = field(default_factory=list)
    grader: list[Usage | None] = field(default_factory=list)
    early: list[Event] = field(default_factory=list)
    """Events before any agent's first turn."""
    n_pending: int = 0
    n_probes: int = 0
    n_summaries: int = 0
    from_messages: bool = False

    def draft(self, place: Place) -> AgentDraft | None:
        """The agent at a place, else the main one."""
        for draft in reversed(self.drafts):
            if place.visit in draft.visits and draft.path[: len(place.agent)] == place.agent:
                return draft
        return self.drafts[0] if self.drafts else None

    def tell(self, kind: EventKind, place: Place, **detail: Any) -> None:
        """Note an event before the next turn of the agent at a place."""
        known = {key: value for key, value in detail.items() if value is not None}
        draft = self.draft(place)
        if draft is None:
            self.early.append(Event(kind=kind, turn=1, detail=known))
        else:
            draft.events.append(Event(kind=kind, turn=len(draft.turns) + 1, detail=known))


def read_sample(sample: EvalSample) -> Reading:
    """Sort a sample's events; a sample without events is read from its messages."""
    reading = Reading()
    events = unique_events(sample.events)
    where = places(events)
    summaries = _summary_calls(events, where)
    for position, (event, place) in enumerate(zip(events, where, strict=True)):
        if position in summaries:
            reading.n_summaries += 1
        elif event.event == "model":
            read_call(reading, event, place, position)
        elif event.event == "score":
            _read_score(reading, event, place)
        elif place.doer == "agent":
            read_other(reading, event, place)
    if not events and any(message.role == "assistant" for message in sample.messages):
        reading.from_messages = True
        reading.drafts.append(draft_of_messages(sample.messages))
    if not reading.drafts:
        reading.drafts.append(AgentDraft(path=(), visits={None}))
    main = reading.drafts[0]
    main.events[:0] = reading.early
    main.take_in(sample.messages)
    return reading


def _summary_calls(events: Sequence[LogEvent], where: Sequence[Place]) -> set[int]:
    """Positions of the model calls that wrote a compaction's summary: no turns of the agent.

    Such a call comes last before the compaction, in the same agent, and is offered no tools.
    """
    last: dict[tuple[tuple[str, ...], str | None], int] = {}
    found = set[int]()
    for position, (event, place) in enumerate(zip(events, where, strict=True)):
        key = (place.agent, place.visit)
        if event.event in {"model", "tool"}:
            last[key] = position
        elif event.event == "compaction" and event.type == "summary" and key in last:
            before = events[last[key]]
            if before.event == "model" and not before.tools:
                found.add(last[key])
    return found


def read_call(reading: Reading, event: ModelEvent, place: Place, position: int) -> None:
    """Take in a model call: a turn of its agent, or one of a grader, a probe, or of nobody."""
    if event.pending:
        reading.n_pending += 1
    elif place.doer == "probe":
        reading.n_probes += 1
    elif place.doer == "grader" or is_grader_role(event.role) or (event.role and not place.agent):
        reading.grader.append(usage_of(event.output, event.model)[0])
    elif not event.output.choices:
        reading.tell("error", place, message=event.error or "the model gave no answer")
    else:
        agent_of(reading.drafts, place, event).add_call(event, position)


def _read_score(reading: Reading, event: ScoreEvent, place: Place) -> None:
    """An intermediate score judges the turn before it."""
    draft, number = reading.draft(place), score_number(event.score.value)
    if not event.intermediate or draft is None or not draft.turns or number is None:
        return
    draft.scores.setdefault(len(draft.turns), {})[event.scorer or "score"] = number


def read_other(reading: Reading, event: LogEvent, place: Place) -> None:
    """Take in what else happened to an agent: a tool's result, a compaction, a limit, an error."""
    if event.event == "tool":
        draft = reading.draft(place)
        if draft is not None and not event.pending:
            draft.add_result(event)
    elif event.event == "compaction":
        reading.tell(
            "compaction",
            place,
            **{
                **(event.metadata or {}),
                "type": event.type,
                "source": event.source,
                "tokens_before": event.tokens_before,
                "tokens_after": event.tokens_after,
            },
        )
    elif event.event == "sample_limit":
        reading.tell("limit", place, type=event.type, message=event.message)
    elif event.event == "interrupt" and event.source == "user_cancel":
        reading.tell("intervention", place, interrupted=event.interrupted)
    elif event.event == "error":
        reading.tell("error", place, message=event.error.message)
    elif event.event == "info" and event.source in _INJECTION_SOURCES:
        reading.tell("injection", place, source=event.source, data=event.data)
