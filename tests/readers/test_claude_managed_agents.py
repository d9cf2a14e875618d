"""Claude managed agents event streams to runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from readers.session_files import lines_of, write_lines
from turncurve.errors import ReadError
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem
from turncurve.readers.stream import head

READER = READERS["claude_managed_agents"]


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def test_a_request_is_a_turn(data: Path) -> None:
    """What was said from a request's start to its end is one turn; an empty one is none."""
    run, _ = read(data / "claude_managed_agents/session.jsonl")
    assert [turn.text for turn in run.turns] == ["I begin.", "Done.", "Checked."]
    assert [len(turn.tool_calls) for turn in run.turns] == [2, 0, 0]
    assert "1 model request(s) ended in nothing and are no turns" in run.notes


def test_usage_leaves_the_cache_out(data: Path) -> None:
    """Context is input and both cache counts; the judge's usage is not the agent's."""
    run, _ = read(data / "claude_managed_agents/session.jsonl")
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert [usage.context_tokens for usage in usages] == [1302, 1383, 1414]
    assert sum(usage.output for usage in usages if usage.output) == 211


def test_results_find_their_call(data: Path) -> None:
    """Results come after the request's end and go to the turn of their call."""
    run, _ = read(data / "claude_managed_agents/session.jsonl")
    assert [r.error for r in run.turns[0].tool_results] == [False, True]
    assert [r.call_id for r in run.turns[0].tool_results] == [c.id for c in run.turns[0].tool_calls]


def test_the_cost_is_in_cents(data: Path) -> None:
    """The session's list cost is a text of cents; it is no turn's."""
    run, other = read(data / "claude_managed_agents/session.jsonl")
    assert run.totals
    assert run.totals.cost_usd == 19.15
    assert other.totals is None
    assert all(turn.cost_usd is None for turn in run.turns)


def test_outcome_and_compaction(data: Path) -> None:
    """A satisfied outcome is a success; the compaction stands before the turn after it."""
    run, _ = read(data / "claude_managed_agents/session.jsonl")
    assert (run.success, run.exit_type) == (True, ExitType.SUCCESS_FINISH)
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 3)]


def test_another_thread_is_a_sub_agent(data: Path) -> None:
    """Events of another thread make a run of their own, with the session as parent."""
    run, other = read(data / "claude_managed_agents/session.jsonl")
    assert (other.parent, other.agent, len(other.turns)) == (run.id, "main/helper", 1)


def test_bare_events_are_read_too(data: Path, tmp_path: Path) -> None:
    """Events as the API gives them, without the wrapper, give the same turns."""
    path = data / "claude_managed_agents/session.jsonl"
    bare = write_lines(tmp_path / "bare.jsonl", [line["raw"] for line in lines_of(path)])
    assert [run.turns for run in read(bare)] == [run.turns for run in read(path)]


def test_a_session_that_still_runs(data: Path, tmp_path: Path) -> None:
    """Without an idle status at its end, a session is still running."""
    lines = lines_of(data / "claude_managed_agents/session.jsonl")
    path = write_lines(tmp_path / "s.jsonl", lines[:9])
    told: list[ReadError] = []
    (run,) = READER.read(path, told.append)
    assert run.exit_type is ExitType.STILL_RUNNING


def events_of(data: Path, name: str = "threads") -> list[dict[str, Any]]:
    return lines_of(data / f"claude_managed_agents/{name}.jsonl")


def without(events: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] not in kinds]


def test_a_result_finds_the_thread_of_its_call(data: Path) -> None:
    """Results do not name their thread; the id of the call tells whose they are."""
    run, sorter = read(data / "claude_managed_agents/threads.jsonl")
    assert [r.text for turn in run.turns for r in turn.tool_results] == ["12 letters"]
    assert [[(r.text, r.error) for r in turn.tool_results] for turn in sorter.turns] == [
        [("a b c", False)],
        [("the shelf is full", True)],
    ]
    assert (sorter.agent, sorter.parent) == ("main/sorter", "sess_7")


