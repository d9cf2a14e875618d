"""The record of a rubric's numbers in a score: written and read, and read from hostile hands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.inspect_logs import call, runs_of, sample
from turncurve.model import Run
from turncurve.readers.graded_turns import KEY
from turncurve.readers.judged_numbers import NUMBERS, numbers_of, record_of_numbers

HAD = st.dictionaries(st.sampled_from(NUMBERS), st.floats(-1, 4)).map(
    lambda numbers: {"grade_missing": 0.0, **numbers}
)


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.just({"grade_missing": 1.0}), HAD), max_size=20))
def test_a_record_gives_back_the_numbers(turns: list[dict[str, float] | None]) -> None:
    """Through JSON and back each turn that was asked about has its numbers, the others nothing."""
    why = {t: "refusal" for t, of in enumerate(turns, 1) if of and of["grade_missing"]}
    record = json.loads(json.dumps(record_of_numbers(turns, grader="g", rubric="r@1", missing=why)))
    found = numbers_of(record, n_turns=len(turns))
    assert found == {turn: of for turn, of in enumerate(turns, start=1) if of is not None}
    assert [turn for one in record["missing"] for turn in one["turns"]] == list(why)


def record(**fields: Any) -> dict[str, Any]:
    return {"schema": 1, "asked": "1.-1", "values": {"quality": [3, 2, 1, 0]}, **fields}


@pytest.mark.parametrize(
    "fields", [{"schema": 2}, {"asked": ["1"]}, {"values": [1]}], ids=["later", "asked", "values"]
)
def test_a_record_that_cannot_be_read_has_no_numbers(fields: dict[str, Any]) -> None:
    """One of a later version, or that is laid out otherwise."""
    assert numbers_of(record(**fields), n_turns=4) == {}


def test_strange_numbers_are_none() -> None:
    """What is no number, of no known name, or of a turn without an answer is left out."""
    values = {"quality": [3, 2, 1, "x"], "turn": [9, 9, 9, 9], "goal_fidelity": "high"}
    found = numbers_of(record(values=values), n_turns=4)
    assert found == {
        1: {"grade_missing": 0, "quality": 3},
        3: {"grade_missing": 1},
        4: {"grade_missing": 0},
    }
    assert list(numbers_of(record(), n_turns=1)) == [1]


def read(folder: Path, **scores: dict[str, Any]) -> Run:
    turns = [call(message_id=f"a{n}") for n in range(4)]
    given = {name: {"value": {"quality": 1}, "metadata": {KEY: of}} for name, of in scores.items()}
    (run,) = runs_of(folder, sample(*turns, scores=given))
    return run


def test_a_log_is_read_with_its_numbers(tmp_path: Path) -> None:
    """They are the turns' quality, on the rubric's scale; the score's own value is no outcome."""
    run = read(tmp_path, judge=record(scale=[0, 4]))
    assert [turn.values.get("quality") for turn in run.turns] == [3, None, None, 0]
    assert [turn.values.get("grade_missing") for turn in run.turns] == [0, None, 1, 0]
    assert run.quality_scale == (0, 4)
    assert "quality: the score 'judge'" in run.notes
    assert run.success is None


def test_two_rubrics_of_one_kind_stay_apart(tmp_path: Path) -> None:
    """The second is a signal under its score's name; the scale is the first one's."""
    run = read(tmp_path, a=record(scale=[0, 4]), b=record(scale=[0, 1], asked="1111"))
    assert [turn.values.get("b_quality") for turn in run.turns] == [3, 2, 1, 0]
    assert run.turns[0].values["quality"] == 3
    assert run.quality_scale == (0, 4)


def test_numbers_beyond_the_last_turn_are_noted(tmp_path: Path) -> None:
    """Those of turns that the log does not have are left out, and counted."""
    run = read(tmp_path, judge=record(asked="1" * 9, values={"quality": [1] * 9}))
    assert any("'judge' judges, left out: 5" in note for note in run.notes)
