"""How the spans of one conversation hold each other: agents, tools and steps around model calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from turncurve.readers._span_calls import Facts


class Tree:
    """What holds each span, worked out once from the outside in.

    A parent that is not among the spans counts as none, and so does one that would close a ring.

    Args:
        spans: A conversation's spans by id, in order of time.
    """

    def __init__(self, spans: Mapping[str, Facts]) -> None:
        self._spans = spans
        self._parent: dict[str, str | None] = {}
        self._order = self._outside_in()
        self.call_around: dict[str, str] = {}
        """The model call that holds a span, with no tool and no agent in between."""
        self.step_around: dict[str, str] = {}
        """The step that holds a span, with no tool and no agent in between."""
        self.actor: dict[str, str] = {}
        """The nearest agent or tool that holds a span."""
        for span in self._order:
            self._look_up(span)
        self.wrappers = self._wrappers()
        """Model calls that hold, or are held by, another one that counts in their place."""
        self.home: dict[str, str | None] = {}
        """The agent whose run a span is part of: None for the conversation's own."""
        self.holder: dict[str, str | None] = {}
        """Of each agent with a run of its own, the agent in whose run it began."""
        self.outermost = set[str]()
        """Agents and tools around model calls of the conversation's own run."""
        self.counted = set[str]()
        """Spans that an agent's span with totals, of the same run, holds."""
        self._find_homes()

    def _outside_in(self) -> list[Facts]:
        children: dict[str, list[Facts]] = defaultdict(list)
        roots = list[Facts]()
        for span in self._spans.values():
            above = span.parent
            is_root = above is None or above not in self._spans
            roots.append(span) if is_root else children[above or ""].append(span)
        order = list[Facts]()
        for root in (*roots, *self._spans.values()):  # the first span of a ring is a root as well
            waiting: list[tuple[Facts, str | None]] = [(root, None)]
            while waiting:
                span, above = waiting.pop()
                name = span.id
                if name not in self._parent:
                    self._parent[name] = above
                    order.append(span)
                    waiting += [(child, name) for child in reversed(children.get(name, ()))]
        return order

    def _look_up(self, span: Facts) -> None:
        name = span.id
        above = self._parent[name]
        if above is None:
            return
        kind = self._spans[above].kind
        if kind in ("agent", "tool"):
            self.actor[name] = above
            return
        for around in (self.actor, self.call_around, self.step_around):
            if above in around:
                around[name] = around[above]
        if kind == "call":
            self.call_around[name] = above
        elif kind == "step":
            self.step_around[name] = above

    def _wrappers(self) -> set[str]:
        """Of a call within a call the inner one counts where it has usage, else the outer."""
        dropped = set[str]()
        for span in self._order:
            outer = self.call_around.get(span.id)
            if span.kind == "call" and outer is not None:
                dropped.add(span.id if span.usage is None else outer)
        return dropped

    def _find_homes(self) -> None:
        """Which agents have runs of their own.

        An agent that calls no model itself is a workflow around others, and no run; one that is
        known by its totals alone is. A tool that calls a model itself is an agent. One right
        within another of the same name is the same.
        """
        calls = [
            span.id for span in self._order if span.kind == "call" and span.id not in self.wrappers
        ]
        callers = {self.actor[name] for name in calls if name in self.actor}
        around_calls = self._around(calls)
        # Where nothing else calls a model, a tool around it all is no helper of anybody.
        helpers = any(
            name not in self.actor or self._spans[self.actor[name]].kind == "agent"
            for name in calls
        )
        inside: dict[str, str | None] = {}
        for span in self._order:
            name, above = span.id, self._parent[span.id]
            within = inside[above] if above is not None else None
            alone = span.kind == "agent" and span.has_totals and name not in around_calls
            own = name in callers or alone
            if own and (within is None or self._spans[within].name != span.name):
                if within is None and not (span.kind == "tool" and helpers):
                    self.outermost.add(name)
                else:
                    self.holder[name] = None if within in self.outermost else within
                inside[name] = name
            else:
                inside[name] = within
            home = inside[name] if span.kind == "agent" else within
            self.home[name] = None if home in self.outermost else home
            if above is not None and self.home[above] == self.home[name]:
                outer = self._spans[above]
                if above in self.counted or (outer.kind == "agent" and outer.has_totals):
                    self.counted.add(name)

    def _around(self, calls: list[str]) -> set[str]:
        """The spans that hold one of the calls."""
        found = set[str]()
        for call in calls:
            at = self._parent[call]
            while at is not None and at not in found:
                found.add(at)
                at = self._parent[at]
        return found
