"""Trials of stages and whole tasks in each form, and what is wrong with a record, by its line."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from turncurve.errors import ReadError
from turncurve.experiments.trial_file import Trial
from turncurve.readers.base import raise_problem
from turncurve.readers.stage_trials import StageTrial, read_stage_trials

FULL = [
    {"task": "t", "stage": "plan", "success": True, "protocol": "reference", "history": "clean"},
    {"task": "t", "stage": None, "success": 0, "accepted": ["plan", "build"], "tokens": 900},
    {"task": "t", "stage": "plan", "next": "build", "trial": 3, "episode": "e", "family": "f"},
    {
        "task": "t",
        "success": None,
        "excluded": "time-out",
        "intervention": "reset",
        "conditions": {"model": "m", "limits": {"turns": 9}},
        "study": "abc",
    },
]
CSV = """task,stage,success,protocol,history,accepted,tokens,next,trial,episode,family,excluded,\
intervention,model,limits,study
t,plan,true,reference,clean,,,,,,,,,,,
t,end_to_end,0,,,plan; build,900,,,,,,,,,
t,plan,,,,,,build,3,e,f,,,,,
t,,,,,,,,,,,time-out,reset,m,"{""turns"": 9}",abc
"""


def read(path: Path, text: str) -> list[StageTrial]:
    path.write_text(text)
    return list(read_stage_trials(path, raise_problem))


def parts(trial: StageTrial) -> dict[str, object]:
    return {
        name: getattr(trial, name)
        for name in StageTrial.__slots__
        if name not in ("file", "record")
    }


def test_the_same_in_each_form(tmp_path: Path) -> None:
    """JSON lines, a JSON list and CSV with a column a part give the same trials."""
    lines = read(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in FULL))
    listed = read(tmp_path / "a.json", json.dumps(FULL))
    cells = read(tmp_path / "a.csv", CSV)
    assert [parts(each) for each in lines] == [parts(each) for each in listed]
    assert [parts(each) for each in lines] == [parts(each) for each in cells]
    one, whole, moved, out = lines
    assert (one.stage, one.success, one.protocol, one.history) == (
        *("plan", True, "reference", "clean"),
    )
    assert (whole.stage, whole.success, whole.accepted) == (None, False, ("plan", "build"))
    assert whole.amounts == {"tokens": 900}
    assert (moved.next, moved.success, moved.trial) == ("build", False, "3")
    assert (out.success, out.excluded, out.intervention) == (None, "time-out", "reset")
    assert out.conditions == {"model": "m", "limits": '{"turns": 9}'}
    assert [each.record for each in cells] == [2, 3, 4, 5]


def test_no_stage_accepted_is_not_unknown(tmp_path: Path) -> None:
    """An empty list, and `none` in a cell, was looked at; a missing one, and an empty cell, not."""
    text = '{"task": "t", "success": false, "accepted": []}\n{"task": "t", "success": false}\n'
    assert [each.accepted for each in read(tmp_path / "a.jsonl", text)] == [(), None]
    cells = "task,success,accepted\nt,0,none\nt,0,\n"
    assert [each.accepted for each in read(tmp_path / "a.csv", cells)] == [(), None]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"success": 1}, "wanted a task, got None"),
        ({"task": "t", "success": 0.5}, "success: wanted true, false, 1, 0 or nothing, got 0.5"),
        ({"task": "t", "success": "yes"}, "got 'yes'"),
        ({"task": True, "success": 1}, "task: wanted a text"),
        ({"task": "t", "stage": ["a"], "success": 1}, "stage: wanted a text"),
        ({"task": "t", "next": "b"}, "wanted a stage beside next"),
        ({"task": "t", "stage": "a", "next": "b", "success": 1}, "do not agree"),
        ({"task": "t", "stage": "a", "success": 1, "history": "old"}, "wanted one of clean"),
        ({"task": "t", "stage": "a", "success": 1, "accepted": ["a"]}, "accepted belongs to"),
        ({"task": "t", "stage": "a", "success": 1, "intervention": "x"}, "intervention belongs"),
        ({"task": "t", "success": 1, "accepted": 3}, "accepted: wanted a list"),
        ({"task": "t", "success": 1, "conditions": "m"}, "conditions: wanted an object"),
        ({"task": "t", "success": 1, "conditions": {"temperature": 1}}, "got 'temperature'"),
        ({"task": "t", "success": 1, "kind": "stage"}, "kind 'stage' and stage None do not agree"),
        ({"task": "t", "success": 1, "stage": "a", "kind": "end_to_end"}, "do not agree"),
        ({"task": "t", "success": 1, "tokens": -1}, "tokens: wanted a number from 0"),
    ],
)
def test_a_bad_record_is_named_and_costs_no_other(
    tmp_path: Path, row: dict[str, object], why: str
) -> None:
    """The problem names the file, the line and what was wanted; the next record is read."""
    path, problems = tmp_path / "a.jsonl", list[ReadError]()
    path.write_text(f'{json.dumps(row)}\n{{"task": "t", "success": true}}\n')
    found = list(read_stage_trials(path, problems.append))
    assert [each.record for each in found] == [2]
    assert (problems[0].record, str(problems[0].path)) == (1, str(path))
    assert why in problems[0].reason


def test_trials_as_a_study_keeps_them(tmp_path: Path) -> None:
    """What `residual run` writes is read whole; it leaves out an empty list of what was reached."""
    common = {"conditions": {"model": "1"}, "study": "d", "version": 1, "seed": 1}
    made = [
        Trial(task="t", kind="end_to_end", trial=1, success=False, ended="gave_up", **common),
        Trial(
            task="t", kind="end_to_end", trial=2, success=True, reached=["a", "b"],
            ended="accepted", intervention="reset", **common,
        ),
        Trial(
            task="t", kind="stage", stage="a", trial=1, success=True, reached=["a"], turns=3,
            ended="accepted", protocol="own_prefix", history="retained", **common,
        ),
        Trial(task="t", kind="stage", stage="b", trial=1, success=None, excluded="no", **common),
    ]  # fmt: skip
    text = b"".join(msgspec.json.encode(one) + b"\n" for one in made).decode()
    none, both, stage, out = read(tmp_path / "trials.jsonl", text)
    assert (none.stage, none.accepted, none.trial) == (None, (), "1")
    assert (both.accepted, both.intervention) == (("a", "b"), "reset")
    assert (stage.stage, stage.accepted, stage.protocol) == ("a", None, "own_prefix")
    assert (stage.history, stage.amounts, stage.study) == ("retained", {"turns": 3}, "d")
    assert (out.success, out.excluded) == (None, "no")
