"""What spans say, in every dialect, and how they become turns, results, events and totals."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from readers.otel_files import (
    TRACE,
    asks,
    chat,
    only_turn,
    request,
    runs_and_problems,
    runs_of,
    said,
    span,
    value,
)
from turncurve.model import ToolCall
from turncurve.readers import READERS

READ = READERS["otel"].read
AGENT = "gen_ai.agent.name"
TOOL = "gen_ai.tool.name"
CALL = "gen_ai.tool.call.id"
USAGE = "gen_ai.usage."


@pytest.fixture
def runs(tmp_path: Path) -> Any:
    """Gives the runs of some spans, written as one request."""
    return partial(runs_of, tmp_path)


@pytest.fixture
def told(tmp_path: Path) -> Any:
    """Gives the runs and the problems of some records, each on a line."""
    return partial(runs_and_problems, tmp_path)


class TestUsage:
    @pytest.mark.parametrize("written", ["cache_creation.input_tokens", "cache_write.input_tokens"])
    def test_cached_tokens_are_part_of_the_input(self, runs: Any, written: str) -> None:
        """Of 100 tokens, 60 read and 30 written leave 10, in either spelling."""
        also = {f"{USAGE}cache_read.input_tokens": 60, f"{USAGE}{written}": 30}
        (run,) = runs(chat(1, 100, also=also))
        usage = run.turns[0].usage
        assert (usage.input_uncached, usage.cache_read, usage.cache_write) == (10, 60, 30)
        assert run.notes == ()

    def test_more_cached_than_sent_was_left_out(self, runs: Any) -> None:
        """5 tokens beside 900 cached ones are 905, and the run says how that was read."""
        (run,) = runs(chat(1, 5, also={f"{USAGE}cache_read.input_tokens": 900}))
        assert run.turns[0].usage.context_tokens == 905
        assert any("no part of the input" in note for note in run.notes)

    @pytest.mark.parametrize(("total", "context"), [(101, 100), (141, 140)])
    def test_the_stated_total_tells(self, runs: Any, total: int, context: int) -> None:
        """A total that is input, cache and output together says that the cache was left out."""
        also = {f"{USAGE}cache_read.input_tokens": 40, f"{USAGE}total_tokens": total}
        assert only_turn(runs(chat(1, 100, also=also))).usage.context_tokens == context

    @pytest.mark.parametrize(
        "names",
        [
            (f"{USAGE}prompt_tokens", f"{USAGE}completion_tokens"),
            ("llm.usage.prompt_tokens", "llm.usage.completion_tokens"),
            ("llm.token_count.prompt", "llm.token_count.completion"),
        ],
    )
    def test_other_names(self, runs: Any, names: tuple[str, str]) -> None:
        """Older names, and those of other conventions, count the same."""
        usage = only_turn(runs(span(1, "chat", dict(zip(names, (7, 3), strict=True))))).usage
        assert (usage.context_tokens, usage.output) == (7, 3)

    def test_no_count_is_no_zero(self, runs: Any) -> None:
        """A call without counts has no usage."""
        (run,) = runs(span(1, "chat"))
        assert run.turns[0].usage is None
        assert "context_tokens" in run.absent


class TestTotals:
    def agent(self, number: int, tokens: int, **more: Any) -> dict[str, Any]:
        counts = {f"{USAGE}input_tokens": tokens, f"{USAGE}output_tokens": 2}
        name = more.pop("name", "A")
        return span(number, "invoke_agent", {AGENT: name, **counts}, **more)

    def test_are_not_counted_beside_calls(self, runs: Any) -> None:
        """An agent's totals are left out where its calls count."""
        (run,) = runs(self.agent(1, 999), chat(2, 10, parent=1))
        assert run.totals is None
        assert run.turns[0].usage.context_tokens == 10

    def test_count_where_no_call_does(self, runs: Any) -> None:
        """The agents of two traces add up; one within another of its name was counted by it."""
        named = {"gen_ai.conversation.id": "talk"}
        (run,) = runs(
            self.agent(1, 100),
            self.agent(2, 60, parent=1),
            span(3, "chat", named, parent=2),
            self.agent(4, 40, trace="b" * 32),
            span(5, "chat", named, parent=4, trace="b" * 32),
        )
        assert (run.totals.input_tokens, run.totals.output_tokens) == (140, 4)
        assert len(run.turns) == 2

    def test_three_within_each_other_count_once(self, runs: Any) -> None:
        """The outermost counts for all within it, one that counts nothing in between or not."""
        (run,) = runs(
            self.agent(1, 100),
            span(2, "invoke_agent", {AGENT: "A"}, parent=1),
            self.agent(3, 60, parent=2),
            span(4, "chat", parent=3),
        )
        assert run.totals.input_tokens == 100

    def test_an_agent_without_a_recorded_call_is_a_run_without_turns(self, runs: Any) -> None:
        """What it used is known all the same."""
        (run,) = runs(self.agent(1, 50))
        assert (run.turns, run.totals.input_tokens) == ((), 50)

    def test_a_helper_without_a_recorded_call_keeps_its_own(self, runs: Any) -> None:
        """Tokens of a helper whose calls were not recorded are those of its own run."""
        main, helper = runs(
            self.agent(1, 99), chat(2, 10, parent=1), self.agent(3, 50, parent=1, name="B")
        )
        assert main.totals is None
        assert (helper.agent, helper.turns, helper.totals.input_tokens) == ("main/B", (), 50)

    def test_in_the_words_of_one_framework(self, runs: Any) -> None:
        """`gen_ai.aggregated_usage` is an agent's total, and makes no turn of it."""
        counts = {f"gen_ai.aggregated_usage.{name}_tokens": 9 for name in ("input", "output")}
        (run,) = runs(span(1, "invoke_agent", counts), span(2, "chat", parent=1))
        assert (len(run.turns), run.totals.output_tokens) == (1, 9)


