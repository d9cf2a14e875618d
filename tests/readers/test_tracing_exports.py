"""Langfuse and LangSmith exports to runs, by their documented schema."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import ExitType, Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem
from turncurve.readers.stream import head


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

    def test_fields_of_blob_storage(self, data: Path) -> None:
        """Names with underscores, payloads as text and calls in a column give the same facts."""
        (run,) = read("langfuse", data / "langfuse/enriched.jsonl")
        assert (run.id, run.model) == ("sess-9", "acorn-8")
        first, second = run.turns
        assert [m.text for m in first.before] == ["Be brief.", "Find it."]
        assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [("c7", "find", {"q": 1})]
        assert [(r.call_id, r.text, r.error) for r in first.tool_results] == [
            ("c7", "a list", False)
        ]
        assert first.usage
        assert (first.usage.input_uncached, first.usage.cache_read, first.usage.cache_write) == (
            *(20, 70, 10),
        )
        assert (first.usage.output, first.usage.reasoning) == (12, 3)
        assert (first.cost_usd, first.seconds, second.cost_usd) == (0.003, 1.25, None)
        assert (second.text, [m.text for m in second.before]) == ("No idea.", ["What now?"])

    def test_a_failed_root_is_a_crash(self, data: Path) -> None:
        """Where what holds all others ended in ERROR, the run crashed with its words."""
        (run,) = read("langfuse", data / "langfuse/enriched.jsonl")
        assert (run.exit_type, run.exit_text) == (ExitType.CRASH, "RuntimeError: gave up")
        assert [(event.kind, event.turn) for event in run.events] == [("error", 3)]
        assert read("langfuse", data / "langfuse/observations.jsonl")[0].exit_type is (
            ExitType.UNKNOWN
        )

    def test_parquet(self, data: Path, tmp_path: Path) -> None:
        """Columns give the same turns as lines, be a map's column a map or JSON as text."""
        source = data / "langfuse/enriched.jsonl"
        rows = [json.loads(line) for line in source.read_text().splitlines()]
        for row in rows:
            row["cost_details"], row["metadata"] = json.dumps(row["cost_details"]), "{}"
            row["usage_details"] = list(row["usage_details"].items())
        counts = pa.map_(pa.string(), pa.int64())
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        arrays = {
            name: pa.array(values, counts) if name == "usage_details" else pa.array(values)
            for name, values in columns.items()
        }
        path = tmp_path / "o.parquet"
        pq.write_table(pa.table(arrays), path)
        assert READERS["langfuse"].looks_like(head(path), path)
        assert [run.turns for run in read("langfuse", path)] == [
            run.turns for run in read("langfuse", source)
        ]

    def test_scores_of_generations_are_numbers_of_turns(self, data: Path) -> None:
        """Numbers and truths are, several of a name as their mean; a category is none."""
        run = read("langfuse", data / "langfuse/trace.json")[0]
        assert [turn.values for turn in run.turns] == [
            {"quality": 0.75, "score_is_kind": 1.0},
            {"quality": 0.5},
        ]
        assert "quality" not in run.absent
        columns = read_table([data / "langfuse/trace.json"]).table.columns
        assert columns["quality"][:2].tolist() == [0.75, 0.5]

    def test_a_score_of_a_trace_is_the_runs(self, data: Path, tmp_path: Path) -> None:
        """One is the run's score; of several names none is, and a note tells them."""
        run, inner = read("langfuse", data / "langfuse/trace.json")
        assert (run.score, inner.score) == (0.5, None)
        trace = json.loads((data / "langfuse/trace.json").read_text())
        trace["scores"].append({**trace["scores"][-1], "id": "x7", "name": "safe", "value": 1})
        path = tmp_path / "trace.json"
        path.write_text(json.dumps(trace, indent=1))
        run, _ = read("langfuse", path)
        assert run.score is None
        assert "scores of the whole conversation: helpful 0.5, safe 1" in run.notes

    def test_very_many_names_of_scores_are_bounded(self, data: Path, tmp_path: Path) -> None:
        """A table gets 50 columns of scores at most; how many names were left out is told."""
        trace = json.loads((data / "langfuse/trace.json").read_text())
        one = trace["scores"][0]
        trace["scores"] = [{**one, "id": f"{n}", "name": f"n{n}"} for n in range(120)]
        path = tmp_path / "trace.json"
        path.write_text(json.dumps(trace))
        run = read("langfuse", path)[0]
        assert len(run.turns[0].values) == 50
        assert any(note.startswith("70 more names of scores") for note in run.notes)

    def test_a_long_first_line_is_still_one_record(self, data: Path, tmp_path: Path) -> None:
        """Observations one a line are read as lines however long the first is."""
        first, *others = (data / "langfuse/observations.jsonl").read_text().splitlines()
        record = json.loads(first)
        record["input"] = [{"role": "user", "content": "word " * 30_000}]
        path = tmp_path / "o.jsonl"
        path.write_text("\n".join([json.dumps(record), *others]))
        assert READERS["langfuse"].looks_like(head(path), path)
        run, _ = read("langfuse", path)
        assert len(run.turns) == 2

    def test_a_session_named_by_one_observation(self, data: Path, tmp_path: Path) -> None:
        """One observation that names the session names it for its whole trace."""
        lines = (data / "langfuse/enriched.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        for row in rows[1:]:
            row["session_id"] = ""
        path = tmp_path / "o.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (run,) = read("langfuse", path)
        assert (run.id, len(run.turns)) == ("sess-9", 2)


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

    def test_runs_within_runs(self, data: Path) -> None:
        """Nested runs in an API's answer are all read, under the trace of what holds them."""
        (run,) = read("langsmith", data / "langsmith/nested.json")
        assert (run.id, run.model, len(run.turns)) == ("talk-2", "acorn-9", 2)

    def test_calls_and_thoughts_within_the_content(self, data: Path) -> None:
        """A part that is a call is one of the turn's calls, and a thought is no text of it."""
        first, second = read("langsmith", data / "langsmith/nested.json")[0].turns
        assert first.text == "I look."
        assert [(c.id, c.name, c.arguments) for c in first.tool_calls] == [("k1", "find", {"q": 1})]
        assert [(r.call_id, r.text) for r in first.tool_results] == [("k1", "nothing")]
        assert [m.text for m in first.before] == ["Find it."]
        assert (second.text, [m.text for m in second.before]) == ("Still nothing.", ["Go on."])

    def test_usage_of_each_writer(self, data: Path) -> None:
        """Counts beside the answer come first, by how long a cache is kept; then the run's own."""
        first, second = read("langsmith", data / "langsmith/nested.json")[0].turns
        assert first.usage
        assert second.usage
        assert (first.usage.input_uncached, first.usage.cache_read, first.usage.cache_write) == (
            *(80, 90, 30),
        )
        assert (second.usage.context_tokens, second.usage.cache_read) == (240, 200)
        assert (first.cost_usd, second.cost_usd) == (0.002, 0.001)

    def test_feedback(self, data: Path) -> None:
        """Feedback on a model run is a number of its turn, on the trace the run's score."""
        (run,) = read("langsmith", data / "langsmith/nested.json")
        assert [turn.values for turn in run.turns] == [{"quality": 0.8}, {}]
        assert run.score == 0.5

    def test_a_failed_root_is_a_crash(self, data: Path) -> None:
        """A trace whose root has an error crashed with its words."""
        (run,) = read("langsmith", data / "langsmith/nested.json")
        assert (run.exit_type, run.exit_text) == (
            *(ExitType.CRASH, "RecursionError: limit of 3 reached"),
        )

    def test_no_counts_are_not_zero(self, data: Path, tmp_path: Path) -> None:
        """A model run that counted nothing has 0 tokens and no usage."""
        path = tmp_path / "r.jsonl"
        text = (data / "langsmith/runs.jsonl").read_text()
        path.write_text(text.replace('"prompt_tokens": 150', '"prompt_tokens": 0'))
        assert read("langsmith", path)[0].turns[1].usage is None

    def test_long_inputs_before_the_trace(self, data: Path, tmp_path: Path) -> None:
        """A file is known by its first run even where the trace's id stands behind long inputs."""
        lines = (data / "langsmith/runs.jsonl").read_text().splitlines()
        run = json.loads(lines[1])
        trace, order = run.pop("trace_id"), run.pop("dotted_order")
        run["inputs"]["messages"][0][0]["kwargs"]["content"] = "word " * 30_000
        path = tmp_path / "runs.jsonl"
        run |= {"trace_id": trace, "dotted_order": order}
        path.write_text("\n".join([json.dumps(run), *lines[2:]]))
        assert READERS["langsmith"].looks_like(head(path), path)
        assert len(read("langsmith", path)[0].turns) == 2

    def test_parquet_of_a_bulk_export(self, data: Path, tmp_path: Path) -> None:
        """Columns, with mappings as text, times as times and costs as decimals, give the run."""
        source = data / "langsmith/runs.jsonl"
        rows = [json.loads(line) for line in source.read_text().splitlines()]
        names = sorted({name for row in rows for name in row})
        columns = {name: [row.get(name) for row in rows] for name in names}
        for name in ("inputs", "outputs", "extra"):
            columns[name] = [None if v is None else json.dumps(v) for v in columns[name]]
        table = pa.table(columns)
        for name in ("start_time", "end_time"):
            column = pc.cast(table[name], pa.timestamp("us"))
            table = table.set_column(table.schema.get_field_index(name), name, column)
        path = tmp_path / "runs.parquet"
        pq.write_table(table, path)
        assert READERS["langsmith"].looks_like(head(path), path)
        assert not READERS["langfuse"].looks_like(head(path), path)
        assert [run.turns for run in read("langsmith", path)] == [
            run.turns for run in read("langsmith", source)
        ]


@pytest.mark.parametrize(
    ("name", "file"),
    [("langfuse", "observations"), ("langfuse", "enriched"), ("langsmith", "runs")],
)
def test_order_of_records_changes_nothing(data: Path, tmp_path: Path, name: str, file: str) -> None:
    """Read backwards, a file gives the same turns."""
    source = data / name / f"{file}.jsonl"
    path = tmp_path / "back.jsonl"
    path.write_text("".join(f"{line}\n" for line in source.read_text().splitlines()[::-1]))
    assert [run.turns for run in read(name, path)] == [run.turns for run in read(name, source)]
