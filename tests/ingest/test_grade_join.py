"""Grades of a file beside the turns that they judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from turncurve.errors import ReadError
from turncurve.ingest import ReadOptions, import_files, read_table
from turncurve.ingest.grade_join import join_grades
from turncurve.readers.grade_lines import (
    GradeLine,
    MemberMark,
    RubricMark,
    RunLine,
    SessionLine,
    encoded,
)
from turncurve.readers.graded_turns import BY_RULE
from turncurve.table.columns import objects


def traces(path: Path, runs: dict[str, int], **more: object) -> Path:
    """A file of runs of so many turns each."""
    path.parent.mkdir(exist_ok=True)
    rows = [
        {"run": run, "turn": turn, "text": f"{run} {turn}", **more}
        for run, n in runs.items()
        for turn in range(1, n + 1)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def session(kind: str = "steps") -> SessionLine:
    scale = {"low": 0.0, "high": 4.0} if kind == "score" else {}
    mark = RubricMark(name="r", version=1, digest="d", kind=kind, **scale)  # type: ignore[arg-type]
    panel = (MemberMark(grader="g"),)
    return SessionLine(
        turncurve_grades=1, settings="s", rubric=mark, panel=panel, context_tokens=1, at=0.0
    )


def graded(run: str, turn: int, **answer: object) -> GradeLine:
    return GradeLine(key="k", settings="s", run=run, turn=turn, grader="g", answer=answer)  # type: ignore[arg-type]


def write(path: Path, *lines: SessionLine | RunLine | GradeLine) -> Path:
    path.write_bytes(b"".join(map(encoded, lines)))
    return path


def test_grades_stand_beside_their_turns(tmp_path: Path) -> None:
    """By run and turn; a turn without a grade, and a run without any, have none."""
    path = traces(tmp_path / "a/t.jsonl", {"one": 3, "two": 2})
    grades = write(
        tmp_path / "g.jsonl",
        session(),
        RunLine(run="one", n_turns=3, file="a/t.jsonl", record=1),
        graded("one", 3, validity="fail"),
        graded("one", 1, validity="pass"),
    )
    done = read_table([path], options=ReadOptions(grades=grades))
    assert done.problems == ()
    np.testing.assert_equal(done.table.columns["error"], [0, np.nan, 1, np.nan, np.nan])
    assert "error" not in done.table.runs.absent[0]


def test_a_store_takes_grades_too(tmp_path: Path) -> None:
    """The same columns come of a store as of its files."""
    path = traces(tmp_path / "a/t.jsonl", {"one": 3, "two": 2})
    line = RunLine(run="one", n_turns=3, file="a/t.jsonl", record=1)
    grades = write(tmp_path / "g.jsonl", session("score"), line, graded("one", 2, score=3))
    import_files([path], tmp_path / "s.store")
    of_store = read_table([tmp_path / "s.store"], options=ReadOptions(grades=grades)).table
    of_files = read_table([path], options=ReadOptions(grades=grades)).table
    np.testing.assert_equal(of_store.columns["quality"], of_files.columns["quality"])
    assert of_files.columns["quality"][1] == 3
    assert (of_store.info["quality"].low, of_store.info["quality"].high) == (0, 4)
    assert of_files.runs.quality_high[0] == 4


def test_grades_replace_the_traces_own(tmp_path: Path) -> None:
    """Scores of two sources are not mixed: the given file's stand alone."""
    path = traces(tmp_path / "a/t.jsonl", {"one": 2}, quality=0.5)
    grades = write(tmp_path / "g.jsonl", session("score"), graded("one", 2, score=3))
    table = read_table([path], options=ReadOptions(grades=grades)).table
    np.testing.assert_equal(table.columns["quality"], [np.nan, 3])


def test_runs_of_one_id_are_told_apart_by_their_files(tmp_path: Path) -> None:
    """Two files with a run of the same name: the grades go to the file that was graded."""
    one = traces(tmp_path / "a/t.jsonl", {"x": 2})
    two = traces(tmp_path / "b/t.jsonl", {"x": 2})
    grades = write(
        tmp_path / "g.jsonl",
        session(),
        RunLine(run="x", n_turns=2, file="b/t.jsonl", record=1),
        graded("x", 1, validity="fail"),
    )
    for order in ([one, two], [two, one]):
        table = read_table(order, options=ReadOptions(grades=grades)).table
        paths = np.asarray(table.runs.path)[table.run[~np.isnan(table.columns["error"])]]
        assert paths.tolist() == [str(two)]


