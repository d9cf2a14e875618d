"""Intervals for a share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from turncurve.errors import NotEnoughDataError
from turncurve.stats.proportion import clopper_pearson, wilson

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.floats(0.5, 0.999))
def test_agrees_with_scipy(count, level):
    """Both intervals are scipy's `binomtest` intervals."""
    k, n = count
    test = stats.binomtest(k, n)
    for method, ours in (("wilson", wilson), ("exact", clopper_pearson)):
        theirs = test.proportion_ci(level, method=method)
        found = ours(k, n, level=level)
        assert (found.low, found.high) == (
            pytest.approx(theirs.low, abs=1e-9),
            pytest.approx(theirs.high, abs=1e-9),
        )
        assert found.value == k / n


def test_no_success_in_forty_is_not_surely_zero():
    """At 0 of 40 the upper limits are .088, where Wald's interval would be [0, 0]."""
    assert wilson(0, 40).high == pytest.approx(0.088, abs=5e-4)
    assert clopper_pearson(0, 40).high == pytest.approx(0.088, abs=5e-4)
    assert wilson(0, 40).low == clopper_pearson(0, 40).low == 0


@given(counts)
def test_mirror(count):
    """Counting failures in place of successes mirrors the interval."""
    k, n = count
    for interval in (wilson, clopper_pearson):
        one, other = interval(k, n), interval(n - k, n)
        assert one.low == pytest.approx(1 - other.high, abs=1e-12)
        assert one.high == pytest.approx(1 - other.low, abs=1e-12)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_no_unit_no_share(interval):
    """A share of nothing is an error, not 0 and not [0, 1]."""
    with pytest.raises(NotEnoughDataError):
        interval(0, 0)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_more_successes_than_units_is_a_mistake(interval):
    """A count outside 0 to n is a caller's mistake."""
    with pytest.raises(ValueError, match="from 0 to 3, got 4"):
        interval(4, 3)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_level_is_a_share(level):
    """A level that is no share between 0 and 1 is a caller's mistake."""
    with pytest.raises(ValueError, match="level"):
        wilson(1, 3, level=level)
