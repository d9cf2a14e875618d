"""Gemini CLI, opencode, OpenClaw and Claude managed agents to runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem


def read(name: str, path: Path) -> list[Run]:
    return list(READERS[name].read(path, raise_problem))


def rewritten(path: Path, tmp_path: Path, lines: list[object]) -> Path:
    target = tmp_path / path.name
    target.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return target


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestGeminiCli:
    def test_each_answer_is_a_turn_with_its_results(self, data: Path) -> None:
        """Results stand with the answer that called; their status is the detector."""
        (run,) = read("gemini_cli", data / "gemini_cli/session.json")
        assert [turn.text for turn in run.turns] == ["", "There is one.", "Stop."]
        results = [r for turn in run.turns for r in turn.tool_results]
        assert [(r.text, r.error) for r in results] == [
            ("a.txt", False),
            ("no such file", True),
            ("shown", None),
        ]
        assert results[1].detector == "status"

    def test_input_includes_the_cache_and_output_has_the_thoughts(self, data: Path) -> None:
        """Of 1,100 input tokens 900 cached leave 200 fresh ones; thoughts are part of output."""
        (run,) = read("gemini_cli", data / "gemini_cli/session.json")
        first, second, _ = (turn.usage for turn in run.turns)
        assert second
        assert (second.input_uncached, second.cache_read, second.context_tokens) == (200, 900, 1100)
        assert first
        assert (first.output, first.reasoning) == (50, 30)

    def test_a_record_replaces_the_one_of_its_id(self, data: Path) -> None:
        """In a file of one record a line, an answer that is written again is one turn."""
        (run,) = read("gemini_cli", data / "gemini_cli/session.jsonl")
        assert [turn.text for turn in run.turns] == ["Working.", "Done.", "More."]
        assert len(run.turns[0].tool_calls) == 1

    def test_what_was_taken_back_is_no_turn(self, data: Path) -> None:
        """A rewind drops its message and all after it, and the note counts the answers."""
        (run,) = read("gemini_cli", data / "gemini_cli/session.jsonl")
        assert "Wrong way." not in [turn.text for turn in run.turns]
        assert run.notes == ("1 answer(s) were taken back by the user and are no turns",)

    def test_a_replaced_history_is_a_compaction(self, data: Path) -> None:
        """Where the model's history is set to less than was said, a compaction has happened."""
        (run,) = read("gemini_cli", data / "gemini_cli/session.jsonl")
        assert [(event.kind, event.turn) for event in run.events] == [("compaction", 3)]

    def test_a_sub_agent_names_its_parent(self, data: Path, tmp_path: Path) -> None:
        """A recording of a sub-agent lies in a folder that has its parent's id."""
        lines = lines_of(data / "gemini_cli/session.jsonl")
        folder = tmp_path / "chats/parent-1"
        folder.mkdir(parents=True)
        path = rewritten(Path("x.jsonl"), folder, [{**lines[0], "kind": "subagent"}, *lines[1:]])
        (run,) = read("gemini_cli", path)
        assert (run.parent, run.agent) == ("parent-1", "main/subagent")

    def test_stream_of_two_sessions(self, data: Path) -> None:
        """Each init starts a session, with the prompt before it; chunks make one answer."""
        first, second = read("gemini_cli", data / "gemini_cli/stream.jsonl")
        assert [turn.text for turn in first.turns] == ["I will look.", "", "Done."]
        assert [m.text for m in first.turns[0].before] == ["Build it."]
        assert [m.text for m in second.turns[0].before] == ["Again."]
        assert [r.error for turn in first.turns for r in turn.tool_results] == [False, True]

    def test_a_stream_counts_tokens_once_at_its_end(self, data: Path) -> None:
        """The session's own figures are its totals; one that broke off has none."""
        first, second = read("gemini_cli", data / "gemini_cli/stream.jsonl")
        assert first.totals
        assert (first.totals.input_tokens, first.totals.cached_input_tokens) == (900, 500)
        assert second.totals is None
        assert all(turn.usage is None for turn in first.turns)

    def test_a_session_that_another_follows_has_died(self, data: Path, tmp_path: Path) -> None:
        """Without its result, a session is a crash if another began, else not known."""
        lines = lines_of(data / "gemini_cli/stream.jsonl")
        path = rewritten(Path("s.jsonl"), tmp_path, [x for x in lines if x["type"] != "result"])
        first, second = read("gemini_cli", path)
        assert (first.exit_type, second.exit_type) == (ExitType.CRASH, ExitType.UNKNOWN)

    @pytest.mark.corpus
    def test_real_session(self, corpus) -> None:
        """Turns, calls, errors and tokens are those counted in the raw document."""
        path = corpus("gemini_cli/session.json")
        answers = [m for m in json.loads(path.read_text())["messages"] if m["type"] == "gemini"]
        (run,) = read("gemini_cli", path)
        assert len(run.turns) == len(answers) == 31
        usages = [turn.usage for turn in run.turns if turn.usage]
        assert sum(u.context_tokens for u in usages) == sum(m["tokens"]["input"] for m in answers)
        assert sum(u.context_tokens + u.output for u in usages) == sum(
            m["tokens"]["total"] for m in answers
        )
        results = [r for turn in run.turns for r in turn.tool_results]
        assert (len(results), sum(r.error is True for r in results)) == (62, 2)

    @pytest.mark.corpus
    def test_real_stream(self, corpus) -> None:
        """Two sessions, 68 calls, 67 results of which 4 failed; the second has no result."""
        first, second = read("gemini_cli", corpus("gemini_cli/stream-json.jsonl"))
        turns = [*first.turns, *second.turns]
        assert sum(len(turn.tool_calls) for turn in turns) == 68
        results = [r for turn in turns for r in turn.tool_results]
        assert (len(results), sum(r.error is True for r in results)) == (67, 4)
        assert first.totals
        assert (first.totals.input_tokens, first.totals.output_tokens) == (2_152_077, 6_375)
        assert second.totals is None


