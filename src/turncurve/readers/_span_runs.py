"""Spans of one conversation to runs: a model call is a turn, an agent within an agent a run."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from turncurve.model import Event, Run, ToolCall, ToolResult, Totals, Turn
from turncurve.readers._models import most_used_model
from turncurve.readers._span_calls import (
    Kind,
    agent_name,
    answer_of,
    call_id_of,
    compacted,
    cost_of,
    heard_by,
    kind_of,
    model_of,
    result_of,
    tool_call_of,
    usage_of,
)
from turncurve.readers._spans import Span
from turncurve.readers.absent import absent_signals

_MOST_DEPTH = 1_000


@dataclass(slots=True, kw_only=True)
class _Call:
    """A model call, and what its tools gave back."""

    span: Span
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Agent:
    """One invocation of an agent: the whole conversation, or an agent within another."""

    span: Span | None
    parent: str | None
    path: str
    calls: list[_Call] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    """Its own agent spans, for their totals."""
    starts: list[float] = field(default_factory=list)
    call_of: dict[str, int] = field(default_factory=dict)
    """Position of the model call that each tool call's id is of."""


class Conversation:
    """The runs of one conversation, or of one trace.

    Args:
        name: Its id.
        spans: All its spans, in any order.
    """

    def __init__(self, name: str, spans: Sequence[Span]) -> None:
        self._name = name
        self._spans: dict[str, Span] = {}
        for span in spans:
            # A span that was exported twice counts once: the copy that says more.
            known = self._spans.get(span.id)
            if known is None or len(span.attributes) >= len(known.attributes):
                self._spans[span.id] = span
        self._kinds: dict[str, Kind] = {name: kind_of(span) for name, span in self._spans.items()}
        self.turn_of: dict[str, tuple[str, int]] = {}
        """Run id and turn of each span that is, or is part of, a turn."""
        self._agents: dict[str | None, _Agent] = {None: _Agent(span=None, parent=None, path="main")}
        self._in_order = sorted(
            self._spans.values(), key=lambda s: (s.start is None, s.start or 0.0, s.end or 0.0)
        )
        self._read()

    @property
    def has_calls(self) -> bool:
        """Whether there is any model call."""
        return any(agent.calls for agent in self._agents.values())

    def runs(self, *, format_: str, path: Path, absent: Mapping[str, str]) -> Iterator[Run]:
        """The conversation's run, then those of agents that it started."""
        for key, agent in self._agents.items():
            if agent.calls or key is None:
                yield self._run(key, agent, format_, path, absent)

    def _read(self) -> None:
        wrappers = self._wrappers()
        self._callers = self._find_callers(wrappers)
        for span in self._in_order:
            if self._kinds[span.id] == "agent":
                agent = self._agents[self._agent_of(span)]
                agent.spans.append(span)
            elif self._kinds[span.id] == "call" and span.id not in wrappers:
                text, calls = answer_of(span)
                self._agents[self._agent_of(span)].calls.append(
                    _Call(span=span, text=text, calls=calls)
                )
        self._number()
        for span in self._in_order:
            if self._kinds[span.id] == "tool":
                self._tool(span)

    def _wrappers(self) -> set[str]:
        """Calls that hold another call: the inner one counts where it has usage, else the outer."""
        dropped = set[str]()
        for span in self._in_order:
            if self._kinds[span.id] != "call":
                continue
            outer = next((s for s in self._above(span) if self._kinds[s.id] == "call"), None)
            if outer is not None:
                counts = usage_of(span) is not None
                dropped.add(outer.id if counts else span.id)
        return dropped

    def _find_callers(self, wrappers: set[str]) -> set[str]:
        """The agents that call a model themselves, not through an agent within them."""
        found = set[str]()
        for span in self._in_order:
            if self._kinds[span.id] == "call" and span.id not in wrappers:
                above = (one for one in self._above(span) if self._kinds[one.id] == "agent")
                if (agent := next(above, None)) is not None:
                    found.add(agent.id)
        return found

    def _above(self, span: Span) -> Iterator[Span]:
        """The spans that hold this one, from the nearest on."""
        seen = {span.id}
        at = self._spans.get(span.parent or "")
        while at is not None and at.id not in seen and len(seen) < _MOST_DEPTH:
            seen.add(at.id)
            yield at
            at = self._spans.get(at.parent or "")

    def _agent_of(self, span: Span) -> str | None:
        """Which agent's run a span belongs to: None for the conversation's own."""
        own = [span] if self._kinds[span.id] == "agent" else []
        agents = [*own, *(s for s in self._above(span) if self._kinds[s.id] == "agent")]
        path: list[Span] = []
        for agent in reversed(agents):
            # One that calls no model itself is a workflow around others; one right within another
            # of the same name is the same invocation.
            calls = agent.id in self._callers or agent is span
            if calls and (not path or agent_name(agent) != agent_name(path[-1])):
                path.append(agent)
        for above, agent in pairwise(path):
            if agent.id not in self._agents:
                parent = self._agents[above.id if above is not path[0] else None]
                name = agent_name(agent).replace("/", "_")
                self._agents[agent.id] = _Agent(
                    span=agent,
                    parent=self._run_id(above.id if above is not path[0] else None),
                    path=f"{parent.path}/{name}",
                )
        return path[-1].id if len(path) > 1 else None

    def _run_id(self, key: str | None) -> str:
        return self._name if key is None else f"{self._name}/{key}"

    def _number(self) -> None:
        for key, agent in self._agents.items():
            agent.starts = [call.span.start or 0.0 for call in agent.calls]
            for index, call in enumerate(agent.calls):
                self.turn_of[call.span.id] = (self._run_id(key), index + 1)
                agent.call_of.update({c.id: index for c in call.calls if c.id is not None})

    def _tool(self, span: Span) -> None:
        """Bring a tool's result to the turn that called: by the call's id, else by time."""
        key = self._agent_of(span)
        agent, call_id = self._agents[key], call_id_of(span)
        index = agent.call_of.get(call_id) if call_id is not None else None
        if index is None:
            index = bisect_right(agent.starts, span.start or 0.0) - 1
            if index < 0:
                return
            call_id = _joined(agent.calls[index], span, call_id)
            agent.call_of[call_id] = index
        agent.calls[index].results.append(result_of(span, call_id))
        self.turn_of[span.id] = (self._run_id(key), index + 1)

    def _run(
        self, key: str | None, agent: _Agent, format_: str, path: Path, absent: Mapping[str, str]
    ) -> Run:
        turns = tuple(_turn(index, call) for index, call in enumerate(agent.calls, start=1))
        marks = [compacted(call.span) for call in agent.calls]
        reasons = {k: v for k, v in absent.items() if k != "compaction"}
        missing = absent_signals(turns, reasons)
        if all(mark is None for mark in marks) and "compaction" in absent:
            missing["compaction"] = absent["compaction"]
        return Run(
            id=self._run_id(key),
            turns=turns,
            format=format_,
            path=str(path),
            record=self._run_id(key),
            model=most_used_model(turns),
            agent=agent.path,
            parent=agent.parent,
            events=(
                *(
                    Event(kind="compaction", turn=index)
                    for index, mark in enumerate(marks, start=1)
                    if mark
                ),
                *_failures(agent.calls),
            ),
            totals=_totals(agent, turns),
            absent=missing,
        )


