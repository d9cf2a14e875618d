"""Traces and conversations that are spread over the files of a folder."""

from __future__ import annotations

import json
import os
import random
import time
import tracemalloc
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from readers.otel_files import chat, request, span, write
from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import Run
from turncurve.readers import READERS
from turncurve.readers.base import raise_problem

READ = READERS["otel"].read


def read_all(folder: Path) -> list[Run]:
    """The runs of every file of a folder."""
    return [run for path in sorted(folder.iterdir()) for run in READ(path, raise_problem)]


def told(path: Path) -> list[ReadError]:
    problems: list[ReadError] = []
    list(READ(path, problems.append))
    return problems


def facts(runs: list[Run]) -> list[Any]:
    return sorted((run.id, run.parent, [turn.record for turn in run.turns]) for run in runs)


def trace(number: int) -> str:
    return f"{number:032x}"


def long_trace(number: int, n_calls: int) -> list[dict[str, Any]]:
    """An agent's span with model calls and tools, and a sub-agent."""
    name = trace(number)
    spans = [span(1, "invoke_agent", {"gen_ai.agent.name": "A"}, trace=name, at=0)]
    for call in range(n_calls):
        spans.append(chat(10 + 2 * call, parent=1, trace=name))
        spans.append(
            span(11 + 2 * call, "execute_tool", {"gen_ai.tool.name": "t"}, parent=1, trace=name)
        )
    spans.append(span(500, "invoke_agent", {"gen_ai.agent.name": "B"}, parent=11, trace=name))
    return [*spans, chat(501, parent=500, trace=name)]


class TestOrder:
    @pytest.mark.parametrize("order", [*permutations("abc")], ids="".join)
    def test_whatever_file_has_which_part(self, tmp_path: Path, order: tuple[str, ...]) -> None:
        """The same spans dealt to files of other names give the same runs, each once."""
        spans = [one for number in range(1, 5) for one in long_trace(number, 5)]
        rng = random.Random(3)
        rng.shuffle(spans)
        for place, name in enumerate(order):
            write(tmp_path / f"{name}.jsonl", *(request(one) for one in spans[place::3]))
        whole = tmp_path / "whole"
        whole.mkdir()
        write(whole / "all.jsonl", request(*(s for n in range(1, 5) for s in long_trace(n, 5))))
        (tmp_path / "dealt").mkdir()
        for name in order:
            (tmp_path / f"{name}.jsonl").rename(tmp_path / "dealt" / f"{name}.jsonl")
        assert facts(read_all(tmp_path / "dealt")) == facts(read_all(whole))

    def test_the_order_of_reading_is_nothing(self, tmp_path: Path) -> None:
        """Read first, the later file still leaves the run to the file that it begins in."""
        write(tmp_path / "a.jsonl", request(chat(1), chat(9, trace=trace(7))))
        write(tmp_path / "b.jsonl", request(chat(2)))
        later, first = (
            [run.id for run in READ(tmp_path / f"{name}.jsonl", raise_problem)] for name in "ba"
        )
        assert (later, sorted(first)) == ([], [trace(7), "a" * 32])

    def test_spans_that_start_together_have_an_order_of_their_own(self, tmp_path: Path) -> None:
        """Calls of one start come in the order of their ids, however they were written."""
        pair = [chat(2, at=0), chat(1, at=0)]
        write(tmp_path / "a.jsonl", request(*pair))
        write(tmp_path / "b.jsonl", request(*pair[::-1]))
        for name in "ab":
            (tmp_path / name).mkdir()
            (tmp_path / f"{name}.jsonl").rename(tmp_path / name / "t.jsonl")
        assert facts(read_all(tmp_path / "a")) == facts(read_all(tmp_path / "b"))


class TestConversations:
    def test_its_traces_in_other_files_are_the_same_run(self, tmp_path: Path) -> None:
        """A conversation of two traces in two files is one run, and not one in each."""
        named = {"gen_ai.conversation.id": "talk"}
        write(tmp_path / "a.jsonl", request(chat(1, trace=trace(1), also=named)))
        write(tmp_path / "b.jsonl", request(chat(2, trace=trace(2), also=named)))
        (run,) = read_all(tmp_path)
        assert (run.id, len(run.turns)) == ("talk", 2)

    @pytest.mark.parametrize("files", [("a", "b"), ("b", "a")])
    def test_its_name_may_stand_in_another_file(
        self, tmp_path: Path, files: tuple[str, str]
    ) -> None:
        """A span that names the conversation names it for the trace's spans in all files."""
        write(tmp_path / f"{files[0]}.jsonl", request(chat(1)))
        write(tmp_path / f"{files[1]}.jsonl", request(chat(2, also={"session.id": "talk"})))
        (run,) = read_all(tmp_path)
        assert (run.id, len(run.turns)) == ("talk", 2)

    def test_of_two_names_in_a_trace_the_earliest_counts(self, tmp_path: Path) -> None:
        """A helper's own conversation is part of the one that called it, wherever it stands."""
        outer = chat(1, also={"gen_ai.conversation.id": "outer"})
        inner = chat(2, also={"gen_ai.conversation.id": "inner"})
        write(tmp_path / "a.jsonl", request(inner))
        write(tmp_path / "b.jsonl", request(outer))
        assert [run.id for run in read_all(tmp_path)] == ["outer"]

    def test_a_conversation_comes_before_a_session(self, tmp_path: Path) -> None:
        """Where both are named, the conversation's id names the run."""
        both = {"session.id": "s", "gen_ai.conversation.id": "c"}
        path = write(tmp_path / "a.jsonl", request(chat(1, also={"session.id": "s"})))
        write(path, request(chat(1, also={"session.id": "s"}), chat(2, also=both)))
        assert [run.id for run in READ(path, raise_problem)] == ["c"]


