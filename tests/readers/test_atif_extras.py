"""What turncurve wrote into an ATIF file is taken back, and what somebody else wrote there told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Usage
from turncurve.readers import READERS

WRITTEN = Path(__file__).resolve().parents[1] / "data" / "atif" / "written.json"


def read(path: Path) -> tuple[Run, list[ReadError]]:
    told: list[ReadError] = []
    (run,) = READERS["atif"].read(path, told.append)
    return run, told


def spoilt(folder: Path, spoil: Callable[[dict[str, Any]], object]) -> tuple[Run, list[ReadError]]:
    document = json.loads(WRITTEN.read_text())
    spoil(document)
    path = folder / "spoilt.json"
    path.write_text(json.dumps(document))
    return read(path)


def of_step(document: dict[str, Any], step: int) -> dict[str, Any]:
    own: dict[str, Any] = document["steps"][step]["extra"]["turncurve"]
    return own


def test_what_was_written_is_taken_back() -> None:
    """Outcome, grades, quality, unknown errors, turn numbers and known parts of usage."""
    run, told = read(WRITTEN)
    assert told == []
    assert (run.scenario, run.trial, run.condition) == ("tidy-the-shed", 2, "v2")
    assert (run.success, run.score, run.exit_type) == (False, 0.25, ExitType.FAIL_FINISH)
    assert run.quality_scale == (0.0, 10.0)
    assert [turn.index for turn in run.turns] == [1, 2, 3, 5]
    assert [turn.values.get("quality") for turn in run.turns] == [7.0, 5.0, 1.5, None]
    assert [g.validity for turn in run.turns for g in turn.grades] == ["pass", None, "fail"]
    assert run.turns[0].tool_calls[1].arguments == "ls -l"
    assert [r.error for r in run.turns[0].tool_results] == [False, None]
    assert run.turns[1].usage == Usage(cache_read=30, output=2)
    assert [(event.kind, event.turn) for event in run.events] == [("compaction", 3), ("limit", 5)]
    assert [message.text for message in run.turns[2].before] == []


SPOILS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a turn's number is a word": lambda d: of_step(d, 2).update(turn="first"),
    "a validity of another name": lambda d: of_step(d, 2)["grades"][0].update(validity="good"),
    "a grade with and without validity": lambda d: of_step(d, 2)["grades"][0].update(
        missing_reason="none"
    ),
    "seconds below 0": lambda d: of_step(d, 2).update(seconds=-1),
    "a count beyond any": lambda d: of_step(d, 2).update(usage={"output": 10**30}),
    "an end that contradicts itself": lambda d: d["extra"]["turncurve"].update(success=True),
    "an event beyond the end": lambda d: d["extra"]["turncurve"]["events"][0].update(turn=99),
    "a trial that is none": lambda d: d["extra"]["turncurve"].update(trial=2**40),
    "an error that nothing told": lambda d: d["steps"][2]["observation"]["results"][0]["extra"][
        "turncurve"
    ].pop("detector"),
}


@pytest.mark.parametrize("way", SPOILS)
def test_what_turncurve_would_not_write_is_told(way: str, tmp_path: Path) -> None:
    """One problem that keeps the run: it is read as ATIF alone has it, with all its turns."""
    run, told = spoilt(tmp_path, SPOILS[way])
    assert len(told) == 1
    assert told[0].kept
    assert "extra.turncurve" in str(told[0]) or "made-1" in str(told[0])
    assert len(run.turns) == 4
    assert run.turns[0].usage == Usage(
        input_uncached=80, cache_read=20, cache_write=0, output=10, reasoning=4
    )


def test_numbers_that_do_not_rise_are_not_taken(tmp_path: Path) -> None:
    """Turns count from 1 where the file's own numbers repeat one."""
    run, _ = spoilt(tmp_path, lambda d: of_step(d, 2).update(turn=2))
    assert [turn.index for turn in run.turns] == [1, 2, 3, 4]


def test_another_s_key_is_let_be(tmp_path: Path) -> None:
    """A value under the key that is no object is somebody else's and costs nothing."""
    run, told = spoilt(tmp_path, lambda d: d["steps"][2]["extra"].update(turncurve="mine"))
    assert told == []
    assert run.turns[0].grades == ()
