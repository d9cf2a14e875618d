"""An estimate: a number with its uncertainty, or its absence with a reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One estimated number.

    `value` None means that there is no estimate, and `reason` says why. `low` and `high` are None
    where no interval can be given (one run, say), with the reason among `warnings`.
    """

    estimand: str
    """What is estimated, in a sentence."""
    value: float | None
    std_error: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    df: float | None = None
    n_turns: int = 0
    n_runs: int = 0
    n_clusters: int = 0
    """Independent units behind the interval: runs, or scenarios where they repeat."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """Reason to count of what was left out."""
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    n_resamples: int | None = None
    reason: str | None = None


def none_if_nan(value: float) -> float | None:
    """A number as a result holds it: None where an array has NaN."""
    return None if math.isnan(value) else float(value)


def absent(estimand: str, reason: str, *, level: float = 0.95) -> Estimate:
    """An estimate that could not be made, and why."""
    return Estimate(estimand=estimand, value=None, reason=reason, level=level)