def _joined(call: _Call, span: Span, call_id: str | None) -> str:
    """The id of the call that a tool's span ran, which is added where the answer does not hold it.

    An answer whose call of that name has no result yet is taken to have made it.
    """
    told = tool_call_of(span)
    waiting = [one for one in call.calls if one.name == told.name and not _answered(call, one)]
    if call_id is None and waiting and waiting[0].id is not None:
        return waiting[0].id
    own = call_id or span.id
    call.calls.append(ToolCall(id=own, name=told.name, arguments=told.arguments))
    return own


def _answered(call: _Call, one: ToolCall) -> bool:
    return any(result.call_id == one.id for result in call.results)


def _turn(index: int, call: _Call) -> Turn:
    span = call.span
    seconds = None
    if span.start is not None and span.end is not None and span.end >= span.start:
        seconds = span.end - span.start
    return Turn(
        index=index,
        text=call.text,
        before=tuple(heard_by(span)),
        tool_calls=tuple(call.calls),
        tool_results=tuple(call.results),
        usage=usage_of(span),
        cost_usd=cost_of(span),
        model=model_of(span),
        started_at=span.start,
        seconds=seconds,
        record=f"{span.trace}/{span.id}",
    )


def _failures(calls: Sequence[_Call]) -> Iterator[Event]:
    for index, call in enumerate(calls, start=1):
        if call.span.failed:
            detail = {"error": call.span.message or "model call failed"}
            yield Event(kind="error", turn=index + 1, detail=detail)


def _totals(agent: _Agent, turns: Sequence[Turn]) -> Totals | None:
    """What the agent's own spans add up, where its calls count nothing."""
    if not turns or any(turn.usage is not None for turn in turns):
        return None
    sums: dict[str, int] = defaultdict(int)
    for span in agent.spans[:1]:
        usage = usage_of(span)
        if usage is not None:
            sums["input_tokens"] += usage.context_tokens or 0
            sums["cached_input_tokens"] += usage.cache_read or 0
            sums["output_tokens"] += usage.output or 0
    return Totals(**sums) if sums else None
