"""How much of a slope is that later turns are of another phase: looking around, or acting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.slope import Slope, SlopeSettings, as_slope
from turncurve.analysis.slopes import rows_by_turn
from turncurve.analysis.within_slope import Rows, net_of_runs, within_slope
from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.stats.cluster_jackknife import jackknife_covariance, without_each_cluster
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.fieller import fieller_ratio
from turncurve.stats.quantiles import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]

NO_PHASE = "no turn has a known phase"
MAY_BE_0 = "the raw slope may be 0, so that no share of it can be told"
_PART = "Part of the slope that goes with the phases of the turns: raw less standardised."
_SHARE = "Share of the raw slope that goes with the phases of the turns."


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSlopes:
    """The slope within phases, and with the mix of phases held; of turns of known phase.

    Attributes:
        n_turns: Graded turns of known phase.
        share_explore: Share of them that only look; None where there is none.
        correlation: Of turn and looking, within runs: near -1 or 1 the two can hardly be told
            apart. None where one of them does not vary.
        raw: Turn alone.
        explore: Among turns that only look.
        act: Among turns that act.
        difference: The first of these less the second: test this, not one of them at a time.
        standardised: With the share of looking turns held at its mean.
        explained: Raw less standardised.
        share_explained: That over the raw slope; absent where the raw slope may be 0.
    """

    n_turns: int
    share_explore: float | None
    correlation: float | None
    raw: Slope
    explore: Slope
    act: Slope
    difference: Slope
    standardised: Slope
    explained: Estimate
    share_explained: Estimate


def phase_slopes(steps: GradedSteps, settings: SlopeSettings) -> PhaseSlopes:
    """Slopes within phases, standardised, and what the phases explain.

    Failing is fitted on turn, phase and their product within runs; the product's phase is counted
    from 1 for the slope of looking turns, from 0 for that of acting ones, from the mean for the
    standardised one.
    """
    known = ~np.isnan(steps.explore)
    rows = rows_by_turn(steps).part(known)
    fail, phase = steps.fail[known], steps.explore[known]
    middle = float(rows.at.mean()) if known.any() else 0.0
    mix = float(phase.mean()) if known.any() else 0.0
    level = settings.level

    def fitted(name: str, title: str, estimand: str, origin: float | None) -> Slope:
        crossed = (rows.at - middle) * (phase - (origin or 0.0))
        controls = {} if origin is None else {"phase": phase, "turn by phase": crossed}
        found = within_slope(estimand, rows, fail, controls, level=level)
        if not known.any():
            found = replace(found, estimate=absent(estimand, NO_PHASE, level=level))
        return as_slope(name, title, found)

    share = "Change by turn, within runs, of the failing share"
    raw = fitted("raw", "turns of known phase", f"{share} of turns of known phase.", None)
    standard = f"{share}, with the share of looking turns held at {mix:.2f}."
    standardised = fitted("standardised", "mix of phases held", standard, mix)
    crossed = (rows.at - middle) * phase
    gap = "Slope of looking turns less that of acting turns, within runs."
    difference = within_slope(
        gap, rows._replace(at=crossed), fail, {"turn": rows.at, "phase": phase}, level=level
    )
    columns = np.column_stack([rows.at, phase, crossed - mix * (rows.at - middle)])
    explained, ratio = _explained(rows, fail, columns, (raw, standardised), level)
    return PhaseSlopes(
        n_turns=int(known.sum()),
        share_explore=mix if known.any() else None,
        correlation=_correlation(rows, phase),
        raw=raw,
        explore=fitted("explore", "turns that only look", f"{share} of looking turns.", 1.0),
        act=fitted("act", "turns that act", f"{share} of acting turns.", 0.0),
        difference=as_slope("difference", "looking less acting", difference),
        standardised=standardised,
        explained=explained,
        share_explained=ratio,
    )


def _correlation(rows: Rows, phase: FloatArray) -> float | None:
    if not len(phase):
        return None
    at, looks = net_of_runs(rows.at, rows.run), net_of_runs(phase, rows.run)
    spread = float(np.sqrt((at**2).sum() * (looks**2).sum()))
    return float((at * looks).sum()) / spread if spread > 1e-9 else None


def _explained(
    rows: Rows, fail: FloatArray, columns: FloatArray, pair: tuple[Slope, Slope], level: float
) -> tuple[Estimate, Estimate]:
    """Raw less standardised, and over raw; their covariance leaves out a cluster at a time."""
    raw, standardised = (one.estimate for one in pair)
    if raw.value is None or standardised.value is None or raw.df is None:
        why = standardised.reason or raw.reason or "the raw slope has no error"
        return absent(_PART, why, level=level), absent(_SHARE, why, level=level)
    try:
        alone = without_each_cluster(fail, columns[:, :1], rows.cluster, absorb=rows.run)[:, 0]
        held = without_each_cluster(fail, columns, rows.cluster, absorb=rows.run)[:, 0]
    except (InvariantError, NotEnoughDataError) as problem:
        return absent(_PART, str(problem), level=level), absent(_SHARE, str(problem), level=level)
    covariance = jackknife_covariance(np.column_stack([alone - held, alone]))
    df = min(raw.df, standardised.df or raw.df)
    part, std_error = raw.value - standardised.value, float(np.sqrt(covariance[0, 0]))
    half = float(t_quantile(level, df)) * std_error
    explained = replace(
        raw,
        estimand=_PART,
        value=part,
        std_error=std_error,
        low=part - half,
        high=part + half,
        df=df,
        method=f"jackknife over {rows.unit}s, t",
    )
    ratio = fieller_ratio(part, raw.value, covariance, df=df, level=level) if raw.value else None
    if ratio is None or ratio.low is None:
        return explained, absent(_SHARE, MAY_BE_0, level=level)
    share = replace(
        explained,
        estimand=_SHARE,
        value=ratio.value,
        std_error=None,
        low=ratio.low,
        high=ratio.high,
        method=f"Fieller's limits, jackknife over {rows.unit}s",
    )
    return explained, share
