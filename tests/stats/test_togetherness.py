"""Do events come together: the exact distribution, level and power, edges."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from turncurve.errors import NotEnoughDataError
from turncurve.stats.togetherness import shuffled, togetherness


def chance_of_stretches(n: int, m: int) -> dict[int, float]:
    """Wald and Wolfowitz: the chance of so many stretches of m events among n places."""
    return {
        r: comb(m - 1, r - 1) * comb(n - m + 1, r) / comb(n, m)
        for r in range(1, min(m, n - m + 1) + 1)
    }


def test_shuffles_follow_the_exact_distribution() -> None:
    """Mean length and p of a short sequence are exact, within the error of 20,000 draws."""
    event = np.array([1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0], dtype=bool)
    found = togetherness(event, np.zeros(12, int), rng=np.random.default_rng(1), resamples=20_000)
    chance = chance_of_stretches(12, 5)
    assert sum(chance.values()) == pytest.approx(1)
    assert (found.n_events, found.n_stretches, found.mean_length) == (5, 2, 2.5)
    assert found.expected == pytest.approx(sum(5 / r * p for r, p in chance.items()), abs=0.01)
    assert found.p == pytest.approx(2 * (chance[1] + chance[2]), abs=0.015)


def test_what_comes_together_is_seen() -> None:
    """Ten units in which events stand in one block: p is the least that 999 shuffles give."""
    event = np.tile(np.r_[np.ones(5), np.zeros(15)], 10).astype(bool)
    unit = np.repeat(np.arange(10), 20)
    found = togetherness(event, unit, rng=np.random.default_rng(2))
    assert found.p == pytest.approx(2 / 1000)
    assert found.mean_length == 5 > found.high


def test_stretches_end_with_their_unit() -> None:
    """In units of one event and one other value no order has two events in a row."""
    found = togetherness([1, 0] * 10, np.repeat(np.arange(10), 2), rng=np.random.default_rng(7))
    assert (found.mean_length, found.expected, found.high) == (1, 1, 1)


def test_blocks_keep_a_drift_from_being_read_as_that() -> None:
    """Events that only get likelier come together by the unit, and not within thirds of it."""
    rng = np.random.default_rng(3)
    n_units, n = 40, 30
    unit, turn = np.repeat(np.arange(n_units), n), np.tile(np.arange(n), n_units)
    event = rng.random(n_units * n) < np.where(turn < 10, 0.02, np.where(turn < 20, 0.3, 0.8))
    whole = togetherness(event, unit, rng=rng)
    in_thirds = togetherness(event, unit, block=3 * unit + turn // 10, rng=rng)
    assert whole.p < 0.01
    assert in_thirds.p > 0.05


@pytest.mark.slow
def test_level_where_order_is_random() -> None:
    """Of 1,000 data sets of independent turns about 5 % are rejected (+-2 %), or fewer."""
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(10), 20)
    rejected = [
        togetherness(rng.random(200) < 0.3, unit, rng=rng, resamples=199).p < 0.05
        for _ in range(1000)
    ]
    assert 0.02 < np.mean(rejected) < 0.07


def test_nothing_to_shuffle_is_an_error() -> None:
    """Units in which all or none of the values are events have one order."""
    with pytest.raises(NotEnoughDataError, match="with and without"):
        togetherness([1, 1, 0, 0], [0, 0, 1, 1], rng=np.random.default_rng(0))


def test_every_order_is_as_likely() -> None:
    """Of two events on four places each of the six orders comes up in a sixth of 30,000."""
    event = np.array([True, False, True, False])
    orders = shuffled(event, np.zeros(4, int), rng=np.random.default_rng(5), n=30_000)
    number, times = np.unique(orders.T @ [8, 4, 2, 1], return_counts=True)
    assert list(number) == [3, 5, 6, 9, 10, 12]
    assert times / 30_000 == pytest.approx(1 / 6, abs=0.008)


def test_blocks_keep_their_events() -> None:
    """However blocks lie among each other, each has as many events in every order."""
    rng = np.random.default_rng(6)
    block, event = rng.integers(0, 5, 60), rng.random(60) < 0.4
    orders = shuffled(event, np.unique(block, return_inverse=True)[1], rng=rng, n=50)
    for b in np.unique(block):
        assert (orders[block == b].sum(axis=0) == event[block == b].sum()).all()
