"""Rates of verdicts over runs, their slope, and the time to the first failing turn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from scipy import stats

from turncurve.analysis.first_error import time_to_first_error
from turncurve.analysis.settings import Settings
from turncurve.analysis.trend import trends_within_run
from turncurve.analysis.verdict_rates import (
    RATES,
    RunVerdicts,
    count_verdicts,
    error_rate_slope,
    median_time_to_first_error,
    verdict_rate,
)
from turncurve.ingest import table_from_runs
from turncurve.model import Grade, Run, Turn

VALIDITY = {"F": "fail", "N": "neutral", "P": "pass"}


def grades(letters: str, looping: str = "") -> list[Grade]:
    marks = {"1": True, "0": False}
    return [
        Grade(
            grader="g",
            validity=VALIDITY.get(letter),
            looping=marks.get(looping[i : i + 1]),
            missing_reason=None if letter in VALIDITY else "none",
        )
        for i, letter in enumerate(letters)
    ]


def counts(letters: str, looping: str = "") -> RunVerdicts:
    return count_verdicts(grades(letters, looping))


def table(*runs: str):
    return table_from_runs(
        Run(
            id=str(number),
            turns=tuple(
                Turn(index=i, grades=(grade,)) for i, grade in enumerate(grades(run), start=1)
            ),
            format="hand",
            path="hand",
        )
        for number, run in enumerate(runs)
    )


def test_counts_of_a_run() -> None:
    """Each verdict is counted once; the first failure and the last verdict count turns from 1."""
    found = counts("PNF-FP-", "0110--1")
    assert (found.n_turns, found.n_pass, found.n_neutral, found.n_fail, found.n_missing) == (
        *(7, 2, 1, 2),
        2,
    )
    assert (found.n_acting, found.n_looping) == (5, 3)
    assert (found.first_error, found.last_judged, found.n_judged) == (3, 6, 5)
    assert found.error_slope is None


def test_the_slope_of_a_run() -> None:
    """Least squares over turns with a verdict, from 8 of them on: as scipy's."""
    found = counts("PP-PPFPFF")
    turns = [1, 2, 4, 5, 6, 7, 8, 9]
    want = stats.linregress(turns, [0, 0, 0, 0, 1, 0, 1, 1]).slope
    assert found.error_slope == pytest.approx(want, rel=1e-12)
    assert counts("PP-PPFPF").error_slope is None
    assert counts("PPPPPPPP").error_slope == 0


def test_a_rate_is_pooled_over_turns() -> None:
    """Failing over judged turns of all runs, with the delta-method interval worked by hand."""
    found = verdict_rate("error_rate", [counts("FPPP"), counts("FF"), counts("P-"), counts("--")])
    assert found.value == pytest.approx(3 / 7)
    residual = np.array([1 - 3 / 7 * 4, 2 - 3 / 7 * 2, 0 - 3 / 7])
    std_error = math.sqrt(3 / 2 * (residual**2).sum()) / 7
    assert found.std_error == pytest.approx(std_error)
    assert (found.low, found.high) == (0.0, 1.0)  # kept within what a share can be
    assert (found.n_runs, found.n_turns) == (3, 7)
    assert found.excluded == {"run without a turn that counts": 1}


def test_the_interval_is_t_over_runs() -> None:
    """Of runs with the same number of turns it is that of the mean of their shares."""
    runs = [counts("F" * n + "P" * (10 - n)) for n in (1, 2, 4, 3)]
    found = verdict_rate("error_rate", runs)
    mean = stats.t.interval(0.95, 3, loc=0.25, scale=stats.sem([0.1, 0.2, 0.4, 0.3]))
    assert (found.low, found.high) == pytest.approx(mean)


def test_each_rate_counts_what_its_name_says() -> None:
    """Five shares of one run."""
    run = [counts("FNNPPP--", "110---")]
    wanted = {
        "error_rate": 1 / 6,
        "neutral_rate": 2 / 6,
        "productive_rate": 3 / 6,
        "loop_rate": 2 / 3,
        "missing_rate": 2 / 8,
    }
    assert {name: verdict_rate(name, run).value for name in RATES} == pytest.approx(wanted)


def test_nothing_to_count_is_no_zero() -> None:
    """Without a verdict, an action or a turn there is no rate, and a reason; missing is all."""
    runs = [counts("--")]
    assert verdict_rate("error_rate", runs).value is None
    assert verdict_rate("error_rate", runs).reason == "no turn has a verdict"
    assert verdict_rate("loop_rate", runs).value is None
    assert verdict_rate("missing_rate", runs).value == 1
    assert verdict_rate("missing_rate", [counts("")]).value is None
    assert error_rate_slope(runs).value is None
    assert median_time_to_first_error(runs).value is None
    assert median_time_to_first_error([]).value is None


