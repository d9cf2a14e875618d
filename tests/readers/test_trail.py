"""TRAIL's annotated traces to runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

TRACE = "d" * 32
READ = READERS["trail"].read


@pytest.fixture
def trace(data: Path) -> dict[str, Any]:
    """The fixture's document."""
    return json.loads((data / "trail/trace.json").read_text(encoding="utf-8"))


@pytest.fixture
def labels(data: Path) -> dict[str, Any]:
    """The fixture's annotation."""
    return json.loads((data / "trail/annot.json").read_text(encoding="utf-8"))


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def errors(run: Run) -> list[float | None]:
    return [turn.values.get("error") for turn in run.turns]


def tokens(run: Run) -> tuple[int, int]:
    usages = [turn.usage for turn in run.turns if turn.usage]
    return sum(u.context_tokens or 0 for u in usages), sum(u.output or 0 for u in usages)


def read_told(path: Path) -> tuple[list[Run], list[ReadError]]:
    told: list[ReadError] = []
    return list(READ(path, told.append)), told


class TestSpans:
    def test_nested_spans_are_turns(self, data: Path) -> None:
        """Model calls within the tree are turns; numbers and durations written as text count."""
        (run,) = READ(data / "trail/trace.json", raise_problem)
        assert [turn.text for turn in run.turns] == ["I plan.", "I act.", "Done."]
        assert tokens(run) == (1800, 90)
        assert [turn.seconds for turn in run.turns] == pytest.approx([1.5] * 3)

    def test_two_roots_without_a_kind(self, tmp_path: Path, trace: dict[str, Any]) -> None:
        """Wrappers beside each other are no runs of their own, and no turns."""
        trace["spans"].append({**trace["spans"][0], "span_id": "f" * 16, "child_spans": []})
        (run,) = READ(write(tmp_path / "t.json", trace), raise_problem)
        assert len(run.turns) == 3

    @pytest.mark.parametrize(
        ("duration", "seconds"),
        [("PT5.04S", 5.04), ("PT1M48.5S", 108.5), ("P1DT1H", 90_000), ("PT", None), ("x", None)],
    )
    def test_durations(
        self, tmp_path: Path, trace: dict[str, Any], duration: str, seconds: float | None
    ) -> None:
        """ISO 8601 in all its units; what is none is not known."""
        call = trace["spans"][0]["child_spans"][0]["child_spans"][0]
        call["duration"] = duration
        (run,) = READ(write(tmp_path / "t.json", trace), raise_problem)
        assert run.turns[0].seconds == (
            None if seconds is None else pytest.approx(seconds, abs=1e-5)
        )

    def test_a_span_without_an_id_is_told(self, tmp_path: Path, trace: dict[str, Any]) -> None:
        """Its own facts are lost, and said to be; those of the spans within it are not."""
        del trace["spans"][0]["child_spans"][0]["span_id"]
        (run,), (problem,) = read_told(write(tmp_path / "t.json", trace))
        assert len(run.turns) == 3
        assert (problem.kept, problem.record) == (True, "spans")

    @pytest.mark.parametrize(("status", "failed"), [("Error", True), ("Ok", False)])
    def test_what_came_of_a_step(self, tmp_path: Path, status: str, failed: bool) -> None:  # noqa: FBT001
        """Code that an answer had run, in a step around both, is a result by the step's status."""
        call = {"span_id": "2", "span_attributes": {"openinference.span.kind": "LLM"}}
        step = {
            "span_id": "1",
            "span_name": "Step 1",
            "status_code": status,
            "status_message": "it broke" if failed else "",
            "span_attributes": {"openinference.span.kind": "CHAIN"},
            "child_spans": [call],
        }
        document = {"trace_id": TRACE, "spans": [step]}
        (run,) = READ(write(tmp_path / "t.json", document), raise_problem)
        (result,) = run.turns[0].tool_results
        assert (result.error, result.text) == (failed, "it broke" if failed else "")

    def test_a_step_says_nothing_twice(self, tmp_path: Path) -> None:
        """Where a tool within the step has a result, the step that went well adds none."""
        inner = [
            {"span_id": "2", "span_attributes": {"openinference.span.kind": "LLM"}},
            {"span_id": "3", "span_attributes": {"openinference.span.kind": "TOOL"}},
        ]
        step = {
            "span_id": "1",
            "span_name": "Step 1",
            "status_code": "Ok",
            "span_attributes": {"openinference.span.kind": "CHAIN"},
            "child_spans": inner,
        }
        path = write(tmp_path / "t.json", {"trace_id": TRACE, "spans": [step]})
        (run,) = READ(path, raise_problem)
        assert len(run.turns[0].tool_results) == 1


