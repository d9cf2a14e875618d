"""A straight line over turns, with a standard error over runs, as an estimate."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.cluster_ols import cluster_ols
from turncurve.stats.estimate import Estimate, absent, none_if_nan

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

TURNS = 10
"""Turns that changes and slopes are told for."""


def line_over_turns(
    estimand: str, run: IntArray, at: FloatArray, y: FloatArray, level: float
) -> tuple[Estimate, float | None]:
    """The slope of y over position, and the p value of none.

    Args:
        estimand: What it is, in words.
        run: Which run each value is of; shape (n,).
        at: Position, in tens of turns; shape (n,).
        y: Shape (n,).
        level: Confidence level.

    Returns:
        The slope, absent with a reason where too little is known; and p, None where the runs are
        too few for one.
    """
    why = too_little(run, at)
    if why is not None:
        return absent(estimand, why, level=level), None
    fit = cluster_ols(y, np.stack([np.ones(len(at)), at], axis=1), run, level=level)
    spread = float(fit.std_error[1]) > 0
    warnings = []
    if not spread:
        warnings.append("no interval: runs do not differ")
    elif math.isnan(fit.p[1]):
        warnings.append("no p value: too few runs carry it")
    return Estimate(
        estimand=estimand,
        value=float(fit.value[1]),
        std_error=float(fit.std_error[1]) if spread else None,
        low=none_if_nan(float(fit.low[1])) if spread else None,
        high=none_if_nan(float(fit.high[1])) if spread else None,
        level=level,
        method="least squares, CR2 standard error over runs, Satterthwaite t",
        df=none_if_nan(float(fit.df[1])) if spread else None,
        n_turns=len(at),
        n_runs=fit.n_clusters,
        n_clusters=fit.n_clusters,
        warnings=tuple(warnings),
    ), none_if_nan(float(fit.p[1]))


def too_little(run: IntArray, at: FloatArray) -> str | None:
    """Why there is no line through such values; None where there is one."""
    if len(np.unique(run)) < 2:
        return "fewer than 2 runs have such a turn"
    if len(at) < 3 or np.ptp(at) == 0:
        return "such turns stand at one position only"
    return None
