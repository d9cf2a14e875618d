"""Adjusted p values over a family of tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.multitest import multipletests

from turncurve.stats.false_discovery import benjamini_hochberg

PUBLISHED = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262),
    *(0.5719, 0.6528, 0.7590, 1.0000),
]
"""The 15 tests of Benjamini and Hochberg (1995), section 4.1."""


def test_the_published_example() -> None:
    """At .05 the four smallest stand, where Bonferroni keeps three."""
    assert (benjamini_hochberg(PUBLISHED).q <= 0.05).sum() == 4
    assert (np.array(PUBLISHED) * 15 <= 0.05).sum() == 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_agrees_with_statsmodels(p: list[float]) -> None:
    """Both adjusted values are those of statsmodels, in the order given."""
    found = benjamini_hochberg(p)
    assert_allclose(found.q, multipletests(p, method="fdr_bh")[1], atol=1e-12)
    assert_allclose(found.q_any, multipletests(p, method="fdr_by")[1], atol=1e-12)


def test_what_was_not_tested_is_no_member() -> None:
    """NaN stays NaN, and does not count."""
    found = benjamini_hochberg([0.02, np.nan, 0.04])
    assert found.n_tested == 2
    assert found.q.tolist() == pytest.approx([0.04, np.nan, 0.04], nan_ok=True)
    assert benjamini_hochberg([]).n_tested == 0
