"""Spans of one conversation to runs: a model call is a turn, an agent within an agent a run."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from pathlib import Path

from turncurve.errors import ReadError
from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Totals, Turn
from turncurve.readers._models import most_used_model
from turncurve.readers._outcomes import exit_events
from turncurve.readers._span_calls import Facts, facts_of
from turncurve.readers._span_tree import Tree
from turncurve.readers._spans import Span
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem

_LONGEST_WORDS = 200
_CACHE_APART = "cached tokens are no part of the input counts here, and were added to them"


@dataclass(slots=True, kw_only=True)
class _Call:
    """A model call, and what its tools gave back."""

    facts: Facts
    calls: list[ToolCall]
    ids: set[str]
    results: list[ToolResult] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    """Ids of calls that have a result."""
    waiting: dict[str, deque[int]]
    """Positions of the answer's calls by the tool's name, but for some that have a result."""


@dataclass(slots=True, kw_only=True)
class _Agent:
    """One invocation of an agent: the whole conversation, or an agent within another."""

    parent: str | None
    path: str
    calls: list[_Call] = field(default_factory=list)
    spans: list[Facts] = field(default_factory=list)
    """Its own agent spans, for their totals."""
    starts: list[float] = field(default_factory=list)
    calls_of: dict[str, list[int]] = field(default_factory=dict)
    """Positions of the model calls whose answers hold a tool call's id: some writers reuse ids."""

    def asked_at(self, call_id: str, start: float | None) -> int:
        """Position of the latest model call before a time whose answer holds a tool call's id."""
        positions = self.calls_of[call_id]
        if start is None:
            return positions[-1]
        return positions[max(0, bisect_right(positions, start, key=self.starts.__getitem__) - 1)]


