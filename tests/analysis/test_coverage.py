"""Are evaluation runs as long as production runs?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from table_factory import make_table
from turncurve.analysis.coverage import coverage
from turncurve.table import TurnTable


def of_lengths(lengths: list[int], **columns: dict[str, str]) -> TurnTable:
    return make_table({f"r{i}": {"quality": [1.0] * n} for i, n in enumerate(lengths)}, **columns)


def test_short_evaluation_is_found() -> None:
    """Production of 1 to 100 turns has its 90th percentile at 90; an evaluation of 30 stops short.

    The interval is that of ranks 84 and 96 of 100.
    """
    result = coverage(of_lengths([10, 30]), of_lengths(list(range(1, 101))))
    assert (result.longest_eval, result.production_p90) == (30, 90)
    assert (result.production_low, result.production_high) == (84, 96)
    assert result.covered is False
    assert result.certain is True
    assert result.share_beyond.value == pytest.approx(0.7)
    assert result.sentence == (
        "The longest evaluation run (30 turns) stops short of the 90th percentile of production "
        "runs (90 turns, 95% interval 84 to 96, n = 100); 70.0% of production runs are longer."
    )


VERDICTS = {
    83: (False, True),
    84: (False, False),
    89: (False, False),
    90: (True, False),
    95: (True, False),
    96: (True, True),
}


@pytest.mark.parametrize("longest", VERDICTS)
def test_certain_only_outside_the_interval(longest: int) -> None:
    """At the percentile it is covered; it is certain only beyond the interval from 84 to 96."""
    result = coverage(of_lengths([longest]), of_lengths(list(range(1, 101))))
    assert (result.covered, result.certain) == VERDICTS[longest]


def test_interval_agrees_with_scipy() -> None:
    """The percentile's interval is the one of scipy's quantile test."""
    lengths = np.random.default_rng(1).permutation(np.arange(1, 201))
    result = coverage(of_lengths([5]), of_lengths(lengths.tolist()))
    wanted = stats.quantile_test(lengths, p=0.9).confidence_interval(0.95)
    assert (result.production_low, result.production_high) == (wanted.low, wanted.high)


def test_interval_covers_the_truth() -> None:
    """60 runs of geometric lengths: the interval holds the true percentile in 95 % or more."""
    rng = np.random.default_rng(2)
    truth = stats.geom.ppf(0.9, 0.05)
    inside, evals = 0, of_lengths([1])
    for lengths in rng.geometric(0.05, size=(300, 60)):
        result = coverage(evals, of_lengths(lengths.tolist()))
        assert result.production_low is not None
        high = np.inf if result.production_high is None else result.production_high
        inside += result.production_low <= truth <= high
    assert inside / 300 >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_runs_cover_themselves(lengths: list[int]) -> None:
    """Any set of runs covers itself, and none of it lies beyond."""
    table = of_lengths(lengths)
    result = coverage(table, table)
    assert result.covered is True
    assert result.share_beyond.value == 0


def test_few_runs_leave_the_interval_open() -> None:
    """With 10 production runs the upper end is open, so nothing is certain."""
    result = coverage(of_lengths([50]), of_lengths(list(range(1, 11))))
    assert result.production_high is None
    assert (result.covered, result.certain) == (True, False)
    assert "95% interval 7 to ?, n = 10" in result.sentence


def test_unfinished_production_runs_are_counted() -> None:
    """Runs that were cut short would be longer: they are counted."""
    production = of_lengths([5, 6, 7], exit_type={"r0": "still_running", "r2": "budget"})
    assert coverage(of_lengths([9]), production).n_production_unfinished == 2


@pytest.mark.parametrize(
    ("evals", "production", "which"), [([], [3], "evaluation"), ([3], [], "production")]
)
def test_absent_without_runs(evals: list[int], production: list[int], which: str) -> None:
    """Without runs on a side, or with runs without a turn, coverage is not known."""
    result = coverage(of_lengths(evals or [0]), of_lengths(production))
    assert result.covered is result.certain is result.production_p90 is None
    assert result.share_beyond.value is None
    assert result.sentence == f"Coverage is not known: no {which} run has a turn."
