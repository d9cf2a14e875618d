"""The report's word on the drop: what it says, and when it says why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.test_steps import founding
from cli.test_cliff import write
from turncurve import build_report, cliff, read
from turncurve.report import drop as module
from turncurve.report.document import Report
from turncurve.report.json import to_json
from turncurve.report.markdown import to_markdown
from turncurve.report.text import to_text

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/long-agent"


def report_of(path: Path, scores: np.ndarray, **given: object) -> Report:
    return build_report(read(write(path / "runs.jsonl", scores, **given)))


def test_the_founding_drop_is_in_every_form(tmp_path: Path) -> None:
    """The sentence of `turncurve cliff`, in text, Markdown and JSON, with its step."""
    report = report_of(tmp_path, founding())
    drop = report.drop
    assert drop.sentence.startswith("Quality falls 0.77 ± 0.04 at turn 8 in all five trials")
    assert drop.step is not None
    assert (drop.step.turn, drop.step.state) == (8, "finding")
    assert drop.n_findings == 1
    assert drop.n_findings + drop.n_to_watch < drop.n_steps
    assert drop.shape in ("cliff", "cliff on a slope")
    assert (drop.shape_turn, drop.composition) == (8, "none seen")
    assert [label for label, _ in drop.facts][-1] == "cause"
    assert "IS THE DROP REAL\n  Quality falls 0.77" in to_text(report)
    assert "Quality falls 0.77" in to_markdown(report)
    assert to_json(report)["drop"]["step"]["turn"] == 8


def test_it_agrees_with_the_whole_analysis() -> None:
    """Steps, shape and the step at the event are those that `cliff` gives."""
    table = read(EXAMPLE)
    drop, whole = build_report(table).drop, cliff(table)
    assert drop.n_steps == len(whole.steps.steps)
    assert whole.shape is not None
    assert (drop.shape, drop.shape_turn) == (whole.shape.verdict, whole.shape.turn)
    assert whole.event is not None
    assert drop.event == whole.event.event == "compaction"
    assert drop.step_by_offset == whole.event.steps_by_offset[-1].delta
    wide = whole.event.steps_by_offset[-1].width
    assert drop.step_by_turn == next(s.delta for s in whole.event.steps_by_turn if s.width == wide)


def test_a_fall_has_its_limits_in_its_own_direction() -> None:
    """A fall of 0.18 lies between 0.12 and 0.24, not between two negative numbers."""
    sentence = build_report(read(EXAMPLE)).drop.sentence
    assert "falls 0.18 [0.123, 0.239] at turn 43" in sentence


def test_one_run_has_nothing_to_tell_a_step_from_chance(tmp_path: Path) -> None:
    """It says so, and the report stands."""
    report = report_of(tmp_path, founding()[:1, :1])
    assert "one run has no other" in report.drop.sentence
    assert report.drop.step is None
    assert "IS THE DROP REAL" in to_text(report)


def test_several_conditions_are_not_pooled(tmp_path: Path) -> None:
    """Runs of two conditions get no step between them."""
    one = write(tmp_path / "a.jsonl", founding(), condition="a").read_text()
    two = write(tmp_path / "b.jsonl", founding(), condition="b").read_text()
    (tmp_path / "both.jsonl").write_text(one + two.replace('"run": "t', '"run": "u'))
    drop = build_report(read(tmp_path / "both.jsonl")).drop
    assert "2 conditions" in drop.sentence
    assert drop.step is None


def test_a_trial_twice_is_said(tmp_path: Path) -> None:
    """Runs that cannot be told apart as trials leave the rest of the report whole."""
    table = read(write(tmp_path / "a.jsonl", founding()))
    same = replace(table.runs, trial=np.ones_like(table.runs.trial))
    report = build_report(replace(table, runs=same))
    assert "the same trial twice" in report.drop.sentence
    assert report.curves


def test_very_many_turns_are_left_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report stays quick; it names the command that takes the time."""
    monkeypatch.setattr(module, "MOST_CELLS", 100)
    sentence = report_of(tmp_path, founding()).drop.sentence
    assert "`turncurve cliff`" in sentence
    assert "200 runs" in sentence


def test_scores_that_never_change_have_no_largest_step(tmp_path: Path) -> None:
    """Two runs of one score say that nothing moves, not that a rise of 0 is noise."""
    sentence = report_of(tmp_path, np.full((2, 1, 6), 0.5)).drop.sentence
    assert sentence.startswith("No step from one turn to the next is other than 0.")


def test_too_few_pairs_are_said_in_place_of_a_p(tmp_path: Path) -> None:
    """A dash is no reason."""
    scores = np.array([[[0.5, 0.5, 0.2]], [[0.4, 0.5, 0.3]]])
    sentence = report_of(tmp_path, scores).drop.sentence
    assert "is noise (too few pairs to test it)" in sentence
