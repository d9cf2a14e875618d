"""Codex rollouts: calls cut by the cumulative counter, exit codes, compactions, aborted turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turncurve.model import ExitType, Run, Usage
from turncurve.readers import READERS, raise_problem
from turncurve.readers._codex_results import tool_result

READER = READERS["codex"]


def runs_of(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


@pytest.fixture
def rollout(data: Path) -> Run:
    return runs_of(data / "codex" / "rollout.jsonl")[0]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes (type, payload) pairs as a rollout."""

    def write(*lines: tuple[str, dict[str, Any]]) -> Path:
        path = tmp_path / "r.jsonl"
        rows = [{"type": kind, "payload": payload} for kind, payload in lines]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


def message(text: str) -> tuple[str, dict[str, Any]]:
    return "response_item", {"type": "message", "role": "assistant", "content": [{"text": text}]}


def count(total: dict[str, int], last: dict[str, int] | None) -> tuple[str, dict[str, Any]]:
    info = {"total_token_usage": total, "last_token_usage": last}
    return "event_msg", {"type": "token_count", "info": info}


def test_distinct_totals_close_calls(rollout: Run) -> None:
    """Each new total closes a call; the same total again, and a null one, say nothing."""
    assert [turn.usage for turn in rollout.turns] == [
        Usage(input_uncached=1000, cache_read=0, output=50, reasoning=20),
        Usage(input_uncached=600, cache_read=900, output=30, reasoning=0),
        Usage(input_uncached=400, cache_read=0, output=30, reasoning=0),
        None,
    ]


def test_items_come_to_their_call(rollout: Run) -> None:
    """Text and tool calls before a count are that call's; mirrored messages are not doubled."""
    assert [[call.id for call in turn.tool_calls] for turn in rollout.turns] == [
        ["c1", "c2"],
        ["c3"],
        ["c4"],
        ["c5"],
    ]
    assert rollout.turns[0].text == "I look."
    assert rollout.turns[0].tool_calls[0].arguments == {"cmd": "ls"}
    assert [m.role for m in rollout.turns[0].before] == ["system", "user"]
    assert rollout.model == "gpt-example"


def test_errors_by_exit_code(rollout: Run) -> None:
    """Exit codes tell, in the heading of an output alone; a refusal without a code by its text."""
    results = [(r.error, r.detector) for turn in rollout.turns for r in turn.tool_results]
    assert results == [
        (False, "return_code"),
        (True, "return_code"),
        (False, "return_code"),
        (True, "text"),
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nx", (True, "return_code")),
        ("Exit code: 0\nOutput:\nExit code: 1", (False, "return_code")),
        ("Wall time: 1\nOutput:\nExit code: 1", (False, "text")),
        ("Wall time: 1\nProcess running with session ID 7\nOutput:\n", (None, None)),
        ('{"output":"x","metadata":{"exit_code":127}}', (True, "return_code")),
        ({"content": "x", "success": False}, (True, "flag")),
        ({"content": "x", "success": True}, (False, "flag")),
        ("Plan updated", (False, "text")),
        ("failed to parse function arguments: missing field", (True, "text")),
        ('{"output": broken', (False, "text")),
    ],
)
def test_each_kind_of_output(output: object, expected: tuple[bool | None, str | None]) -> None:
    """Every way in which versions wrote an outcome is read, and a running process has none."""
    result = tool_result({"call_id": "c", "output": output})
    assert (result.error, result.detector) == expected


def test_exit_code_event_outranks_text(written: Callable[..., Path]) -> None:
    """An exit code in an event beside the output counts over what the output's text looks like."""
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    end = {"type": "exec_command_end", "call_id": "c", "exit_code": 3}
    output = {"type": "function_call_output", "call_id": "c", "output": "fine"}
    path = written(("response_item", call), ("event_msg", end), ("response_item", output))
    (result,) = runs_of(path)[0].turns[0].tool_results
    assert (result.error, result.detector) == (True, "return_code")


