"""How often the rule that ends spirals ends a healthy run, and how soon a stuck one."""

from __future__ import annotations

import numpy as np
import pytest

from signals.hand_made import doing
from turncurve.inspect_ext.spiral_stop import turns_in_spiral

FIVE = 5


def ended_at(keys: list[int], most_turns: int) -> int | None:
    """The turn after which a run of these actions is ended; the rule sees the run so far."""
    for turn in range(10, len(keys) + 1):
        may_spiral = len(set(keys[turn - 10 : turn])) <= 5
        if may_spiral and turns_in_spiral(doing(keys[:turn])) >= most_turns:
            return turn
    return None


@pytest.mark.slow
def test_a_healthy_run_is_seldom_ended() -> None:
    """Of 200 runs of 60 turns over 25 things to do, fewer than 3 in 100 see five marks in a row.

    The share is about .007; 6 of 200 or more come by chance once in 200 times.
    """
    rng = np.random.default_rng(5)
    ended = [ended_at(rng.integers(0, 25, 60).tolist(), FIVE) for _ in range(200)]
    assert sum(turn is not None for turn in ended) < 6


def test_a_stuck_run_is_ended_within_a_dozen_turns() -> None:
    """After 40 healthy turns, of two actions by turns: ended at most 12 turns into them."""
    for seed in range(5):
        healthy = np.random.default_rng(seed).integers(0, 25, 40).tolist()
        turn = ended_at([*healthy, *[7, 8] * 20], FIVE)
        assert turn is not None
        assert 40 < turn <= 52
