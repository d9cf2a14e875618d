"""The options that most analyses share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

Axis: TypeAlias = Literal["turn", "tokens", "progress", "event"]
"""Turn index; cumulative context tokens sent; share of the run's turns; offset from an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How runs are read as a curve.

    Attributes:
        bucket: Turns in a bucket; None picks a width from the longest run. On the axis "tokens" it
            counts tokens, on "progress" it is a number of equal parts.
        window: Graded turns in the rolling mean behind the first bad turn.
        threshold: The rolling mean below which a turn counts as bad, on the quality signal's scale.
        quality_scale: Lowest and highest score that the rubric behind `quality` can give, where the
            files do not say or are not right; None takes it from them.
        axis: What the curve runs along.
        event: Which kind of event the axis "event" counts from.
        level: Confidence level of every interval.
        seed: Seed of every random procedure.
        resamples: Number of bootstrap or permutation draws.
    """

    bucket: int | None = None
    window: int = 5
    threshold: float | None = None
    quality_scale: tuple[float, float] | None = None
    axis: Axis = "turn"
    event: str = "compaction"
    level: float = 0.95
    seed: int = 20_261_130
    resamples: int = 2_000

    def __post_init__(self) -> None:
        if self.quality_scale is not None:
            low, high = self.quality_scale
            if not -math.inf < low < high < math.inf:
                raise ValueError(
                    f"quality_scale: wanted two numbers, the lower first, got {self.quality_scale}"
                )
