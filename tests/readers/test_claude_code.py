"""Claude Code sessions: one call of several lines, compactions, sub-agents, what is unsaid."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Usage
from turncurve.readers import READERS, raise_problem
from turncurve.readers.stream import head

READER = READERS["claude_code"]


def runs_of(path: Path) -> list[Run]:
    return list(READER.read(path, raise_problem))


@pytest.fixture
def session(data: Path) -> list[Run]:
    return runs_of(data / "claude_code" / "session.jsonl")


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines, given their fields, as a session file."""

    def write(*lines: dict[str, Any]) -> Path:
        path = tmp_path / "s.jsonl"
        path.write_text("".join(json.dumps({"sessionId": "s", **line}) + "\n" for line in lines))
        return path

    return write


def user(content: object, **more: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(message_id: str, *blocks: dict[str, Any], **more: object) -> dict[str, Any]:
    message = {"id": message_id, "role": "assistant", "model": "m", "content": list(blocks)}
    return {"type": "assistant", "message": message, **more}


def tool_use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}


def tool_result(call_id: str, text: str, **more: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **more}


def test_lines_of_one_message_are_one_turn(session: list[Run]) -> None:
    """Lines with one message id, interleaved with tool results, are one turn; usage counts once."""
    first = session[0].turns[0]
    assert len(session[0].turns) == 4
    assert first.text == "I look at the test."
    assert [call.id for call in first.tool_calls] == ["t1", "t2"]
    assert first.usage == Usage(input_uncached=5, cache_read=2000, cache_write=1000, output=40)
    assert first.usage.context_tokens == 3005
    assert sum(turn.usage.output for turn in session[0].turns if turn.usage) == 40 + 30 + 50 + 60


def test_usage_that_grew_counts_at_its_highest(written: Callable[..., Path]) -> None:
    """Usage that grew over a message's lines, and a late line with less, give the maximum."""
    lines = [assistant("m1", {"type": "text", "text": str(n)}) for n in range(3)]
    for line, count in zip(lines, (3, 90, 50), strict=True):
        line["message"]["usage"] = {"input_tokens": 10, "output_tokens": count}
    (run,) = runs_of(written(*lines))
    assert run.turns[0].usage == Usage(input_uncached=10, output=90)


def test_results_come_to_their_calls(session: list[Run]) -> None:
    """Each result is with the turn of its call, with its flag; no flag means no error."""
    results = [
        [(r.call_id, r.error, r.detector) for r in turn.tool_results] for turn in session[0].turns
    ]
    assert results == [
        [("t1", False, "flag"), ("t2", True, "flag")],
        [("t3", False, "flag")],
        [("t4", False, "flag")],
        [],
    ]
    assert session[0].turns[1].tool_results[0].text == "def add(a, b):\n    return a - b"


def test_early_result_comes_to_its_call(written: Callable[..., Path]) -> None:
    """A result that stands before the line of its call is no stray."""
    path = written(
        assistant("m1", {"type": "text", "text": "a"}),
        user([tool_result("t", "out")]),
        assistant("m1", tool_use("t")),
    )
    (run,) = runs_of(path)
    assert [r.text for r in run.turns[0].tool_results] == ["out"]


def test_stray_and_second_results_are_told(written: Callable[..., Path]) -> None:
    """A result without a call stays with the turn before it; a second of one call is left out."""
    path = written(
        assistant("m1", tool_use("t")),
        user([tool_result("t", "one")]),
        user([tool_result("t", "two")]),
        user([tool_result("ghost", "boo")]),
    )
    problems: list[ReadError] = []
    (run,) = READER.read(path, problems.append)
    assert [r.text for r in run.turns[0].tool_results] == ["one", "boo"]
    assert [(p.record, p.kept) for p in problems] == [(3, False), (4, True)]


def test_compaction_stands_before_the_next_turn(session: list[Run]) -> None:
    """A boundary and its summary are one compaction, at the first turn after it."""
    (compaction,) = [event for event in session[0].events if event.kind == "compaction"]
    assert compaction.turn == 3
    assert compaction.detail == {
        "trigger": "auto",
        "tokens_before": 150_000,
        "tokens_after": 5_000,
        "seconds": 2.5,
    }
    assert "Summary: the test fails" in session[0].turns[2].before[0].text


def test_old_summary_is_a_compaction(data: Path) -> None:
    """A summary without a boundary, as older versions wrote it, is a compaction too."""
    run = runs_of(data / "claude_code" / "clear.jsonl")[1]
    assert [(e.kind, e.turn) for e in run.events] == [("compaction", 2), ("intervention", 3)]


