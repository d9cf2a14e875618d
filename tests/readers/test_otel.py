"""OpenTelemetry traces to runs: the fixtures, and real exports."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from turncurve.ingest import read_table
from turncurve.model import Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem


def read(path: Path, name: str = "otel") -> list[Run]:
    return list(READERS[name].read(path, raise_problem))


def totals(runs: list[Run]) -> tuple[int, int]:
    usages = [turn.usage for run in runs for turn in run.turns if turn.usage]
    return sum(u.context_tokens or 0 for u in usages), sum(u.output or 0 for u in usages)


class TestOtlp:
    def test_a_chat_span_is_a_turn_in_order_of_time(self, data: Path) -> None:
        """Spans stand in any order and over several requests; turns come by their start."""
        run, _ = read(data / "otel/requests.jsonl")
        assert [turn.text for turn in run.turns] == ["I look.", "Done."]
        assert [m.text for m in run.turns[0].before] == ["You plan.", "Plan it."]
        assert [m.text for m in run.turns[1].before] == ["And?"]
        assert run.turns[0].seconds == pytest.approx(1.0)

    def test_totals_of_an_agent_are_not_counted_twice(self, data: Path) -> None:
        """invoke_agent repeats what its chats used; the chats alone count."""
        runs = read(data / "otel/requests.jsonl")
        assert totals(runs) == (330, 48)
        assert [run.totals for run in runs] == [None, None]

    def test_tools_find_their_call(self, data: Path) -> None:
        """A tool's span is the result of the call whose id it has; its status is the detector."""
        run, _ = read(data / "otel/requests.jsonl")
        turn = run.turns[0]
        assert [call.arguments for call in turn.tool_calls] == [{"q": "cafe"}, {"id": 7}]
        assert [(r.call_id, r.error, r.transient) for r in turn.tool_results] == [
            ("c1", False, False),
            ("c2", True, True),
        ]

    def test_an_agent_within_an_agent_is_a_run(self, data: Path) -> None:
        """Its model calls are no turns of the agent that invoked it."""
        run, helper = read(data / "otel/requests.jsonl")
        assert (helper.agent, helper.parent, len(helper.turns)) == ("main/Helper", run.id, 1)

    def test_the_conversation_is_the_run(self, data: Path) -> None:
        """A conversation's id names the run, with the cache that it counts within its input."""
        run, _ = read(data / "otel/requests.jsonl")
        usage = run.turns[0].usage
        assert run.id == "conv-1"
        assert usage
        assert (usage.input_uncached, usage.cache_read) == (60, 40)

    def test_compacted_has_three_states(self, data: Path) -> None:
        """True is a compaction before its turn, False none, and no word at all is not known."""
        run, helper = read(data / "otel/requests.jsonl")
        assert [(e.kind, e.turn) for e in run.events] == [("compaction", 2)]
        assert "compaction" not in run.absent
        assert "compaction" in helper.absent

    def test_old_names(self, data: Path) -> None:
        """Older attributes, events and scopes give the same facts."""
        (run,) = read(data / "otel/old.json")
        first, second = run.turns
        assert (first.text, second.text) == ("Hello.", "Here.")
        assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [("x1", "look", {"a": 1})]
        assert [m.text for m in second.before] == ["More"]

    def test_a_cache_that_is_larger_than_the_input_was_left_out_of_it(self, data: Path) -> None:
        """5 input tokens beside 900 cached ones are 905 of context."""
        usage = read(data / "otel/old.json")[0].turns[1].usage
        assert usage
        assert usage.context_tokens == 905

    def test_ids_in_base64(self, data: Path, tmp_path: Path) -> None:
        """Ids as bytes in base64 are the ids in hex."""
        text = (data / "otel/old.json").read_text()
        document = json.loads(text)
        for span in document["resourceSpans"][0]["instrumentationLibrarySpans"][0]["spans"]:
            for key in ("traceId", "spanId"):
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        path = tmp_path / "b64.json"
        path.write_text(json.dumps(document, indent=1))
        assert read(path)[0].turns == read(data / "otel/old.json")[0].turns