class TestNesting:
    def test_of_a_call_in_a_call_the_inner_one_counts(self, runs: Any) -> None:
        """A framework's span around its client's is one turn with the client's tokens."""
        assert only_turn(runs(chat(1, 70), chat(2, 60, parent=1))).usage.context_tokens == 60

    def test_or_the_outer_one_where_the_inner_counts_nothing(self, runs: Any) -> None:
        """One of the two has the tokens, and that one is the turn."""
        assert only_turn(runs(chat(1, 70), span(2, "chat", parent=1))).usage.context_tokens == 70

    def test_a_call_that_holds_a_tool_is_no_wrapper(self, runs: Any) -> None:
        """A tool that runs within the span of the call, and calls a model, costs no turn."""
        main, inner = runs(
            chat(1, 70), span(2, "execute_tool", {TOOL: "ask"}, parent=1), chat(3, 5, parent=2)
        )
        assert [turn.usage.context_tokens for turn in main.turns] == [70]
        assert (inner.agent, inner.parent) == ("main/ask", main.id)
        assert [result.error for result in main.turns[0].tool_results] == [False]

    def test_a_tool_around_everything_is_no_helper(self, runs: Any) -> None:
        """Where nothing else calls a model, the calls within a tool are the run's own."""
        (run,) = runs(span(1, "execute_tool", {TOOL: "main"}), chat(2, parent=1))
        assert (run.agent, len(run.turns)) == ("main", 1)

    def test_agents_side_by_side_take_turns_in_one_run(self, runs: Any) -> None:
        """Agents of a workflow, none within another, go on with the same run."""
        (run,) = runs(
            span(1, "invoke_agent", {AGENT: "A"}),
            chat(2, parent=1),
            span(3, "invoke_agent", {AGENT: "B"}),
            chat(4, parent=3),
        )
        assert len(run.turns) == 2

    def test_agents_three_deep(self, runs: Any) -> None:
        """An agent's path names all that hold it."""
        found = runs(
            *(span(n, "invoke_agent", {AGENT: f"a{n}"}, parent=n - 1 or None) for n in (1, 2, 3)),
            *(chat(n + 10, parent=n) for n in (1, 2, 3)),
        )
        assert [run.agent for run in found] == ["main", "main/a2", "main/a2/a3"]
        assert [run.parent for run in found] == [None, found[0].id, found[1].id]

    def test_one_within_another_of_its_name_is_the_same(self, runs: Any) -> None:
        """Two spans of one invocation, each around a model call, are one run."""
        spans = [span(n, "invoke_agent", {AGENT: "A"}, parent=n - 1 or None) for n in (1, 2)]
        (run,) = runs(*spans, chat(3, parent=1), chat(4, parent=2))
        assert len(run.turns) == 2

    @pytest.mark.parametrize("ring", [(1, 1), (2, 3)])
    def test_a_ring_of_parents(self, runs: Any, ring: tuple[int, int]) -> None:
        """Spans that hold each other, or themselves, are turns all the same."""
        (run,) = runs(chat(ring[0], parent=ring[1]), span(3, None, parent=2))
        assert len(run.turns) == 1

    def test_very_deep(self, runs: Any) -> None:
        """Five thousand spans within each other are read at once."""
        started = time.process_time()
        chain = [span(n, None, parent=n - 1 or None) for n in range(1, 5_000)]
        (run,) = runs(*chain, *(chat(n + 5_000, parent=n) for n in range(1, 5_000)))
        assert len(run.turns) == 4_999
        assert time.process_time() - started < 20


