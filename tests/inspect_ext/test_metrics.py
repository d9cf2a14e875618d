"""The metrics by themselves, on scores as Inspect hands them over."""

from __future__ import annotations

import math
from typing import Any

import pytest
from inspect_ai._eval.task.results import eval_results
from inspect_ai.scorer import Metric, SampleScore, Score, mean_score

from turncurve.analysis.verdict_rates import RATES, count_verdicts, verdict_rate
from turncurve.inspect_ext import (
    error_rate,
    error_rate_slope,
    loop_rate,
    median_time_to_first_error,
    missing_rate,
    neutral_rate,
    productive_rate,
    signals_scorer,
)
from turncurve.inspect_ext.turn_record import JudgedRun, judged_grades, score_of
from turncurve.inspect_ext.turns_file import TurnsFolder
from turncurve.model import Grade, Run, Turn

VALIDITY = {"F": "fail", "N": "neutral", "P": "pass"}


def grades(letters: str) -> list[Grade]:
    return [
        Grade(
            grader="g",
            validity=VALIDITY.get(letter),
            missing_reason=None if letter in VALIDITY else "none",
        )
        for letter in letters
    ]


def scored(sample: str | int, letters: str) -> SampleScore:
    turns = tuple(Turn(index=i) for i in range(1, len(letters) + 1))
    run = Run(id="r", turns=turns, format="hand", path="hand")
    of_grades = judged_grades(grades(letters), source="grader")
    judged = JudgedRun(run=run, judged=of_grades, detail={})
    return SampleScore(score=score_of(judged, TurnsFolder(None)), sample_id=sample)


FORTY = [scored(1, "F" * (epoch % 5) + "P" * 10) for epoch in range(40)]


def test_forty_epochs_of_one_sample_are_forty_runs() -> None:
    """Inspect's mean has a standard error of 0 there; these have the interval of forty runs."""
    scores = [{"signals_scorer": score} for score in FORTY]
    results, reductions = eval_results(40, scores, mean_score(), [signals_scorer()], None)
    (found,) = results.scores
    want = verdict_rate(
        "error_rate", [count_verdicts(grades("F" * (n % 5) + "P" * 10)) for n in range(40)]
    )
    assert found.metrics["error_rate"].value == pytest.approx(80 / 480)
    assert found.metrics["error_rate_low"].value == pytest.approx(want.low)
    assert found.metrics["error_rate_n"].value == 40
    assert reductions == []


def test_samples_as_units() -> None:
    """With unit="sample" the epochs of a sample are one unit: one sample has no interval."""
    one = error_rate(unit="sample")(FORTY)
    assert "error_rate_low" not in one
    two = [scored("a", "FPPP"), scored("a", "FPPP"), scored("b", "PPPP"), scored("b", "PPPP")]
    by_run, by_sample = error_rate()(two), error_rate(unit="sample")(two)
    assert by_run["error_rate"] == by_sample["error_rate"] == pytest.approx(1 / 8)
    assert by_sample["error_rate_high"] == 1 > by_run["error_rate_high"]
    assert by_sample["error_rate_n"] == 4
    with pytest.raises(ValueError, match="unit: wanted 'run' or 'sample', got 'epoch'"):
        error_rate(unit="epoch")(two)


@pytest.mark.parametrize(
    "metric",
    [
        *(error_rate(), neutral_rate(), productive_rate(), loop_rate(), missing_rate()),
        *(error_rate_slope(), median_time_to_first_error()),
    ],
)
def test_without_runs_there_is_no_number(metric: Metric) -> None:
    """No score, and a score of another scorer, give NaN and n = 0, never 0."""
    for scores in ([], [SampleScore(score=Score(value=1.0), sample_id=1)]):
        found: dict[str, Any] = metric(scores)
        value, n = found.values()
        assert math.isnan(value)
        assert n == 0


def test_a_run_s_own_rates() -> None:
    """The score's value holds the rates by name, None where no turn counts."""
    value = scored(1, "FNP-").score.value
    assert isinstance(value, dict)
    assert set(value) == {*RATES, "error_rate_slope"}
    assert value["error_rate"] == pytest.approx(1 / 3)
    assert value["missing_rate"] == pytest.approx(1 / 4)
    assert value["loop_rate"] is None
    assert value["error_rate_slope"] is None
    explanation = "4 turns: 1 pass, 1 neutral, 1 fail (the first at 1), 1 without a verdict"
    assert scored(1, "FNP-").score.explanation == explanation
