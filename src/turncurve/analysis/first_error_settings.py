"""What is asked of first errors beyond their times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from turncurve.analysis.error_rules import Rule
from turncurve.analysis.settings import Settings
from turncurve.model import ExitType
from turncurve.stats.survival import Tie

Alike: TypeAlias = Literal["scenario", "condition", "model", "agent"]
"""Which runs are taken for alike: trials of a scenario under one condition and model, or all runs
of a condition, a model, an agent."""

COMPETING = (ExitType.FAIL_FINISH.value, ExitType.CRASH.value, ExitType.USER_ABORT.value)
"""Exits that end a run badly. A budget stops any run that gets so far, so it censors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstErrorSettings:
    """What counts, what is compared, and when a hazard counts as flat.

    Attributes:
        rules: Rules to go by; none means all that some run has values for.
        reading: Window, threshold, scale, level, seed.
        tie: Which turn a quantile is where survival runs flat at exactly 1 - p.
        horizon: Turn to which mean times are restricted; None chooses one.
        alike: Which runs are taken for alike.
        competing: Exit types of runs that can no longer have the event.
        flat: A hazard counts as flat where a doubling of the turn surely changes it by less than
            this factor, either way; above 1.
    """

    rules: tuple[Rule, ...] = ()
    reading: Settings = field(default_factory=Settings)
    tie: Tie = "first"
    horizon: int | None = None
    alike: Alike = "scenario"
    competing: tuple[str, ...] = COMPETING
    flat: float = 1.25

    def __post_init__(self) -> None:
        if not self.flat > 1:
            raise ValueError(f"flat: wanted a factor above 1, got {self.flat!r}")
        if self.horizon is not None and self.horizon < 1:
            raise ValueError(f"horizon: wanted a turn from 1, got {self.horizon!r}")