def test_synthetic_error_is_no_model_call(session: list[Run]) -> None:
    """Error messages that the program wrote itself are events, with the retries before them."""
    errors = [event for event in session[0].events if event.kind == "error"]
    assert [(event.turn, event.detail["text"]) for event in errors] == [
        (2, "Overloaded"),
        (4, "API Error: 529 overloaded"),
    ]


def test_synthetic_answer_is_no_turn(written: Callable[..., Path]) -> None:
    """An answer that the program itself put in, without an error, is neither turn nor event."""
    filler = assistant("x", {"type": "text", "text": "No response requested."})
    filler["message"]["model"] = "<synthetic>"
    (run,) = runs_of(written(assistant("m1", {"type": "text", "text": "a"}), filler))
    assert ([turn.text for turn in run.turns], run.events) == (["a"], ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("API Error: 500", ExitType.CRASH), ("5-hour limit reached", ExitType.BUDGET)],
)
def test_session_that_ends_in_an_error(
    text: str, expected: ExitType, written: Callable[..., Path]
) -> None:
    """An API error as the last word is a crash; a limit reached is a budget; the words are kept."""
    path = written(
        assistant("m1", {"type": "text", "text": "a"}),
        assistant("x", {"type": "text", "text": text}, isApiErrorMessage=True),
    )
    (run,) = runs_of(path)
    assert (run.exit_type, run.exit_text, len(run.turns)) == (expected, text, 1)


def test_sidechain_is_a_run_of_its_own(session: list[Run]) -> None:
    """A sub-agent's lines in the file make a run with its own turns, its parent and its model."""
    main, sub = session
    assert (sub.parent, sub.agent, sub.model) == (
        main.id,
        "main/sidechain-1",
        "claude-example-small",
    )
    assert [turn.index for turn in sub.turns] == [1, 2]
    assert [turn.usage.output for turn in sub.turns if turn.usage] == [8, 6]
    assert sub.turns[0].tool_results[0].transient


def test_parallel_sidechains_are_told_apart(written: Callable[..., Path]) -> None:
    """Two sub-agents whose lines are interleaved are followed by their parent lines."""
    path = written(
        user("go", uuid="u0"),
        assistant("m0", tool_use("t"), uuid="u1"),
        user("first", uuid="a0", isSidechain=True, parentUuid=None),
        user("second", uuid="b0", isSidechain=True, parentUuid=None),
        assistant(
            "ma", {"type": "text", "text": "A"}, uuid="a1", isSidechain=True, parentUuid="a0"
        ),
        assistant(
            "mb", {"type": "text", "text": "B"}, uuid="b1", isSidechain=True, parentUuid="b0"
        ),
        user("more", uuid="a2", isSidechain=True, parentUuid="a1"),
        assistant(
            "mc", {"type": "text", "text": "C"}, uuid="a3", isSidechain=True, parentUuid="a2"
        ),
    )
    _, first, second = runs_of(path)
    assert [turn.text for turn in first.turns] == ["A", "C"]
    assert [turn.text for turn in second.turns] == ["B"]


def test_sidechain_without_parents_is_one_run(written: Callable[..., Path]) -> None:
    """Lines that name no parent go on in the sub-agent's conversation that a prompt opened."""
    side = {"isSidechain": True, "parentUuid": None}
    path = written(
        assistant("m0", tool_use("t"), uuid="u0"),
        user("first", **side),
        assistant("m1", tool_use("s"), **side),
        user([tool_result("s", "x")], **side),
        assistant("m2", {"type": "text", "text": "done"}, **side),
        user("second", **side),
        assistant("m3", {"type": "text", "text": "done too"}, **side),
    )
    runs = runs_of(path)
    assert [(run.id, len(run.turns)) for run in runs] == [
        ("s", 1),
        ("s/sidechain-1", 2),
        ("s/sidechain-2", 1),
    ]


def test_sub_agent_of_a_sub_agent(written: Callable[..., Path]) -> None:
    """A sub-agent that another one started has that one as its parent."""
    side = {"isSidechain": True}
    path = written(
        assistant("m0", tool_use("t"), uuid="u0"),
        user([tool_result("t", "x")], uuid="u1", toolUseResult={"agentId": "one"}),
        assistant("m1", tool_use("s"), uuid="u2", agentId="one", **side),
        user(
            [tool_result("s", "x")],
            uuid="u3",
            agentId="one",
            toolUseResult={"agentId": "two"},
            **side,
        ),
        assistant("m2", {"type": "text", "text": "z"}, uuid="u4", agentId="two", **side),
    )
    runs = runs_of(path)
    assert [(run.id, run.parent) for run in runs] == [
        ("s", None),
        ("s/one", "s"),
        ("s/two", "s/one"),
    ]


