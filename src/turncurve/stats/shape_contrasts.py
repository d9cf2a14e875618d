"""Steps, kinks and lone turns of each unit's curve, net of that unit's own straight line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Form: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
"""Maps turns (n_turns,) and positions (n_positions,) to what a departure that starts at each
position looks like: shape (n_turns, n_positions)."""

MIN_SIDE = 2
"""Fewest turns on either side of a step: one turn alone is a bad turn, not a new level."""
MIN_UNITS = 3
LEAST_SHARE = 0.2
"""Share of the units that must have been followed to a place for it to be looked at."""
_TOLD_APART = 1e-9


def steps_at(turns: IntArray, positions: IntArray) -> FloatArray:
    """0 before a position, 1 from it on: another level."""
    return np.asarray(turns[:, None] >= positions, dtype=np.float64)


def kinks_at(turns: IntArray, positions: IntArray) -> FloatArray:
    """0 up to a position, then turns past it: another slope, without a jump."""
    return np.asarray(np.maximum(turns[:, None] - positions, 0), dtype=np.float64)


def lone_turns_at(turns: IntArray, positions: IntArray) -> FloatArray:
    """1 at a position alone."""
    return np.asarray(turns[:, None] == positions, dtype=np.float64)


def places_of(form: Form, n_turns: int) -> IntArray:
    """Where a form is looked for in curves of so many turns, as turns from 1."""
    if form is lone_turns_at:
        return np.arange(1, n_turns + 1)
    last = n_turns - MIN_SIDE + (1 if form is steps_at else 0)
    return np.arange(MIN_SIDE + 1, last + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts:
    """Each unit's own size of a departure at each position; arrays of (n_units, n_positions)."""

    position: IntArray
    """Turns counted from 1; a step's is the first turn of the new level. Shape (n_positions,)."""
    size: FloatArray
    """NaN where a unit was not followed far enough."""
    weight: FloatArray
    """Sum of squares of the form net of the unit's line: the size's variance is that of a turn
    over it. 0 where the size is NaN."""

    @property
    def common(self) -> FloatArray:
        """The size that fits all units at once by least squares; NaN where no unit has one."""
        total = self.weight.sum(axis=0)
        weighted = np.where(self.weight > 0, self.size, 0.0) * self.weight
        return np.asarray(weighted.sum(axis=0) / np.where(total > 0, total, np.nan))

    @property
    def explained(self) -> FloatArray:
        """Sum of squares over all units and turns that the common size takes away."""
        return np.asarray(self.common**2 * self.weight.sum(axis=0))


def contrasts(values: ArrayLike, form: Form, positions: IntArray) -> Contrasts:
    """The size of a departure at each position, by each unit's least squares beside its own line.

    What a unit's own level and slope explain is taken out of the form first, so that a straight
    decline, however steep and however different from unit to unit, gives sizes about 0.

    Args:
        values: One curve a unit; shape (n_units, n_turns), NaN where a turn has no value.
        form: What the departure looks like.
        positions: Where to look for one, as turns from 1.
    """
    y = np.atleast_2d(np.asarray(values, dtype=np.float64))
    size = np.full((len(y), len(positions)), np.nan)
    weight = np.zeros((len(y), len(positions)))
    for units, turns in same_turns(y):
        own, norm = net_of_line(turns, form, positions)
        size[units] = y[np.ix_(units, turns - 1)] @ (own / np.where(norm > 0, norm, np.nan))
        weight[units] = norm
    return Contrasts(position=positions, size=size, weight=weight)


def often_followed(found: Contrasts) -> Contrasts:
    """The places that enough units were followed to; a few have wild sizes, which would win."""
    n = (~np.isnan(found.size)).sum(axis=0)
    often = n >= max(MIN_UNITS, LEAST_SHARE * len(found.size))
    return Contrasts(
        position=found.position[often], size=found.size[:, often], weight=found.weight[:, often]
    )


def same_turns(values: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """Units with values at the same turns (counted from 1), at least three of them."""
    patterns, of_unit = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    groups = [
        (np.flatnonzero(of_unit.ravel() == number), np.flatnonzero(pattern) + 1)
        for number, pattern in enumerate(patterns)
    ]
    return [(units, turns) for units, turns in groups if len(turns) > 2]


def net_of_line(turns: IntArray, form: Form, positions: IntArray) -> tuple[FloatArray, FloatArray]:
    """A form less what a straight line explains of it, and its sum of squares.

    The sum is 0 at a position where the form cannot be told from a line, or where fewer than two
    turns lie on a side; shapes (n_turns, n_positions) and (n_positions,).
    """
    forms = form(turns, positions)
    basis, _ = np.linalg.qr(np.stack([np.ones(len(turns)), turns - turns.mean()], axis=1))
    own = forms - basis @ (basis.T @ forms)
    norm = (own**2).sum(axis=0)
    told = norm > _TOLD_APART * np.maximum((forms**2).sum(axis=0), 1)
    if form is not lone_turns_at:
        before = (turns[:, None] < positions).sum(axis=0)
        told &= (before >= MIN_SIDE) & (len(turns) - before >= MIN_SIDE)
    return own, np.where(told, norm, 0.0)


def slopes(values: ArrayLike) -> FloatArray:
    """Each unit's least-squares slope per turn; NaN with fewer than 2 turns. Shape (n_units,)."""
    y = np.atleast_2d(np.asarray(values, dtype=np.float64))
    known = ~np.isnan(y)
    n = known.sum(axis=1)
    turn = np.where(known, np.arange(1, y.shape[1] + 1), 0.0)
    centred = np.where(known, turn - (turn.sum(axis=1) / np.maximum(n, 1))[:, None], 0.0)
    spread = (centred**2).sum(axis=1)
    along = (centred * np.where(known, y, 0.0)).sum(axis=1)
    return np.asarray(np.where(n > 1, along / np.where(n > 1, spread, 1), np.nan))


def freed_of(values: ArrayLike, form: Form, position: int) -> tuple[FloatArray, FloatArray]:
    """What is left of each unit's curve after its own line and departure, and its slope beside it.

    Returns:
        Residuals, of the shape of `values`, and slopes, of shape (n_units,); both NaN in units
        that were not followed far enough.
    """
    y = np.atleast_2d(np.asarray(values, dtype=np.float64))
    left, slope = np.full(y.shape, np.nan), np.full(len(y), np.nan)
    at = np.array([position], dtype=np.int64)
    for units, turns in same_turns(y):
        if not net_of_line(turns, form, at)[1][0]:
            continue
        model = np.column_stack([np.ones(len(turns)), turns - turns.mean(), form(turns, at)[:, 0]])
        own = y[np.ix_(units, turns - 1)]
        fitted, *_ = np.linalg.lstsq(model, own.T, rcond=None)
        left[np.ix_(units, turns - 1)] = own - (model @ fitted).T
        slope[units] = fitted[1]
    return left, slope
