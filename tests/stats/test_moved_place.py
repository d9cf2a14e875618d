"""How far a cliff or knee moved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.bootstrap import percentile_interval, resampled_counts
from turncurve.stats.moved_place import moved_place
from turncurve.stats.shape_contrasts import Form, kinks_at, steps_at

TURN = np.arange(1, 31)


def rng(seed: int = 2) -> np.random.Generator:
    return np.random.default_rng(seed)


def curves(
    draw: np.random.Generator, at: int, form: Form, *, n: int = 20, spread: int = 0
) -> np.ndarray:
    """Curves on slopes of their own with a fall of .6, or from a turn on one of .1 a turn."""
    own = at + (draw.integers(-spread, spread + 1, n) if spread else np.zeros(n, dtype=int))
    shape = np.array([form(TURN, np.array([one]))[:, 0] for one in own])
    size = 0.6 if form is steps_at else 0.1
    level = draw.normal(0, 0.5, (n, 1)) + draw.normal(0, 0.02, (n, 1)) * TURN
    return level - size * shape + draw.normal(0, 0.3, (n, len(TURN)))


@pytest.mark.parametrize("form", [steps_at, kinks_at])
def test_it_finds_the_movement(form: Form) -> None:
    """A place at 12 and one at 18 are 6 turns apart, and the interval is about that."""
    draw = rng()
    found = moved_place(curves(draw, 12, form), curves(draw, 18, form), form, rng=draw)
    assert abs(found.moved - 6) <= 2
    assert found.moved == found.new - found.old
    assert found.low is not None
    assert 0 < found.low <= 6 <= found.high


def test_swapped() -> None:
    """The other way round, the movement and its limits turn their signs."""
    a, b = curves(rng(3), 12, steps_at, spread=3), curves(rng(4), 16, steps_at, spread=3)
    found = moved_place(a, b, steps_at, rng=rng(), resamples=300)
    other = moved_place(b, a, steps_at, rng=rng(), resamples=300)
    assert (other.moved, other.low, other.high) == (-found.moved, -found.high, -found.low)


def test_the_same_curves_do_not_move() -> None:
    """Both ends of the interval are 0: each resample takes both curves of a unit."""
    a = curves(rng(5), 12, steps_at, spread=4)
    found = moved_place(a, a, steps_at, rng=rng(), resamples=200)
    assert (found.moved, found.low, found.high) == (0, 0, 0)


def test_few_units_have_no_interval() -> None:
    """With 9 units there is a movement, and no interval."""
    draw = rng(6)
    a, b = (curves(draw, at, steps_at, n=9) for at in (10, 20))
    found = moved_place(a, b, steps_at, rng=draw)
    assert (found.low, found.high, found.n_resamples) == (None, None, None)


def test_places_that_nobody_passes() -> None:
    """Curves too short for a place are refused."""
    with pytest.raises(NotEnoughDataError, match="places that units pass"):
        moved_place(np.ones((12, 3)), np.ones((12, 3)), steps_at, rng=rng())


def test_resamples_draw_whole_units() -> None:
    """Counts sum to the number of units; an interval turns with the signs of its draws."""
    counts = resampled_counts(7, 50, rng())
    assert (counts.sum(axis=1) == 7).all()
    assert counts.std() > 0.5
    draws = rng().normal(1, 1, 99)
    low, high = percentile_interval(draws, 0.9, n_units=20)
    assert percentile_interval(-draws, 0.9, n_units=20) == pytest.approx((-high, -low))


@pytest.mark.parametrize("n", [10, 40])
def test_percentiles_of_a_mean_are_its_t_interval(n: int) -> None:
    """For the mean of symmetric values the interval is that of t, to the error of the draws."""
    values = stats.norm.ppf((np.arange(n) + 0.5) / n)
    draws = resampled_counts(n, 40_000, rng()) @ values / n
    low, high = percentile_interval(draws, 0.95, n_units=n)
    half = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)
    assert (low, high) == pytest.approx((-half, half), rel=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("form", [steps_at, kinks_at])
@pytest.mark.parametrize("spread", [0, 3])
def test_coverage(form: Form, spread: int) -> None:
    """The interval holds the true movement at least as often as it says."""
    draw, held = rng(7), []
    for _ in range(300):
        a, b = (curves(draw, at, form, n=16, spread=spread) for at in (12, 18))
        found = moved_place(a, b, form, rng=draw, resamples=400)
        held.append(found.low <= 6 <= found.high)
    assert np.mean(held) > 0.93
