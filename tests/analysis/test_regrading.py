"""A grader against itself: noise, changes that should not matter, and the edges."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.graders import judged, run
from turncurve.analysis.judgements import Judgements
from turncurve.analysis.over_clusters import Resampling
from turncurve.analysis.regrading import NO_RETEST, Variant, regrade, variant

FAST = Resampling(resamples=300)


def grading(rng: np.random.Generator, truth: np.ndarray, miss: float, name: str) -> Judgements:
    """A grader that flips each of the turns, shape (n_runs, n_turns), with a chance."""
    failing = truth ^ (rng.random(truth.shape) < miss)
    return judged(
        *(
            run(f"r{i}", "".join("f" if one else "p" for one in row))
            for i, row in enumerate(failing)
        ),
        name=name,
    )


def held(first: Judgements, changed: Judgements, again: Judgements | None) -> Variant:
    return variant(
        "x", first, changed, again, margin=0.1, resampling=FAST, shared=Resampling(level=0.975)
    )


@pytest.fixture
def truth() -> np.ndarray:
    return np.random.default_rng(1).random((60, 12)) < 0.3


def test_noise_of_a_grader(truth: np.ndarray) -> None:
    """Two gradings that each flip a tenth of the turns differ in .18 of them, without a shift."""
    rng = np.random.default_rng(2)
    first, again = grading(rng, truth, 0.1, "GRADES"), grading(rng, truth, 0.1, "retest")
    found = regrade("retest", first, again, FAST)
    assert found.flipped.value == pytest.approx(0.18, abs=0.04)
    assert found.shift.low < 0 < found.shift.high
    assert found.agreement.n_turns == 720
    assert found.validity is not None
    assert found.grader == "g"


def test_a_change_that_does_nothing(truth: np.ndarray) -> None:
    """A variant with the grader's own noise is clean beside a retest."""
    rng = np.random.default_rng(3)
    first, again, changed = (grading(rng, truth, 0.05, name) for name in ("GRADES", "a", "b"))
    found = held(first, changed, again)
    assert found.verdict == "clean"
    assert found.excess.low < 0 < found.excess.high
    assert found.excess.level == 0.975


def test_a_change_that_adds_noise(truth: np.ndarray) -> None:
    """A variant that flips many more turns than a retest is a finding, without any shift."""
    rng = np.random.default_rng(4)
    truth = np.random.default_rng(40).random(truth.shape) < 0.5
    first, again = grading(rng, truth, 0.02, "GRADES"), grading(rng, truth, 0.02, "a")
    found = held(first, grading(rng, truth, 0.25, "b"), again)
    assert found.shift.low < 0 < found.shift.high
    assert found.verdict == "finding"
    assert found.excess.value == pytest.approx(0.22, abs=0.05)


def test_a_change_that_shifts(truth: np.ndarray) -> None:
    """A variant that calls more turns failing is a finding even without a retest."""
    rng = np.random.default_rng(5)
    harsher = truth | (rng.random(truth.shape) < 0.1)
    found = held(grading(rng, truth, 0.0, "GRADES"), grading(rng, harsher, 0.0, "b"), None)
    assert found.verdict == "finding"
    assert found.shift.low > 0
    assert (found.excess.value, found.excess.reason) == (None, NO_RETEST)


def test_excess_is_over_turns_that_all_three_judged(truth: np.ndarray) -> None:
    """A turn that the retest lacks says nothing of the excess."""
    rng = np.random.default_rng(6)
    first, changed = grading(rng, truth, 0.1, "GRADES"), grading(rng, truth, 0.1, "b")
    found = held(first, changed, grading(rng, truth[:, :5], 0.1, "a"))
    assert found.excess.n_turns == 300
    assert found.shift.n_turns == 720


def test_identical_gradings(truth: np.ndarray) -> None:
    """Where nothing flips, the limit on flips decides: clean with 60 runs, open with 10."""
    rng = np.random.default_rng(7)
    for n_runs, verdict in ((60, "clean"), (10, "inconclusive")):
        same = [grading(rng, truth[:n_runs], 0.0, name) for name in ("GRADES", "b", "a")]
        found = held(*same)
        assert found.verdict == verdict
        assert found.regrade.agreement.kappa.value == 1.0


def test_without_a_retest_nothing_is_clean(truth: np.ndarray) -> None:
    """A variant without shift and without a retest stays open: how noisy is the grader?"""
    rng = np.random.default_rng(8)
    found = held(grading(rng, truth, 0.1, "GRADES"), grading(rng, truth, 0.1, "b"), None)
    assert found.verdict == "inconclusive"


def test_nothing_shared() -> None:
    """Gradings of other runs give absent numbers with their reason, and the counts."""
    found = regrade("retest", judged(run("a", "f")), judged(run("b", "f"), name="retest"), FAST)
    assert found.flipped.reason == "no turn has both gradings"
    assert found.agreement.kappa.value is None
    assert sum(found.excluded.values()) == 2
