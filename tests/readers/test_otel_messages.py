"""The messages of model calls, and the records that spans come in."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from readers.otel_files import (
    START,
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
    write,
)
from turncurve.model import ToolCall
from turncurve.readers import READERS
from turncurve.readers._otel_records import records
from turncurve.readers.base import raise_problem
from turncurve.readers.stream import Limits

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


class TestCompaction:
    FLAG = "gen_ai.conversation.compacted"

    def events(self, runs: Any, *calls: dict[str, Any]) -> tuple[list[int], bool]:
        (run,) = runs(*(chat(n, also=also) for n, also in enumerate(calls, start=1)))
        marked = [event.turn for event in run.events if event.kind == "compaction"]
        return marked, "compaction" in run.absent

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ([None, None, None], ([], True)),
            ([False, False, False], ([], False)),
            ([None, True, None], ([2], False)),
            ([None, True, True], ([2], False)),
            ([True, False, True], ([1, 3], False)),
            ([True, None, "true"], ([1, 3], False)),
            ([None, "false", None], ([], False)),
        ],
    )
    def test_states(
        self, runs: Any, flags: list[bool | str | None], expected: tuple[list[int], bool]
    ) -> None:
        """True from a call on is one compaction before it, false is none, no word is not known."""
        given = [{} if flag is None else {self.FLAG: flag} for flag in flags]
        assert self.events(runs, *given) == expected

    def test_a_part_of_the_input_says_so_too(self, runs: Any) -> None:
        """A compacted part among the messages makes every call that is sent it a compacted one."""
        sent = {"gen_ai.input.messages": said({"type": "compaction", "content": "so far"})}
        assert self.events(runs, {}, sent, sent) == ([2], False)

    def test_each_part_of_an_answer_is_a_compaction_of_its_own(self, runs: Any) -> None:
        """A call that compacted the context itself is an event each time."""
        out = {"gen_ai.output.messages": said({"type": "compaction"})}
        sent = {"gen_ai.input.messages": said({"type": "compaction"})}
        assert self.events(runs, {}, out, sent, {**sent, **out}) == ([2, 4], False)


class TestMessages:
    def test_instructions_apart_from_the_history(self, runs: Any) -> None:
        """They stand before the first turn, and again only where they change."""
        instructions = [json.dumps([{"type": "text", "content": text}]) for text in "aab"]
        (run,) = runs(
            *(
                chat(n, also={"gen_ai.system_instructions": text})
                for n, text in enumerate(instructions, start=1)
            )
        )
        told = [[(m.role, m.text) for m in turn.before] for turn in run.turns]
        assert told == [[("system", "a")], [], [("system", "b")]]

    def test_structured_attributes(self, runs: Any) -> None:
        """Messages as lists of values, not as text, are read as well."""
        sent = [{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}]
        out = [{"role": "assistant", "parts": [{"type": "text", "content": "Yes"}, asks("c")]}]
        also = {"gen_ai.input.messages": sent, "gen_ai.output.messages": out}
        turn = only_turn(runs(chat(1, also=also)))
        assert ([m.text for m in turn.before], turn.text) == (["Hello"], "Yes")
        assert turn.tool_calls[0].arguments == {"x": 1}

    def test_openllmetry(self, runs: Any) -> None:
        """Flattened prompts and completions, with their calls."""
        also = {
            "gen_ai.prompt.0.role": "assistant",
            "gen_ai.prompt.0.content": "Before",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Hello",
            "gen_ai.completion.0.content": "Yes",
            "gen_ai.completion.0.tool_calls.0.id": "c",
            "gen_ai.completion.0.tool_calls.0.name": "t",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"x": 1}',
            "llm.request.type": "chat",
        }
        turn = only_turn(runs(span(1, None, also)))
        assert ([m.text for m in turn.before], turn.text) == (["Hello"], "Yes")
        assert turn.tool_calls == (ToolCall(id="c", name="t", arguments={"x": 1}),)

    @pytest.mark.parametrize("tail", range(1, 12))
    def test_more_than_nine_messages_keep_their_order(self, runs: Any, tail: int) -> None:
        """Message 10 comes after message 9, not after message 1."""
        also = {f"llm.input_messages.{n}.message.content": f"m{n}" for n in range(tail)}
        turn = only_turn(runs(chat(1, also=also)))
        assert [m.text for m in turn.before] == [f"m{n}" for n in range(tail)]

    @pytest.mark.parametrize(
        ("asked", "answered"),
        [
            (
                ("gen_ai.user.message", {"content": "Hello"}),
                ("gen_ai.choice", {"message": '{"content": "Yes"}'}),
            ),
            (
                (
                    "gen_ai.content.prompt",
                    {"gen_ai.prompt": '[{"role": "user", "content": "Hello"}]'},
                ),
                ("gen_ai.content.completion", {"gen_ai.completion": '[{"content": "Yes"}]'}),
            ),
            (
                (
                    "gen_ai.client.inference.operation.details",
                    {
                        "gen_ai.input.messages": said(
                            {"type": "text", "content": "Hello"}, role="user"
                        ),
                        "gen_ai.output.messages": said({"type": "text", "content": "Yes"}),
                    },
                ),
                ("other", {}),
            ),
        ],
    )
    def test_events_of_the_span(
        self, runs: Any, asked: tuple[str, Any], answered: tuple[str, Any]
    ) -> None:
        """Messages that a writer puts into events of the span."""
        events = [
            {
                "name": name,
                "attributes": [{"key": key, "value": value(one)} for key, one in given.items()],
            }
            for name, given in (asked, answered)
        ]
        turn = only_turn(runs(chat(1, events=events)))
        assert ([m.text for m in turn.before], turn.text) == (["Hello"], "Yes")

    def test_events_in_an_attribute(self, runs: Any) -> None:
        """A list of events as the JSON text of one attribute."""
        events = [
            {"event.name": "gen_ai.user.message", "content": "Hello", "role": "user"},
            {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "Yes"}},
        ]
        turn = only_turn(runs(chat(1, also={"events": json.dumps(events)})))
        assert ([m.text for m in turn.before], turn.text) == (["Hello"], "Yes")

    def test_a_failed_call(self, runs: Any) -> None:
        """A model call whose status is an error is a turn, and an error before the next one."""
        (run,) = runs(span(1, "chat", status={"code": 2, "message": "overloaded"}), chat(2))
        assert [(e.kind, e.turn, e.detail["error"]) for e in run.events] == [
            ("error", 2, "overloaded")
        ]
        assert len(run.turns) == 2


class TestWhatItCameTo:
    def test_a_failed_root_is_a_crash(self, data: Path) -> None:
        """The last span that nothing holds has failed, and so has the run."""
        (run,) = READ(data / "otel/failed.jsonl", raise_problem)
        assert (run.exit_type, run.exit_text) == ("crash", "the list is gone")
        assert [(event.kind, event.turn) for event in run.events] == [("error", 2)]

    def test_one_that_went_well_says_nothing(self, data: Path) -> None:
        """A root whose status is no error does not say that the task was solved."""
        run, _ = READ(data / "otel/requests.jsonl", raise_problem)
        assert (run.exit_type, run.success) == ("unknown", None)

    def test_evaluations_of_a_call(self, data: Path) -> None:
        """A score that an event gives a model call is its turn's; `quality` by that name."""
        (run,) = READ(data / "otel/failed.jsonl", raise_problem)
        assert run.turns[0].values == {"quality": 0.75}
        assert "quality" not in run.absent

    def test_evaluations_of_anything_else(self, runs: Any) -> None:
        """One of an agent's span is the run's; one without a number is none."""
        events = [
            {
                "name": "gen_ai.evaluation.result",
                "attributes": [
                    {"key": "gen_ai.evaluation.name", "value": value("Goal")},
                    {"key": f"gen_ai.evaluation.score.{what}", "value": value(score)},
                ],
            }
            for what, score in (("value", 0.5), ("label", "pass"))
        ]
        (run,) = runs(span(1, "invoke_agent", events=events), chat(2, parent=1, events=events))
        assert run.score == 0.5
        assert run.turns[0].values == {"score_goal": 0.5}


