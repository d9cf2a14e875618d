"""What a column of the turn table means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalInfo:
    """What one signal measures, for tables, axes and tooltips.

    Attributes:
        name: Column name.
        title: A few words for people.
        unit: "share", "tokens", "usd", "count", or the rubric's own.
        better: The good direction; None where neither is.
        denominator: Over what a turn's value is taken; a turn without any is missing (NaN).
        weight: Column that counts this denominator, for a rate whose turns differ in it: within a
            bucket the rate is then over all that is counted there. None if turns weigh the same.
        low: Lowest possible value, None if unbounded or unknown.
        high: Highest possible value, None if unbounded or unknown.
        curve: True if the report draws a curve of it; False for plain counts behind other signals.
    """

    name: str
    title: str
    unit: str = ""
    better: Literal["high", "low"] | None = None
    denominator: str = "turns that have a value"
    weight: str | None = None
    low: float | None = None
    high: float | None = None
    curve: bool = True


def objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """The values as an array of shape (n,), each left as it is, be it a mapping or a tuple."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
