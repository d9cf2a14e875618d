"""Holm's p values: a worked example, statsmodels, what is not tested."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.stats.holm import holm


def test_by_hand() -> None:
    """.01, .04, .03 of three tests: .03, .06 and .06."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_what_is_not_tested_is_in_no_family() -> None:
    """One test alone keeps its p."""
    assert holm([None, 0.2, None]) == [None, 0.2, None]
    assert holm([]) == []


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_same_as_statsmodels(p: list[float]) -> None:
    """For any p values, ties among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - slow to load
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
