"""Langfuse and LangSmith exports to runs, by their documented schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.model import Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem


def read(name: str, path: Path) -> list[Run]:
    return list(READERS[name].read(path, raise_problem))


class TestLangfuse:
    def test_generations_are_turns(self, data: Path) -> None:
        """In order of time, with what each heard since the last answer, and its model."""
        run, _ = read("langfuse", data / "langfuse/observations.jsonl")
        assert [turn.text for turn in run.turns] == ["I look.", "Not found."]
        assert [[m.text for m in turn.before] for turn in run.turns] == [["Find it."], []]
        assert {turn.model for turn in run.turns} == {"acorn-8"}

    def test_kinds_of_tokens_are_counted_apart(self, data: Path) -> None:
        """Input and cached input are summed to the context; reasoning is part of the output."""
        run, _ = read("langfuse", data / "langfuse/observations.jsonl")
        first, second = (turn.usage for turn in run.turns)
        assert first
        assert (first.context_tokens, first.cache_read, first.output, first.reasoning) == (
            *(100, 80, 13, 3),
        )
        assert second
        assert (second.context_tokens, second.output) == (120, 6)
        assert [turn.cost_usd for turn in run.turns] == [0.004, 0.002]

    def test_tools_by_level(self, data: Path) -> None:
        """A tool's observation is the result of the call of its name; ERROR has failed."""
        turn = read("langfuse", data / "langfuse/observations.jsonl")[0].turns[0]
        assert [(c.id, c.name, c.arguments) for c in turn.tool_calls] == [("c1", "find", {"q": 1})]
        (result,) = turn.tool_results
        assert (result.call_id, result.error, result.transient) == ("c1", True, True)
        assert result.text == "connection refused"

    def test_an_agent_within_an_agent_is_a_run(self, data: Path) -> None:
        """Its generation is no turn of the outer agent."""
        run, inner = read("langfuse", data / "langfuse/observations.jsonl")
        assert (inner.agent, inner.parent, len(inner.turns)) == ("main/checker", run.id, 1)

    def test_a_trace_with_its_observations(self, data: Path, tmp_path: Path) -> None:
        """The trace's session names the run; an API answer with data gives the same turns."""
        run, _ = read("langfuse", data / "langfuse/trace.json")
        assert run.id == "sess-1"
        trace = json.loads((data / "langfuse/trace.json").read_text())
        path = tmp_path / "page.json"
        path.write_text(json.dumps({"data": [trace], "meta": {"page": 1}}))
        assert READERS["langfuse"].looks_like(path.read_bytes(), path)
        assert read("langfuse", path)[0].turns == run.turns

    def test_a_record_of_nothing_is_told(self, data: Path, tmp_path: Path) -> None:
        """A line that is no observation is told by its number."""
        path = tmp_path / "o.jsonl"
        path.write_text((data / "langfuse/observations.jsonl").read_text() + '{"a": 1}\n')
        told: list[ReadError] = []
        assert len(list(READERS["langfuse"].read(path, told.append))) == 2
        assert [problem.record for problem in told] == [7]


class TestLangSmith:
    def test_model_runs_are_turns(self, data: Path) -> None:
        """Serialized and plain messages give the same facts; the thread names the run."""
        (run,) = read("langsmith", data / "langsmith/runs.jsonl")
        assert (run.id, run.model) == ("th-1", "acorn-9")
        assert [turn.text for turn in run.turns] == ["I look.", "Nothing."]
        assert [[m.text for m in turn.before] for turn in run.turns] == [["Find it."], ["And?"]]

    def test_usage(self, data: Path) -> None:
        """Input includes what was cached; without counts in the answer, those of the run count."""
        first, second = (t.usage for t in read("langsmith", data / "langsmith/runs.jsonl")[0].turns)
        assert first
        assert (first.input_uncached, first.cache_read, first.output, first.reasoning) == (
            *(40, 60, 12, 4),
        )
        assert second
        assert (second.context_tokens, second.output) == (150, 5)

    def test_tools(self, data: Path) -> None:
        """A tool's run is the result of its call; one with an error has failed."""
        turn = read("langsmith", data / "langsmith/runs.jsonl")[0].turns[0]
        assert [(r.text, r.error, r.transient) for r in turn.tool_results] == [
            ("nothing", False, False),
            ("TimeoutError: timed out", True, True),
        ]
        assert [c.name for c in turn.tool_calls] == ["find", "open"]
        assert turn.cost_usd == 0.003

    def test_a_list_and_mappings_as_text(self, data: Path, tmp_path: Path) -> None:
        """A JSON list, and inputs and outputs written as text, give the same run."""
        lines = (data / "langsmith/runs.jsonl").read_text().splitlines()
        runs = [json.loads(line) for line in lines]
        for run in runs:
            for key in ("inputs", "outputs", "extra"):
                if key in run:
                    run[key] = json.dumps(run[key])
        path = tmp_path / "runs.json"
        path.write_text(json.dumps(runs))
        ours = read("langsmith", path)
        assert [run.turns for run in ours] == [
            run.turns for run in read("langsmith", data / "langsmith/runs.jsonl")
        ]

    def test_a_run_without_an_id_is_told(self, data: Path, tmp_path: Path) -> None:
        """It is told by its line, and the others are read."""
        path = tmp_path / "r.jsonl"
        text = (data / "langsmith/runs.jsonl").read_text()
        path.write_text(text + '{"run_type": "llm"}\n')
        told: list[ReadError] = []
        assert len(list(READERS["langsmith"].read(path, told.append))) == 1
        assert [problem.record for problem in told] == [6]


@pytest.mark.parametrize("name", ["langfuse", "langsmith"])
def test_order_of_records_changes_nothing(data: Path, tmp_path: Path, name: str) -> None:
    """Read backwards, a file gives the same turns."""
    (source,) = (data / name).glob("*.jsonl")
    path = tmp_path / "back.jsonl"
    path.write_text("".join(f"{line}\n" for line in source.read_text().splitlines()[::-1]))
    assert [run.turns for run in read(name, path)] == [run.turns for run in read(name, source)]