class TestAnnotations:
    def test_marked_errors(self, data: Path) -> None:
        """The turn whose tool was marked has error 1, every other turn 0."""
        (run,) = READ(data / "trail/trace.json", raise_problem)
        assert errors(run) == [0, 1, 0]
        assert run.turns[1].tool_results[0].error is True
        assert "error" not in run.absent

    def test_scores_are_of_the_run(self, data: Path) -> None:
        """The overall score is the run's, and the others stand in a note."""
        (run,) = READ(data / "trail/trace.json", raise_problem)
        assert run.score == 3.5
        assert run.notes == (
            "1 error(s) were found in this trace by people: Tool-related 1",
            "scored by people: overall 3.5",
        )

    def test_none_beside_is_not_known(self, tmp_path: Path, trace: dict[str, Any]) -> None:
        """No annotation is not an annotation without errors."""
        (run,) = READ(write(tmp_path / "trace.json", trace), raise_problem)
        assert errors(run) == [None] * 3
        assert run.score is None
        assert "error" in run.absent

    def test_one_without_errors_is_known(
        self, tmp_path: Path, trace: dict[str, Any], labels: dict[str, Any]
    ) -> None:
        """An annotation that found nothing says 0 of each turn."""
        write(tmp_path / "annot.json", {**labels, "errors": []})
        (run,) = READ(write(tmp_path / "trace.json", trace), raise_problem)
        assert errors(run) == [0, 0, 0]

    @pytest.mark.parametrize(
        ("file", "beside", "is_named"),
        [
            ("trace.json", "annot.json", False),
            ("swe_trace.json", "swe_annot.json", False),
            ("x.json", "x_annot.json", False),
            ("x.json", f"{TRACE}_annotation.json", False),
            ("x.json", "annot.json", True),
            (f"data/GAIA/{TRACE}.json", f"data/processed_annotations_gaia/{TRACE}.json", False),
            (f"{TRACE}.json", f"annotations/{TRACE}.json", False),
        ],
    )
    def test_where_it_may_stand(
        self,
        tmp_path: Path,
        trace: dict[str, Any],
        labels: dict[str, Any],
        file: str,
        beside: str,
        is_named: bool,  # noqa: FBT001
    ) -> None:
        """Beside the trace under its name, or in a folder of annotations under its id."""
        if not is_named:
            del labels["trace_id"]
        write(tmp_path / beside, labels)
        path = write(tmp_path / file, trace)
        assert errors(next(READ(path, raise_problem))) == [0, 1, 0]
        assert read_table([tmp_path]).unread == ()

    @pytest.mark.parametrize("named", ["e" * 32, None])
    def test_that_of_another_trace_is_not_taken(
        self, tmp_path: Path, trace: dict[str, Any], labels: dict[str, Any], named: str | None
    ) -> None:
        """One that names another trace, or whose name says nothing of this one, is not its."""
        write(tmp_path / "annot.json", {**labels, "trace_id": named})
        (run,) = READ(write(tmp_path / "x.json", trace), raise_problem)
        assert errors(run) == [None] * 3

    @pytest.mark.parametrize(
        ("location", "words"),
        [
            ("f" * 16, "does not hold"),
            ("Span ID not found for this shard", "does not hold"),
            (None, "has no location"),
        ],
    )
    def test_an_error_without_a_place_is_told(
        self,
        tmp_path: Path,
        trace: dict[str, Any],
        labels: dict[str, Any],
        location: str | None,
        words: str,
    ) -> None:
        """A location that the trace lacks is a problem, the others count, and the note has all."""
        labels["errors"].append({"category": "Other", "location": location})
        write(tmp_path / "annot.json", labels)
        (run,), (problem,) = read_told(write(tmp_path / "trace.json", trace))
        assert (problem.record, problem.kept) == ("errors[1]", True)
        assert words in problem.reason
        assert errors(run) == [0, 1, 0]
        assert run.notes[0].startswith("2 error(s)")

    @pytest.mark.parametrize(
        ("marked", "turns"),
        [
            ("0000000000000001", [1, 0, 0]),
            ("0000000000000003", [1, 0, 0]),
            ("0000000000000004", [0, 1, 0]),
        ],
    )
    def test_spans_that_are_no_call(
        self,
        tmp_path: Path,
        trace: dict[str, Any],
        labels: dict[str, Any],
        marked: str,
        turns: list[int],
    ) -> None:
        """A wrapper stands for the first turn within it."""
        labels["errors"][0]["location"] = marked
        write(tmp_path / "annot.json", labels)
        (run,) = READ(write(tmp_path / "trace.json", trace), raise_problem)
        assert errors(run) == turns

    def test_a_span_within_a_tool_is_of_the_turn_that_called_it(self, tmp_path: Path) -> None:
        """Even if a helper of the tool took turns of its own before it."""

        def one(span: str, kind: str, *inner: dict[str, Any]) -> dict[str, Any]:
            attributes = {"openinference.span.kind": kind} if kind else {}
            return {"span_id": span, "span_attributes": attributes, "child_spans": [*inner]}

        helper = {**one("h", "AGENT", one("l2", "LLM")), "span_name": "helper"}
        tool = one("t", "TOOL", helper, one("k", ""))
        document = {"trace_id": TRACE, "spans": [one("a", "AGENT", one("l1", "LLM"), tool)]}
        write(tmp_path / "annot.json", {"errors": [{"location": "k"}]})
        main, other = READ(write(tmp_path / "trace.json", document), raise_problem)
        assert (errors(main), errors(other)) == ([1], [0])

    def test_one_that_is_damaged_is_told(self, tmp_path: Path, trace: dict[str, Any]) -> None:
        """The trace is read without it, and errors are not known."""
        (tmp_path / "annot.json").write_text('{"errors": [', encoding="utf-8")
        (run,), (problem,) = read_told(write(tmp_path / "trace.json", trace))
        assert errors(run) == [None] * 3
        assert problem.kept


