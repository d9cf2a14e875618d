"""Would running the same scenarios again give the same difference?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.settings import PairBy
from turncurve.errors import NotEnoughDataError
from turncurve.stats.paired_step import paired_step
from turncurve.stats.suite_difference import suite_difference

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteError:
    """Would running these scenarios again agree? Units are trials."""

    value: float
    std_error: float
    df: float | None
    low: float | None
    high: float | None
    n_scenarios: int
    n_trials_a: int
    n_trials_b: int


def suite_error(
    a: FloatArray, b: FloatArray, by: PairBy, level: float
) -> tuple[SuiteError | None, str | None]:
    """The error of running both suites again; None and why where it cannot be had.

    Args:
        a: One value a run of a, by trial and scenario; shape (R_a, S), NaN where there is none.
        b: Likewise; with trials paired, of the same shape.
        by: What is paired.
        level: Confidence level.
    """
    if by == "trial":
        if (np.isnan(a) | np.isnan(b)).all():
            return None, "no run has a value at every turn on both sides"
        found = paired_step(a, b, level=level).suite
        if found.std_error is None:
            return None, "one trial: whether running the suites again would agree is not estimable"
        return SuiteError(
            value=found.delta, std_error=found.std_error, df=found.df, low=found.low,
            high=found.high, n_scenarios=int((~np.isnan(a) & ~np.isnan(b)).any(axis=0).sum()),
            n_trials_a=found.n, n_trials_b=found.n,
        ), None  # fmt: skip
    paired = ~np.isnan(a).all(axis=0) & ~np.isnan(b).all(axis=0)
    try:
        suite = suite_difference(a[:, paired], b[:, paired], level=level)
    except NotEnoughDataError as problem:
        return None, str(problem).removeprefix("suite_difference: ")
    return SuiteError(
        value=suite.value, std_error=suite.std_error, df=suite.df, low=suite.low, high=suite.high,
        n_scenarios=suite.n_scenarios, n_trials_a=suite.n_trials_a, n_trials_b=suite.n_trials_b,
    ), None  # fmt: skip
