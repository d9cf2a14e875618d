"""The turns of each agent in an Inspect sample, from its events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from turncurve.model import Event, Message, ToolCall, ToolResult, Turn, Usage
from turncurve.readers._inspect.places import Place
from turncurve.readers._inspect.results import content_text, result_of_event, result_of_message
from turncurve.readers._inspect.usage import UsageRule, usage_of
from turncurve.readers.fields import as_float

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent, ToolEvent
    from inspect_ai.model import ChatMessage, ChatMessageAssistant


@dataclass(slots=True, kw_only=True)
class DraftTurn:
    """A turn being put together: results and scores come after the call."""

    record: int
    text: str
    calls: tuple[ToolCall, ...]
    bad_calls: bool
    before: tuple[Message, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    model: str | None = None
    started_at: float | None = None
    seconds: float | None = None
    message_id: str | None = None
    results: dict[str | None, ToolResult] = field(default_factory=dict)

    def add(self, result: ToolResult, is_format_error: bool) -> None:  # noqa: FBT001 - of a pair
        """Add the result of one of the turn's calls, or replace it."""
        self.results[result.call_id] = result
        self.bad_calls |= is_format_error

    def turn(self, index: int) -> Turn:
        """The finished turn; results in the order of their calls, then those of no call."""
        order = {call.id: place for place, call in enumerate(self.calls)}
        results = sorted(self.results.items(), key=lambda item: order.get(item[0], len(order)))
        return Turn(
            index=index,
            text=self.text,
            before=self.before,
            tool_calls=self.calls,
            tool_results=tuple(result for _, result in results),
            usage=self.usage,
            cost_usd=self.cost_usd,
            model=self.model,
            started_at=self.started_at,
            seconds=self.seconds,
            format_error=self.bad_calls,
            record=self.record,
        )


@dataclass(slots=True, kw_only=True)
class AgentDraft:
    """One agent's run being put together: one visit to it, or one conversation over several."""

    path: tuple[str, ...]
    visits: set[str | None]
    turns: list[DraftTurn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    rules: set[UsageRule] = field(default_factory=set)
    scores: dict[int, dict[str, float]] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)
    """Messages taken in, by id, else by role and text."""

    def add_call(self, event: ModelEvent, record: int) -> None:
        """Add the turn of a model call, with what is new in its input."""
        turn = _draft(event.output.message, record)
        turn.before = self.take_in(event.input)
        turn.usage, rule = usage_of(event.output, event.model)
        turn.model = event.model
        turn.started_at = event.timestamp.timestamp()
        turn.seconds = as_float(event.output.time)
        if turn.seconds is None:
            turn.seconds = as_float(event.working_time)
        counts = event.output.usage
        if counts is not None and counts.total_cost is not None and counts.total_cost >= 0:
            turn.cost_usd = as_float(counts.total_cost)
        if rule is not None:
            self.rules.add(rule)
        self.turns.append(turn)
        if turn.message_id is not None:
            self.seen.add(turn.message_id)

    def add_result(self, event: ToolEvent) -> None:
        """Add a tool's own event to the turn that called it; it outranks a message's copy."""
        if not self.turns:
            return
        (self._caller(event.id) or self.turns[-1]).add(*result_of_event(event))

    def message_turns(self) -> dict[str, int]:
        """Turn index by the id of the message that the turn's model call gave."""
        numbered = enumerate(self.turns, start=1)
        return {turn.message_id: index for index, turn in numbered if turn.message_id is not None}

    def continues(self, messages: Iterable[ChatMessage]) -> bool:
        """Whether an input holds an answer that this agent gave before."""
        given = {turn.message_id for turn in self.turns if turn.message_id is not None}
        return any(message.role == "assistant" and message.id in given for message in messages)

    def _caller(self, call_id: str | None) -> DraftTurn | None:
        return next(
            (turn for turn in reversed(self.turns) if any(c.id == call_id for c in turn.calls)),
            None,
        )

    def take_in(self, messages: Sequence[ChatMessage]) -> tuple[Message, ...]:
        """The prompts not seen before; results not seen before go to the turns that asked."""
        fresh = list[Message]()
        for message in messages:
            if message.role == "assistant":
                continue
            call_id = message.tool_call_id if message.role == "tool" else None
            key = message.id or (message.role, call_id, message.text)
            if key in self.seen:
                continue
            self.seen.add(key)
            if message.role == "tool":
                caller = self._caller(call_id)
                if caller is not None and call_id not in caller.results:
                    caller.add(*result_of_message(message))
            else:
                fresh.append(Message(role=message.role, text=message.text))
        return tuple(fresh)


def draft_of_messages(messages: Sequence[ChatMessage]) -> AgentDraft:
    """The turns of a log without events: its conversation, an assistant message a turn."""
    draft = AgentDraft(path=(), visits={None})
    start = 0
    for position, message in enumerate(messages):
        if message.role == "assistant":
            turn = _draft(message, position)
            turn.model = message.model
            turn.before = draft.take_in(messages[start:position])
            draft.turns.append(turn)
            start = position + 1
    draft.take_in(messages[start:])
    return draft


def agent_of(drafts: list[AgentDraft], place: Place, event: ModelEvent) -> AgentDraft:
    """The draft that a model call belongs to; a new one is added to `drafts`.

    A second visit to an agent is a run of its own, unless it goes on with the conversation of an
    earlier one (a handoff does).
    """
    path = (*place.agent, *filter(None, (place.tool, event.role)))
    same = [draft for draft in drafts if draft.path == path]
    for draft in reversed(same):
        if place.visit in draft.visits or draft.continues(event.input):
            draft.visits.add(place.visit)
            return draft
    draft = AgentDraft(path=path, visits={place.visit})
    drafts.append(draft)
    return draft


def _draft(message: ChatMessageAssistant, record: int) -> DraftTurn:
    calls = message.tool_calls or []
    return DraftTurn(
        record=record,
        text=content_text(message.content),
        calls=tuple(
            ToolCall(id=call.id, name=call.function, arguments=call.arguments) for call in calls
        ),
        bad_calls=any(call.parse_error is not None for call in calls),
        message_id=message.id,
    )
