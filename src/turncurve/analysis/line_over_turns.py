"""A straight line over turns, with a standard error over runs, as an estimate."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.stats.cluster_ols import cluster_ols
from turncurve.stats.estimate import Estimate, absent, none_if_nan
from turncurve.stats.quantiles import t_quantile

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
    fit = cluster_ols(np.stack([np.ones(len(at)), at], axis=1), y, run)
    value, std_error, df = (float(each[1]) for each in (fit.coefficient, fit.std_error, fit.df))
    half = float(t_quantile(level, df)) * std_error
    warnings = []
    if math.isnan(std_error):
        warnings.append("no interval: runs do not differ")
    elif math.isnan(fit.p[1]):
        warnings.append("no p value: too few runs carry it")
    return Estimate(
        estimand=estimand,
        value=value,
        std_error=none_if_nan(std_error),
        low=none_if_nan(value - half),
        high=none_if_nan(value + half),
        level=level,
        method="least squares, CR2 standard error over runs, Satterthwaite t",
        df=none_if_nan(df),
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
