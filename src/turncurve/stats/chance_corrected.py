"""Agreement beyond what chance would give: what every coefficient of it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceCorrected:
    """A coefficient (observed - expected) / (1 - expected).

    Attributes:
        value: None where chance alone agrees in everything, so that nothing is left to measure.
        std_error: As if items were independent of each other, which turns of a run are not: it is
            here to be held against published figures. None where the formula gives none.
        observed: Observed agreement.
        expected: Agreement that chance would give, by this coefficient's idea of chance.
        n_items: Items that two or more rated.
    """

    value: float | None
    std_error: float | None
    observed: float
    expected: float
    n_items: int


def beyond_chance(observed: ArrayLike, expected: ArrayLike) -> FloatArray:
    """(observed - expected) / (1 - expected); NaN where chance agrees in everything.

    Args:
        observed: Shape (...).
        expected: Shape (...), at most 1.
    """
    agreed, by_chance = np.broadcast_arrays(
        np.asarray(observed, np.float64), np.asarray(expected, np.float64)
    )
    room = 1 - by_chance
    none = np.full(agreed.shape, np.nan)
    return np.asarray(np.divide(agreed - by_chance, room, out=none, where=room > 1e-12))