class TestRecords:
    SPANS = (chat(1), span(2, "execute_tool", {TOOL: "t", CALL: "c", "n": [1, {"a": 2}]}))

    def expected(self, tmp_path: Path) -> list[Any]:
        folder = tmp_path / "expected"
        folder.mkdir()
        path = write(folder / "t.jsonl", request(*self.SPANS))
        return [run.turns for run in READ(path, raise_problem)]

    def read(self, path: Path, text: str) -> list[Any]:
        path.write_text(text, encoding="utf-8")
        assert READERS["otel"].looks_like(text.encode()[:65536], path)
        return [run.turns for run in READ(path, raise_problem)]

    @pytest.mark.parametrize("indent", [None, 1, 4])
    def test_one_document(self, tmp_path: Path, indent: int | None) -> None:
        """A request as one document, compact or pretty."""
        text = json.dumps(request(*self.SPANS), indent=indent)
        assert self.read(tmp_path / "t.json", text) == self.expected(tmp_path)

    def test_one_document_whose_brace_has_company(self, tmp_path: Path) -> None:
        """A pretty document whose first line holds more than the brace."""
        text = json.dumps(request(*self.SPANS), indent=2)
        text = "{ " + text.removeprefix("{").lstrip()
        assert self.read(tmp_path / "t.json", text) == self.expected(tmp_path)

    @pytest.mark.parametrize("line", [500, 1 << 20])
    def test_one_document_on_a_line_of_any_length(self, tmp_path: Path, line: int) -> None:
        """A compact document is read whole, be it longer than a line of many may be."""
        path = tmp_path / "t.json"
        path.write_text(json.dumps(request(*self.SPANS)), encoding="utf-8")
        limits = Limits(line=line)
        ((_, record),) = records(path, raise_problem, limits=limits)
        assert record == request(*self.SPANS)

    @pytest.mark.parametrize("indent", [None, 2])
    def test_documents_one_after_another(self, tmp_path: Path, indent: int | None) -> None:
        """Requests printed one after another, pretty or not."""
        text = "\n".join(json.dumps(request(one), indent=indent) for one in self.SPANS)
        assert self.read(tmp_path / "t.json", text) == self.expected(tmp_path)

    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_list_of_requests(self, tmp_path: Path, indent: int | None) -> None:
        """Requests as one list."""
        text = json.dumps([request(one) for one in self.SPANS], indent=indent)
        assert self.read(tmp_path / "t.json", text) == self.expected(tmp_path)

    def test_names_in_snake_case(self, tmp_path: Path) -> None:
        """The protocol's own spelling of its names is read too."""
        text = json.dumps(request(*self.SPANS))
        for name, snake in (
            ("resourceSpans", "resource_spans"),
            ("scopeSpans", "scope_spans"),
            ("traceId", "trace_id"),
            ("spanId", "span_id"),
            ("parentSpanId", "parent_span_id"),
            ("startTimeUnixNano", "start_time_unix_nano"),
            ("endTimeUnixNano", "end_time_unix_nano"),
            ("stringValue", "string_value"),
            ("intValue", "int_value"),
            ("arrayValue", "array_value"),
            ("kvlistValue", "kvlist_value"),
        ):
            text = text.replace(f'"{name}"', f'"{snake}"')
        assert self.read(tmp_path / "t.jsonl", text) == self.expected(tmp_path)

    @pytest.mark.parametrize("indent", [None, 4])
    def test_console_objects(self, tmp_path: Path, indent: int | None) -> None:
        """Spans of a console exporter, pretty or one a line."""
        printed = [
            {
                "name": one["name"],
                "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{one['spanId']}"},
                "parent_id": None,
                "start_time": f"2025-10-09T08:53:2{number}.000000Z",
                "end_time": f"2025-10-09T08:53:2{number}.500000Z",
                "status": {"status_code": "UNSET"},
                "attributes": {
                    item["key"]: next(iter(item["value"].values()))
                    for item in one["attributes"]
                    if item["key"] != "n"
                },
                "events": [],
            }
            for number, one in enumerate(self.SPANS, start=1)
        ]
        text = "\n".join(json.dumps(one, indent=indent) for one in printed)
        assert self.read(tmp_path / "t.jsonl", text) == self.expected(tmp_path)

    def test_nanoseconds_are_exact(self, runs: Any) -> None:
        """Times are nanoseconds whatever their size, as text or as a number."""
        run_a = only_turn(runs(chat(3)))
        run_b = only_turn(runs(chat(3, startTimeUnixNano=(START + 3) * 10**9)))
        assert run_a.started_at == run_b.started_at == START + 3
        assert run_a.seconds == pytest.approx(0.5, abs=1e-6)

    def test_nanoseconds_of_long_ago(self, runs: Any) -> None:
        """A small number is a time soon after 1970, not one in another unit."""
        assert only_turn(runs(chat(1, startTimeUnixNano="5000000000"))).started_at == 5

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_of_two_copies_the_one_that_ended_counts(
        self, runs: Any, order: tuple[int, int]
    ) -> None:
        """A span that is written when it begins and when it ends is read as it ended."""
        copies = (span(1, "chat", {"a": 1, "b": 2, "c": 3}, endTimeUnixNano="0"), chat(1, 7))
        assert only_turn(runs(*(copies[i] for i in order))).usage.context_tokens == 7

    def test_a_span_without_an_id_is_told(self, told: Any) -> None:
        """Of three spans, one without an id and one of zeros are told by their place."""
        odd = [chat(1), chat(2, spanId=None), chat(3, traceId="0" * 32)]
        (run,), problems = told(request(*odd))
        assert len(run.turns) == 1
        assert [(p.record, p.reason.split()[1]) for p in problems] == [(1, "2"), (1, "3")]

    def test_metrics_and_logs_beside_are_no_loss(self, told: Any) -> None:
        """An exporter may write its other signals into the same file."""
        found, problems = told({"resourceMetrics": []}, request(chat(1)), {"resourceLogs": [{}]})
        assert (len(found), problems) == (1, [])

    def test_other_records_are_told(self, told: Any) -> None:
        """A record that is no export is told, and costs no other."""
        found, problems = told(request(chat(1)), {"hello": 1}, [1], request(chat(2)))
        assert [problem.record for problem in problems] == [2, 3]
        assert [len(run.turns) for run in found] == [2]

    def test_spans_of_no_agent_are_no_run(self, told: Any) -> None:
        """A trace of a web server alone gives nothing."""
        assert told(request(span(1, None, {"http.method": "GET"}))) == ([], [])