def test_traces_that_moved_are_met_by_id(tmp_path: Path) -> None:
    """Under another folder a run keeps its grades."""
    path = traces(tmp_path / "c/t.jsonl", {"x": 2})
    line = RunLine(run="x", n_turns=2, file="old/name.jsonl", record=1)
    grades = write(tmp_path / "g.jsonl", session(), line, graded("x", 1, validity="fail"))
    table = read_table([path], options=ReadOptions(grades=grades)).table
    assert table.columns["error"][0] == 1


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    """A run that was not read, one that has grown shorter, and a turn that is gone."""
    path = traces(tmp_path / "a/t.jsonl", {"x": 2, "y": 2})
    grades = write(
        tmp_path / "g.jsonl",
        session(),
        graded("nobody", 1, validity="fail"),
        RunLine(run="x", n_turns=9, file="a/t.jsonl", record=1),
        graded("x", 1, validity="fail"),
        graded("y", 1, validity="fail"),
        graded("y", 7, validity="fail"),
    )
    done = read_table([path], options=ReadOptions(grades=grades))
    told = [problem.reason for problem in done.problems]
    assert told[0].startswith("2 of 3 graded runs are not among those read")
    assert "'nobody', 'x'" in told[0]
    assert told[1] == "1 graded turns are not in their runs"
    np.testing.assert_equal(done.table.columns["error"], [np.nan, np.nan, 1, np.nan])


def test_a_file_without_grades_is_an_error(tmp_path: Path) -> None:
    """Traces under --grades are refused by name."""
    path = traces(tmp_path / "a/t.jsonl", {"x": 2})
    with pytest.raises(ReadError, match="holds no grade of a turn"):
        read_table([path], options=ReadOptions(grades=traces(tmp_path / "b/t.jsonl", {"x": 2})))


def test_a_grade_file_among_the_traces_is_no_trace(tmp_path: Path) -> None:
    """The folder may hold the grade file: it is not read as runs."""
    traces(tmp_path / "a/t.jsonl", {"x": 2})
    grades = write(tmp_path / "a/g.jsonl", session(), graded("x", 1, validity="fail"))
    done = read_table([tmp_path / "a"], options=ReadOptions(grades=grades))
    assert done.table.n_runs == 1
    assert done.table.columns["error"][0] == 1


def test_grades_of_another_tool_go_the_same_way(tmp_path: Path, data: Path) -> None:
    """Any file whose runs have grades can be named, as one of the format `graded`."""
    path = traces(tmp_path / "a/t.jsonl", {"demo-trace-1": 4})
    options = ReadOptions(grades=data / "graded/demo.jsonl")
    table = read_table([path], options=options).table
    np.testing.assert_equal(table.columns["error"], [0, 1, np.nan, 0])
    assert table.columns["grade_missing"].tolist() == [0, 0, 1, 0]


def test_what_else_a_grade_says_is_not_mixed_with_other_grades(tmp_path: Path, data: Path) -> None:
    """Where a file gives errors, loops and complexity are its own too, or not known."""
    graded_traces = data / "graded/demo.jsonl"
    assert not np.isnan(read_table([graded_traces]).table.columns["grade_looping"]).all()
    only = write(tmp_path / "g.jsonl", session(), graded("demo-trace-1", 1, validity="fail"))
    table = read_table([graded_traces], options=ReadOptions(grades=only)).table
    np.testing.assert_equal(table.columns["error"], [1, *[np.nan] * (len(table.turn) - 1)])
    assert np.isnan(table.columns["grade_looping"]).all()


def test_who_judged_goes_with_the_grades(tmp_path: Path) -> None:
    """Verdicts by a rule over signals give way to a grader's grades, and their note with them."""
    path = traces(tmp_path / "a/t.jsonl", {"x": 2})
    table = read_table([path]).table
    noted = objects([(f"verdicts {BY_RULE}", "another note")])
    table = replace(table, runs=replace(table.runs, notes=noted))
    grades = write(tmp_path / "g.jsonl", session(), graded("x", 1, validity="fail"))
    joined = join_grades(table, read_table([grades]).table, {}, pytest.fail)
    assert joined.runs.notes[0] == ("another note",)
    by_rule = read_table([grades]).table
    by_rule = replace(by_rule, runs=replace(by_rule.runs, notes=noted))
    assert join_grades(table, by_rule, {}, pytest.fail).runs.notes[0][-1].endswith(BY_RULE)
