"""What the reader and the signal must keep to. The numbers are counted by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from turncurve_my_agent.reader import READER

from turncurve.errors import ReadError
from turncurve.ingest import read_table
from turncurve.model import Run

GOOD = {
    "my_agent_version": 1,
    "id": "r1",
    "task": "t",
    "ok": False,
    "steps": [
        {"reply": "I look.", "tool": "ls", "args": {"path": "."}, "output": "a", "exit": 0},
        {"reply": "Sorry, sorry.", "tool": "cat", "args": {"path": "b"}, "exit": 2},
        {"tokens_in": 90, "tokens_out": 7},
    ],
}


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path: Path) -> tuple[list[Run], list[ReadError]]:
    problems: list[ReadError] = []
    return list(READER.read(path, problems.append)), problems


def test_turns_tools_and_tokens(tmp_path: Path) -> None:
    """Three turns, one failed call of two, usage on the last turn alone."""
    (run,), problems = read(write(tmp_path / "log", json.dumps(GOOD)))
    assert problems == []
    assert [call.name for turn in run.turns for call in turn.tool_calls] == ["ls", "cat"]
    assert [result.error for turn in run.turns for result in turn.tool_results] == [False, True]
    usages = [turn.usage for turn in run.turns]
    assert [usage and usage.context_tokens for usage in usages] == [None, None, 90]
    assert run.success is False


def test_one_bad_line_loses_no_other(tmp_path: Path) -> None:
    """A line that is no run is told with its number."""
    good = json.dumps(GOOD)
    runs, problems = read(write(tmp_path / "log", good, '{"my_agent_version": 1}', "{", good))
    assert len(runs) == 2
    assert [problem.record for problem in problems] == [2, 3]


def test_no_value_breaks_the_reader(tmp_path: Path) -> None:
    """Whatever stands at a key, a run is read or told, and nothing is raised."""
    rng = random.Random(1)
    odd = [None, True, "", "x", -1, 2**64, 1e300, [], {}, [[]], {"a": None}]
    for _ in range(500):
        record = json.loads(json.dumps(GOOD))
        holder = rng.choice([record, *record["steps"]])
        holder[rng.choice(list(holder))] = rng.choice(odd)
        runs, problems = read(write(tmp_path / "log", json.dumps(record)))
        assert len(runs) == 1 or problems


def test_turncurve_finds_both(tmp_path: Path) -> None:
    """Installed, the file is recognised by its content, and the signal is a column."""
    result = read_table([write(tmp_path / "log", json.dumps(GOOD))])
    assert [found.format for found in result.inputs] == ["my_agent"]
    assert result.table.columns["apologies"][:2] == pytest.approx([0, 2])
    assert np.isnan(result.table.columns["apologies"][2])
    assert result.problems == ()
