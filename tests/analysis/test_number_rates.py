"""What a rubric gives in numbers over runs: its mean and its slope."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from turncurve.analysis.number_rates import RunNumbers, count_numbers, number_mean, number_slope
from turncurve.analysis.verdict_rates import verdict_rate


def turns(*levels: float | None) -> list[dict[str, float]]:
    """One turn a level; None is a missing answer."""
    return [
        {"grade_missing": 1.0} if level is None else {"grade_missing": 0.0, "quality": level}
        for level in levels
    ]


def counted(*levels: float | None) -> RunNumbers:
    return count_numbers(turns(*levels), "quality")


def test_a_run_is_counted() -> None:
    """Missing answers, answers that the question does not apply, and turns not asked about."""
    found = count_numbers([*turns(4, None, 2), {"grade_missing": 0.0}, None], "quality")
    assert (found.n_turns, found.n_missing, found.n_values, found.mean) == (4, 1, 2, 3.0)
    assert found.slope is None


def test_a_slope_goes_by_the_number_of_the_turn() -> None:
    """Every other turn of a run that falls by a tenth a turn falls by a tenth, not two."""
    given = [{"quality": 4 - 0.1 * turn} if turn % 2 else None for turn in range(1, 17)]
    assert count_numbers(given, "quality").slope == pytest.approx(-0.1)
    assert count_numbers(given[:14], "quality").slope is None  # 7 numbers


def test_mean_and_interval_are_those_of_a_t_test() -> None:
    """Each run weighs the same, whatever its length."""
    runs = [counted(4, 4, 4, 4, 4, 4), counted(2), counted(3, 2)]
    found = number_mean(runs)
    want = stats.ttest_1samp([4, 2, 2.5], 0).confidence_interval()
    assert found.value == pytest.approx(np.mean([4, 2, 2.5]))
    assert (found.low, found.high) == pytest.approx((want.low, want.high))
    assert (found.n_runs, found.n_turns) == (3, 9)


def test_slopes_are_those_of_regressions() -> None:
    """The mean over runs of each run's least-squares slope, with a t interval over runs."""
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 5, (6, 12)).astype(float)
    slopes = [stats.linregress(np.arange(1, 13), of).slope for of in levels]
    found = number_slope([counted(*of) for of in levels])
    want = stats.ttest_1samp(slopes, 0).confidence_interval()
    assert found.value == pytest.approx(np.mean(slopes))
    assert (found.low, found.high) == pytest.approx((want.low, want.high))


def test_a_known_slope_is_found_and_covered() -> None:
    """Runs that fall by 0.02 a turn with noise: the interval holds the truth 95 times in 100.

    400 studies, so the share lies within 3 standard errors (0.033) of 0.95.
    """
    rng, held = np.random.default_rng(11), 0
    position = np.arange(1, 21)
    for _ in range(400):
        slopes = rng.normal(-0.02, 0.01, 8)
        levels = 3 + slopes[:, None] * position + rng.normal(0, 0.5, (8, 20))
        found = number_slope([counted(*of) for of in levels])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= -0.02 <= found.high
    assert held / 400 == pytest.approx(0.95, abs=0.033)


@settings(deadline=None)
@given(st.lists(st.floats(0, 4), min_size=8, max_size=20), st.integers(2, 4))
def test_epochs_of_one_sample_are_one_unit(levels: list[float], n: int) -> None:
    """Copies of a run under one scenario change nothing but the number of runs."""
    once = number_mean([counted(*levels), counted(1)], scenarios=["a", "b"])
    more = number_mean([*[counted(*levels)] * n, counted(1)], scenarios=[*"a" * n, "b"])
    assert more.value == pytest.approx(once.value)
    assert (more.n_runs, more.n_clusters) == (n + 1, 2)
    assert more.low == pytest.approx(once.low)


def test_without_numbers_there_is_no_estimate() -> None:
    """Absent with a reason, and how many were left out; missing answers are still counted."""
    none = [counted(None, None), counted(None)]
    assert number_mean(none).value is None
    assert number_mean(none).reason == "no turn has a number"
    assert number_slope([counted(1, 2)]).reason == "no run has 8 turns with a number"
    assert number_slope([counted(1, 2)]).excluded == {"fewer than 8 turns with a number": 1}
    assert verdict_rate("missing_rate", [*none, counted(1)]).value == pytest.approx(3 / 4)
    assert number_mean([]).value is None
