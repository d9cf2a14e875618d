"""OpenClaw and pi sessions to runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readers.session_files import lines_of, write_lines
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

READER = READERS["openclaw"]


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def test_the_run_is_the_way_to_the_last_entry(data: Path) -> None:
    """Turns lead to the last entry written; the branch that was left is a run beside it."""
    run, branch = read(data / "openclaw/session.jsonl")
    assert [turn.text for turn in run.turns] == ["Looking.", "One way.", "The end."]
    assert [turn.text for turn in branch.turns] == ["Left behind."]
    assert (branch.turns[0].index, branch.parent, branch.agent) == (3, "oc-1", "main/branch")


def test_compaction(data: Path) -> None:
    """A compaction stands before the first turn after it."""
    run, branch = read(data / "openclaw/session.jsonl")
    assert [(e.kind, e.turn, e.detail["tokens_before"]) for e in run.events] == [
        ("compaction", 3, 81290)
    ]
    assert branch.events == ()


def test_results_by_flag(data: Path) -> None:
    """isError is the detector; a refused connection may be cured by a retry."""
    turn = read(data / "openclaw/session.jsonl")[0].turns[0]
    assert [(r.error, r.transient) for r in turn.tool_results] == [(False, False), (True, True)]


def test_usage_leaves_the_cache_out(data: Path) -> None:
    """Context is input and both cache counts."""
    run = read(data / "openclaw/session.jsonl")[0]
    assert [turn.usage.context_tokens for turn in run.turns if turn.usage] == [910, 905, 50]


def test_a_sub_agent_by_its_header(data: Path) -> None:
    """The session that the header names is the parent; an error is a crash."""
    (run,) = read(data / "openclaw/child.jsonl")
    assert (run.parent, run.agent) == ("oc-1", "main/subagent")
    assert (run.exit_type, run.exit_text) == (ExitType.CRASH, "overloaded")


def test_a_sub_agent_by_the_index(data: Path, tmp_path: Path) -> None:
    """The index beside a session says who spawned it."""
    lines = lines_of(data / "openclaw/child.jsonl")
    del lines[0]["parentSession"]
    path = write_lines(tmp_path / "c.jsonl", lines)
    index = {
        "agent:main:main": {"sessionId": "oc-1"},
        "agent:main:subagent:9": {"sessionId": "oc-2", "spawnedBy": "agent:main:main"},
    }
    (tmp_path / "sessions.json").write_text(json.dumps(index))
    assert read(path)[0].parent == "oc-1"


def test_costs_of_nothing_are_absent(data: Path, tmp_path: Path) -> None:
    """Under a subscription every cost is 0, which is no price."""
    text = (data / "openclaw/session.jsonl").read_text()
    path = tmp_path / "s.jsonl"
    path.write_text(text.replace("0.02", "0").replace("0.01", "0"))
    run = read(path)[0]
    assert [turn.cost_usd for turn in run.turns] == [None] * 3
    assert "cost_usd" in run.absent


def test_a_tree_that_bites_its_tail_ends(data: Path, tmp_path: Path) -> None:
    """Entries that name each other, or themselves, as parents are read once each."""
    lines = lines_of(data / "openclaw/session.jsonl")
    lines[2]["parentId"], lines[3]["parentId"] = "a4", "a1"
    path = write_lines(tmp_path / "s.jsonl", lines)
    runs = list(READER.read(path, lambda _: None))
    assert sum(len(run.turns) for run in runs) == 4


def entry(name: str, parent: str | None, text: str, **message: object) -> dict[str, object]:
    usage = {"input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}
    said = {"role": "assistant", "content": [{"type": "text", "text": text}], "usage": usage}
    return {"type": "message", "id": name, "parentId": parent, "message": {**said, **message}}


HEADER = {"type": "session", "version": 3, "id": "oc-9", "timestamp": "2026-07-06", "cwd": "/w"}


def test_a_branch_of_a_branch_is_a_run_of_its_own(tmp_path: Path) -> None:
    """Two ways on from a branch that was left are two runs; the second starts where it forked."""
    lines = [
        HEADER,
        entry("a", None, "first"),
        entry("b", "a", "left"),
        entry("c", "b", "left, on"),
        entry("d", "b", "left, other"),
        entry("e", "d", "left, other, on"),
        entry("f", "a", "the run"),
    ]
    runs = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [[(turn.index, turn.text) for turn in run.turns] for run in runs] == [
        [(1, "first"), (2, "the run")],
        [(2, "left"), (3, "left, on")],
        [(3, "left, other"), (4, "left, other, on")],
    ]


def test_another_beginning_is_a_branch_too(tmp_path: Path) -> None:
    """A session that was begun anew from its root has a branch whose first turn is 1."""
    lines = [HEADER, entry("a", None, "left"), entry("b", None, "the run")]
    run, left = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [turn.text for turn in run.turns] == ["the run"]
    assert [(turn.index, turn.text) for turn in left.turns] == [(1, "left")]


def test_an_entry_that_stands_twice_counts_once(tmp_path: Path) -> None:
    """Entries are known by their ids."""
    lines = [HEADER, entry("a", None, "first"), entry("a", None, "first"), entry("b", "a", "on")]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [turn.text for turn in run.turns] == ["first", "on"]


def test_entries_without_ids_are_one_line_of_turns(tmp_path: Path) -> None:
    """The first version of the format had no tree."""
    lines = [HEADER, *(entry("x", None, text) for text in ("one", "two"))]
    for line in lines[1:]:
        del line["id"], line["parentId"]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [turn.text for turn in run.turns] == ["one", "two"]


@pytest.mark.parametrize("model", ["gateway-injected", "delivery-mirror"])
def test_what_the_gateway_wrote_is_no_turn(model: str, tmp_path: Path) -> None:
    """A message of OpenClaw itself stands in the role of the assistant, and is no model call."""
    own = entry("b", "a", "subagents: none", provider="openclaw", model=model)
    lines = [HEADER, entry("a", None, "first", model="acorn-8"), own, entry("c", "b", "on")]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [turn.text for turn in run.turns] == ["first", "on"]
    assert run.model == "acorn-8"
    assert run.notes == ("1 message(s) that the gateway wrote itself are no turns",)


def failed(name: str, parent: str, reason: str, error: str | None = None) -> dict[str, object]:
    return entry(name, parent, "", content=[], usage={}, stopReason=reason, errorMessage=error)


def test_a_call_that_failed_and_was_made_again(tmp_path: Path) -> None:
    """An answer of nothing but an error is an event before the turn of the next try."""
    lines = [
        HEADER,
        entry("a", None, "first"),
        failed("b", "a", "error", "429 too many requests"),
        entry("c", "b", "on", stopReason="stop"),
    ]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [turn.text for turn in run.turns] == ["first", "on"]
    assert [(e.kind, e.turn, e.detail["error"]) for e in run.events] == [
        ("error", 2, "429 too many requests")
    ]


@pytest.mark.parametrize(
    ("reason", "exit_type", "kind"),
    [("error", ExitType.CRASH, "error"), ("aborted", ExitType.USER_ABORT, "intervention")],
)
def test_a_last_call_that_failed(
    reason: str, exit_type: ExitType, kind: str, tmp_path: Path
) -> None:
    """Where nothing follows, it is how the run ended, and one event after its last turn."""
    lines = [HEADER, entry("a", None, "first"), failed("b", "a", reason)]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert (len(run.turns), run.exit_type, run.exit_text) == (1, exit_type, reason)
    assert [(e.kind, e.turn) for e in run.events] == [(kind, 2)]


def test_an_index_is_read_anew_once_it_changed(data: Path, tmp_path: Path) -> None:
    """The parent is that of the index as it stands, not of an earlier reading."""
    lines = lines_of(data / "openclaw/child.jsonl")
    del lines[0]["parentSession"]
    path = write_lines(tmp_path / "c.jsonl", lines)
    assert read(path)[0].parent is None
    for parent in ("oc-1", "another"):
        index = {"a": {"sessionId": parent}, "b": {"sessionId": "oc-2", "spawnedBy": "a"}}
        (tmp_path / "sessions.json").write_text(json.dumps(index))
        assert read(path)[0].parent == parent


def test_an_index_that_is_broken_names_no_parent(data: Path, tmp_path: Path) -> None:
    """A session is read all the same beside an index that does not decode."""
    lines = lines_of(data / "openclaw/child.jsonl")
    del lines[0]["parentSession"]
    (tmp_path / "sessions.json").write_text("{")
    assert read(write_lines(tmp_path / "c.jsonl", lines))[0].parent is None


@pytest.mark.corpus
def test_real_sessions(corpus) -> None:
    """53 answers, 49 results and one compaction; the branched session has a run and a branch.

    Two of the 53 are the gateway's own messages, without a token, and so are no turns.
    """
    folder = corpus("openclaw")
    lru = next(folder.glob("*lru_demo*"))
    (run,) = read(lru)
    assert sum(len(turn.tool_results) for turn in run.turns) == 49
    assert [event.kind for event in run.events] == ["compaction"]
    answers = [
        line["message"]
        for line in lines_of(lru)
        if line.get("message", {}).get("role") == "assistant"
    ]
    assert sum(t.usage.context_tokens + t.usage.output for t in run.turns if t.usage) == sum(
        message["usage"]["totalTokens"] for message in answers
    )
    assert len(answers) == 53
    assert len(run.turns) == sum(message["provider"] != "openclaw" for message in answers) == 51
    assert max(t.usage.context_tokens for t in run.turns if t.usage) == max(
        sum(message["usage"][key] for key in ("input", "cacheRead", "cacheWrite"))
        for message in answers
    )
    assert all(turn.cost_usd is None for turn in run.turns)
    assert run.absent["cost_usd"]
    branched = read(next(folder.glob("*branched*")))
    assert [[turn.index for turn in run.turns] for run in branched] == [[1, 2], [2]]
