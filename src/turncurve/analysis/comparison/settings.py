"""What a comparison is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turncurve.analysis.error_rules import Rule
from turncurve.analysis.settings import Settings

PairBy: TypeAlias = Literal["scenario", "trial"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """How two conditions are compared.

    Attributes:
        signal: Column to compare; None for the one that stands for quality in both.
        quality_scale: Lowest and highest score, where the files do not say.
        bucket: Turns whose mean is one value; None picks a width from the longest run.
        pair_by: "scenario" takes the mean over a scenario's runs on either side; "trial" the
            differences of runs with the same scenario and trial, as where trials share a seed.
        horizon: Last turn of the mean over turns; None for the last one that half of the scenarios
            reach in both.
        margin: A difference that would not matter, in the signal's unit, for "no worse than that".
        threshold: Quality below which a turn is bad, for the time to the first error; None for 0.7
            of the way up the scale.
        window: Graded turns in the rolling mean of that rule.
        rule: What counts as an error for the time to the first one; None for the first rule that
            both have.
        level: Confidence level; 1 - `level` is that of every test.
        seed: Seed of every random procedure.
        resamples: Draws behind each band, and behind the intervals by resampling.
    """

    signal: str | None = None
    quality_scale: tuple[float, float] | None = None
    bucket: int | None = None
    pair_by: PairBy = "scenario"
    horizon: int | None = None
    margin: float | None = None
    threshold: float | None = None
    window: int = Settings().window
    rule: Rule | None = None
    level: float = 0.95
    seed: int = Settings().seed
    resamples: int = 10_000

    def __post_init__(self) -> None:
        for name in ("bucket", "horizon", "window"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}: wanted a whole number, at least 1, got {value!r}")
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise ValueError(f"margin: wanted a number above 0, got {self.margin!r}")
        if not 0 < self.level < 1:
            raise ValueError(f"level: wanted a number between 0 and 1, got {self.level!r}")