def test_compaction_takes_the_call_that_wrote_it(rollout: Run) -> None:
    """A compaction's two records are one event, before turn 3; the summary's call is no turn."""
    (compaction,) = [event for event in rollout.events if event.kind == "compaction"]
    assert compaction.turn == 3
    assert compaction.detail == {"summary_input_tokens": 2000, "summary_output_tokens": 120}
    assert all("summary" not in turn.text for turn in rollout.turns)


def test_compaction_without_items_takes_its_tokens(written: Callable[..., Path]) -> None:
    """A count that closes no items and is followed by a compaction belongs to it."""
    one, two = {"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 9, "output_tokens": 3}
    last = {"input_tokens": 4, "output_tokens": 2}
    path = written(message("a"), count(one, one), count(two, last), ("compacted", {"message": "s"}))
    (run,) = runs_of(path)
    assert len(run.turns) == 1
    assert run.events[0].detail == {"summary_input_tokens": 4, "summary_output_tokens": 2}


def test_count_without_items_is_a_turn(written: Callable[..., Path]) -> None:
    """A new total whose items the file lacks is a model call all the same, so no token is lost."""
    one, two = {"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 9, "output_tokens": 3}
    path = written(
        message("a"), count(one, one), count(two, {"input_tokens": 4, "output_tokens": 2})
    )
    (run,) = runs_of(path)
    assert [turn.text for turn in run.turns] == ["a", ""]
    assert [turn.usage.output for turn in run.turns if turn.usage] == [1, 2]


def test_totals_are_differenced(written: Callable[..., Path]) -> None:
    """Where only totals stand, a call's tokens are what was added; a fallen total starts anew."""
    path = written(
        message("a"),
        count({"input_tokens": 100, "cached_input_tokens": 10, "output_tokens": 5}, None),
        message("b"),
        count({"input_tokens": 250, "cached_input_tokens": 70, "output_tokens": 9}, None),
        message("c"),
        count({"input_tokens": 30, "cached_input_tokens": 0, "output_tokens": 2}, None),
    )
    (run,) = runs_of(path)
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert [(u.context_tokens, u.cache_read, u.output) for u in usages] == [
        (100, 10, 5),
        (150, 60, 4),
        (30, 0, 2),
    ]


def test_aborted_turn(rollout: Run) -> None:
    """An aborted turn keeps its call; it is an intervention, and at the end a user's abort."""
    assert (rollout.exit_type, rollout.exit_text) == (ExitType.USER_ABORT, "interrupted")
    assert [(e.kind, e.turn) for e in rollout.events] == [("compaction", 3), ("intervention", 5)]
    assert "no token count" in rollout.notes[0]


def test_old_bare_items(data: Path) -> None:
    """A file of bare items is cut where an output went to the model; its tokens are absent."""
    (run,) = runs_of(data / "codex" / "old.jsonl")
    assert [turn.text for turn in run.turns] == ["", "One file: a.py."]
    assert [(r.text, r.error) for r in run.turns[0].tool_results] == [("a.py\n", True)]
    assert "context_tokens" in run.absent


def test_sub_agent_names_its_parent(written: Callable[..., Path]) -> None:
    """A rollout that another thread spawned has that thread as its parent."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}
    path = written(("session_meta", {"id": "child", "source": source}), message("a"))
    (run,) = runs_of(path)
    assert (run.id, run.parent) == ("child", "p")


@pytest.mark.corpus
def test_real_rollout(corpus: Callable[[str], Path]) -> None:
    """A real rollout gives the figures of its own last total, and two non-zero exits."""
    (run,) = runs_of(corpus("codex/rollout.jsonl"))
    usages = [turn.usage for turn in run.turns if turn.usage]
    results = [result for turn in run.turns for result in turn.tool_results]
    assert (len(run.turns), len(usages)) == (18, 18)
    assert sum(len(turn.tool_calls) for turn in run.turns) == 38
    assert sum(usage.context_tokens or 0 for usage in usages) == 1_257_132
    assert sum(usage.cache_read or 0 for usage in usages) == 1_160_576
    assert sum(usage.output or 0 for usage in usages) == 19_360
    assert (len(results), sum(bool(r.error) for r in results)) == (38, 2)
    assert {result.detector for result in results} == {"return_code"}
    assert run.exit_text == "task_complete"
