"""Columns of a regression: which of them say something of their own."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from turncurve.stats.cluster_rows import independent_columns


def test_a_column_that_others_make_up_is_left_out() -> None:
    """The second of two that add up to the first; a column of zeros; one that is far larger."""
    one = np.ones(6)
    odd = np.array([0, 1.0] * 3)
    turn = np.arange(6.0) * 1e9
    design = np.column_stack([one, turn, odd, one - odd, 0 * one])
    assert independent_columns(design).tolist() == [0, 1, 2]


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000))
def test_what_is_kept_spans_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(20, 3)) @ rng.normal(size=(3, 6))
    kept = independent_columns(design)
    assert len(kept) == np.linalg.matrix_rank(design) == 3
    assert np.linalg.matrix_rank(design[:, kept]) == 3
