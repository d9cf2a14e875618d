"""Four readings of a curve whose runs end early."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.suites import suite_table
from stats.test_staying_weights import crashes
from turncurve.analysis.composition import Composition, composition
from turncurve.analysis.suite import suite_of


def read(
    scores: np.ndarray, exits: list[str] | None = None, *, floor: float | None = 0.0, **options
) -> Composition:
    """The composition of one trial, with these exits in the order of scenarios."""
    names = {f"t0s{s}": exit_ for s, exit_ in enumerate(exits or [])}
    table = suite_table(scores[None], scale=(0, 1), exit_type=names)
    return composition(suite_of(table, "quality"), table, floor=floor, **options)


def easy_first(seed: int = 31, n: int = 800) -> tuple[np.ndarray, list[str]]:
    """Nobody gets worse; easy scenarios are done early."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 0.8, n)
    length = np.clip(np.round(9 - 3 * ease + rng.normal(0, 1.2, n)), 4, 12).astype(int)
    scores = 3 + ease[:, None] + rng.normal(0, 0.5, (n, 12))
    scores[np.arange(1, 13) > length[:, None]] = np.nan
    return scores, ["success_finish"] * n


def test_runs_that_are_done_early_are_composition() -> None:
    """The mean of what is left falls by more than .4, the same runs stay where they are."""
    found = read(*easy_first(), horizon=12)
    assert found.active.value < -0.4
    assert found.balanced.value == pytest.approx(0, abs=0.12)
    assert found.verdict == "composition"
    assert found.n_cut_short == 0


def test_runs_that_crash_when_they_get_worse_are_informative_dropout() -> None:
    """Survivors fall by .15 where all would have fallen by .24; weighted it is .23."""
    quality, there = crashes(4_000)
    seen = np.where(there, quality, np.nan)
    found = read(seen, ["crash" if row[-1] == 0 else "success_finish" for row in there], horizon=20)
    truth = np.mean(quality[:, -2:]) - np.mean(quality[:, :2])
    assert found.balanced.value > truth + 0.05
    assert found.ipcw.value == pytest.approx(truth, abs=0.025)
    assert found.verdict in ("informative dropout", "composition")
    assert abs(found.balanced.value - found.ipcw.value) > 2 * found.ipcw.std_error
    assert found.composite.value < found.active.value
    assert found.n_cut_short == (there.sum(axis=1) < 20).sum()


def test_nobody_leaves() -> None:
    """All readings are one, and the verdict says why."""
    scores = np.random.default_rng(0).random((30, 10)) - np.linspace(0, 0.5, 10)
    found = read(scores, ["success_finish"] * 30)
    assert found.active.value == pytest.approx(found.balanced.value)
    assert found.ipcw.value == pytest.approx(found.balanced.value)
    assert found.composite.value == pytest.approx(found.balanced.value)
    assert found.verdict == "none seen"
    assert "every run reaches" in found.why


def test_leaving_by_chance_is_not_named() -> None:
    """Over 60 suites with chance exits a verdict is given in few."""
    rng = np.random.default_rng(8)
    named = 0
    for _ in range(60):
        scores = rng.normal(0.5, 0.1, (60, 1)) + rng.normal(0, 0.1, (60, 10))
        length = np.clip(rng.geometric(0.06, 60), 2, 10)
        scores[np.arange(1, 11) > length[:, None]] = np.nan
        exits = ["crash" if n < 10 else "success_finish" for n in length]
        named += read(scores, exits, horizon=10).verdict not in ("none seen", "not known")
    assert named <= 9


def test_composite_by_hand() -> None:
    """A failed run stands at the floor after its end, a done one at its last score."""
    nan = np.nan
    scores = np.array([[0.8, 0.8, 0.8], [0.6, nan, nan], [0.4, 0.2, nan], [0.5, nan, nan]])
    exits = ["success_finish", "success_finish", "crash", "unknown"]
    found = read(scores, exits, horizon=3)
    assert [point.composite for point in found.curve] == pytest.approx(
        [2.3 / 4, (0.8 + 0.6 + 0.2) / 3, (0.8 + 0.6 + 0) / 3]
    )
    assert [point.active for point in found.curve] == pytest.approx([2.3 / 4, 0.5, 0.8])
    assert [point.n_active for point in found.curve] == [4, 2, 1]
    assert [point.balanced for point in found.curve] == pytest.approx([0.8] * 3)


def test_what_is_not_known_has_a_reason() -> None:
    """No scale, no composite; few weighted runs, no weighted mean."""
    nan = np.nan
    scores = np.array([[0.8, 0.8, 0.8], [0.6, nan, nan], [0.4, 0.2, nan]])
    found = read(scores, ["crash"] * 3, floor=None, horizon=3)
    assert found.composite.value is None
    assert "scale is not known" in found.composite.reason
    assert found.ipcw.value is None
    assert "fewer than 10" in found.ipcw.reason


def test_the_horizon_is_what_half_of_the_runs_reach() -> None:
    """A few long runs do not set it."""
    scores = np.full((20, 30), np.nan)
    scores[:, :10] = 1.0
    scores[0] = 1.0
    assert read(scores, ["success_finish"] * 20).horizon == 10
