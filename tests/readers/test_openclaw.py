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


@pytest.mark.corpus
def test_real_sessions(corpus) -> None:
    """53 calls, 49 results and one compaction; the branched session has a run and a branch."""
    folder = corpus("openclaw")
    lru = next(folder.glob("*lru_demo*"))
    (run,) = read(lru)
    assert len(run.turns) == 53
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
    branched = read(next(folder.glob("*branched*")))
    assert [[turn.index for turn in run.turns] for run in branched] == [[1, 2], [2]]
