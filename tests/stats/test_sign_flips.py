"""The largest of many steps: against every flip written out, at its nominal rate, at the edges."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from turncurve.stats.sign_flips import sign_flips


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def written_out(d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t, p and adjusted p over all 2**n flips, one at a time."""

    def t_of(a: np.ndarray) -> np.ndarray:
        n = (~np.isnan(a)).sum(axis=0)
        return np.nanmean(a, axis=0) / (np.nanstd(a, axis=0, ddof=1) / np.sqrt(n))

    t = t_of(d)
    flips = np.array([np.abs(t_of(d * np.array(s)[:, None])) for s in product([1, -1], repeat=8)])
    floor = np.abs(t) - 1e-9
    own = (flips >= floor).mean(axis=0)
    largest = flips.max(axis=1)
    return t, own, np.array([(largest >= one).mean() for one in floor])


def test_all_flips_equal_those_written_out() -> None:
    """With 8 units, one of them missing at a position, t and both p equal the sum over 2**8."""
    d = np.random.default_rng(1).normal(0.4, 1, size=(8, 5))
    d[2, 3] = np.nan
    result = sign_flips(d, rng=rng())
    t, own, adjusted = written_out(d)
    assert result.exact
    assert result.t == pytest.approx(t)
    assert result.p == pytest.approx(own)
    assert result.p_adjusted == pytest.approx(adjusted)


def test_t_is_the_t_test() -> None:
    """A position's t is that of a one-sample t test."""
    d = np.random.default_rng(2).normal(size=(30, 4))
    assert sign_flips(d, rng=rng(), n_flips=10).t == pytest.approx(
        stats.ttest_1samp(d, 0).statistic
    )


def test_random_flips_agree_with_all_flips() -> None:
    """Where 16 units force random flips, p is near that of the t test, which it estimates."""
    d = np.random.default_rng(3).normal(0.35, 1, size=(16, 3))
    result = sign_flips(d, rng=rng(), n_flips=40_000)
    assert not result.exact
    assert result.p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=0.03)
    assert 0 < result.monte_carlo_error(0.05) < 0.002


def test_five_runs_cannot_pass() -> None:
    """Five runs that all fall by a mile give p = .0625 and no smaller; nothing is critical."""
    d = np.random.default_rng(1).normal(-1, 0.05, size=(5, 3))
    result = sign_flips(d, rng=rng())
    assert result.p_adjusted.tolist() == [0.0625] * 3
    assert result.smallest_p == 0.0625
    assert result.critical == np.inf


def test_the_largest_of_many_is_no_finding() -> None:
    """With no step at any of 19 turns, 5 % are called; the smallest of 19 plain p calls 56 %."""
    source, n_suites = np.random.default_rng(21), 300
    naive = adjusted = 0
    for _ in range(n_suites):
        y = source.normal(0, 0.6, (36, 20)) + source.normal(0, 1, (36, 1))
        d = np.diff(y, axis=1)
        naive += stats.ttest_1samp(d, 0).pvalue.min() < 0.05
        adjusted += sign_flips(d, rng=source, n_flips=300).p_adjusted.min() <= 0.05
    assert 0.47 < naive / n_suites < 0.65
    assert 0.02 < adjusted / n_suites < 0.088


def test_critical_is_where_the_adjusted_p_passes() -> None:
    """A position's |t| reaches the critical value where its adjusted p is at most alpha."""
    source = np.random.default_rng(5)
    for n_units in (12, 40):
        d = source.normal(np.linspace(0, 1.2, 12), 1, size=(n_units, 12))
        result = sign_flips(d, rng=rng(), n_flips=999)
        passes = np.abs(result.t) >= result.critical * (1 - 1e-9)
        assert passes.tolist() == (result.p_adjusted <= 0.05).tolist()
        assert 0 < passes.sum() < 12


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
@settings(deadline=None, max_examples=40)
def test_units_of_the_score_change_nothing(seed: int, scale: float) -> None:
    """Multiplying all contrasts leaves t and both p as they were."""
    d = np.random.default_rng(seed).normal(0.3, 1, size=(9, 4))
    one, other = sign_flips(d, rng=rng()), sign_flips(d * scale, rng=rng())
    assert other.t == pytest.approx(one.t)
    assert other.p.tolist() == one.p.tolist()
    assert other.p_adjusted.tolist() == one.p_adjusted.tolist()


def test_order_of_units_changes_nothing() -> None:
    """With all flips tried, the rows may come in any order."""
    d = np.random.default_rng(8).normal(0.3, 1, size=(10, 4))
    assert sign_flips(d[::-1], rng=rng()).p_adjusted == pytest.approx(
        sign_flips(d, rng=rng()).p_adjusted
    )


def test_no_spread_is_no_test() -> None:
    """Units that agree, a single unit and none at all give NaN and no critical value."""
    for d in (np.full((6, 2), -0.5), np.ones((1, 2)), np.zeros((0, 2))):
        result = sign_flips(d, rng=rng())
        assert np.isnan(result.t).all()
        assert np.isnan(result.p).all()
        assert np.isnan(result.p_adjusted).all()
        assert np.isnan(result.critical)


def test_a_dead_position_leaves_the_others() -> None:
    """A position whose units agree has no p, and the others have what they have without it."""
    d = np.random.default_rng(9).normal(0.5, 1, size=(10, 3))
    with_dead = np.hstack([d, np.full((10, 1), 0.25)])
    one, other = sign_flips(d, rng=rng()), sign_flips(with_dead, rng=rng())
    assert other.p_adjusted[:3].tolist() == one.p_adjusted.tolist()
    assert np.isnan(other.p_adjusted[3])
