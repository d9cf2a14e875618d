"""pass^k and pass@k: by hand, against every choice of trials, without bias, and at the edges."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.stats.pass_k import pass_at_k, pass_hat_k


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.data())
@settings(deadline=None, max_examples=100)
def test_is_the_share_of_all_choices(trials: tuple[int, int], data: st.DataObject) -> None:
    """Both are the share of the choices of k trials in which all, or any, succeeded."""
    n, c = trials
    k = data.draw(st.integers(1, n))
    outcomes = [1] * c + [0] * (n - c)
    chosen = list(combinations(outcomes, k))
    every = np.mean([all(choice) for choice in chosen])
    some = np.mean([any(choice) for choice in chosen])
    assert pass_hat_k([c], [n], k) == pytest.approx([every], abs=1e-14)
    assert pass_at_k([c], [n], k) == pytest.approx([some], abs=1e-14)


def test_is_the_ratio_of_binomial_coefficients() -> None:
    """With 120 trials, where the coefficients have dozens of digits, nothing overflows."""
    value = pass_hat_k([100], [120], 60)
    assert value == pytest.approx([comb(100, 60) / comb(120, 60)], rel=1e-12)


def test_has_no_bias_where_the_plug_in_has() -> None:
    """Over 40,000 scenarios of 4 trials pass^4 averages to the mean of p^4; (c/4)^4 is above."""
    rng = np.random.default_rng(12)
    p = rng.choice([0.2, 0.9], size=40_000)
    c = rng.binomial(4, p)
    n = np.full(len(c), 4)
    truth = np.mean(p**4)
    assert pass_hat_k(c, n, 4).mean() == pytest.approx(truth, abs=0.008)
    assert np.mean((c / 4) ** 4) > truth + 0.02
    assert pass_at_k(c, n, 3).mean() == pytest.approx(np.mean(1 - (1 - p) ** 3), abs=0.008)


def test_one_trial_is_the_success_rate() -> None:
    """With k = 1 both are c / n."""
    assert pass_hat_k([0, 1, 3], [3, 3, 3], 1) == pytest.approx([0, 1 / 3, 1])
    assert pass_at_k([0, 1, 3], [3, 3, 3], 1) == pytest.approx([0, 1 / 3, 1])


def test_too_few_trials_are_missing() -> None:
    """A scenario with fewer than k trials has no value, whatever its outcomes."""
    assert np.isnan(pass_hat_k([2, 3], [2, 4], 3)).tolist() == [True, False]
    assert np.isnan(pass_at_k([0, 0], [2, 0], 3)).all()


def test_refuses_counts_that_cannot_be() -> None:
    """More successes than trials, or a k below 1, is refused."""
    with pytest.raises(ValueError, match="from 0 to the number"):
        pass_hat_k([3], [2], 1)
    with pytest.raises(ValueError, match="at least 1"):
        pass_at_k([1], [2], 0)
