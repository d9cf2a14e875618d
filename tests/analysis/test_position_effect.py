"""Change with the turn: known truths by simulation, and the edges."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.graders import noisy_study
from turncurve.analysis.agreement import agreement_of
from turncurve.analysis.over_clusters import Resampling
from turncurve.analysis.position_effect import PositionTest, position_test

FAST = Resampling(resamples=300)
N_TURNS = 40
RISING = 0.2 + 0.004 * np.arange(N_TURNS)
"""Chance of failing by turn: it rises by .04 in 10 turns."""


def position(study: tuple[np.ndarray, ...], margin: float = 0.1) -> PositionTest:
    return position_test(*study, margin=margin, resampling=FAST)


def flat(value: float) -> np.ndarray:
    return np.full(N_TURNS, value)


def test_a_late_blind_grader_turns_the_slope() -> None:
    """Sensitivity falling from .85 to .25: labels rise by .04, grades fall, and no rate mends it.

    This is the trap: one sensitivity for all turns would make the wrong slope wronger.
    """
    rng = np.random.default_rng(61)
    falling = 0.85 - 0.60 * np.arange(N_TURNS) / (N_TURNS - 1)
    found = position(
        noisy_study(rng, 300, N_TURNS, failing=RISING, sensitivity=falling, specificity=flat(0.96))
    )
    assert found.verdict == "finding"
    assert found.sensitivity.change.value == pytest.approx(-0.60 / 3.9, abs=0.02)
    assert found.sensitivity.p_adjusted < 1e-6
    assert found.specificity.p_adjusted > 0.01
    assert found.sensitivity.log_odds.high < 0
    slopes = found.slopes
    assert slopes.labelled.low < 0.04 < slopes.labelled.high
    assert slopes.labelled.low > 0
    assert slopes.graded.high < 0
    assert slopes.bias.value == pytest.approx(slopes.graded.value - slopes.labelled.value)
    assert slopes.bias.high < 0
    assert slopes.divided.value is None
    assert "changes with the turn" in slopes.divided.reason


def test_a_constant_grader_halves_the_slope_and_is_mended() -> None:
    """With .80 and .80 at every turn the slope shrinks to .6 of itself, and / .6 restores it."""
    rng = np.random.default_rng(62)
    found = position(
        noisy_study(rng, 400, N_TURNS, failing=RISING, sensitivity=flat(0.8), specificity=flat(0.8))
    )
    assert found.verdict == "clean"
    assert found.slopes.graded.value == pytest.approx(0.6 * 0.04, abs=0.008)
    divided = found.slopes.divided
    assert divided.low < 0.04 < divided.high
    assert divided.value == pytest.approx(found.slopes.graded.value / 0.6, rel=0.05)
    assert divided.high - divided.low > found.slopes.graded.high - found.slopes.graded.low


def test_falling_kappa_is_no_falling_grader() -> None:
    """Errors that get rare drag kappa down; sensitivity and specificity stay, and are found to.

    Sensitivity .80 and specificity .97 throughout, failing turns falling from .45 to near 0.
    """
    rng = np.random.default_rng(63)
    rarer = np.linspace(0.45, 0.0, N_TURNS)
    run, turn, graded, labelled = noisy_study(
        rng, 500, N_TURNS, failing=rarer, sensitivity=flat(0.8), specificity=flat(0.97)
    )
    kappas, ac1s = [], []
    for part in (turn <= 5, turn > 37):
        codes = (~graded[part]).astype(np.int64), (~labelled[part]).astype(np.int64)
        found = agreement_of(run[part], *codes, ("fail", "no fail"), FAST)
        kappas.append(found.kappa.value)
        ac1s.append(found.ac1.value)
    assert kappas[0] - kappas[1] > 0.1
    assert ac1s[1] > ac1s[0]
    assert position((run, turn, graded, labelled)).verdict != "finding"


def test_few_labels_settle_nothing() -> None:
    """Twelve short runs neither find nor rule out a change, and more runs are asked for."""
    rng = np.random.default_rng(64)
    study = noisy_study(
        rng, 12, N_TURNS, failing=flat(0.2), sensitivity=flat(0.8), specificity=flat(0.9)
    )
    found = position(study)
    assert found.verdict == "inconclusive"
    assert found.n_runs_needed > 12
    assert found.span == pytest.approx(36, abs=3)


def test_two_runs_do_not_say_how_many_are_needed() -> None:
    """With so few runs the width of the interval is itself unknown."""
    rng = np.random.default_rng(71)
    study = noisy_study(
        rng, 2, N_TURNS, failing=flat(0.4), sensitivity=flat(0.7), specificity=flat(0.8)
    )
    found = position(study)
    assert (found.verdict, found.n_runs_needed) == ("inconclusive", None)
    assert found.sensitivity.p is None


def test_half_the_labels_needed_at_twice_the_margin() -> None:
    """The runs asked for fall with the square of the margin."""
    rng = np.random.default_rng(65)
    study = noisy_study(
        rng, 15, N_TURNS, failing=flat(0.3), sensitivity=flat(0.7), specificity=flat(0.9)
    )
    once, twice = position(study, 0.05).n_runs_needed, position(study, 0.1).n_runs_needed
    assert once == pytest.approx(4 * twice, abs=4)


def test_clean_needs_both_ends_within_the_margin() -> None:
    """A margin that one end of an interval keeps and the other does not leaves it open."""
    rng = np.random.default_rng(70)
    study = noisy_study(
        rng, 200, N_TURNS, failing=flat(0.3), sensitivity=flat(0.8), specificity=flat(0.9)
    )
    wide = position(study, 0.5)
    assert wide.verdict == "clean"
    ends = [
        abs(end) * wide.span / 10
        for one in (wide.sensitivity, wide.specificity)
        for end in (one.change.low, one.change.high)
    ]
    assert position(study, max(ends) * 1.001).verdict == "clean"
    assert position(study, max(ends) * 0.999).verdict == "inconclusive"


def test_holm_counts_both_looks() -> None:
    """The smaller p is doubled; the larger stays, but not below the doubled one."""
    rng = np.random.default_rng(66)
    study = noisy_study(
        rng, 60, N_TURNS, failing=flat(0.3), sensitivity=flat(0.8), specificity=flat(0.9)
    )
    found = position(study)
    small, large = sorted((found.sensitivity, found.specificity), key=lambda effect: effect.p)
    assert small.p_adjusted == pytest.approx(min(1, 2 * small.p))
    assert large.p_adjusted == pytest.approx(max(large.p, small.p_adjusted))


def test_a_grader_without_error() -> None:
    """No error in 100 runs rules a change out; in 5 runs it does not."""
    for n_runs, verdict in ((100, "clean"), (5, "inconclusive")):
        run = np.repeat(np.arange(n_runs), 8)
        turn = np.tile(np.arange(1, 9), n_runs)
        labelled = (turn + run) % 3 == 0
        found = position((run, turn, labelled, labelled))
        assert found.verdict == verdict
        assert found.sensitivity.change.value == pytest.approx(0.0)
        assert "no error was seen" in found.sensitivity.change.method
        assert found.sensitivity.p is None


def test_a_grader_that_guesses_mends_nothing() -> None:
    """Where Se + Sp - 1 may be 0, nothing is divided by it."""
    rng = np.random.default_rng(67)
    study = noisy_study(
        rng, 30, N_TURNS, failing=flat(0.3), sensitivity=flat(0.3), specificity=flat(0.7)
    )
    divided = position(study).slopes.divided
    assert divided.value is None
    assert "chance" in divided.reason


@pytest.mark.parametrize(
    ("labelled", "reason"),
    [([0, 0, 0, 0], "fewer than 2 runs"), ([1, 0, 1, 0], "at one position only")],
)
def test_nothing_to_go_by(labelled: list[int], reason: str) -> None:
    """No failing turn, or failing turns at one position: the change is absent with the reason."""
    marks = np.array(labelled, dtype=bool)
    found = position((np.array([0, 0, 1, 1]), np.array([1, 2, 1, 2]), marks, marks))
    assert found.sensitivity.change.value is None
    assert reason in found.sensitivity.change.reason
    assert found.verdict == "inconclusive"
    assert found.n_runs_needed is None


@pytest.mark.slow
def test_finds_no_change_where_there_is_none() -> None:
    """With constant rates and 20 uneven runs, "finding" comes up in at most 7 % of 400 studies."""
    rng = np.random.default_rng(68)
    found = []
    for _ in range(400):
        run, turn, graded, labelled = noisy_study(
            rng, 20, N_TURNS, failing=RISING, sensitivity=flat(0.75), specificity=flat(0.9)
        )
        kept = turn <= rng.integers(8, N_TURNS, size=20)[run]
        test = position_test(
            run[kept], turn[kept], graded[kept], labelled[kept], margin=0.1, resampling=FAST
        )
        found.append(test.verdict == "finding")
    assert np.mean(found) <= 0.07
