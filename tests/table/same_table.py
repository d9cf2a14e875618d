"""Whether two turn tables are the same in every cell."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from turncurve.table import TurnTable


def assert_same(one: TurnTable, other: TurnTable) -> None:
    """Fail at the first array that differs; NaN equals NaN."""
    for part in ("runs", "calls", "events"):
        ours, theirs = getattr(one, part), getattr(other, part)
        for field in fields(ours):
            same(getattr(ours, field.name), getattr(theirs, field.name), f"{part}.{field.name}")
    same(one.run, other.run, "run")
    same(one.turn, other.turn, "turn")
    assert set(one.columns) == set(other.columns)
    for name, column in one.columns.items():
        same(column, other.columns[name], name)
    assert dict(one.info) == dict(other.info)


def same(ours: np.ndarray, theirs: np.ndarray, name: str) -> None:
    if ours.dtype == object:
        assert ours.tolist() == theirs.tolist(), name
    else:
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