class TestOpencode:
    def test_a_step_is_a_turn(self, data: Path) -> None:
        """A message of two steps is two turns, each with its tokens, cost and tools."""
        (run,) = read("opencode", data / "opencode/session.json")
        assert [[c.name for c in turn.tool_calls] for turn in run.turns] == [
            ["bash"],
            ["read"],
            [],
            [],
        ]
        assert [turn.cost_usd for turn in run.turns] == [0.03, 0.01, 0.01, 0.01]

    def test_cache_and_reasoning_are_apart(self, data: Path) -> None:
        """Context is the sum of the three inputs; reasoning is a part of the output."""
        usage = read("opencode", data / "opencode/session.json")[0].turns[0].usage
        assert usage
        assert (usage.context_tokens, usage.output, usage.reasoning) == (1202, 80, 5)

    def test_states_are_results(self, data: Path) -> None:
        """completed and error are results, by status."""
        run = read("opencode", data / "opencode/session.json")[0]
        results = [r for turn in run.turns for r in turn.tool_results]
        assert [(r.text, r.error, r.detector) for r in results] == [
            ("ok", False, "status"),
            ("File not found", True, "status"),
        ]

    def test_a_pending_call_has_no_result(self, data: Path, tmp_path: Path) -> None:
        """A tool that is still running has a call and no result."""
        document = json.loads((data / "opencode/session.json").read_text())
        document["messages"][1]["parts"][3]["state"] = {"status": "running", "input": {}}
        path = tmp_path / "s.json"
        path.write_text(json.dumps(document))
        turn = read("opencode", path)[0].turns[0]
        assert (len(turn.tool_calls), turn.tool_results) == (1, ())

    def test_the_turn_after_the_summary_follows_the_compaction(self, data: Path) -> None:
        """The summary is a call itself; the compaction stands before the turn after it."""
        run = read("opencode", data / "opencode/session.json")[0]
        assert [(e.kind, e.turn) for e in run.events] == [("compaction", 4)]

    def test_a_child_session_names_its_parent(self, data: Path) -> None:
        """A session with a parentID is a sub-agent's; an abort is the user's."""
        (run,) = read("opencode", data / "opencode/child.json")
        assert (run.parent, run.agent, run.exit_type) == (
            "ses_1",
            "main/explore",
            ExitType.USER_ABORT,
        )

    def test_seconds_are_those_of_a_bare_answer(self, data: Path) -> None:
        """A message's time holds its tools' too, so only an answer without tools has seconds."""
        run = read("opencode", data / "opencode/session.json")[0]
        assert [turn.seconds for turn in run.turns] == [None, None, None, 2.5]

    @pytest.mark.corpus
    def test_real_session(self, corpus) -> None:
        """Calls, tokens and cost add up to what the session says of itself."""
        path = corpus("opencode/session.json")
        info = json.loads(path.read_text())["info"]
        (run,) = read("opencode", path)
        usages = [turn.usage for turn in run.turns if turn.usage]
        assert len(run.turns) == 21
        assert sum(turn.cost_usd for turn in run.turns) == pytest.approx(info["cost"])
        assert sum(u.output for u in usages) == info["tokens"]["output"]
        assert sum(u.cache_read for u in usages) == info["tokens"]["cache"]["read"]
        assert sum(u.cache_write for u in usages) == info["tokens"]["cache"]["write"]


