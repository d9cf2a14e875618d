"""Gemini CLI sessions and stream-json output to runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readers.session_files import lines_of, write_lines
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

READER = READERS["gemini_cli"]


def read(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


def test_each_answer_is_a_turn_with_its_results(data: Path) -> None:
    """Results stand with the answer that called; their status is the detector."""
    (run,) = read(data / "gemini_cli/session.json")
    assert [turn.text for turn in run.turns] == ["", "There is one.", "Stop."]
    results = [r for turn in run.turns for r in turn.tool_results]
    assert [(r.text, r.error) for r in results] == [
        ("a.txt", False),
        ("no such file", True),
        ("shown", None),
    ]
    assert results[1].detector == "status"


def test_input_includes_the_cache_and_output_has_the_thoughts(data: Path) -> None:
    """Of 1,100 input tokens 900 cached leave 200 fresh ones; thoughts are part of output."""
    (run,) = read(data / "gemini_cli/session.json")
    first, second, _ = (turn.usage for turn in run.turns)
    assert second
    assert (second.input_uncached, second.cache_read, second.context_tokens) == (200, 900, 1100)
    assert first
    assert (first.output, first.reasoning) == (50, 30)


def test_a_record_replaces_the_one_of_its_id(data: Path) -> None:
    """In a file of one record a line, an answer that is written again is one turn."""
    (run,) = read(data / "gemini_cli/session.jsonl")
    assert [turn.text for turn in run.turns] == ["Working.", "Done.", "More."]
    assert len(run.turns[0].tool_calls) == 1


def test_what_was_taken_back_is_no_turn(data: Path) -> None:
    """A rewind drops its message and all after it, and the note counts the answers."""
    (run,) = read(data / "gemini_cli/session.jsonl")
    assert "Wrong way." not in [turn.text for turn in run.turns]
    assert run.notes == ("1 answer(s) were taken back by the user and are no turns",)


def test_a_replaced_history_is_a_compaction(data: Path) -> None:
    """Where the model's history is set to less than was said, a compaction has happened."""
    (run,) = read(data / "gemini_cli/session.jsonl")
    assert [(event.kind, event.turn) for event in run.events] == [("compaction", 3)]


def test_a_sub_agent_names_its_parent(data: Path, tmp_path: Path) -> None:
    """A recording of a sub-agent lies in a folder that has its parent's id."""
    lines = lines_of(data / "gemini_cli/session.jsonl")
    folder = tmp_path / "chats/parent-1"
    folder.mkdir(parents=True)
    path = write_lines(folder / "x.jsonl", [{**lines[0], "kind": "subagent"}, *lines[1:]])
    (run,) = read(path)
    assert (run.parent, run.agent) == ("parent-1", "main/subagent")


def test_stream_of_two_sessions(data: Path) -> None:
    """Each init starts a session, with the prompt before it; chunks make one answer."""
    first, second = read(data / "gemini_cli/stream.jsonl")
    assert [turn.text for turn in first.turns] == ["I will look.", "", "Done."]
    assert [m.text for m in first.turns[0].before] == ["Build it."]
    assert [m.text for m in second.turns[0].before] == ["Again."]
    assert [r.error for turn in first.turns for r in turn.tool_results] == [False, True]


def test_a_stream_counts_tokens_once_at_its_end(data: Path) -> None:
    """The session's own figures are its totals; one that broke off has none."""
    first, second = read(data / "gemini_cli/stream.jsonl")
    assert first.totals
    assert (first.totals.input_tokens, first.totals.cached_input_tokens) == (900, 500)
    assert second.totals is None
    assert all(turn.usage is None for turn in first.turns)


def test_a_session_that_another_follows_has_died(data: Path, tmp_path: Path) -> None:
    """Without its result, a session is a crash if another began, else not known."""
    lines = lines_of(data / "gemini_cli/stream.jsonl")
    path = write_lines(tmp_path / "s.jsonl", [x for x in lines if x["type"] != "result"])
    first, second = read(path)
    assert (first.exit_type, second.exit_type) == (ExitType.CRASH, ExitType.UNKNOWN)


@pytest.mark.corpus
def test_real_session(corpus) -> None:
    """Turns, calls, errors and tokens are those counted in the raw document."""
    path = corpus("gemini_cli/session.json")
    answers = [m for m in json.loads(path.read_text())["messages"] if m["type"] == "gemini"]
    (run,) = read(path)
    assert len(run.turns) == len(answers) == 31
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert sum(u.context_tokens for u in usages) == sum(m["tokens"]["input"] for m in answers)
    assert sum(u.context_tokens + u.output for u in usages) == sum(
        m["tokens"]["total"] for m in answers
    )
    results = [r for turn in run.turns for r in turn.tool_results]
    assert (len(results), sum(r.error is True for r in results)) == (62, 2)


@pytest.mark.corpus
def test_real_stream(corpus) -> None:
    """Two sessions, 68 calls, 67 results of which 4 failed; the second has no result."""
    first, second = read(corpus("gemini_cli/stream-json.jsonl"))
    turns = [*first.turns, *second.turns]
    assert sum(len(turn.tool_calls) for turn in turns) == 68
    results = [r for turn in turns for r in turn.tool_results]
    assert (len(results), sum(r.error is True for r in results)) == (67, 4)
    assert first.totals
    assert (first.totals.input_tokens, first.totals.output_tokens) == (2_152_077, 6_375)
    assert second.totals is None
