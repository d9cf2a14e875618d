"""Does a difference come from the runs, or from which of them are still there?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.difference import area_by_scenario
from turncurve.analysis.comparison.pairs import Cells, Pairs
from turncurve.analysis.composition import FAILED, LARGE, with_ends
from turncurve.model import ExitType
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.mean import mean_with_interval
from turncurve.stats.paired_curve import MIN_PAIRS
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Verdict: TypeAlias = Literal["none seen", "composition", "not known"]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoIsLeft:
    """The difference over turns in three readings of runs that end early.

    Attributes:
        active: Over whatever is still running on either side, as the curve is.
        balanced: Over runs that get to the horizon, in scenarios that have some on both sides.
        composite: Over all runs: those that failed or were cut short stand at the floor of the
            scale from there on, those that succeeded keep their last value.
        apart: Active less balanced.
        reach: Share of runs that get to the horizon, b - a.
        verdict: "composition" where active and balanced differ by more than two standard errors of
            their difference.
        why: The verdict in a sentence.
    """

    active: Estimate
    balanced: Estimate
    composite: Estimate
    apart: Estimate
    reach: Estimate
    verdict: Verdict
    why: str


def who_is_left(
    pairs: Pairs, cells: Cells, *, horizon: int, floor: float | None, level: float
) -> WhoIsLeft:
    """Compare the difference over what is still running with that over runs that last.

    Args:
        pairs: Both conditions.
        cells: The signal of both.
        horizon: Buckets up to the horizon, at least 1.
        floor: The worst end of the signal's scale; None where it is not known.
        level: Confidence level.
    """
    lasting = cells.kept(
        *(
            np.where((reached >= horizon)[:, :, None], values, np.nan)
            for values, reached in ((cells.a, cells.a_reached), (cells.b, cells.b_reached))
        )
    )
    active, balanced = (_by_scenario(each, horizon) for each in (cells, lasting))
    reach = np.subtract(*(share[:, horizon - 1] for share in cells.reach()[::-1]))
    apart = _apart(active, balanced, level)
    verdict, why = _verdict(active, balanced, apart, cells, horizon)
    return WhoIsLeft(
        active=_mean("over whatever is still running", active, level),
        balanced=_mean("over runs that get to the horizon", balanced, level),
        composite=_composite(pairs, cells, horizon, floor, level),
        apart=apart,
        reach=_mean_of("Share of runs that get to the horizon, b - a.", reach, level),
        verdict=verdict,
        why=why,
    )


def _by_scenario(cells: Cells, horizon: int) -> FloatArray:
    a, b = cells.of_scenarios()
    return area_by_scenario(b - a, horizon)


def _mean(which: str, means: FloatArray, level: float) -> Estimate:
    return _mean_of(f"Mean over turns of the difference b - a, {which}.", means, level)


def _mean_of(estimand: str, values: FloatArray, level: float) -> Estimate:
    n = int((~np.isnan(values)).sum())
    if n < MIN_PAIRS:
        why = f"scenarios that have it on both sides: {n}, and {MIN_PAIRS} are needed"
        return absent(estimand, why, level=level)
    mean = mean_with_interval(values, level=level)
    return Estimate(
        estimand=estimand,
        value=mean.value,
        std_error=mean.std_error,
        low=mean.low,
        high=mean.high,
        level=level,
        method="t over scenarios",
        df=mean.df,
        n_clusters=mean.n,
    )


def _composite(
    pairs: Pairs, cells: Cells, horizon: int, floor: float | None, level: float
) -> Estimate:
    which = "runs that failed at the floor of the scale, those done at their last value"
    if floor is None:
        estimand = f"Mean over turns of the difference b - a, {which}."
        why = "the scale is not known, so neither is its floor: state it with --scale"
        return absent(estimand, why, level=level)
    ended = cells.kept(
        _ended(pairs.a.table, cells.a, cells.a_reached, cells.a_run, floor),
        _ended(pairs.b.table, cells.b, cells.b_reached, cells.b_run, floor),
    )
    return _mean(which, _by_scenario(ended, horizon), level)


def _ended(
    table: TurnTable, values: FloatArray, reached: IntArray, run: IntArray, floor: float
) -> FloatArray:
    rows = run >= 0
    exits = table.runs.exit_type[run[rows]].astype(str)
    filled = values.copy()
    filled[rows] = with_ends(
        values[rows],
        np.arange(1, values.shape[2] + 1) <= reached[rows][:, None],
        np.isin(exits, sorted(FAILED)),
        exits == ExitType.SUCCESS_FINISH.value,
        floor=floor,
    )
    return filled


def _apart(active: FloatArray, balanced: FloatArray, level: float) -> Estimate:
    """Active less balanced, from what each scenario adds to either mean."""
    estimand = "Mean over turns of b - a: over whatever is still running less over runs that last."
    n, n_lasting = (int((~np.isnan(means)).sum()) for means in (active, balanced))
    if n_lasting < MIN_PAIRS:
        return absent(estimand, _few(n_lasting), level=level)
    # A scenario without runs that last adds nothing to the mean over those that have some.
    middle = np.nanmean(balanced)
    own = middle + np.where(np.isnan(balanced), 0.0, balanced - middle) * (n / n_lasting)
    return _mean_of(estimand, active - own, level)


def _few(n: int) -> str:
    return f"only {n} scenarios have runs on both sides that last"


def _verdict(
    active: FloatArray, balanced: FloatArray, apart: Estimate, cells: Cells, horizon: int
) -> tuple[Verdict, str]:
    sides = ((cells.a_reached, cells.a_run), (cells.b_reached, cells.b_run))
    if all((reached[run >= 0] >= horizon).all() for reached, run in sides):
        return "none seen", "every run of both gets to the horizon"
    if apart.value is None:
        return "not known", f"{apart.reason}"
    said = (
        f"the mean difference is {np.nanmean(active):+.3g} over what is still running and "
        f"{np.nanmean(balanced):+.3g} over runs that last"
    )
    if abs(apart.value) > max(LARGE * (apart.std_error or 0.0), _ROUNDING):
        return "composition", f"{said}: who is left makes a part of it"
    return "none seen", f"{said}: no more apart than chance"
