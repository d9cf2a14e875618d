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


HEADER = {"sessionId": "g-9", "projectHash": "abc", "startTime": "2026-01-30T07:00:00Z"}
TOKENS = {"input": 100, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 105}


def said(name: str, kind: str, content: object, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "timestamp": "2026-01-30T07:00:01Z",
        "type": kind,
        "content": content,
    } | more


def answer(name: str, content: object = "", **more: object) -> dict[str, object]:
    return said(name, "gemini", content, tokens=TOKENS, model="acorn-pro", **more)


TWO = [HEADER, said("u1", "user", "Go."), answer("m1", "one"), answer("m2", "two")]


@pytest.mark.parametrize(
    ("history", "is_compacted"),
    [
        ([said("s", "user", "All so far."), said("t", "gemini", "Got it.")], True),
        ([said("s", "user", "All so far."), answer("m2", "two")], True),
        ([answer("m2", "two")], True),
        ([said("u1", "user", "Go."), answer("m1", "one")], False),
        ([], False),
        ([said("u1", "user", "Go."), answer("m1", "one"), answer("m2", "masked")], False),
        (
            [said("x1", "user", "Go."), said("x2", "gemini", "one"), said("x3", "gemini", "two")],
            False,
        ),
    ],
    ids=["summary", "summary and rest", "cut", "taken back", "all taken back", "masked", "renamed"],
)
def test_which_histories_are_compactions(
    *, history: list[object], is_compacted: bool, tmp_path: Path
) -> None:
    """Fewer answers, of which others than the last are gone, are a compaction; no turn is lost."""
    lines = [*TWO, {"$set": {"messages": history}}, answer("m3", "three")]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [turn.text for turn in run.turns] == ["one", "two", "three"]
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 3)] * is_compacted


def test_a_history_without_notices_is_no_compaction(tmp_path: Path) -> None:
    """The model's history never had the notices that its user was shown."""
    notice = said("i1", "info", "Update available.")
    history = [message for message in TWO if "id" in message]
    lines = [*TWO, notice, {"$set": {"messages": history}}, answer("m3", "three")]
    assert read(write_lines(tmp_path / "s.jsonl", lines))[0].events == ()


@pytest.mark.parametrize(
    "notice",
    [
        "Chat history compressed from 9000 to 1200 tokens.",
        "A compressed context will be sent (compressed from: 9000 to unknown tokens).",
    ],
)
def test_a_compaction_that_the_user_was_told_of(notice: str, tmp_path: Path) -> None:
    """A notice of the tool's own is a compaction, once where its history says so too."""
    history = {"$set": {"messages": [said("s", "user", "All so far.")]}}
    lines = [*TWO, said("i1", "info", notice), history, answer("m3", "three")]
    (run,) = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 3)]


def test_an_answer_about_compression_is_none(tmp_path: Path) -> None:
    """What the model says about compression has compacted nothing."""
    lines = [*TWO, answer("m3", "It was compressed from 9 to 1 tokens.")]
    assert read(write_lines(tmp_path / "s.jsonl", lines))[0].events == ()


def test_going_back_to_a_copy(tmp_path: Path) -> None:
    """After a compaction a rewind may name a message's new copy; what came before it stays."""
    history = [said("s", "user", "All so far."), said("t", "gemini", "Got it.")]
    lines = [*TWO, {"$set": {"messages": history}}, answer("m3", "three"), {"$rewindTo": "t"}]
    (run,) = read(write_lines(tmp_path / "s.jsonl", [*lines, answer("m4", "four")]))
    assert [turn.text for turn in run.turns] == ["one", "two", "four"]


def test_thoughts_are_no_text(tmp_path: Path) -> None:
    """A part that is marked as a thought is left out of the answer."""
    parts = [{"text": "hm", "thought": True}, {"text": "So."}]
    (run,) = read(write_lines(tmp_path / "s.jsonl", [HEADER, answer("m1", parts)]))
    assert run.turns[0].text == "So."


def test_calls_among_the_parts(tmp_path: Path) -> None:
    """Calls and results may stand in the contents alone, and count once where they do not."""
    call = {"id": "c1", "name": "read", "args": {"path": "a"}}
    back = {"id": "c1", "name": "read", "response": {"error": "no such file"}}
    asked = answer("m1", [{"functionCall": call}])
    came = said("u1", "user", [{"functionResponse": back}])
    (run,) = read(write_lines(tmp_path / "s.jsonl", [HEADER, asked, came, answer("m2", "No.")]))
    assert [(c.name, c.arguments) for c in run.turns[0].tool_calls] == [("read", {"path": "a"})]
    assert [(r.text, r.error) for r in run.turns[0].tool_results] == [("no such file", True)]
    assert run.turns[1].before == ()
    done = {**call, "status": "success", "result": [{"functionResponse": back}]}
    twice = [HEADER, answer("m1", toolCalls=[done]), came]
    (run,) = read(write_lines(tmp_path / "s.jsonl", twice))
    assert [r.error for r in run.turns[0].tool_results] == [False]


def test_tokens_of_tools_are_context(tmp_path: Path) -> None:
    """Tokens of a tool that ran with the model count as input; thoughts count as output."""
    tokens = {"input": 100, "output": 5, "cached": 40, "thoughts": 3, "tool": 7, "total": 115}
    (run,) = read(write_lines(tmp_path / "s.jsonl", [HEADER, answer("m1") | {"tokens": tokens}]))
    usage = run.turns[0].usage
    assert usage
    assert (usage.context_tokens, usage.output, usage.cache_read) == (107, 8, 40)


@pytest.mark.parametrize(
    ("error", "exit_type"),
    [
        ("FatalTurnLimitedError", ExitType.BUDGET),
        ("FatalCancellationError", ExitType.USER_ABORT),
        ("FatalAuthenticationError", ExitType.CRASH),
    ],
)
def test_errors_that_end_a_stream(
    error: str, exit_type: ExitType, data: Path, tmp_path: Path
) -> None:
    """The type of the error in its result says how a session ended."""
    lines = lines_of(data / "gemini_cli/stream.jsonl")
    result = next(line for line in lines if line["type"] == "result")
    result |= {"status": "error", "error": {"type": error, "message": "..."}}
    first = read(write_lines(tmp_path / "s.jsonl", lines))[0]
    assert (first.exit_type, first.exit_text) == (exit_type, error)


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
    """Two sessions, 68 calls, 67 results of which 4 failed; the second has no result.

    Of 2,164,148 tokens 2,152,077 are input, so 12,071 are output: 6,375 said and 5,696 thought.
    """
    first, second = read(corpus("gemini_cli/stream-json.jsonl"))
    turns = [*first.turns, *second.turns]
    assert sum(len(turn.tool_calls) for turn in turns) == 68
    results = [r for turn in turns for r in turn.tool_results]
    assert (len(results), sum(r.error is True for r in results)) == (67, 4)
    assert first.totals
    assert (first.totals.input_tokens, first.totals.cached_input_tokens) == (2_152_077, 1_379_815)
    assert first.totals.output_tokens == 2_164_148 - 2_152_077
    assert second.totals is None