def test_calls_that_stand_without_their_requests(data: Path) -> None:
    """A sub-agent's calls show without requests: each result ends a turn, as a note says."""
    _, sorter = read(data / "claude_managed_agents/threads.jsonl")
    assert [turn.usage for turn in sorter.turns] == [None, None]
    assert sorter.notes[0].startswith("2 turn(s) stand without their model request")


def test_a_request_that_failed_is_no_turn(data: Path) -> None:
    """A failed request that said nothing and cost nothing is an event before the next turn."""
    run, _ = read(data / "claude_managed_agents/threads.jsonl")
    assert [turn.text for turn in run.turns] == ["", "I ask the sorter.", "They are sorted."]
    assert [(e.kind, e.turn) for e in run.events if e.kind == "error"] == [("error", 2)] * 2
    assert run.notes[0] == "1 model request(s) ended in nothing and are no turns"


def test_a_request_that_failed_with_tokens_is_a_turn(data: Path, tmp_path: Path) -> None:
    """Tokens of a failed request are not lost: it is a turn, and the error comes after it."""
    events = events_of(data)
    failed = next(event for event in events if event.get("is_error"))
    failed["model_usage"]["input_tokens"] = 9
    run, _ = read(write_lines(tmp_path / "s.jsonl", events))
    assert [turn.usage.context_tokens for turn in run.turns if turn.usage] == [705, 9, 766, 797]
    assert [e.turn for e in run.events if e.kind == "error"] == [3, 3]


def test_what_was_heard_comes_before_the_next_request(data: Path) -> None:
    """A user's words and a sub-agent's answer stand before the turn that reads them."""
    run, _ = read(data / "claude_managed_agents/threads.jsonl")
    assert [[m.text for m in turn.before] for turn in run.turns] == [
        ["Sort the letters."],
        [],
        ["Use the drawer.", "Sorted."],
    ]


def test_an_interrupt_that_work_goes_on_after(data: Path) -> None:
    """An interrupt of a session that goes on later is an intervention before the next turn."""
    run, _ = read(data / "claude_managed_agents/threads.jsonl")
    assert [e.turn for e in run.events if e.kind == "intervention"] == [3]


def test_the_judge_is_paid_apart(data: Path) -> None:
    """Usage of all evaluations is the grader's, and of no turn."""
    run, sorter = read(data / "claude_managed_agents/threads.jsonl")
    assert run.grader_usage
    assert (run.grader_usage.context_tokens, run.grader_usage.output) == (620, 40)
    assert sorter.grader_usage is None


def test_a_budget_is_no_failure_of_its_own(data: Path) -> None:
    """A session stopped by its budget ended so, whatever the outcome was; 7 cents are 0.07."""
    run, _ = read(data / "claude_managed_agents/threads.jsonl")
    assert (run.exit_type, run.exit_text, run.success) == (
        ExitType.BUDGET,
        "budget_reached",
        False,
    )
    assert run.totals
    assert run.totals.cost_usd == 0.07


@pytest.mark.parametrize(
    ("last", "exit_type", "success"),
    [
        ([{"type": "session.status_idle", "stop_reason": {"type": "end_turn"}}], "unknown", None),
        (
            [{"type": "session.status_idle", "stop_reason": {"type": "retries_exhausted"}}],
            "crash",
            None,
        ),
        (
            [{"type": "user.interrupt"}, {"type": "session.status_idle"}],
            "user_abort",
            None,
        ),
        ([{"type": "session.status_idle"}, {"type": "user.interrupt"}], "unknown", None),
        (
            [
                {"type": "session.error", "error": {"retry_status": {"type": "terminal"}}},
                {"type": "session.status_terminated"},
            ],
            "crash",
            None,
        ),
        ([{"type": "session.status_terminated"}], "unknown", None),
        (
            [
                {"type": "span.outcome_evaluation_end", "result": "satisfied"},
                {"type": "session.status_idle"},
            ],
            "success_finish",
            True,
        ),
        (
            [
                {"type": "span.outcome_evaluation_end", "result": "max_iterations_reached"},
                {"type": "session.status_idle"},
            ],
            "fail_finish",
            False,
        ),
        (
            [{"type": "span.outcome_evaluation_end", "result": "needs_revision"}],
            "still_running",
            None,
        ),
        (
            [
                {"type": "span.outcome_evaluation_end", "result": "failed"},
                {"type": "session.status_idle"},
            ],
            "unknown",
            None,
        ),
        ([], "still_running", None),
    ],
)
def test_ends(
    *,
    last: list[dict[str, Any]],
    exit_type: str,
    success: bool | None,
    data: Path,
    tmp_path: Path,
) -> None:
    """The last events say how a session ended; a rubric that does not fit judges nobody."""
    path = write_lines(tmp_path / "s.jsonl", [*events_of(data)[:5], *last])
    (run,) = read(path)
    assert (run.exit_type, run.success) == (exit_type, success)


