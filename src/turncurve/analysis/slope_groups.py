"""Slopes by configuration, by outcome and by length: what differs between runs, not within."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.graded_steps import GradedSteps
from turncurve.analysis.slope import Slope, SlopeSettings, as_slope
from turncurve.analysis.slopes import rows_by_turn, within_cr2, within_cr2_controlled
from turncurve.analysis.within_slope import (
    Rows,
    first_coefficient,
    net_of_runs,
    with_counts,
    within_slope,
)
from turncurve.errors import InvariantError, NotEnoughDataError
from turncurve.stats.cluster_ols import cluster_ols
from turncurve.stats.estimate import absent
from turncurve.stats.false_discovery import benjamini_hochberg
from turncurve.table import RunTable

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
By: TypeAlias = Literal["condition", "model", "file"]

POST_OUTCOME = (
    "success is decided by the failures of the run, so it is no control: a difference between "
    "runs that succeed and that fail is not what turns do"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSlope:
    """One configuration.

    Attributes:
        name: Its condition, model or file.
        n_runs: Its runs with a graded turn.
        slope: Within its runs, turn alone.
        controlled: At equal complexity and phase.
        q: p of `slope` with all configurations looked at (Benjamini and Hochberg).
        q_any: The same however they hang together (Benjamini and Yekutieli).
        q_controlled: Likewise of `controlled`.
        difference: Its slope less that of the first configuration; None for that one.
    """

    name: str
    n_runs: int
    slope: Slope
    controlled: Slope
    q: float | None
    q_any: float | None
    q_controlled: float | None
    difference: Slope | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Every configuration; `n_tested` of them make up the family of the adjusted p values."""

    by: By | None
    each: tuple[GroupSlope, ...]
    n_tested: int
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSlopes:
    """Slopes within runs that succeeded and that failed, and their difference."""

    succeeded: Slope
    failed: Slope
    difference: Slope
    n_unknown: int
    """Runs whose outcome is not known."""
    warning: str = POST_OUTCOME


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthSlopes:
    """What goes with the turn within runs, and what with how long runs are.

    Attributes:
        within: Change of the failing share by turn within runs.
        between: Change of a run's failing share where its middle lies one turn later.
        difference: The second less the first: not 0 where long runs are other runs.
    """

    within: Slope
    between: Slope
    difference: Slope


def group_slopes(steps: GradedSteps, settings: SlopeSettings, by: By | None = None) -> Groups:
    """The slope of each configuration, beside that of the first.

    Args:
        steps: Graded turns.
        settings: Level.
        by: What a configuration is; None takes conditions, or else models, if there are several.
    """
    by = by or next((one for one in ("condition", "model") if _several(steps, one)), None)
    if by is None:
        return Groups(by=None, each=(), n_tested=0, why="one condition and one model")
    label = _labels(steps, by)
    names = list(dict.fromkeys(label[np.unique(steps.run)].tolist()))
    found = [_group(steps, settings, label, name, names[0]) for name in names]
    plain = benjamini_hochberg([_p(one.slope) for one in found])
    held = benjamini_hochberg([_p(one.controlled) for one in found])
    each = tuple(
        replace(one, q=_known(q), q_any=_known(q_any), q_controlled=_known(q_held))
        for one, q, q_any, q_held in zip(found, plain.q, plain.q_any, held.q, strict=True)
    )
    return Groups(by=by, each=each, n_tested=plain.n_tested)


_COLUMN: Mapping[By, Callable[[RunTable], list[str]]] = {
    "condition": lambda runs: [str(one) if one is not None else "" for one in runs.condition],
    "model": lambda runs: [str(one) if one is not None else "" for one in runs.model],
    "file": lambda runs: [PurePath(str(one)).stem for one in runs.path],
}


def _labels(steps: GradedSteps, by: By) -> NDArray[np.object_]:
    labels = np.empty(steps.table.n_runs, dtype=object)
    labels[:] = [name or f"no {by} named" for name in _COLUMN[by](steps.table.runs)]
    return labels


def _several(steps: GradedSteps, by: By) -> bool:
    return len(set(_labels(steps, by)[np.unique(steps.run)].tolist())) > 1


