"""What a signal is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.model import Run
from turncurve.table import SignalInfo, TurnTable

FloatArray: TypeAlias = NDArray[np.float64]

Observe: TypeAlias = Callable[[Run], FloatArray]
"""Maps a run to one number for each of its turns: shape (n_turns,), NaN where undefined."""

Together: TypeAlias = Callable[[Run], Mapping[str, FloatArray | Sequence[float | None]]]
"""Maps a run to several observed signals by name, each an array or a number a turn.

Arrays may be one and the same: nobody writes into them.
"""

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
    Likewise `together` for `observe`; see `observed_together`.
    """

    info: SignalInfo
    observe: Observe | None = None
    derive: Derive | None = None
    family: Family | None = None
    together: Together | None = None
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.observe is None) == (self.derive is None):
            raise TypeError(f"signal {self.info.name!r}: wanted exactly one of observe and derive")


def of_family(family: Family, info: SignalInfo) -> Signal:
    """The derived signal that a family gives under the name in `info`."""

    def derive(table: TurnTable) -> FloatArray:
        return family(table)[info.name]

    return Signal(info=info, derive=derive, family=family)


def observed_together(together: Together, info: SignalInfo) -> Signal:
    """The observed signal that one pass over a run gives under the name in `info`."""

    def observe(run: Run) -> FloatArray:
        return np.asarray(together(run)[info.name], dtype=np.float64)

    return Signal(info=info, observe=observe, together=together)


def per_turn(values: Iterable[float | None]) -> FloatArray:
    """One number a turn, with NaN for each None."""
    numbers = values if isinstance(values, list) else list(values)
    if numbers.count(None) == len(numbers):
        return _nothing(len(numbers))
    return np.array(numbers, dtype=np.float64)


def given(run: Run, name: str) -> FloatArray:
    """The numbers that the file gives for the turns under a name; NaN where it gives none."""
    if not any(turn.values for turn in run.turns):
        return unknown(run)
    return per_turn([turn.values.get(name) for turn in run.turns])


def unknown(run: Run) -> FloatArray:
    """NaN for each turn of the run."""
    return _nothing(len(run.turns))


@lru_cache(maxsize=256)
def _nothing(n_turns: int) -> FloatArray:
    """One array for all that is not known of runs of this length, so nobody may write into it."""
    array = np.full(n_turns, np.nan)
    array.flags.writeable = False
    return array