def test_an_event_that_stands_twice_counts_once(data: Path, tmp_path: Path) -> None:
    """A client that took up the stream again wrote events that it had; no turn is doubled."""
    events = events_of(data)
    path = write_lines(tmp_path / "s.jsonl", [*events[:14], *events[9:]])
    once = read(data / "claude_managed_agents/threads.jsonl")
    assert [len(run.turns) for run in read(path)] == [len(run.turns) for run in once]


@pytest.mark.parametrize("as_page", [False, True], ids=["list", "page"])
def test_an_answer_of_the_api(*, as_page: bool, data: Path, tmp_path: Path) -> None:
    """The list of events, bare or as the API's page, gives the same turns as its lines."""
    events = events_of(data)
    path = tmp_path / "events.json"
    path.write_text(json.dumps({"data": events, "next_page": None} if as_page else events))
    assert READER.looks_like(head(path), path)
    once = read(data / "claude_managed_agents/threads.jsonl")
    assert [run.turns for run in read(path)] == [run.turns for run in once]


def test_a_record_of_a_page_that_is_no_event(data: Path, tmp_path: Path) -> None:
    """What is no object among the events is told, and the session is read without it."""
    path = tmp_path / "events.json"
    path.write_text(json.dumps([*events_of(data), 7]))
    told: list[ReadError] = []
    runs = list(READER.read(path, told.append))
    assert [problem.reason for problem in told] == ["wanted an event, got a int"]
    assert len(runs[0].turns) == 3


def test_requests_are_not_needed(data: Path, tmp_path: Path) -> None:
    """Without events of requests an answer ends with what comes back, and has no usage."""
    events = without(events_of(data), "span.model_request_start", "span.model_request_end")
    run, _ = read(write_lines(tmp_path / "s.jsonl", events))
    assert [turn.text for turn in run.turns] == ["", "I ask the sorter.", "They are sorted."]
    assert all(turn.usage is None for turn in run.turns)


def test_a_start_that_was_lost(data: Path, tmp_path: Path) -> None:
    """A request without its start has its usage all the same."""
    events = without(events_of(data), "span.model_request_start")
    run, _ = read(write_lines(tmp_path / "s.jsonl", events))
    assert [turn.usage.output for turn in run.turns if turn.usage] == [40, 25, 12]


@pytest.mark.corpus
def test_real_session(corpus) -> None:
    """145 requests, 157 calls with results, 7 of them failed; up to 297,027 context tokens.

    The last of two usage events says $20.39; the one before it said $19.15.
    """
    path = corpus("claude_managed_agents/transcript.jsonl")
    (run,) = read(path)
    assert len(run.turns) == 145
    assert sum(len(turn.tool_calls) for turn in run.turns) == 157
    results = [r for turn in run.turns for r in turn.tool_results]
    assert (len(results), sum(r.error is True for r in results)) == (157, 7)
    assert max(t.usage.context_tokens for t in run.turns if t.usage) == 297_027
    raw = [line["raw"] for line in lines_of(path)]
    assert sum(t.usage.output for t in run.turns if t.usage) == sum(
        event["model_usage"]["output_tokens"]
        for event in raw
        if event["type"] == "span.model_request_end"
    )
    costs = [e["usage"]["list_cost"]["amount"] for e in raw if e["type"] == "session.usage"]
    assert costs == ["1915", "2039"]
    assert run.totals
    assert run.totals.cost_usd == 20.39
    assert run.grader_usage
    assert run.grader_usage.output == 8_678
    assert all(turn.seconds is not None for turn in run.turns)
