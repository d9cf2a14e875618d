"""opencode exports to runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

READER = READERS["opencode"]


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def test_a_step_is_a_turn(data: Path) -> None:
    """A message of two steps is two turns, each with its tokens, cost and tools."""
    (run,) = read(data / "opencode/session.json")
    assert [[c.name for c in turn.tool_calls] for turn in run.turns] == [
        ["bash"],
        ["read"],
        [],
        [],
    ]
    assert [turn.cost_usd for turn in run.turns] == [0.03, 0.01, 0.01, 0.01]


def test_cache_and_reasoning_are_apart(data: Path) -> None:
    """Context is the sum of the three inputs; reasoning is a part of the output."""
    usage = read(data / "opencode/session.json")[0].turns[0].usage
    assert usage
    assert (usage.context_tokens, usage.output, usage.reasoning) == (1202, 80, 5)


def test_states_are_results(data: Path) -> None:
    """completed and error are results, by status."""
    run = read(data / "opencode/session.json")[0]
    results = [r for turn in run.turns for r in turn.tool_results]
    assert [(r.text, r.error, r.detector) for r in results] == [
        ("ok", False, "status"),
        ("File not found", True, "status"),
    ]


def test_a_pending_call_has_no_result(data: Path, tmp_path: Path) -> None:
    """A tool that is still running has a call and no result."""
    document = json.loads((data / "opencode/session.json").read_text())
    document["messages"][1]["parts"][3]["state"] = {"status": "running", "input": {}}
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document))
    turn = read(path)[0].turns[0]
    assert (len(turn.tool_calls), turn.tool_results) == (1, ())


def test_the_turn_after_the_summary_follows_the_compaction(data: Path) -> None:
    """The summary is a call itself; the compaction stands before the turn after it."""
    run = read(data / "opencode/session.json")[0]
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 4)]


def test_a_child_session_names_its_parent(data: Path) -> None:
    """A session with a parentID is a sub-agent's; an abort is the user's."""
    (run,) = read(data / "opencode/child.json")
    assert (run.parent, run.agent, run.exit_type) == (
        "ses_1",
        "main/explore",
        ExitType.USER_ABORT,
    )


def test_seconds_are_those_of_a_bare_answer(data: Path) -> None:
    """A message's time holds its tools' too, so only an answer without tools has seconds."""
    run = read(data / "opencode/session.json")[0]
    assert [turn.seconds for turn in run.turns] == [None, None, None, 2.5]


def exported(tmp_path: Path, *messages: dict[str, Any], **info: object) -> Path:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"info": {"id": "ses_9", **info}, "messages": messages}))
    return path


def counted(**tokens: object) -> dict[str, object]:
    cache = {"read": 0, "write": 0}
    return {"input": 100, "output": 50, "reasoning": 0, "cache": cache, **tokens}


def answer(*parts: dict[str, object], **info: object) -> dict[str, Any]:
    return {"info": {"role": "assistant", "modelID": "acorn-5", **info}, "parts": list(parts)}


def text(said: str) -> dict[str, object]:
    return {"type": "text", "text": said}


@pytest.mark.parametrize(
    ("tokens", "output"),
    [
        ({"total": 170, "reasoning": 20}, 70),
        ({"total": 150, "reasoning": 20}, 50),
        ({"reasoning": 20}, 50),
        ({"reasoning": 80}, 130),
    ],
    ids=["apart", "within", "older", "more than output"],
)
def test_reasoning_is_a_part_of_output(
    tokens: dict[str, object], output: int, tmp_path: Path
) -> None:
    """Whether a version counted reasoning within output or beside it shows in its total."""
    finish = {"type": "step-finish", "tokens": counted(**tokens), "cost": 0.1}
    (run,) = read(exported(tmp_path, answer(text("So."), finish)))
    usage = run.turns[0].usage
    assert usage
    assert (usage.output, usage.reasoning) == (output, tokens["reasoning"])


def test_zeros_are_no_usage(tmp_path: Path) -> None:
    """An answer that was stopped has the zeros that it began with, which count nothing."""
    zeros = counted(input=0, output=0)
    (run,) = read(exported(tmp_path, answer(text("So"), tokens=zeros, cost=0)))
    assert run.turns[0].usage is None
    assert run.absent["context_tokens"]


def failure(name: str) -> dict[str, object]:
    return {"name": name, "data": {"message": "429 too many requests"}}


def test_a_call_that_failed_is_an_event(tmp_path: Path) -> None:
    """An answer of nothing but an error is no turn, and what it should have heard comes next."""
    prompt = {"info": {"role": "user"}, "parts": [text("Go.")]}
    failed = answer(tokens=counted(input=0, output=0), error=failure("APIError"))
    (run,) = read(exported(tmp_path, prompt, failed, answer(text("So."))))
    assert [(turn.text, [m.text for m in turn.before]) for turn in run.turns] == [("So.", ["Go."])]
    assert [(e.kind, e.turn, e.detail["text"]) for e in run.events] == [
        ("error", 1, "429 too many requests")
    ]
    assert run.exit_type is ExitType.UNKNOWN


@pytest.mark.parametrize(
    ("name", "exit_type", "kind"),
    [
        ("APIError", ExitType.CRASH, "error"),
        ("MessageAbortedError", ExitType.USER_ABORT, "intervention"),
        ("ContextOverflowError", ExitType.BUDGET, "limit"),
        ("MessageOutputLengthError", ExitType.BUDGET, "limit"),
    ],
)
def test_the_last_error_is_the_end(
    name: str, exit_type: ExitType, kind: str, tmp_path: Path
) -> None:
    """Where nothing follows an error it ended the run, as one event after the last turn."""
    (run,) = read(exported(tmp_path, answer(text("So")), answer(error=failure(name))))
    assert (run.exit_type, run.exit_text, len(run.turns)) == (exit_type, name, 1)
    assert [(e.kind, e.turn) for e in run.events] == [(kind, 2)]


def test_a_retry_is_an_event_before_its_turn(tmp_path: Path) -> None:
    """Each attempt that failed within an answer is told before the turn that came of it."""
    retry = {"type": "retry", "attempt": 1, "error": failure("APIError")}
    (run,) = read(exported(tmp_path, answer(text("One.")), answer(retry, text("Two."))))
    assert [(e.kind, e.turn) for e in run.events] == [("error", 2)]


def test_a_tool_that_the_user_stopped_did_not_fail(tmp_path: Path) -> None:
    """A state of error that says it was interrupted is neither a failure nor a success."""
    state = {
        "status": "error",
        "input": {"command": "make"},
        "error": "Tool execution aborted",
        "metadata": {"interrupted": True},
    }
    tool = {"type": "tool", "tool": "bash", "callID": "c1", "state": state}
    (run,) = read(exported(tmp_path, answer(tool)))
    (result,) = run.turns[0].tool_results
    assert (result.text, result.error, result.detector) == ("Tool execution aborted", None, None)


def test_costs_of_nothing_are_absent(tmp_path: Path) -> None:
    """Under a subscription every cost is 0, and the session's own is no better."""
    finish = {"type": "step-finish", "tokens": counted(), "cost": 0}
    (run,) = read(exported(tmp_path, answer(text("So."), finish), cost=0))
    assert run.turns[0].cost_usd is None
    assert run.absent["cost_usd"]
    assert run.totals is None


@pytest.mark.corpus
def test_real_session(corpus) -> None:
    """Calls, tokens and cost add up to what the session says of itself."""
    path = corpus("opencode/session.json")
    info = json.loads(path.read_text())["info"]
    (run,) = read(path)
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert len(run.turns) == 21
    assert sum(turn.cost_usd for turn in run.turns) == pytest.approx(info["cost"])
    assert sum(u.output for u in usages) == info["tokens"]["output"]
    assert sum(u.cache_read for u in usages) == info["tokens"]["cache"]["read"]
    assert sum(u.cache_write for u in usages) == info["tokens"]["cache"]["write"]
    assert sum(u.input_uncached for u in usages) == info["tokens"]["input"]
    assert max(u.context_tokens for u in usages) == 152_957
    results = [r for turn in run.turns for r in turn.tool_results]
    assert (len(results), sum(r.error is True for r in results)) == (25, 0)
