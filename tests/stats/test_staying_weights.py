"""Weights for runs that were cut short."""

from __future__ import annotations

import numpy as np
import pytest

from turncurve.stats.staying_weights import staying_weights


def crashes(n: int, seed: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """Quality that falls by .012 a turn, and runs that crash soon after it is low."""
    rng = np.random.default_rng(seed)
    quality = np.empty((n, 20))
    own = rng.normal(0, 0.04, n)
    for turn in range(20):
        own = own + rng.normal(0, 0.05, n)
        quality[:, turn] = 0.9 - 0.012 * turn + own
    quality = np.clip(quality, 0, 1)
    there = np.ones((n, 20), dtype=bool)
    for turn in range(1, 20):
        hazard = 1 / (1 + np.exp(5 - 8 * (0.9 - quality[:, turn - 1])))
        there[:, turn] = there[:, turn - 1] & (rng.random(n) >= hazard)
    return quality, there


def weighted_change(n: int) -> tuple[float, float, float]:
    """The true change, that of the survivors, and the weighted one."""
    quality, there = crashes(n)
    seen = np.where(there, quality, np.nan)
    length = there.sum(axis=1)
    w = staying_weights(seen, length, length < 20).weights[:, -1]
    start = quality[:, 0].mean()
    return (
        quality[:, -1].mean() - start,
        float(np.nanmean(seen[:, -1]) - start),
        float(np.nansum(seen[:, -1] * w) / w.sum() - start),
    )


def test_undoes_leaving_that_depends_on_what_was_seen() -> None:
    """Truth -.237; survivors show -.149; weighted it is -.23."""
    truth, survivors, weighted = weighted_change(8_000)
    assert truth == pytest.approx(-0.237, abs=0.005)
    assert survivors > truth + 0.07
    assert weighted == pytest.approx(truth, abs=0.02)


def test_nobody_left() -> None:
    """Without an exit every weight is 1."""
    found = staying_weights(np.random.default_rng(0).random((9, 7)), np.full(9, 7), np.zeros(9))
    assert (found.weights == 1).all()
    assert found.n_cut_short == 0
    assert found.effective_n.tolist() == [9] * 7


def test_done_is_not_cut_short() -> None:
    """Runs that are done have no weight after their end, and give nobody a larger one."""
    y = np.random.default_rng(0).random((40, 6))
    length = np.repeat([3, 6], 20)
    found = staying_weights(y, length, np.zeros(40))
    assert (found.weights[:20, 3:] == 0).all()
    assert (found.weights[20:] == 1).all()


def test_leaving_by_chance_changes_nothing_much() -> None:
    """Where leaving has nothing to do with the scores, weights stay near 1."""
    rng = np.random.default_rng(4)
    length = np.minimum(rng.geometric(0.08, 4_000), 12)
    y = rng.random((4_000, 12))
    found = staying_weights(y, length, length < 12)
    inside = found.weights[found.weights > 0]
    assert np.abs(inside - 1).max() < 0.35
    assert inside.mean() == pytest.approx(1, abs=0.02)


def test_truncation_cuts_the_largest() -> None:
    """No weight of a turn lies above that turn's 99th percentile."""
    quality, there = crashes(2_000)
    seen, length = np.where(there, quality, np.nan), there.sum(axis=1)
    found = staying_weights(seen, length, length < 20)
    last = found.weights[there[:, -1], -1]
    assert found.truncated[:, -1].max() == pytest.approx(np.quantile(last, 0.99))
    assert found.weights[:, -1].max() > found.truncated[:, -1].max()
    assert found.effective_n[-1] < there[:, -1].sum()


def test_missing_scores_are_carried() -> None:
    """A turn without a score does not lose the run."""
    quality, there = crashes(500)
    seen = np.where(there, quality, np.nan)
    seen[::3, 4] = np.nan
    seen[5, :2] = np.nan
    length = there.sum(axis=1)
    assert np.isfinite(staying_weights(seen, length, length < 20).weights).all()


def test_without_any_value_the_weights_are_those_of_the_turn_alone() -> None:
    """Nothing was seen of the runs, so leaving can depend on nothing of them."""
    n_turns = np.array([3, 5, 8, 8, 8, 8])
    weights = staying_weights(np.full((6, 8), np.nan), n_turns, n_turns < 8)
    active = np.arange(1, 9) <= n_turns[:, None]
    np.testing.assert_allclose(weights.weights, active.astype(float), rtol=1e-6)