def test_one_run_and_equal_runs_have_no_interval() -> None:
    """Runs that do not differ say nothing of how runs differ."""
    for runs in ([counts("FP")], [counts("FP")] * 5):
        found = verdict_rate("error_rate", runs)
        assert (found.value, found.low, found.high) == (0.5, None, None)


def test_scenarios_as_units() -> None:
    """Epochs of a scenario are one unit: the same value, and the interval of the summed runs."""
    runs = [counts("FPPP"), counts("FFPP"), counts("PPPP"), counts("PPPF"), counts("FFFF")]
    names = ["a", "a", "b", "b", "c"]
    found = verdict_rate("error_rate", runs, scenarios=names)
    summed = [counts("FPPPFFPP"), counts("PPPPPPPF"), counts("FFFF")]
    want = verdict_rate("error_rate", summed)
    assert (found.value, found.low, found.high) == pytest.approx((want.value, want.low, want.high))
    assert (found.n_runs, found.n_clusters) == (5, 3)
    assert "over scenarios" in found.method


def test_the_slope_over_scenarios() -> None:
    """Of scenarios it is the mean of their runs' mean slope; of runs the mean of all."""
    rising, level = counts("PPPPFFFF"), counts("PPPPPPPP")
    runs, names = [rising, level, level, rising, counts("PP")], ["a", "a", "a", "b", "b"]
    slope = rising.error_slope
    assert slope is not None
    assert error_rate_slope(runs).value == pytest.approx(slope / 2)
    by_scenario = error_rate_slope(runs, scenarios=names)
    assert by_scenario.value == pytest.approx((slope / 3 + slope) / 2)
    assert (by_scenario.n_runs, by_scenario.n_clusters) == (4, 2)
    assert by_scenario.n_turns == 32
    assert by_scenario.excluded == {"fewer than 8 turns with a verdict": 1}


LETTERS = st.text("FNP-", min_size=0, max_size=24)


@settings(deadline=None)
@given(st.lists(LETTERS, min_size=1, max_size=8))
def test_the_report_gives_the_same_numbers(runs: list[str]) -> None:
    """Error rate, slope and median time equal those that a report has of the same grades."""
    found = [counts(run) for run in runs]
    of_grades = table(*runs)
    error = of_grades.columns["error"]
    known = error[~np.isnan(error)]
    rate = verdict_rate("error_rate", found)
    assert rate.value == (pytest.approx(known.mean()) if len(known) else None)
    slope = error_rate_slope(found)
    trends = trends_within_run(of_grades, settings=Settings())
    want = next((trend.slope for trend in trends if trend.signal == "error"), None)
    if want is None:
        assert slope.value is None
    else:
        assert (slope.value, slope.low, slope.n_runs) == (
            *(pytest.approx(want.value, abs=1e-12), pytest.approx(want.low, abs=1e-12)),
            want.n_runs,
        )
    first = time_to_first_error(of_grades, "failing_grade")
    median = median_time_to_first_error(found)
    (quantile,) = [q for q in first.quantiles if q.p == 0.5] or [None]
    if quantile is None:
        assert median.value is None
    else:
        assert (median.value, median.low, median.high) == (
            *(quantile.turn, quantile.low),
            quantile.high,
        )
        assert median.n_runs == first.n_runs


def test_the_median_time_is_censored() -> None:
    """As lifelines has it: runs that never failed count for as long as they lasted."""
    runs = ["PPPF", "PF", "PPPPPP", "PPPPF", "PPP", "F"]
    found = median_time_to_first_error([counts(run) for run in runs])
    fitter = KaplanMeierFitter().fit([4, 2, 6, 5, 3, 1], [1, 1, 0, 1, 0, 1])
    assert found.value == fitter.median_survival_time_
    assert found.warnings == ("4 of 6 runs had a failing turn",)
    few = median_time_to_first_error([counts("PPPP"), counts("PPPP"), counts("PF")])
    assert (few.value, few.reason) == (None, "fewer than half of the runs failed")


@pytest.mark.slow
def test_the_interval_covers() -> None:
    """Of runs whose chance to fail varies, 95 % intervals hold the true share near 95 times in 100.

    400 draws of 30 runs of 20 to 40 turns, chances Beta(2, 6) with mean .25; Monte-Carlo error of
    the coverage is .011.
    """
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        runs = [
            counts("".join("F" if fails else "P" for fails in rng.random(n) < rng.beta(2, 6)))
            for n in rng.integers(20, 41, 30)
        ]
        found = verdict_rate("error_rate", runs)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.25 <= found.high
    assert held / 400 == pytest.approx(0.95, abs=3 * 0.011)
