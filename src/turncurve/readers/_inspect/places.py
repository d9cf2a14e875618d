"""Whose event is it: the agent's, a sub-agent's, a grader's, or a probe's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from inspect_ai.event import Event as LogEvent
    from inspect_ai.event import SpanBeginEvent

Doer: TypeAlias = Literal["agent", "grader", "probe"]

_GRADING = ("scorer", "scorers", "grader")
_PROBING = ("probe",)
_GRADER_ROLES = ("grader", "judge", "scorer", "monitor")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event stands.

    `agent` holds the names of the agents it is within, outermost first; () outside of any.
    `visit` is the id of the innermost one's span, so that two calls of one agent can be told apart.
    `tool` is the tool within that agent that the event happened in.
    """

    doer: Doer
    agent: tuple[str, ...]
    visit: str | None
    tool: str | None


def unique_events(events: Sequence[LogEvent]) -> list[LogEvent]:
    """The events in order, each once: of those with one id the last is the complete one."""
    kept: dict[str | int, LogEvent] = {}
    for position, event in enumerate(events):
        kept[event.uuid or position] = event
    return list(kept.values())


class Spans:
    """The spans of a sample, as far as they are known."""

    def __init__(self) -> None:
        self._begun: dict[str, SpanBeginEvent] = {}
        self._places: dict[str | None, Place] = {}

    def begin(self, span: SpanBeginEvent) -> None:
        """Take in the beginning of a span."""
        self._begun[span.id] = span

    def place(self, span_id: str | None) -> Place:
        """The place of what happens in a span; None is outside of any."""
        if span_id not in self._places:
            self._places[span_id] = _place(_ancestors(span_id, self._begun))
        return self._places[span_id]


def places(events: Sequence[LogEvent]) -> list[Place]:
    """The place of each event, by spans, or by the `step` events of logs older than spans."""
    spans = Spans()
    for event in events:
        if event.event == "span_begin":
            spans.begin(event)
    grading, found = 0, list[Place]()
    for event in events:
        if event.event == "step" and event.type == "scorer":
            grading += 1 if event.action == "begin" else -1
        place = spans.place(event.span_id)
        if grading > 0:
            place = Place("grader", place.agent, place.visit, place.tool)
        found.append(place)
    return found


def is_grader_role(role: str | None) -> bool:
    """Whether a model role names a judge of the agent."""
    return role is not None and any(word in role.lower() for word in _GRADER_ROLES)


def _ancestors(span_id: str | None, spans: dict[str, SpanBeginEvent]) -> list[SpanBeginEvent]:
    """The spans around an event, innermost first; a span within itself ends the walk."""
    around: dict[str, SpanBeginEvent] = {}
    while span_id in spans and span_id not in around:
        around[span_id] = spans[span_id]
        span_id = spans[span_id].parent_id
    return list(around.values())


def _place(around: Iterable[SpanBeginEvent]) -> Place:
    doer: Doer = "agent"
    agents, visit, tool = list[str](), None, None
    for span in around:
        if span.type in _GRADING:
            doer = "grader"
        elif span.type in _PROBING:
            doer = "probe"
        elif span.type == "agent":
            agents.append(span.name)
            visit = visit or span.id
        elif span.type == "tool" and visit is None:
            tool = tool or span.name
    return Place(doer, tuple(reversed(agents)), visit, tool)