class TestOpenClaw:
    def test_the_run_is_the_way_to_the_last_entry(self, data: Path) -> None:
        """Turns lead to the last entry written; the branch that was left is a run beside it."""
        run, branch = read("openclaw", data / "openclaw/session.jsonl")
        assert [turn.text for turn in run.turns] == ["Looking.", "One way.", "The end."]
        assert [turn.text for turn in branch.turns] == ["Left behind."]
        assert (branch.turns[0].index, branch.parent, branch.agent) == (3, "oc-1", "main/branch")

    def test_compaction(self, data: Path) -> None:
        """A compaction stands before the first turn after it."""
        run, branch = read("openclaw", data / "openclaw/session.jsonl")
        assert [(e.kind, e.turn, e.detail["tokens_before"]) for e in run.events] == [
            ("compaction", 3, 81290)
        ]
        assert branch.events == ()

    def test_results_by_flag(self, data: Path) -> None:
        """isError is the detector; a refused connection may be cured by a retry."""
        turn = read("openclaw", data / "openclaw/session.jsonl")[0].turns[0]
        assert [(r.error, r.transient) for r in turn.tool_results] == [(False, False), (True, True)]

    def test_usage_leaves_the_cache_out(self, data: Path) -> None:
        """Context is input and both cache counts."""
        run = read("openclaw", data / "openclaw/session.jsonl")[0]
        assert [turn.usage.context_tokens for turn in run.turns if turn.usage] == [910, 905, 50]

    def test_a_sub_agent_by_its_header(self, data: Path) -> None:
        """The session that the header names is the parent; an error is a crash."""
        (run,) = read("openclaw", data / "openclaw/child.jsonl")
        assert (run.parent, run.agent) == ("oc-1", "main/subagent")
        assert (run.exit_type, run.exit_text) == (ExitType.CRASH, "overloaded")

    def test_a_sub_agent_by_the_index(self, data: Path, tmp_path: Path) -> None:
        """The index beside a session says who spawned it."""
        lines = lines_of(data / "openclaw/child.jsonl")
        del lines[0]["parentSession"]
        path = rewritten(Path("c.jsonl"), tmp_path, lines)
        index = {
            "agent:main:main": {"sessionId": "oc-1"},
            "agent:main:subagent:9": {"sessionId": "oc-2", "spawnedBy": "agent:main:main"},
        }
        (tmp_path / "sessions.json").write_text(json.dumps(index))
        assert read("openclaw", path)[0].parent == "oc-1"

    def test_costs_of_nothing_are_absent(self, data: Path, tmp_path: Path) -> None:
        """Under a subscription every cost is 0, which is no price."""
        text = (data / "openclaw/session.jsonl").read_text()
        path = tmp_path / "s.jsonl"
        path.write_text(text.replace("0.02", "0").replace("0.01", "0"))
        run = read("openclaw", path)[0]
        assert [turn.cost_usd for turn in run.turns] == [None] * 3
        assert "cost_usd" in run.absent

    def test_a_tree_that_bites_its_tail_ends(self, data: Path, tmp_path: Path) -> None:
        """Entries that name each other, or themselves, as parents are read once each."""
        lines = lines_of(data / "openclaw/session.jsonl")
        lines[2]["parentId"], lines[3]["parentId"] = "a4", "a1"
        path = rewritten(Path("s.jsonl"), tmp_path, lines)
        runs = list(READERS["openclaw"].read(path, lambda _: None))
        assert sum(len(run.turns) for run in runs) == 4

    @pytest.mark.corpus
    def test_real_sessions(self, corpus) -> None:
        """53 calls, 49 results and one compaction; the branched session has a run and a branch."""
        folder = corpus("openclaw")
        lru = next(folder.glob("*lru_demo*"))
        (run,) = read("openclaw", lru)
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
        branched = read("openclaw", next(folder.glob("*branched*")))
        assert [[turn.index for turn in run.turns] for run in branched] == [[1, 2], [2]]


