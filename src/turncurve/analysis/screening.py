"""Where a segmentation would cut the mean curve: a hint where to look, never a verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turncurve.analysis.composition import PointMeans
from turncurve.stats.segmentation import LEAST_VALUES, screen
from turncurve.stats.sup_f import sup_f


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveScreening:
    """Change points of the balanced panel's mean curve, detrended and standardised.

    It takes the means of runs at neighbouring turns for independent, which they are not, and has no
    chance of error. The steps and the shape are the tests.

    Attributes:
        turns: First turn of each segment but the first.
        n_turns: Buckets of turns that were looked at.
        penalty: What each cut had to gain, in squared standard deviations of the noise.
        sup_f: Largest Chow F of one line against two.
        sup_f_turn: First turn after the break with it.
    """

    turns: tuple[int, ...]
    n_turns: int
    penalty: float
    sup_f: float
    sup_f_turn: int


def screening(curve: tuple[PointMeans, ...]) -> CurveScreening | None:
    """Cut the mean curve of the runs that reach the horizon.

    Args:
        curve: Means by bucket; buckets without a mean of these runs are passed over.

    Returns:
        The cuts; None with fewer than 8 buckets, or where the means lie on a line.
    """
    known = [(point.turn, point.balanced) for point in curve if point.balanced is not None]
    if len(known) < LEAST_VALUES:
        return None
    turns, means = (np.array(column) for column in zip(*known, strict=True))
    cuts = screen(means)
    if cuts.noise == 0:
        return None
    broken = sup_f(turns, means)
    return CurveScreening(
        turns=tuple(int(turns[start - 1]) for start in cuts.starts),
        n_turns=len(known),
        penalty=cuts.penalty,
        sup_f=broken.value,
        sup_f_turn=int(turns[broken.after]),
    )
