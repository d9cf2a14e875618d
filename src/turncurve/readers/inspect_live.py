"""Turns of an Inspect sample as its events come, before there is a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from turncurve.model import Event, Turn
from turncurve.readers._inspect.agents import AgentDraft
from turncurve.readers._inspect.places import Place, Spans, unique_events
from turncurve.readers._inspect.sample import Reading, read_call, read_other

if TYPE_CHECKING:
    from inspect_ai.event import Event as LogEvent
    from inspect_ai.event import ModelEvent

Visit: TypeAlias = tuple[tuple[str, ...], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTurn:
    """A turn that has just been taken.

    Attributes:
        agent: The agent, as `Run.agent` has it; a second visit has `#2` behind it.
        is_main: Whether it is the sample's first agent.
        turn: The turn; the results of its tools are still to come.
        events: What happened to the agent right before it.
    """

    agent: str
    is_main: bool
    turn: Turn
    events: tuple[Event, ...]


class LiveSample:
    """Takes the events of one sample, and gives the turns of its agents.

    A model call is held back until something else happens in its agent: Inspect tells of each call
    twice, of which the second is the complete one, and only what follows shows that a call wrote a
    compaction's summary and was no turn.
    """

    def __init__(self) -> None:
        self._spans = Spans()
        self._reading = Reading()
        self._held: dict[Visit, tuple[ModelEvent, Place]] = {}
        self._done = set[str]()
        self._n_calls = 0

    def take(self, event: LogEvent) -> list[LiveTurn]:
        """Take in an event; gives the turns that are known to be complete now."""
        if event.event == "span_begin":
            self._spans.begin(event)
            return []
        if event.uuid in self._done:
            return []
        place = self._spans.place(event.span_id)
        visit = place.agent, place.visit
        if event.event == "model":
            if event.pending:
                return []
            held = self._held.get(visit)
            known = held is not None and held[0].uuid == event.uuid
            ready = [] if known else list(self._release(visit))
            self._held[visit] = event, place
            return ready
        if event.event not in {"tool", "compaction", "sample_limit"} or place.doer != "agent":
            return []
        if event.event == "compaction" and event.type == "summary":
            self._forget_summary(visit)
        ready = list(self._release(visit))
        if event.event != "tool":
            self._mark(event)
            read_other(self._reading, event, place)
        return ready

    def end(self) -> list[LiveTurn]:
        """The turns still held back."""
        return [turn for visit in list(self._held) for turn in self._release(visit)]

    def _forget_summary(self, visit: Visit) -> None:
        held = self._held.get(visit)
        if held is not None and not held[0].tools:
            self._mark(held[0])
            del self._held[visit]

    def _release(self, visit: Visit) -> Iterator[LiveTurn]:
        held = self._held.pop(visit, None)
        if held is None:
            return
        event, place = held
        self._mark(event)
        before = {id(draft): len(draft.turns) for draft in self._reading.drafts}
        read_call(self._reading, event, place, self._n_calls)
        self._n_calls += 1
        for draft in self._reading.drafts:
            if len(draft.turns) > before.get(id(draft), 0):
                yield self._turn(draft)

    def _mark(self, event: LogEvent) -> None:
        if event.uuid is not None:
            self._done.add(event.uuid)

    def _turn(self, draft: AgentDraft) -> LiveTurn:
        index = len(draft.turns)
        drafts = self._reading.drafts
        nth = Counter(one.path for one in drafts[: drafts.index(draft) + 1])[draft.path]
        early = self._reading.early if draft is drafts[0] and index == 1 else []
        return LiveTurn(
            agent=("/".join(draft.path) or "main") + (f"#{nth}" if nth > 1 else ""),
            is_main=draft is drafts[0],
            turn=draft.turns[-1].turn(index),
            events=(*early, *(event for event in draft.events if event.turn == index)),
        )


def events_so_far(events: Sequence[LogEvent]) -> list[LogEvent]:
    """The events of a transcript in order, each once, as complete as it is."""
    return unique_events(events)


def is_agents(events: Sequence[LogEvent], span_id: str | None) -> bool:
    """Whether what happens in a span is an agent's doing, not a scorer's, grader's or probe's."""
    spans = Spans()
    for event in events:
        if event.event == "span_begin":
            spans.begin(event)
    return spans.place(span_id).doer == "agent"