class TestClaudeManagedAgents:
    def test_a_request_is_a_turn(self, data: Path) -> None:
        """What was said from a request's start to its end is one turn; an empty one is none."""
        run, _ = read("claude_managed_agents", data / "claude_managed_agents/session.jsonl")
        assert [turn.text for turn in run.turns] == ["I begin.", "Done.", "Checked."]
        assert [len(turn.tool_calls) for turn in run.turns] == [2, 0, 0]
        assert "1 model request(s) ended in nothing and are no turns" in run.notes

    def test_usage_leaves_the_cache_out(self, data: Path) -> None:
        """Context is input and both cache counts; the judge's usage is not the agent's."""
        run, _ = read("claude_managed_agents", data / "claude_managed_agents/session.jsonl")
        usages = [turn.usage for turn in run.turns if turn.usage]
        assert [usage.context_tokens for usage in usages] == [1302, 1383, 1414]
        assert sum(usage.output for usage in usages if usage.output) == 211

    def test_results_find_their_call(self, data: Path) -> None:
        """Results come after the request's end and go to the turn of their call."""
        run, _ = read("claude_managed_agents", data / "claude_managed_agents/session.jsonl")
        assert [r.error for r in run.turns[0].tool_results] == [False, True]
        assert [r.call_id for r in run.turns[0].tool_results] == [
            c.id for c in run.turns[0].tool_calls
        ]

    def test_the_cost_is_in_cents(self, data: Path) -> None:
        """The session's list cost is a text of cents; it is no turn's."""
        run, other = read("claude_managed_agents", data / "claude_managed_agents/session.jsonl")
        assert run.totals
        assert run.totals.cost_usd == 19.15
        assert other.totals is None
        assert all(turn.cost_usd is None for turn in run.turns)

    def test_outcome_and_compaction(self, data: Path) -> None:
        """A satisfied outcome is a success; the compaction stands before the turn after it."""
        run, _ = read("claude_managed_agents", data / "claude_managed_agents/session.jsonl")
        assert (run.success, run.exit_type) == (True, ExitType.SUCCESS_FINISH)
        assert [(e.kind, e.turn) for e in run.events] == [("compaction", 3)]

    def test_another_thread_is_a_sub_agent(self, data: Path) -> None:
        """Events of another thread make a run of their own, with the session as parent."""
        run, other = read("claude_managed_agents", data / "claude_managed_agents/session.jsonl")
        assert (other.parent, other.agent, len(other.turns)) == (run.id, "main/helper", 1)

    def test_bare_events_are_read_too(self, data: Path, tmp_path: Path) -> None:
        """Events as the API gives them, without the wrapper, give the same turns."""
        path = data / "claude_managed_agents/session.jsonl"
        bare = rewritten(path, tmp_path, [line["raw"] for line in lines_of(path)])
        assert [run.turns for run in read("claude_managed_agents", bare)] == [
            run.turns for run in read("claude_managed_agents", path)
        ]

    def test_a_session_that_still_runs(self, data: Path, tmp_path: Path) -> None:
        """Without an idle status at its end, a session is still running."""
        lines = lines_of(data / "claude_managed_agents/session.jsonl")
        path = rewritten(Path("s.jsonl"), tmp_path, lines[:9])
        told: list[ReadError] = []
        (run,) = READERS["claude_managed_agents"].read(path, told.append)
        assert run.exit_type is ExitType.STILL_RUNNING

    @pytest.mark.corpus
    def test_real_session(self, corpus) -> None:
        """145 requests, 157 calls with results, 7 of them failed; up to 297,027 context tokens."""
        path = corpus("claude_managed_agents/transcript.jsonl")
        (run,) = read("claude_managed_agents", path)
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