class Conversation:
    """The runs of one conversation, or of one trace.

    Args:
        name: Its id.
        spans: Spans of it, in any order; more may be added until it is asked for anything.
    """

    def __init__(self, name: str, spans: Iterable[Span] = ()) -> None:
        self._name = name
        self._facts: dict[str, Facts] = {}
        self._turn_of: dict[str, tuple[str, int]] = {}
        self._asked_by: dict[str, str | None] = {}
        """The agent whose answer holds each call, by the call's id."""
        self._n_before: dict[str, int] = {}
        """Model calls of its agent that stand before each tool's span."""
        self._unplaced: list[Facts] = []
        for span in spans:
            self.add(span)

    def add(self, span: Span) -> None:
        """Take a span. One that was exported twice counts once: the copy that says more."""
        facts = facts_of(span)
        known = self._facts.get(span.id)
        if known is None or facts.weight > known.weight:
            self._facts[span.id] = facts

    @property
    def turn_of(self) -> Mapping[str, tuple[str, int]]:
        """Run id and turn of each span that is, or is part of, a turn."""
        return self._turn_of if self._agents else {}

    @property
    def unplaced(self) -> Sequence[Facts]:
        """Tools' spans that no model call began before."""
        return self._unplaced if self._agents else ()

    @property
    def has_calls(self) -> bool:
        """Whether there is any model call."""
        return any(agent.calls for agent in self._agents.values())

    @property
    def has_agents(self) -> bool:
        """Whether there is any agent's span."""
        return any(agent.spans for agent in self._agents.values())

    def runs(
        self,
        *,
        format_: str,
        path: Path,
        absent: Mapping[str, str],
        on_problem: OnProblem | None = None,
    ) -> Iterator[Run]:
        """The conversation's run, then those of agents that it started.

        Args:
            format_: The format's name.
            path: The file.
            absent: Signals that the format may lack, with the reasons.
            on_problem: Told of tools' results that belong to no turn.
        """
        agents = self._agents
        if self.unplaced and on_problem is not None:
            first = self.unplaced[0]
            reason = f"{len(self.unplaced):,} tool result(s) before any model call of the run"
            where, fix = f"{first.trace}/{first.id}", "the run was read without them"
            on_problem(ReadError(path, reason, record=where, fix=fix, kept=True))
        for key, agent in agents.items():
            if agent.calls or agent.spans or key is None:
                run = self._run(key, agent, format_, path, absent)
                yield self._ended(run) if key is None else run

    def _ended(self, run: Run) -> Run:
        """The run as a crash, if the last of the spans that nothing holds has failed."""
        roots = (facts for facts in self._in_order if facts.parent is None)
        last = max(roots, key=lambda facts: facts.start or 0.0, default=None)
        if last is None or not last.failed:
            return run
        words, after = last.message[:_LONGEST_WORDS] or None, len(run.turns) + 1
        told = any(event.kind == "error" and event.turn == after for event in run.events)
        ends = () if told else exit_events(ExitType.CRASH, words, len(run.turns))
        return replace(run, exit_type=ExitType.CRASH, exit_text=words, events=(*run.events, *ends))

    @cached_property
    def _in_order(self) -> list[Facts]:
        """By start; spans without one last, in the order of the file."""

        def place(facts: Facts) -> tuple[bool, float, float, str]:
            if facts.start is None:
                return True, 0.0, 0.0, ""
            return False, facts.start, facts.end or facts.start, facts.id

        return sorted(self._facts.values(), key=place)

    @cached_property
    def _tree(self) -> Tree:
        return Tree({facts.id: facts for facts in self._in_order})

    @cached_property
    def _agents(self) -> dict[str | None, _Agent]:
        agents: dict[str | None, _Agent] = {None: _Agent(parent=None, path="main")}
        for facts in self._in_order:
            self._open(agents, self._tree.home[facts.id])
        for facts in self._in_order:
            self._sort_in(agents[self._tree.home[facts.id]], facts)
        for key, agent in agents.items():
            self._number(key, agent)
        for facts in self._in_order:
            if facts.kind == "tool" and not self._is_no_result(facts):
                self._place_tool(agents, facts)
        for facts in self._in_order:
            if facts.kind == "step":
                self._place_step(agents, facts)
        return agents

    def _sort_in(self, agent: _Agent, facts: Facts) -> None:
        if facts.kind == "agent":
            agent.spans.append(facts)
        elif facts.kind == "call" and facts.id not in self._tree.wrappers:
            agent.calls.append(_call(facts))
        elif facts.kind == "tool":
            self._n_before[facts.id] = len(agent.calls)

    def _open(self, agents: dict[str | None, _Agent], key: str | None) -> None:
        """Have an agent among the agents, after all that hold it."""
        missing = list[str]()
        while key is not None and key not in agents:
            missing.append(key)
            key = self._tree.holder[key]
        for inner in reversed(missing):
            holder = self._tree.holder[inner]
            name = self._facts[inner].name.replace("/", "_")
            path = f"{agents[holder].path}/{name}"
            agents[inner] = _Agent(parent=self._run_id(holder), path=path)

    def _run_id(self, key: str | None) -> str:
        return self._name if key is None else f"{self._name}/{key}"

    def _number(self, key: str | None, agent: _Agent) -> None:
        agent.starts = [_time(call.facts.start) for call in agent.calls]
        for index, call in enumerate(agent.calls):
            self._turn_of[call.facts.id] = (self._run_id(key), index + 1)
            for one in call.calls:
                if one.id is not None:
                    agent.calls_of.setdefault(one.id, []).append(index)
                    self._asked_by.setdefault(one.id, key)
            step = self._tree.step_around.get(call.facts.id)
            if step is not None:
                self._turn_of[step] = (self._run_id(key), index + 1)

    def _is_no_result(self, facts: Facts) -> bool:
        """Whether a tool's span holds the whole run, or is right within one of the same call."""
        if facts.id in self._tree.outermost:
            return True
        outer = self._facts.get(self._tree.actor.get(facts.id, ""))
        if outer is None or outer.call is None or facts.call is None:
            return False
        ids = outer.call.id, facts.call.id
        return ids[0] == ids[1] if None not in ids else outer.name == facts.name

    def _place_tool(self, agents: dict[str | None, _Agent], facts: Facts) -> None:
        """Bring a tool's result to the turn that called: by the call's id, by parent, by time."""
        call, result = facts.call, facts.result
        place = self._place_of(agents, facts)
        if place is None or call is None or result is None:
            self._unplaced.append(facts)
            return
        key, index = place
        turn = agents[key].calls[index]
        call_id = _joined(turn, call, facts.id)
        turn.answered.add(call_id)
        turn.results.append(
            ToolResult(
                call_id=call_id,
                text=result.text,
                error=result.error,
                detector=result.detector,
                transient=result.transient,
            )
        )
        self._turn_of[facts.id] = (self._run_id(key), index + 1)

    def _place_of(
        self, agents: dict[str | None, _Agent], facts: Facts
    ) -> tuple[str | None, int] | None:
        """Agent and position of the model call that a tool's span was called by."""
        key, call, start = self._tree.home[facts.id], facts.call, facts.start
        if call is not None and call.id is not None:
            for one in (key, self._asked_by.get(call.id)):
                if call.id in agents[one].calls_of:
                    return one, agents[one].asked_at(call.id, start)
        around = self._tree.call_around.get(facts.id)
        if around is not None and around in self._turn_of:
            return key, self._turn_of[around][1] - 1
        starts = agents[key].starts
        n_before = self._n_before[facts.id]
        if start is not None and starts and starts[0] < inf:
            n_before = bisect_right(starts, start)
        return (key, n_before - 1) if n_before else None

    def _place_step(self, agents: dict[str | None, _Agent], facts: Facts) -> None:
        """Bring what came of a step's code to its turn, unless a tool's result says it already."""
        place = self._turn_of.get(facts.id)
        if place is None:
            return
        call = agents[self._tree.home[facts.id]].calls[place[1] - 1]
        said = any(result.error for result in call.results) if facts.failed else call.results
        if not said:
            call.results.append(ToolResult(text=facts.text, error=facts.failed, detector="status"))

    def _run(
        self, key: str | None, agent: _Agent, format_: str, path: Path, absent: Mapping[str, str]
    ) -> Run:
        turns = tuple(_turns(agent.calls))
        marks = [call.facts.compacted for call in agent.calls]
        reasons = {k: v for k, v in absent.items() if k != "compaction"}
        missing = absent_signals(turns, reasons)
        if all(mark is None for mark in marks) and "compaction" in absent:
            missing["compaction"] = absent["compaction"]
        apart = any(call.facts.is_cache_apart for call in agent.calls)
        return Run(
            id=self._run_id(key),
            turns=turns,
            format=format_,
            path=str(path),
            record=self._run_id(key),
            model=most_used_model(turns),
            agent=agent.path,
            parent=agent.parent,
            events=(*_compactions(agent.calls), *_failures(agent.calls)),
            totals=self._totals(agent, turns),
            absent=missing,
            notes=(_CACHE_APART,) if apart else (),
        )

    def _totals(self, agent: _Agent, turns: Sequence[Turn]) -> Totals | None:
        """What the agent's outermost spans add up, where its calls count nothing."""
        outer = [facts for facts in agent.spans if facts.id not in self._tree.counted]
        sums: dict[str, int] = defaultdict(int)
        if all(turn.usage is None for turn in turns):
            for usage in (facts.usage for facts in outer if facts.usage is not None):
                for name, count in (
                    ("input_tokens", usage.context_tokens),
                    ("cached_input_tokens", usage.cache_read),
                    ("output_tokens", usage.output),
                ):
                    if count is not None:
                        sums[name] += count
        costs = [facts.cost_usd for facts in outer if facts.cost_usd is not None]
        cost = sum(costs) if costs and all(turn.cost_usd is None for turn in turns) else None
        return Totals(**sums, cost_usd=cost) if sums or cost is not None else None


