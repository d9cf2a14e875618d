"""Stretches of neighbouring values that belong together, and how long they last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """One entry a stretch, in the order of the values; arrays of shape (n_stretches,).

    Attributes:
        unit: The unit that it lies in.
        length: Its values, >= 1.
        censored: True where it holds its unit's last value, so that it may have gone on.
        start: Position of its first value.
    """

    unit: IntArray
    length: IntArray
    censored: BoolArray
    start: IntArray


def stretches(unit: ArrayLike, inside: ArrayLike, *, begins: ArrayLike | None = None) -> Stretches:
    """The longest stretches of neighbours of one unit that are all inside.

    Args:
        unit: Unit of each value, never falling; shape (n_values,).
        inside: True where the value is part of a stretch; shape (n_values,).
        begins: True where a value that is inside starts a stretch of its own, whatever came right
            before; shape (n_values,). None: nothing does.
    """
    units, within = np.asarray(unit, dtype=np.int64), np.asarray(inside, dtype=np.bool_)
    n = len(units)
    new_unit = np.diff(units, prepend=-1) != 0
    follows = np.concatenate([[False], within[:-1]])[:n] & ~new_unit
    if begins is not None:
        follows &= ~np.asarray(begins, dtype=np.bool_)
    start = np.flatnonzero(within & ~follows)
    number = np.cumsum(within & ~follows) - 1
    length = np.bincount(number[within], minlength=len(start)).astype(np.int64)
    is_last = np.append(new_unit[1:], np.ones(min(n, 1), dtype=np.bool_))
    return Stretches(
        unit=units[start], length=length, censored=is_last[start + length - 1], start=start
    )
