"""Turns of an Inspect sample as its events come: the same that are read from its log later."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from inspect_ai.event import Event as LogEvent
from inspect_ai.log import EvalSample, read_eval_log

from readers.inspect_logs import call, event, runs_of, sample, span, tool_event
from turncurve.readers.inspect_live import LiveSample, LiveTurn, is_agents
from turncurve.readers.inspect_log import sample_runs

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "long-agent" / "compacted.eval"


def events_of(*events: dict[str, Any]) -> list[LogEvent]:
    given = [{"uuid": f"u{number}", **one} for number, one in enumerate(events)]
    return EvalSample.model_validate(sample(*given)).events


def fed(events: Iterator[LogEvent] | list[LogEvent]) -> list[LiveTurn]:
    live = LiveSample()
    return [*chain.from_iterable(live.take(one) for one in events), *live.end()]


def summary(turns: list[LiveTurn]) -> list[tuple[str, int, str]]:
    return [(turn.agent, turn.turn.index, turn.turn.text) for turn in turns]


def test_a_log_fed_event_by_event_gives_its_turns() -> None:
    """Of the example, every event given twice: tokens, costs, compactions are the reader's."""
    log = read_eval_log(str(EXAMPLE), resolve_attachments="core")
    one = (log.samples or [])[0]
    (run,) = sample_runs(one, task="t", path="p", record="r")
    turns = fed(twice for event in one.events for twice in (event, event))
    assert [t.turn.usage for t in turns] == [t.usage for t in run.turns]
    assert [t.turn.cost_usd for t in turns] == [t.cost_usd for t in run.turns]
    assert [t.turn.started_at for t in turns] == [t.started_at for t in run.turns]
    told = [(e.kind, e.turn, dict(e.detail)) for t in turns for e in t.events]
    read = [(e.kind, e.turn, dict(e.detail)) for e in run.events if e.turn <= len(run.turns)]
    assert told == read
    assert "compaction" in [kind for kind, _, _ in told]


def test_a_turn_is_given_once_it_is_complete() -> None:
    """A call is held until a tool answers or the next call comes; of two tellings the last counts.

    A telling that comes after it was given is dropped.
    """
    first, tool, second = events_of(
        call("one", tools=["lookup"]), tool_event("lookup"), call("two")
    )
    better = first.model_copy(update={"output": second.output})
    live = LiveSample()
    assert live.take(first) == []
    assert live.take(better) == []
    assert summary(live.take(tool)) == [("main", 1, "two")]
    assert live.take(first) == []
    assert live.take(second) == []
    assert summary(live.end()) == [("main", 2, "two")]
    assert live.end() == []


def test_agents_have_their_own_turns(tmp_path: Path) -> None:
    """A sub-agent counts from 1, its second visit is a run of its own; as the reader has it."""
    events = (
        span("top", "agent"),
        call("t1", span_id="top"),
        span("sub", "agent", "top"),
        call("s1", span_id="sub"),
        call("s2", span_id="sub"),
        call("t2", span_id="top"),
        {**span("again", "agent", "top"), "name": "sub"},
        call("s3", span_id="again"),
    )
    turns = fed(events_of(*events))
    assert sorted(summary(turns)) == [
        ("top", 1, "t1"),
        ("top", 2, "t2"),
        ("top/sub", 1, "s1"),
        ("top/sub", 2, "s2"),
        ("top/sub#2", 1, "s3"),
    ]
    lengths = {turn.agent: turn.turn.index for turn in turns}
    runs = runs_of(tmp_path, sample(*events))
    assert lengths == {run.id.partition(":")[2] or "top": len(run.turns) for run in runs}


def test_what_is_no_turn() -> None:
    """Calls of graders and probes, pending ones, and the call that writes a summary are none."""
    turns = fed(
        events_of(
            call("one"),
            call("asked", role="grader"),
            span("check", "scorer"),
            call("judge", span_id="check"),
            span("side", "probe"),
            call("probe", span_id="side"),
            call("later", pending=True),
            call("the story so far") | {"tools": []},
            event("compaction", type="summary", tokens_before=900, tokens_after=100),
            call("two"),
        )
    )
    assert summary(turns) == [("main", 1, "one"), ("main", 2, "two")]
    assert [(e.kind, e.turn, e.detail["tokens_before"]) for e in turns[1].events] == [
        ("compaction", 2, 900)
    ]


def test_whose_doing_a_span_is() -> None:
    """Within a scorer, grader or probe it is not the agent's; elsewhere it is."""
    events = events_of(span("top", "agent"), span("s", "scorers"), span("g", "grader", "top"))
    assert [is_agents(events, where) for where in (None, "top", "s", "g")] == [
        *(True, True, False, False)
    ]