def _time(start: float | None) -> float:
    return inf if start is None else start


def _call(facts: Facts) -> _Call:
    waiting: dict[str, deque[int]] = {}
    for position, one in enumerate(facts.calls):
        waiting.setdefault(one.name, deque()).append(position)
    ids = {one.id for one in facts.calls if one.id is not None}
    return _Call(facts=facts, calls=list(facts.calls), ids=ids, waiting=waiting)


def _joined(call: _Call, ran: ToolCall, span_id: str) -> str:
    """The id of the call that a tool's span ran, which is added where the answer does not hold it.

    An answer's first call of that name that has no result, and no other id, is taken to be it.
    """
    if ran.id is not None and ran.id in call.ids:
        return ran.id
    waiting = call.waiting.get(ran.name, deque())
    while waiting and call.calls[waiting[0]].id in call.answered:
        waiting.popleft()
    if waiting:
        asked = call.calls[waiting[0]]
        if asked.id is None:
            own = ran.id or span_id
            call.calls[waiting.popleft()] = ToolCall(
                id=own, name=asked.name, arguments=asked.arguments
            )
            call.ids.add(own)
            return own
        if ran.id is None:
            return asked.id
    own = ran.id or span_id
    call.calls.append(ToolCall(id=own, name=ran.name, arguments=ran.arguments))
    call.ids.add(own)
    return own


def _turns(calls: Sequence[_Call]) -> Iterator[Turn]:
    instructions = ""
    for index, call in enumerate(calls, start=1):
        facts = call.facts
        before = facts.heard
        if facts.instructions and facts.instructions != instructions:
            instructions = facts.instructions
            before = (Message(role="system", text=instructions), *before)
        is_timed = facts.start is not None and facts.end is not None
        seconds = (facts.end or 0.0) - (facts.start or 0.0) if is_timed else -1.0
        yield Turn(
            index=index,
            text=facts.text,
            before=before,
            tool_calls=tuple(call.calls),
            tool_results=tuple(call.results),
            usage=facts.usage,
            cost_usd=facts.cost_usd,
            model=facts.model,
            started_at=facts.start,
            seconds=seconds if seconds >= 0 else None,
            record=f"{facts.trace}/{facts.id}",
        )


def _compactions(calls: Sequence[_Call]) -> Iterator[Event]:
    """One where calls begin to see a compacted view, and one where a call compacts it anew.

    A view stays compacted, so the calls after it may all say so.
    """
    was = False
    for index, call in enumerate(calls, start=1):
        now = call.facts.compacted is True
        if now and (call.facts.compacts or not was):
            yield Event(kind="compaction", turn=index)
        was = now


def _failures(calls: Sequence[_Call]) -> Iterator[Event]:
    for index, call in enumerate(calls, start=1):
        if call.facts.failed:
            detail = {"error": call.facts.message or "model call failed"}
            yield Event(kind="error", turn=index + 1, detail=detail)
