"""How far a cliff or knee moved between two curves of each unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turncurve.errors import NotEnoughDataError
from turncurve.stats.bootstrap import MIN_UNITS, percentile_interval, resampled_counts
from turncurve.stats.shape_contrasts import Form, contrasts, often_followed, places_of

FloatArray: TypeAlias = NDArray[np.float64]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """A place in two curves, and how far apart they are."""

    old: int
    new: int
    moved: int
    """`new` less `old`, in turns."""
    low: int | None
    """Of `moved`; None with fewer than 10 units."""
    high: int | None
    n_units: int
    n_resamples: int | None


def moved_place(
    old: ArrayLike,
    new: ArrayLike,
    form: Form,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2_000,
) -> Movement:
    """The movement of the place where a form of departure fits best, with a joint interval.

    Each resample draws whole units with both of their curves, looks for the place anew in either,
    and takes the difference; the interval is the middle of these, widened to whole turns. Two
    places that each have an interval do not give one for their difference.

    Args:
        old: One curve a unit; shape (n_units, n_turns), NaN where a turn has no value.
        new: The curves of the same units, in the same order and number of turns.
        form: What the departure looks like.
        rng: Source of randomness.
        level: Confidence level.
        resamples: Number of resamples.

    Raises:
        NotEnoughDataError: In one of them no place has been followed by three units.

    References:
        Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 13 (percentiles).
    """
    places = [_Places(values, form) for values in (old, new)]
    n_units = len(places[0].moment)
    first, second = (int(place.best(np.ones((1, n_units)))[0]) for place in places)
    limits: tuple[int | None, int | None] = (None, None)
    if n_units >= MIN_UNITS:
        counts = resampled_counts(n_units, resamples, rng)
        moves = places[1].best(counts) - places[0].best(counts)
        low, high = percentile_interval(moves, level, n_units=n_units)
        limits = math.floor(low + _ROUNDING), math.ceil(high - _ROUNDING)
    return Movement(
        old=first,
        new=second,
        moved=second - first,
        low=limits[0],
        high=limits[1],
        n_units=n_units,
        n_resamples=resamples if limits[0] is not None else None,
    )


class _Places:
    """What a form's fit at each place sums over units."""

    def __init__(self, values: ArrayLike, form: Form) -> None:
        y = np.atleast_2d(np.asarray(values, dtype=np.float64))
        found = often_followed(contrasts(y, form, places_of(form, y.shape[1])))
        if not len(found.position):
            raise NotEnoughDataError("moved_place: places that units pass", need=1, got=0)
        self._position = found.position
        self._weight = found.weight
        self.moment: FloatArray = np.where(found.weight > 0, found.size, 0.0) * found.weight

    def best(self, counts: FloatArray) -> FloatArray:
        """The place with the best fit in each resample; NaN where none can be told."""
        weight = counts @ self._weight
        summed = counts @ self.moment
        explained = np.where(weight > 0, summed**2 / np.where(weight > 0, weight, 1), -1.0)
        at = explained.argmax(axis=1)
        best = self._position[at].astype(np.float64)
        return np.where(np.take_along_axis(explained, at[:, None], axis=1)[:, 0] < 0, np.nan, best)
