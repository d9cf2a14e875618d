"""Curve and first error on real graded runs, against a plain reading of the file."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import turncurve
from turncurve.analysis.by_turn import curve_by_turn
from turncurve.analysis.degradation import degradation_curve
from turncurve.analysis.first_error import time_to_first_error
from turncurve.analysis.summary import summarise

pytestmark = pytest.mark.corpus
FAILING = {"fail": 1.0, "neutral": 0.0, "pass": 0.0}


@pytest.fixture(scope="module")
def graded(corpus):
    """The table of 50 long graded runs, and their grades read by hand (NaN where missing)."""
    path = corpus("graded/nebius-long.jsonl")
    grades = []
    for line in path.read_text("utf-8").splitlines():
        steps = json.loads(line)["steps"]
        missing = [bool(step["raw"].get("parse_error")) for step in steps]
        values = [FAILING.get(step["validity"], np.nan) for step in steps]
        grades.append(np.where(missing, np.nan, values))
    return turncurve.read([path]), grades


def test_summary(graded):
    """50 runs, 3,800 turns, 9 missing grades, 28.726 % of the graded turns failing."""
    found = summarise(graded[0])
    assert (found.n_runs, found.n_turns, found.n_missing_grades) == (50, 3_800, 9)
    assert found.error_rate == pytest.approx(0.28726, abs=5e-6)


def test_curve_is_the_mean_of_run_means(graded):
    """Each bucket's value, error and counts are those of a plain loop over runs."""
    table, grades = graded
    curve = degradation_curve(table, "error")
    for point in curve.points:
        parts = [run[int(point.start) - 1 : int(point.end)] for run in grades]
        means = [np.nanmean(part) for part in parts if (~np.isnan(part)).any()]
        assert point.n_runs == len(means)
        assert point.n_turns == sum((~np.isnan(part)).sum() for part in parts)
        assert point.value == pytest.approx(np.mean(means), rel=1e-9, abs=1e-12)
        if len(means) > 1:
            wanted = np.std(means, ddof=1) / np.sqrt(len(means))
            assert point.std_error == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    first = curve_by_turn(table, "error")
    assert first.value[0] == pytest.approx(np.nanmean([run[0] for run in grades]))


def test_first_failing_grade_is_lifelines(graded):
    """Survival to the first failing grade is what lifelines gives from the plain reading."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import KaplanMeierFitter  # noqa: PLC0415 - slow to load
    table, grades = graded
    event = [bool((run == 1).any()) for run in grades]
    time = [
        int(np.flatnonzero(run == 1)[0] if failed else np.flatnonzero(~np.isnan(run))[-1]) + 1
        for run, failed in zip(grades, event, strict=True)
    ]
    found = time_to_first_error(table, "failing_grade")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = (
            KaplanMeierFitter().fit(time, event).survival_function_at_times(found.survival.turn)
        )
    assert found.n_events == sum(event)
    assert_array_equal(found.survival.turn, np.unique(np.array(time)[event]))
    assert_allclose(found.survival.survival, theirs, rtol=1e-9, atol=1e-12)
