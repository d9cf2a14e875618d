"""Fieller's limits: by the definition, coverage, and no limit where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from turncurve.stats.fieller import fieller_ratio


def test_at_the_limits_the_difference_is_just_not_told_from_0() -> None:
    """top - r * bottom over its error is the quantile of t at both ends."""
    cov = np.array([[0.04, 0.01], [0.01, 0.09]])
    found = fieller_ratio(1.0, 2.0, cov, df=9)
    assert found.value == 0.5
    for r in (found.low, found.high):
        assert r is not None
        error = np.sqrt(cov[0, 0] - 2 * r * cov[0, 1] + r * r * cov[1, 1])
        assert abs(1.0 - r * 2.0) / error == pytest.approx(stats.t.ppf(0.975, 9), rel=1e-9)


def test_no_limits_where_the_denominator_may_be_0() -> None:
    """A bottom of one standard error says nothing of a ratio."""
    found = fieller_ratio(1.0, 1.0, np.eye(2), df=20)
    assert (found.low, found.high) == (None, None)


@pytest.mark.slow
def test_coverage() -> None:
    """The interval holds the true ratio in 95 % of 10,000 draws (+-0.7 %)."""
    rng = np.random.default_rng(1)
    cov = np.array([[1.0, 0.6], [0.6, 1.0]])
    draws = rng.multivariate_normal([3.0, 6.0], cov, size=10_000)
    held = []
    for top, bottom in draws:
        found = fieller_ratio(top, bottom, cov, df=1e6)
        held.append(found.low is None or found.low <= 0.5 <= (found.high or 0))
    assert np.mean(held) == pytest.approx(0.95, abs=0.007)
