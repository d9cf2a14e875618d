"""Stretches: by hand, against a plain loop, edges."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from turncurve.stats.stretches import stretches


def by_loop(
    unit: list[int], inside: list[bool], begins: list[bool]
) -> list[tuple[int, int, bool, int]]:
    found: list[list[int]] = []
    for i in range(len(unit)):
        if not inside[i]:
            continue
        goes_on = i > 0 and inside[i - 1] and unit[i - 1] == unit[i] and not begins[i]
        if goes_on:
            found[-1][1] += 1
        else:
            found.append([unit[i], 1, i])
    last = {u: i for i, u in enumerate(unit)}
    return [(u, n, last[u] == start + n - 1, start) for u, n, start in found]


def test_stretches_by_hand() -> None:
    """Two units of 5 and 3: the second stretch of the first unit reaches its end."""
    found = stretches([0] * 5 + [1] * 3, [1, 1, 0, 0, 1, 1, 0, 0])
    assert_array_equal(found.unit, [0, 0, 1])
    assert_array_equal(found.length, [2, 1, 1])
    assert_array_equal(found.censored, [False, True, False])
    assert_array_equal(found.start, [0, 4, 5])


def test_a_value_may_begin_a_stretch_of_its_own() -> None:
    """Fail, fail, fail, of which the third starts anew: chains of two and one."""
    found = stretches([0, 0, 0], [1, 1, 1], begins=[1, 0, 1])
    assert_array_equal(found.length, [2, 1])
    assert_array_equal(found.censored, [False, True])


def test_nothing_has_no_stretch() -> None:
    """No values, or none inside."""
    assert len(stretches([], []).length) == 0
    assert len(stretches([0, 0], [False, False]).length) == 0


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.booleans(), st.booleans()), max_size=30))
def test_the_same_as_a_plain_loop(rows: list[tuple[int, bool, bool]]) -> None:
    """For units of any lengths, and stretches of any starts."""
    unit = np.cumsum([step for step, _, _ in rows]).tolist()
    inside, begins = [row[1] for row in rows], [row[2] for row in rows]
    found = stretches(unit, inside, begins=begins)
    ours = list(zip(found.unit, found.length, found.censored, found.start, strict=True))
    assert ours == by_loop(unit, inside, begins)
