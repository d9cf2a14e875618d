"""What a signal is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.model import Run
from turncurve.table import SignalInfo, TurnTable

FloatArray: TypeAlias = NDArray[np.float64]

Observe: TypeAlias = Callable[[Run], FloatArray]
"""Maps a run to one number for each of its turns: shape (n_turns,), NaN where undefined."""

Derive: TypeAlias = Callable[[TurnTable], FloatArray]
"""Maps a turn table to one number for each of its rows: shape (n_turns,), NaN where undefined."""

Family: TypeAlias = Callable[[TurnTable], Mapping[str, FloatArray]]
"""Maps a turn table to several signals by name, which share most of their work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One per-turn signal: what it means, and how it is computed.

    Exactly one of `observe` (needs the run's text; computed once, when a run is read) and `derive`
    (from columns of the table, which it names in `needs`) is given. Where `derive` is one of a
    family, `family` gives the same values beside those of its other members; see `of_family`.
    """

    info: SignalInfo
    observe: Observe | None = None
    derive: Derive | None = None
    family: Family | None = None
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.observe is None) == (self.derive is None):
            raise TypeError(f"signal {self.info.name!r}: wanted exactly one of observe and derive")


def of_family(family: Family, info: SignalInfo) -> Signal:
    """The derived signal that a family gives under the name in `info`."""

    def derive(table: TurnTable) -> FloatArray:
        return family(table)[info.name]

    return Signal(info=info, derive=derive, family=family)


def per_turn(values: Iterable[float | None]) -> FloatArray:
    """One number a turn, with NaN for each None."""
    return np.array(list(values), dtype=np.float64)


def unknown(run: Run) -> FloatArray:
    """NaN for each turn of the run."""
    return np.full(len(run.turns), np.nan)