def test_sub_agent_file_names_its_parent(data: Path) -> None:
    """A sub-agent's own file is one run, whose parent is the session that it names."""
    (run,) = runs_of(data / "claude_code" / "agent-b7.jsonl")
    assert run.parent == "5e551011-0000-4000-8000-000000000002"
    assert (run.id, run.agent) == (f"{run.parent}/b7", "main/b7")


def test_clear_starts_another_run(data: Path) -> None:
    """A /clear empties the context, so what follows is a run of its own, counted from turn 1."""
    first, second = runs_of(data / "claude_code" / "clear.jsonl")
    assert second.id == f"{first.id}#2"
    assert [[turn.text for turn in run.turns] for run in (first, second)] == [
        ["Done."],
        ["Done too.", "Going on."],
    ]


def test_interrupted_session_is_a_user_abort(data: Path) -> None:
    """A session whose last word is the user's interruption ended by the user."""
    run = runs_of(data / "claude_code" / "clear.jsonl")[1]
    assert (run.exit_type, run.exit_text) == (ExitType.USER_ABORT, "[Request interrupted by user]")


def test_unfinished_last_turn_is_kept(session: list[Run]) -> None:
    """A last call without a result stays, marked; nobody says how such a run ended."""
    run = session[0]
    assert [call.id for call in run.turns[-1].tool_calls] == ["t5"]
    assert (run.exit_type, run.exit_text, run.success) == (ExitType.UNKNOWN, None, None)
    assert "has no result" in " ".join(run.notes)


def test_repeated_lines_count_once(written: Callable[..., Path]) -> None:
    """A line whose uuid came before, as a resumed session copies it, changes nothing."""
    line = assistant("m1", {"type": "text", "text": "a"}, uuid="u1")
    (run,) = runs_of(written(line, line))
    assert run.turns[0].text == "a"
    assert run.notes[0] == "lines of the file that repeat an earlier uuid, left out: 1"


def test_session_without_an_answer_is_a_run_without_turns(written: Callable[..., Path]) -> None:
    """A prompt that was never answered is kept as a run without a turn, every signal absent."""
    (run,) = runs_of(written(user("hello")))
    assert (run.turns, "output_tokens" in run.absent) == ((), True)


def test_message_of_another_shape_is_told(written: Callable[..., Path]) -> None:
    """A line whose message is no object is told by its number; the others are read."""
    path = written(
        assistant("m1", {"type": "text", "text": "a"}), {"type": "user", "message": None}
    )
    problems: list[ReadError] = []
    (run,) = READER.read(path, problems.append)
    assert (len(run.turns), [problem.record for problem in problems]) == (1, [2])


@pytest.mark.corpus
def test_real_session(corpus: Callable[[str], Path]) -> None:
    """A real session of 1,338 lines gives the figures that were counted by hand."""
    (run,) = runs_of(corpus("claude_code/session-with-compaction.jsonl"))
    results = [result for turn in run.turns for result in turn.tool_results]
    usages = [turn.usage for turn in run.turns if turn.usage]
    assert len(run.turns) == 184
    assert sum(usage.output or 0 for usage in usages) == 107_597
    assert sum(len(turn.tool_calls) for turn in run.turns) == 133
    assert (len(results), sum(bool(result.error) for result in results)) == (133, 6)
    assert max(usage.context_tokens or 0 for usage in usages) == 166_609
    assert [(event.kind, event.turn, event.detail["trigger"]) for event in run.events] == [
        ("compaction", 84, "auto")
    ]


@pytest.mark.corpus
@pytest.mark.parametrize("folder", ["claude_code", "fixtures_agentpile/formats/claude_code"])
def test_collected_sessions_are_read(folder: str, corpus: Callable[[str], Path]) -> None:
    """Each collected session is claimed and gives at least one turn; only strays are told."""
    for path in sorted(corpus(folder).rglob("*.jsonl")):
        problems: list[ReadError] = []
        assert READER.looks_like(head(path), path)
        runs = list(READER.read(path, problems.append))
        assert sum(len(run.turns) for run in runs) >= 1
        assert bool(problems) == (path.name == "unpaired.jsonl")


def test_a_session_id_that_is_no_text_costs_no_line(tmp_path: Path, data: Path) -> None:
    """It is told by its line and read as missing; every turn of the session is read."""
    content = (data / "claude_code" / "session.jsonl").read_text()
    path = tmp_path / "session.jsonl"
    path.write_text(re.sub(r'"sessionId":\s*"[^"]*"', '"sessionId":{"a":1}', content))
    problems: list[ReadError] = []
    runs = list(READERS["claude_code"].read(path, problems.append))
    expected = list(READERS["claude_code"].read(data / "claude_code/session.jsonl", raise_problem))
    assert [len(run.turns) for run in runs] == [len(run.turns) for run in expected]
    assert {(p.kept, "wanted text as sessionId" in p.reason) for p in problems} == {(True, True)}
