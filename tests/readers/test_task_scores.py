"""Scores and times in each form that they may have."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from turncurve.errors import ReadError
from turncurve.readers.base import raise_problem
from turncurve.readers.task_scores import TaskScore, TaskTime, read_task_scores, read_task_times

ROWS = [
    {"agent": "a", "task": "t", "score": 0.5, "family": "f", "minutes": 30},
    {"agent": "b", "task": "u", "score": 1},
]
WANTED = [
    TaskScore(agent="a", task="t", family="f", score=0.5, minutes=30),
    TaskScore(agent="b", task="u", family="u", score=1, minutes=None),
]


def written(path: Path, text: str | Iterable[str]) -> Path:
    path.write_text(text if isinstance(text, str) else "\n".join(text) + "\n")
    return path


def test_a_table_in_each_form(tmp_path: Path) -> None:
    """CSV, JSON lines and a JSON list hold the same scores."""
    lines = written(tmp_path / "a.jsonl", map(json.dumps, ROWS))
    listed = written(tmp_path / "a.json", json.dumps(ROWS))
    csv = written(tmp_path / "a.csv", "agent,task,score,family,minutes\na,t,.5,f,30\nb,u,1,,\n")
    for path in (lines, listed, csv):
        assert list(read_task_scores(path, raise_problem)) == WANTED


def test_names_of_other_tables(tmp_path: Path) -> None:
    """The names that published tables use are known."""
    row = {"alias": "a", "task_id": "t", "task_family": "f", "score_binarized": 1}
    path = written(tmp_path / "runs.jsonl", json.dumps({**row, "human_minutes": 5}))
    wanted = TaskScore(agent="a", task="t", family="f", score=1, minutes=5)
    assert list(read_task_scores(path, raise_problem)) == [wanted]
    path = written(tmp_path / "x.jsonl", '{"model": "m", "scenario": 7, "success": false}')
    wanted = TaskScore(agent="m", task="7", family="7", score=0, minutes=None)
    assert list(read_task_scores(path, raise_problem)) == [wanted]


def test_an_object_of_models_tasks_and_runs(tmp_path: Path) -> None:
    """Each run is a score."""
    runs = {"runs": [{"score": 0.2}, {"score": 1}]}
    path = written(tmp_path / "a", json.dumps({"models": {"m": {"tasks": {"t": runs}}}}))
    assert [(s.agent, s.task, s.score) for s in read_task_scores(path, raise_problem)] == [
        ("m", "t", 0.2),
        ("m", "t", 1),
    ]


def test_one_bad_row_loses_no_other(tmp_path: Path) -> None:
    """A score off the scale, none, or no agent is told with its place."""
    bad = [{"agent": "a", "task": "t", "score": 7}, {"agent": "a", "task": "t"}, {"score": 1}]
    path = written(tmp_path / "a.jsonl", map(json.dumps, [ROWS[0], *bad, ROWS[1]]))
    told: list[ReadError] = []
    assert list(read_task_scores(path, told.append)) == WANTED
    assert [problem.record for problem in told] == [2, 3, 4]
    runs = {"runs": [{"score": None}, {"score": 1}]}
    path = written(tmp_path / "b", json.dumps({"agents": {"m": {"tasks": {"t": runs}}}}))
    assert len(list(read_task_scores(path, told.append))) == 1
    assert told[-1].record == "m.t.runs[0]"


@pytest.mark.parametrize(
    "rows",
    [
        "task,threshold,hours\nt,25%,2\nt,90 %,3\n",
        '[{"task": "t", "threshold": 0.25, "minutes": 120}, '
        '{"task": "t", "threshold": 0.9, "human_minutes": 180}]',
        '{"t": {"estimates": {"me": {"25%": {"hours": 2}, "90%": {"hours": 3}}}}}',
        '{"t": {"estimates": {"25%": {"hours": 2}, "90%": {"minutes": 180}}}}',
    ],
    ids=["csv", "list", "by source", "without a source"],
)
def test_times_in_each_form(rows: str, tmp_path: Path) -> None:
    """Hours and minutes, thresholds in per cent or as shares."""
    assert list(read_task_times(written(tmp_path / "a", rows), raise_problem)) == [
        TaskTime(task="t", minutes=120, threshold=0.25),
        TaskTime(task="t", minutes=180, threshold=0.9),
    ]


def test_a_time_without_a_threshold_is_that_of_the_task(tmp_path: Path) -> None:
    """And a time that is none, or a threshold that is none, is told."""
    path = written(tmp_path / "a.csv", "task,minutes,threshold\nt,5,\nu,-1,\nv,5,most\nw,5,150%\n")
    told: list[ReadError] = []
    assert list(read_task_times(path, told.append)) == [
        TaskTime(task="t", minutes=5, threshold=None)
    ]
    assert [problem.record for problem in told] == [3, 4, 5]