class TestManyFiles:
    @pytest.mark.parametrize("seed", range(6))
    def test_spans_of_one_trace_over_many_files(
        self, data: Path, tmp_path: Path, seed: int
    ) -> None:
        """However spans are dealt to the files of a folder, each run comes once and whole."""
        rng = random.Random(seed)
        spans = [
            span
            for line in (data / "otel/requests.jsonl").read_text().splitlines()
            for resource in json.loads(line)["resourceSpans"]
            for span in resource["scopeSpans"][0]["spans"]
        ]
        for i in range(2):  # another trace of the same shape
            more = json.loads(json.dumps(spans).replace("a" * 31 + "1", f"{i + 4}" * 32))
            spans += json.loads(json.dumps(more).replace("conv-1", f"conv-{i + 2}"))[:7]
        rng.shuffle(spans)
        files: dict[str, list[str]] = {name: [] for name in ("a", "b", "c")}
        for span in spans:
            request = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
            files[rng.choice("abc")].append(json.dumps(request) + "\n")
        for name, lines in files.items():
            (tmp_path / f"{name}.jsonl").write_text("".join(lines))
        table = read_table([tmp_path]).table
        assert table.n_runs == 6
        assert sorted(table.runs.n_turns.tolist()) == [1, 1, 1, 2, 2, 2]
        assert table.columns["context_tokens"].sum() == 3 * 330

    def test_a_missing_parent_loses_no_call(self, data: Path, tmp_path: Path) -> None:
        """Without the agents' spans, every model call is a turn of the run."""
        lines = (data / "otel/requests.jsonl").read_text().splitlines()
        kept = []
        for line in lines:
            document = json.loads(line)
            scope = document["resourceSpans"][0]["scopeSpans"][0]
            scope["spans"] = [s for s in scope["spans"] if "invoke_agent" not in s["name"]]
            kept.append(json.dumps(document) + "\n")
        path = tmp_path / "r.jsonl"
        path.write_text("".join(kept))
        assert [len(run.turns) for run in read(path)] == [3]


class TestConsoleExporter:
    def test_printed_objects(self, data: Path) -> None:
        """Objects printed one after another are spans; OpenInference names give the same facts."""
        (run,) = read(data / "otel/console.json")
        assert [turn.text for turn in run.turns] == ["Finding.", ""]
        assert run.turns[0].model == "acorn-9"
        assert run.turns[0].cost_usd == 0.002

    def test_a_span_that_was_printed_twice_counts_once(self, data: Path) -> None:
        """The same span id is one span."""
        assert totals(read(data / "otel/console.json")) == (160, 12)

    def test_a_tool_without_an_id_goes_by_name_and_time(self, data: Path) -> None:
        """The tool that ran after the call for it has its result."""
        turn = read(data / "otel/console.json")[0].turns[0]
        assert [(c.id, c.name) for c in turn.tool_calls] == [("k1", "find")]
        assert [(r.call_id, r.text, r.error) for r in turn.tool_results] == [
            ("k1", "nothing", True)
        ]

    @pytest.mark.corpus
    def test_real_traces(self, corpus) -> None:
        """387 printed spans are 199; 34 model calls in 11 of 22 traces used 7,309 tokens."""
        path = corpus("otel_genai/console-exporter-traces.jsonl")
        printed, text, at = list[Any](), path.read_text(encoding="utf-8"), 0
        while at < len(text.rstrip()):
            one, at = json.JSONDecoder().raw_decode(
                text, at + len(text[at:]) - len(text[at:].lstrip())
            )
            printed.append(one)
        kinds = Counter(one["attributes"].get("gen_ai.operation.name") for one in printed)
        assert (kinds["chat"], kinds["execute_tool"], kinds["invoke_agent"]) == (68, 22, 44)
        assert len({one["context"]["trace_id"] for one in printed}) == 22
        ended = {one["context"]["span_id"]: one for one in printed if one["end_time"]}
        assert (len(printed), len({one["context"]["span_id"] for one in printed})) == (387, 199)
        chats = [
            one["attributes"]
            for one in ended.values()
            if one["attributes"].get("gen_ai.operation.name") == "chat"
        ]
        expected = tuple(
            sum(one[f"gen_ai.usage.{side}_tokens"] for one in chats) for side in ("input", "output")
        )
        runs = read(path)
        turns = [turn for run in runs for turn in run.turns]
        assert (len(runs), len(turns), len(chats)) == (11, 34, 34)
        assert sum(len(turn.tool_results) for turn in turns) == 11
        assert totals(runs) == expected
        assert totals(runs)[0] == 7_309
        assert all(run.totals is None for run in runs)

    @pytest.mark.corpus
    @pytest.mark.parametrize(
        ("name", "runs", "tokens"),
        [
            ("openai_agents_0.24.0_oi_2.5.3.jsonl", [3], (120, 30)),
            ("openai_agents_0.24.0_oi_2.5.3_as_tool.json", [2, 1], (120, 30)),
            ("pydantic_ai_2.58.0.json", [2, 1], (184, 42)),
            ("pydantic_ai_2.58.0_delegation.json", [2, 1], (160, 16)),
        ],
    )
    def test_frameworks(self, corpus, name: str, runs: list[int], tokens: tuple[int, int]) -> None:
        """Turns by run and tokens of what two frameworks export."""
        found = read(corpus(f"fixtures_agentpile/formats/otlp/{name}"))
        assert [len(run.turns) for run in found] == runs
        assert totals(found) == tokens
