"""Screening of one series: other software's numbers, a second algorithm, and what it is not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.errors import NotEnoughDataError
from turncurve.stats.segmentation import best_cuts, screen
from turncurve.stats.sup_f import sup_f

JUMP_ON_A_SLOPE = np.array([
    0.9300208333333334, 0.925525, 0.9327416666666667, 0.9058125, 0.8998708333333334, 0.8758083333,
    0.8508791666666667, 0.8484458333333333, 0.8493173913, 0.8245652173913043, 0.8188772727272727,
    0.7106954545454546, 0.71797, 0.6959263157894737, 0.6969176470588235, 0.68495, 0.67039230769,
    0.6668769230769231, 0.64926667, 0.63839,
])  # fmt: skip


def with_steps(rng: np.random.Generator, n: int, n_steps: int) -> np.ndarray:
    y = rng.normal(size=n)
    for at in rng.integers(2, n - 2, n_steps):
        y[at:] += rng.normal() * 3
    return y


def test_sup_f_of_published_software() -> None:
    """Strucchange on a curve that jumps at turn 12 on a slope: F = 126.9 after turn 11."""
    found = sup_f(np.arange(1, 21), JUMP_ON_A_SLOPE)
    assert found.value == pytest.approx(126.8954, abs=2e-3)
    assert found.after == 11
    assert (found.tried[0], found.tried[-1]) == (3, 17)


def test_sup_f_by_hand() -> None:
    """At one break point it is the usual Chow test, times the two coefficients."""
    rng = np.random.default_rng(1)
    x, y = np.arange(12.0), rng.normal(size=12)

    def rss(part: slice) -> float:
        line = np.polyfit(x[part], y[part], 1)
        return float(((y[part] - np.polyval(line, x[part])) ** 2).sum())

    whole, parts = rss(slice(None)), rss(slice(5)) + rss(slice(5, None))
    found = sup_f(x, y)
    at = int(np.flatnonzero(found.tried == 5)[0])
    assert found.f[at] == pytest.approx((whole - parts) / (parts / 8))


def test_sup_f_needs_a_line_on_either_side() -> None:
    """Five values have no room for two lines with a residual."""
    with pytest.raises(NotEnoughDataError):
        sup_f(np.arange(5), np.zeros(5))


@pytest.mark.parametrize("seed", range(12))
def test_cuts_are_at_least_as_good_as_pelts(seed: int) -> None:
    """The exact search never costs more than PELT, and nearly always cuts at the same places."""
    ruptures = pytest.importorskip("ruptures")
    rng = np.random.default_rng(seed)
    y = with_steps(rng, int(rng.integers(20, 80)), int(rng.integers(0, 4)))

    def cost(cuts: tuple[int, ...]) -> float:
        ends = [0, *cuts, len(y)]
        parts = [y[a:b] for a, b in pairwise(ends)]
        return sum(float(((part - part.mean()) ** 2).sum()) for part in parts) + 8 * len(cuts)

    theirs = tuple(ruptures.Pelt(model="l2", min_size=2, jump=1).fit(y).predict(pen=8)[:-1])
    ours = best_cuts(y, 8.0)
    assert cost(ours) <= cost(theirs) + 1e-9
    assert ours == theirs or cost(ours) < cost(theirs) - 1e-9


def test_a_slope_is_no_step() -> None:
    """Without its line taken off a slope is cut into pieces; net of it, rarely at all."""
    rng = np.random.default_rng(3)
    slopes = [rng.normal(size=60) - 0.2 * np.arange(60) for _ in range(200)]
    assert np.mean([len(best_cuts(y, 2 * np.log(60))) > 0 for y in slopes]) > 0.99
    assert np.mean([len(screen(y).starts) > 0 for y in slopes]) < 0.06


def test_a_large_cliff_is_cut_where_it_is() -> None:
    """A drop of ten standard deviations late in a run."""
    rng = np.random.default_rng(4)
    found = [screen(rng.normal(size=60) - 10.0 * (np.arange(60) >= 48)).starts for _ in range(50)]
    assert np.mean([49 in starts for starts in found]) > 0.9


@given(st.integers(0, 1000), st.floats(-100, 100), st.floats(0.01, 1000), st.floats(-5, 5))
@settings(max_examples=40, deadline=None)
def test_neither_unit_nor_line_matters(seed: int, shift: float, scale: float, slope: float) -> None:
    """0-1, 0-4 or 0-100: the cuts are the same, as they are with a line put on top."""
    y = with_steps(np.random.default_rng(seed), 40, 2)
    found = screen(y)
    other = screen(scale * (y + slope * np.arange(40)) + shift)
    assert other.starts == found.starts
    assert other.noise == pytest.approx(scale * found.noise, rel=1e-6)


def test_edges() -> None:
    """A line has no noise to cut by; seven values are too few."""
    assert screen(np.arange(20.0)).starts == ()
    assert screen(np.full(20, 3.3)).starts == ()
    with pytest.raises(NotEnoughDataError):
        screen(np.zeros(7))
