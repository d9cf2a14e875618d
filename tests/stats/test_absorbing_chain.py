"""Absorbing chains: known answers, walks simulated one by one, and where the product is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncurve.errors import NotEnoughDataError
from turncurve.stats.absorbing_chain import (
    expected_steps,
    off_the_straight_way,
    posterior_transitions,
    straight_product,
    success_chance,
    transition_shares,
)

RETRY = np.array([[0.2, 0.7, 0.0, 0.1], [0.3, 0.0, 0.6, 0.1]])
"""Two stages: the first can be tried again, the second can throw back to the first."""


def test_gamblers_ruin() -> None:
    """From 1 of 4 with a fair coin: success 1/4, 3 steps on average (Grinstead & Snell 11.2)."""
    half = 0.5
    walk = np.array(
        [[0, half, 0, 0, half], [half, 0, half, 0, 0], [0, half, 0, half, 0]]
    )  # states 1, 2, 3; success at 4, failure at 0
    assert success_chance(walk) == pytest.approx(0.25)
    assert expected_steps(walk) == pytest.approx(3)


def test_retries_by_hand() -> None:
    """x = .2 x + .7 y and y = .3 x + .6 give x = .42 / .59."""
    assert success_chance(RETRY) == pytest.approx(0.42 / 0.59)
    assert straight_product(RETRY) == pytest.approx(0.42)


@given(st.lists(st.floats(0.05, 1), min_size=1, max_size=6))
def test_a_straight_chain_is_the_product(rates: list[float]) -> None:
    """Without ways back the chain gives the product of the stages, and takes no step more."""
    n = len(rates)
    p = np.zeros((n, n + 2))
    p[np.arange(n), np.arange(1, n + 1)] = rates
    p[:, -1] = 1 - np.array(rates)
    assert success_chance(p) == pytest.approx(np.prod(rates))
    assert straight_product(p) == pytest.approx(np.prod(rates))
    assert success_chance(p, steps=n) == pytest.approx(np.prod(rates))
    assert success_chance(p, steps=n - 1) == 0


def test_walks_one_by_one() -> None:
    """20,000 walks: the share that succeeds, at all and within 3 steps, and their length."""
    rng = np.random.default_rng(1)
    length, won = np.zeros(20_000), np.zeros(20_000, bool)
    for i in range(len(length)):
        state = 0
        while state < 2:
            state = rng.choice(4, p=RETRY[state])
            length[i] += 1
        won[i] = state == 2
    error = 3 * 0.5 / np.sqrt(20_000)
    assert won.mean() == pytest.approx(success_chance(RETRY), abs=error)
    within = (won & (length <= 3)).mean()
    assert within == pytest.approx(success_chance(RETRY, steps=3), abs=error)
    assert length.mean() == pytest.approx(
        expected_steps(RETRY), abs=3 * length.std() / np.sqrt(20_000)
    )


def test_more_steps_never_hurt() -> None:
    """Within a budget the chance rises to that without one."""
    chances = [float(success_chance(RETRY, steps=n)) for n in range(60)]
    assert np.diff(chances).min() >= 0
    assert chances[-1] == pytest.approx(success_chance(RETRY))


def test_a_circle_without_an_end_never_succeeds() -> None:
    """A state that only ever returns to itself: no success, no mean length, no error."""
    stuck = np.array([[0.5, 0.5, 0, 0], [0, 1, 0, 0]])
    assert success_chance(stuck) == 0
    assert np.isnan(expected_steps(stuck))
    beside = np.array([[0, 0, 0.7, 0.3], [0, 1, 0, 0]])
    assert success_chance(beside) == pytest.approx(0.7)
    assert expected_steps(beside) == pytest.approx(1)


def test_posterior_covers_and_keeps_to_the_arcs() -> None:
    """Over 400 studies of 25 trials a state the 95 % limits hold in 92 to 98 %; others stay 0."""
    rng = np.random.default_rng(2)
    n_in = 0
    for _ in range(400):
        counts = np.stack([rng.multinomial(25, row) for row in RETRY])
        drawn = posterior_transitions(counts, RETRY > 0, draws=600, rng=rng)
        assert (drawn[:, RETRY == 0] == 0).all()
        low, high = np.quantile(success_chance(drawn), [0.025, 0.975])
        n_in += low <= 0.42 / 0.59 <= high
    assert 0.92 <= n_in / 400 <= 0.98


def test_posterior_mean_has_half_a_trial_on_each_arc() -> None:
    """Two allowed arcs, 3 and 0 trials: 3.5 / 4."""
    drawn = posterior_transitions(
        [[0, 3, 0]], [[False, True, True]], draws=40_000, rng=np.random.default_rng(3)
    )
    assert drawn[:, 0, 1].mean() == pytest.approx(3.5 / 4, abs=0.004)


def test_arcs_off_the_way() -> None:
    """All but the next state and failure."""
    assert off_the_straight_way(2).tolist() == [
        [True, False, True, False],
        [True, True, False, False],
    ]


def test_refuses_what_is_no_chain() -> None:
    """A wrong shape, an arc that is not allowed, a state without trials or arcs."""
    with pytest.raises(ValueError, match="n_states \\+ 2"):
        transition_shares([[1, 2]])
    with pytest.raises(NotEnoughDataError):
        transition_shares([[0, 0, 0]])
    rng = np.random.default_rng(0)
    for allowed in ([[False, True, False]], [[False, False, False]]):
        with pytest.raises(ValueError, match="allowed arcs"):
            posterior_transitions([[0, 1, 1]], allowed, draws=5, rng=rng)
