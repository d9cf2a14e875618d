"""Ranges of whole numbers in words: `1-3,4-6,7-10,11+`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_RANGE = re.compile(r"\s*(\d{1,12})\s*(?:-\s*(\d{1,12})|(\+))?\s*")


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `start` to `end`, both included; `end` None has no end."""

    start: int
    end: int | None

    def holds(self, values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the values lie in it; NaN does not."""
        return np.asarray(
            (values >= self.start) & (values <= (np.inf if self.end is None else self.end))
        )

    def __str__(self) -> str:
        if self.end is None:
            return f"{self.start:,}+"
        return f"{self.start:,}" if self.end == self.start else f"{self.start:,}-{self.end:,}"


def parse_ranges(text: str) -> tuple[Range, ...]:
    """Ranges as people write them, rising and without overlap.

    Raises:
        ValueError: The text is something else.
    """
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"wanted ranges such as 1-3,4-6,7-10,11+, got {part.strip()!r:.40}")
        start, end, open_ = int(match[1]), match[2], match[3]
        found.append(Range(start, None if open_ else int(end) if end else start))
    for one in found:
        if one.end is not None and one.end < one.start:
            raise ValueError(f"wanted a range that rises, got {one.start}-{one.end}")
    for one, following in pairwise(found):
        if one.end is None or following.start <= one.end:
            raise ValueError(f"wanted ranges that follow each other, got {following} after {one}")
    return tuple(found)


def turn_ranges(
    turn: NDArray[np.int64], run: NDArray[np.int64], *, fewest_runs: int
) -> tuple[Range, ...]:
    """Turns 1-3, 4-6, 7-10, and then ranges twice as long each (11-20, 21-40), the last open.

    A further range begins only where `fewest_runs` runs or more reach it.
    """
    starts = [1, 4, 7, 11]
    while len(np.unique(run[turn > 2 * (starts[-1] - 1)])) >= fewest_runs:
        starts.append(2 * (starts[-1] - 1) + 1)
    return _between(starts)


def even_ranges(values: NDArray[np.float64], *, most: int = 4) -> tuple[Range, ...]:
    """At most `most` ranges that hold about as many of the values each; NaN is left out."""
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return ()
    cuts = known[[len(known) * i // most for i in range(1, most)]]
    starts = sorted({0, *(int(cut) for cut in cuts if cut > known[0])})
    return _between(starts)


def _between(starts: Sequence[int]) -> tuple[Range, ...]:
    ends = [start - 1 for start in starts[1:]]
    return tuple(Range(s, e) for s, e in zip(starts, [*ends, None], strict=True))
