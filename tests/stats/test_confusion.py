"""Confusion matrices: counts by hand, shares, indices, and their edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from turncurve.stats.confusion import (
    bias_index,
    confusion_counts,
    graded_rate,
    observed_agreement,
    pabak,
    prevalence,
    prevalence_index,
    sensitivity,
    specificity,
)

BYRT = np.array([[80.0, 15.0], [5.0, 0.0]])
"""80 say yes twice, none says no twice: the kind of table that Byrt et al. (1993) warn of."""


def test_rows_are_the_grader() -> None:
    """Cell (0, 1) counts what the grader puts in 0 and the reference in 1, cluster by cluster."""
    counts = confusion_counts(
        [0, 0, 1, 1], [1, 1, 1, 0], n_categories=2, cluster=[0, 2, 2, 2], n_clusters=3
    )
    assert_array_equal(counts[0], [[0, 1], [0, 0]])
    assert_array_equal(counts[1], np.zeros((2, 2)))
    assert_array_equal(counts[2], [[0, 1], [1, 1]])


def test_by_hand() -> None:
    """Shares and indices of a table that can be checked by eye."""
    assert observed_agreement(BYRT) == pytest.approx(0.80)
    assert sensitivity(BYRT, 0) == pytest.approx(80 / 85)
    assert specificity(BYRT, 0) == pytest.approx(0.0)
    assert prevalence(BYRT, 0) == pytest.approx(0.85)
    assert graded_rate(BYRT, 0) == pytest.approx(0.95)
    assert prevalence_index(BYRT, 0) == pytest.approx(0.80)
    assert bias_index(BYRT, 0) == pytest.approx(0.10)
    assert pabak(BYRT) == pytest.approx(0.60)


def test_three_categories_by_hand() -> None:
    """Each category against the rest of a three-way table."""
    table = np.array([[98, 9, 14], [44, 285, 296], [17, 13, 174]], dtype=float)
    assert sensitivity(table, 0) == pytest.approx(98 / 159)
    assert specificity(table, 0) == pytest.approx((285 + 296 + 13 + 174) / (307 + 484))
    assert specificity(table, 2) == pytest.approx((98 + 9 + 44 + 285) / (159 + 307))
    assert pabak(table) == pytest.approx((3 * (98 + 285 + 174) / 950 - 1) / 2)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_is_a_plain_count(pairs: list[tuple[int, int]]) -> None:
    """Every share is that of a plain loop over the items."""
    graded, reference = (np.array(each) for each in zip(*pairs, strict=True))
    table = confusion_counts(graded, reference, n_categories=3)[0]
    for category in range(3):
        yes, no = reference == category, reference != category
        hit = (graded == category)[yes].mean() if yes.any() else np.nan
        spared = (graded != category)[no].mean() if no.any() else np.nan
        assert_allclose(sensitivity(table, category), hit)
        assert_allclose(specificity(table, category), spared)


def test_nothing_below_the_line_is_nan() -> None:
    """A share of nothing is no number."""
    empty = np.zeros((2, 2))
    for each in (observed_agreement(empty), pabak(empty), sensitivity(empty, 0)):
        assert np.isnan(each)
    assert np.isnan(sensitivity(np.array([[0.0, 3.0], [0.0, 4.0]]), 0))
    assert np.isnan(specificity(np.array([[3.0, 0.0], [4.0, 0.0]]), 0))