class TestTools:
    def tool(self, number: int, name: str = "t", call: str | None = None, **more: Any) -> Any:
        known = {TOOL: name} if call is None else {TOOL: name, CALL: call}
        return span(number, "execute_tool", {**known, **more.pop("also", {})}, **more)

    def test_an_id_finds_its_call_whatever_the_time(self, runs: Any) -> None:
        """A tool that ended after the next call began is a result of the call that asked."""
        out = {"gen_ai.output.messages": said(asks("c1"))}
        (run,) = runs(chat(1, also=out), chat(2), self.tool(3, call="c1"))
        assert [len(turn.tool_results) for turn in run.turns] == [1, 0]

    def test_ids_that_are_used_again(self, runs: Any) -> None:
        """Where each answer calls its first tool `call_0`, results go to the answer before them."""
        out = {"gen_ai.output.messages": said(asks("call_0"))}
        spans = [
            one for n in (1, 3, 5) for one in (chat(n, also=out), self.tool(n + 1, call="call_0"))
        ]
        (run,) = runs(*spans)
        assert [len(turn.tool_results) for turn in run.turns] == [1, 1, 1]

    def test_two_of_one_name_without_ids(self, runs: Any) -> None:
        """Parallel calls of a tool are answered in their order."""
        out = {"gen_ai.output.messages": said(asks("a"), asks("b"))}
        turn = only_turn(runs(chat(1, also=out), self.tool(2), self.tool(3)))
        assert [result.call_id for result in turn.tool_results] == ["a", "b"]
        assert len(turn.tool_calls) == 2

    def test_a_call_without_an_id_takes_the_tools(self, runs: Any) -> None:
        """An answer's call of that name without an id is the one that ran."""
        out = {"gen_ai.output.messages": said(asks(None))}
        turn = only_turn(runs(chat(1, also=out), self.tool(2, call="c9")))
        assert turn.tool_calls == (ToolCall(id="c9", name="t", arguments={"x": 1}),)

    def test_content_that_was_not_recorded(self, runs: Any) -> None:
        """Without the answer's messages the tool's own span is the call."""
        also = {"gen_ai.tool.call.arguments": '{"city": "Oslo"}'}
        turn = only_turn(runs(chat(1), self.tool(2, "look", "c1", also=also)))
        assert turn.tool_calls == (ToolCall(id="c1", name="look", arguments={"city": "Oslo"}),)

    def test_a_tool_within_the_span_of_its_call(self, runs: Any) -> None:
        """The call that holds a tool's span made it, even if another call began in between."""
        (run,) = runs(chat(1), chat(2), self.tool(3, parent=1))
        assert [len(turn.tool_results) for turn in run.turns] == [1, 0]

    def test_two_spans_of_one_run_of_a_tool(self, runs: Any) -> None:
        """A framework's span around a protocol's for the same call is one result."""
        turn = only_turn(runs(chat(1), self.tool(2, call="c1"), self.tool(3, call="c1", parent=2)))
        assert len(turn.tool_results) == 1

    @pytest.mark.parametrize(
        ("more", "text"),
        [
            ({"status": {"code": 2, "message": "broke"}}, "broke"),
            ({"status": {"code": "STATUS_CODE_ERROR"}}, ""),
            ({"also": {"error.type": "timeout"}}, ""),
            ({"also": {"error.type": ""}}, None),
            ({"status": {"code": 1}}, None),
        ],
    )
    def test_failure(self, runs: Any, more: dict[str, Any], text: str | None) -> None:
        """The status, or a type of error, says that a tool failed; nothing else does."""
        (result,) = only_turn(runs(chat(1), self.tool(2, **more))).tool_results
        assert (result.error, result.detector) == (text is not None, "status")
        assert result.text == (text or "")

    def test_an_exception_tells_what_failed(self, runs: Any) -> None:
        """Where the status has no message, the exception's is the result."""
        event = {
            "name": "exception",
            "attributes": [{"key": "exception.message", "value": value("no such city")}],
        }
        failed = self.tool(2, status={"code": 2}, events=[event])
        assert only_turn(runs(chat(1), failed)).tool_results[0].text == "no such city"

    def test_before_any_call_is_told(self, told: Any) -> None:
        """A tool that no model call came before is a problem, and the run is kept."""
        (run,), (problem,) = told(request(self.tool(1), chat(2)))
        assert run.turns[0].tool_results == ()
        assert (problem.kept, problem.record) == (True, f"{TRACE}/{1:016x}")

    def test_without_any_call_is_told(self, told: Any) -> None:
        """Tools alone are no run, and are not passed over in silence."""
        found, (problem,) = told(request(self.tool(1), self.tool(2)))
        assert (found, problem.kept) == ([], False)

    def test_very_many_of_one_call(self, runs: Any) -> None:
        """Five thousand tools without an id after one call cost no time to speak of."""
        started = time.process_time()
        turn = only_turn(runs(chat(1), *(self.tool(n) for n in range(2, 5_002))))
        assert len(turn.tool_results) == 5_000
        assert time.process_time() - started < 10