class TestRows:
    def test_rows_of_traces_and_labels(
        self, tmp_path: Path, trace: dict[str, Any], labels: dict[str, Any]
    ) -> None:
        """Each row is a trace with its labels; one that is no JSON is told and costs no other."""
        rows = [
            (json.dumps(trace), json.dumps(labels)),
            ("no JSON", None),
            (json.dumps({**trace, "trace_id": "e" * 32}), '{"errors": [,]}'),
            (json.dumps({**trace, "trace_id": "c" * 32}), None),
        ]
        path = tmp_path / "rows.parquet"
        columns = [list(column) for column in zip(*rows, strict=True)]
        pq.write_table(pa.table(columns, names=["trace", "labels"]), path)
        runs, told = read_told(path)
        assert [(run.id[0], errors(run)[1]) for run in runs] == [("d", 1), ("e", None), ("c", None)]
        assert [(problem.record, problem.kept) for problem in told] == [(2, False), (3, True)]

    @pytest.mark.corpus
    def test_rows_as_they_are_published(self, corpus) -> None:
        """Of six rows one is no JSON; labels that are broken, or name no span, are told."""
        folder = corpus("fixtures_agentpile/corpora/trail/data")
        runs, told = list[Run](), list[ReadError]()
        for path in sorted(folder.glob("*.parquet")):
            start = path.read_bytes()[:65536]
            assert (
                next(name for name in READERS if READERS[name].looks_like(start, path)) == "trail"
            )
            runs += READ(path, told.append)
        assert len([run for run in runs if run.parent is None]) == 5
        assert len([problem for problem in told if not problem.kept]) == 1
        assert any("Span ID not found" in problem.reason for problem in told)


@pytest.mark.corpus
def test_real_traces(corpus) -> None:
    """4 and 9 model calls, their tokens and failed steps, and a turn for each marked span."""
    expected = {
        "trace": ([0, 1, 1, 0], 6_609, 2.5, 0),
        "swe_trace": ([0, 1, 1, 1, 1, 1, 1, 0, 0], 74_015, 3.25, 6),
    }
    for name, (wrong, n_tokens, score, n_failed) in expected.items():
        (run,), told = read_told(corpus("trail") / f"{name}.json")
        assert told == []
        assert errors(run) == wrong
        assert (tokens(run)[0], run.score) == (n_tokens, score)
        results = [result for turn in run.turns for result in turn.tool_results]
        assert sum(result.error is True for result in results) == n_failed