def _group(
    steps: GradedSteps, settings: SlopeSettings, label: NDArray[np.object_], name: str, first: str
) -> GroupSlope:
    part = steps.of_runs(np.asarray(label == name, dtype=np.bool_))
    difference = None
    if name != first:
        both = steps.of_runs(np.asarray((label == name) | (label == first), dtype=np.bool_))
        is_this = np.asarray(label[both.run] == name, dtype=np.float64)
        estimand = "Slope of the failing share by turn within runs, less the first configuration's."
        difference = _difference("difference", "less the first", estimand, both, is_this, settings)
    return GroupSlope(
        name=name,
        n_runs=part.n_runs,
        slope=within_cr2(part, settings),
        controlled=within_cr2_controlled(part, settings),
        q=None,
        q_any=None,
        q_controlled=None,
        difference=difference,
    )


def _difference(
    name: str,
    title: str,
    estimand: str,
    steps: GradedSteps,
    second: FloatArray,
    settings: SlopeSettings,
) -> Slope:
    """The slope of the runs where `second` is 1 less that of those where it is 0."""
    rows = rows_by_turn(steps)
    own = rows._replace(at=rows.at * second)
    found = within_slope(estimand, own, steps.fail, {"turn": rows.at}, level=settings.level)
    return as_slope(name, title, found)


def _p(slope: Slope) -> float:
    return np.nan if slope.p is None else slope.p


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def outcome_slopes(steps: GradedSteps, settings: SlopeSettings) -> OutcomeSlopes:
    """Slopes within runs that succeeded and that failed: a description, for what it warns of."""
    success = steps.table.runs.success
    share = "Change of the failing share by turn within runs that"

    def of(outcome: float, name: str) -> Slope:
        chosen = success == outcome
        estimand = f"{share} {name}."
        if not chosen[steps.run].any():
            none = absent(estimand, f"no run is known to have {name}", level=settings.level)
            return Slope(name=name, title=f"runs that {name}", estimate=none)
        part = steps.of_runs(np.asarray(chosen, dtype=np.bool_))
        found = within_slope(estimand, rows_by_turn(part), part.fail, level=settings.level)
        return as_slope(name, f"runs that {name}", found)

    known = np.asarray(~np.isnan(success), dtype=np.bool_)
    estimand = "Slope within runs that succeeded less that within runs that failed."
    if len(np.unique(success[np.unique(steps.run)][known[np.unique(steps.run)]])) == 2:
        both = steps.of_runs(known)
        second = both.table.runs.success[both.run]
        gap = _difference("difference", "succeeded less failed", estimand, both, second, settings)
    else:
        none = absent(estimand, "the runs have one outcome", level=settings.level)
        gap = Slope(name="difference", title="succeeded less failed", estimate=none)
    return OutcomeSlopes(
        succeeded=of(1.0, "succeeded"),
        failed=of(0.0, "failed"),
        difference=gap,
        n_unknown=int((~known[np.unique(steps.run)]).sum()),
    )


def length_slopes(steps: GradedSteps, settings: SlopeSettings) -> LengthSlopes:
    """Split the turn into its distance from the run's mean turn, and that mean.

    References:
        Mundlak (1978), Econometrica 46:69-85.
    """
    rows = rows_by_turn(steps)
    apart = net_of_runs(rows.at, rows.run)
    middle, ones = rows.at - apart, np.ones(len(apart))
    estimand = "Change of a run's failing share where its mean turn is 1 later."
    gap = f"{estimand[:-1]}, less the change by turn within runs."
    between = np.column_stack([middle, apart, ones])
    difference = np.column_stack([middle, rows.at, ones])
    return LengthSlopes(
        within=within_cr2(steps, settings),
        between=_pooled("between", "between runs", estimand, rows, steps.fail, between, settings),
        difference=_pooled(
            "difference", "between less within", gap, rows, steps.fail, difference, settings
        ),
    )


def _pooled(
    name: str,
    title: str,
    estimand: str,
    rows: Rows,
    value: FloatArray,
    x: FloatArray,
    settings: SlopeSettings,
) -> Slope:
    """The first coefficient of a regression over all turns, with clusters."""
    try:
        fit = cluster_ols(value, x, rows.cluster, level=settings.level)
    except (NotEnoughDataError, InvariantError):
        why = "runs do not differ in length, or too few do"
        none = absent(estimand, why, level=settings.level)
        return Slope(name=name, title=title, estimate=none)
    estimate, p, no_p = first_coefficient(estimand, fit, rows.unit)
    method = f"least squares over all turns, CR2 standard error over {rows.unit}s, Satterthwaite t"
    estimate = replace(with_counts(estimate, rows.run, estimate.warnings), method=method)
    return Slope(name=name, title=title, estimate=estimate, p=p, no_p=no_p)