class TestWhatIsBeside:
    def test_another_ending_is_another_matter(self, tmp_path: Path) -> None:
        """Only files of the same ending are looked into."""
        write(tmp_path / "a.json", request(chat(1)))
        write(tmp_path / "b.jsonl", request(chat(2)))
        assert [len(run.turns) for run in read_all(tmp_path)] == [1, 1]

    def test_hidden_files_and_others_are_left_alone(self, tmp_path: Path) -> None:
        """Neither a hidden file, which no walk finds, nor one of another kind takes a run."""
        write(tmp_path / ".a.jsonl", request(chat(1)))
        (tmp_path / "a.jsonl").write_text('{"turn": 1}\n', encoding="utf-8")
        write(tmp_path / "b.jsonl", request(chat(1)))
        assert len(list(READ(tmp_path / "b.jsonl", raise_problem))) == 1

    def test_a_copy_counts_once(self, tmp_path: Path) -> None:
        """A second export of the same spans adds nothing, and its file says why it is empty."""
        for name in "ab":
            write(tmp_path / f"{name}.jsonl", request(*long_trace(1, 3)))
        ingested = read_table([tmp_path])
        assert ingested.table.n_runs == 2
        assert "an earlier file has it" in str(ingested.problems[0])

    def test_a_bad_line_is_told_by_its_own_file_alone(self, tmp_path: Path) -> None:
        """What is wrong with a file is told once, where it is read, and not by its neighbours."""
        write(tmp_path / "a.jsonl", request(chat(1)))
        path = write(tmp_path / "b.jsonl", request(chat(2)))
        path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
        assert told(tmp_path / "a.jsonl") == []
        assert [problem.record for problem in told(path)] == [2]

    def test_a_file_that_changed_is_looked_at_again(self, tmp_path: Path) -> None:
        """Spans that were added between two readings are in the second one."""
        write(tmp_path / "a.jsonl", request(chat(1)))
        path = write(tmp_path / "b.jsonl", request(chat(2)))
        assert [len(run.turns) for run in read_all(tmp_path)] == [2]
        write(path, request(chat(2), chat(3)))
        assert [len(run.turns) for run in read_all(tmp_path)] == [3]
        path.unlink()
        assert [len(run.turns) for run in read_all(tmp_path)] == [1]

    def test_old_files_are_indexed_once(self, tmp_path: Path) -> None:
        """A file whose times tell is not read again for its neighbours, and a change is seen."""
        long_ago = time.time() - 100
        for number in range(3):
            write(tmp_path / f"{number}.jsonl", request(chat(number + 1)))
            os.utime(tmp_path / f"{number}.jsonl", (long_ago, long_ago))
        assert [len(run.turns) for run in read_all(tmp_path)] == [3]
        write(tmp_path / "2.jsonl", request(chat(3), chat(4)))
        assert [len(run.turns) for run in read_all(tmp_path)] == [4]


class TestManyFiles:
    def test_time_grows_with_their_number(self, tmp_path: Path) -> None:
        """Four times the files take about four times the time, not sixteen."""

        def seconds(n_files: int) -> float:
            folder = tmp_path / str(n_files)
            folder.mkdir()
            for number in range(n_files):
                write(folder / f"{number:05}.jsonl", request(chat(1, trace=trace(number + 1))))
            started = time.process_time()
            assert len(read_all(folder)) == n_files
            return time.process_time() - started

        seconds(20)
        assert seconds(800) < 9 * seconds(200)

    def test_none_is_left_out(self, tmp_path: Path) -> None:
        """A trace in the first and the last of very many files is one run."""
        for number in range(1, 300):
            write(tmp_path / f"{number:05}.jsonl", request(chat(1, trace=trace(number))))
        write(tmp_path / "00000.jsonl", request(chat(1)))
        write(tmp_path / "99999.jsonl", request(chat(2)))
        runs = {run.id: len(run.turns) for run in read_all(tmp_path)}
        assert len(runs) == 300
        assert runs["a" * 32] == 2


class TestHowMuchIsHeld:
    def test_a_trace_is_given_once_it_is_complete(self, tmp_path: Path) -> None:
        """The first run comes before the rest of the file is read."""
        lines = [json.dumps(request(*long_trace(number, 2))) for number in range(1, 200)]
        path = tmp_path / "a.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        problems: list[ReadError] = []
        runs: Iterator[Run] = READ(path, problems.append)
        next(runs)
        path.write_text("\n".join(lines[:3]), encoding="utf-8")
        assert len(list(runs)) < 300

    def test_a_history_that_is_sent_again_is_not_kept(self, tmp_path: Path) -> None:
        """Calls that repeat all that was said before are held without it."""
        words = "word " * 400
        history = [{"role": "user", "parts": [{"type": "text", "content": words}]}]
        path, size = tmp_path / "a.jsonl", 0
        with path.open("w", encoding="utf-8") as file:
            for number in range(1, 150):
                sent = {"gen_ai.input.messages": json.dumps(history)}
                size += file.write(json.dumps(request(chat(number, also=sent))) + "\n")
                history.append({"role": "assistant", "parts": [{"type": "text", "content": words}]})
                history.append({"role": "user", "parts": [{"type": "text", "content": words}]})
        tracemalloc.start()
        (run,) = READ(path, raise_problem)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(run.turns) == 149
        assert size > 40_000_000
        assert peak < 10_000_000
