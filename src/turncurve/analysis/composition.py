"""Does the curve fall because runs get worse, or because other runs are left?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.suite import Suite
from turncurve.model import ExitType
from turncurve.stats.staying_weights import staying_weights
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Verdict: TypeAlias = Literal["none seen", "composition", "informative dropout", "not known"]

CUT_SHORT = frozenset({ExitType.CRASH.value, ExitType.BUDGET.value, ExitType.USER_ABORT.value})
FAILED = CUT_SHORT | {ExitType.FAIL_FINISH.value}
MIN_RUNS = 5
"""Runs that must reach the horizon."""
MIN_EFFECTIVE = 10.0
"""Effective runs below which no weighted mean is given."""
GROUPS = 40
"""Groups of units that are left out in turn for the standard errors."""
LARGE = 2.0
"""Standard errors by which two changes must differ to be named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change from the first turns to the horizon; `value` None with a `reason`."""

    value: float | None
    std_error: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointMeans:
    """Means at one bucket; None where there is none.

    Attributes:
        turn: First turn of the bucket.
        active: Of the runs that are still there.
        balanced: Of the runs that reach the horizon.
        ipcw: Of those still there, weighted for those that were cut short.
        composite: Of all runs: the floor for those that failed, the last score for those done.
        n_active: Runs still there.
        effective_n: Runs that the weighted mean is worth.
    """

    turn: int
    active: float | None
    balanced: float | None
    ipcw: float | None
    composite: float | None
    n_active: int
    effective_n: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Four readings of the same curve, and what their disagreement is called.

    Attributes:
        active: Quality of what is still running.
        balanced: Of the same runs throughout: those that reach the horizon. Right where leaving has
            nothing to do with getting worse.
        ipcw: Had nobody been cut short, if what was seen of a run tells whether it is.
        ipcw_truncated: The same with each turn's weights cut at their 99th percentile.
        composite: Where runs end up, the failed at the floor of the scale.
        verdict: "composition" where the active set and the balanced panel disagree by more than
            two standard errors of their difference; "informative dropout" where the balanced panel
            and the weighted mean do.
        why: The verdict in a sentence.
        horizon: Last turn looked at.
        n_runs: Runs in all.
        n_balanced: Runs that reach the horizon.
        n_cut_short: Runs that a crash, a budget or a user ended before it.
        curve: Means by bucket.
    """

    active: Change
    balanced: Change
    ipcw: Change
    ipcw_truncated: Change
    composite: Change
    verdict: Verdict
    why: str
    horizon: int
    n_runs: int
    n_balanced: int
    n_cut_short: int
    curve: tuple[PointMeans, ...]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs as rows: what every reading needs."""

    values: FloatArray
    length: IntArray
    cut_short: BoolArray
    failed: BoolArray
    done: BoolArray
    floor: float | None
    unit: IntArray

    def without(self, group: BoolArray) -> _Runs:
        keep = ~group
        return _Runs(
            self.values[keep], self.length[keep], self.cut_short[keep], self.failed[keep],
            self.done[keep], self.floor, self.unit[keep],
        )  # fmt: skip


def composition(
    suite: Suite, table: TurnTable, *, floor: float | None, horizon: int | None = None
) -> Composition:
    """Read the curve in four ways that answer for runs that end early in different ways.

    Args:
        suite: Runs of the table by trial and scenario.
        table: For how each run ended.
        floor: The worst end of the signal's scale, for runs that failed; None where not known.
        horizon: Last bucket, counted from 1; None for the last one that half of the runs, and at
            least 5, reach.
    """
    rows = suite.run >= 0
    runs = suite.run[rows]
    exits = table.runs.exit_type[runs]
    reached = (suite.n_turns[rows] - 1) // suite.bucket + 1
    last = _horizon(reached) if horizon is None else horizon
    data = _Runs(
        suite.values[rows][:, :last],
        np.minimum(reached, last + 1),
        np.isin(exits.astype(str), sorted(CUT_SHORT)) & (reached <= last),
        np.isin(exits.astype(str), sorted(FAILED)),
        exits == ExitType.SUCCESS_FINISH.value,
        floor,
        np.nonzero(rows)[1].astype(np.int64),
    )
    readings = _readings(data)
    errors = _jackknife(data)
    changes = {name: _change(name, readings, errors, data) for name in readings}
    verdict, why = _verdict(changes, errors, data)
    return Composition(
        **changes,
        verdict=verdict,
        why=why,
        horizon=last * suite.bucket,
        n_runs=len(runs),
        n_balanced=int((reached >= last).sum()),
        n_cut_short=int((data.cut_short & (reached < last)).sum()),
        curve=_points(suite, readings, data),
    )


def _horizon(reached: IntArray) -> int:
    """The last bucket that half of the runs reach, or five where there are so few."""
    need = min(max(-(-len(reached) // 2), MIN_RUNS), len(reached))
    return int(np.sort(reached)[::-1][need - 1])


def _readings(data: _Runs) -> dict[str, FloatArray]:
    """The mean at each bucket in each of the four ways."""
    y, last = data.values, data.values.shape[1]
    active = np.arange(1, last + 1) <= data.length[:, None]
    known = ~np.isnan(y)
    balanced = known & (data.length >= last)[:, None]
    weights = staying_weights(y, np.minimum(data.length, last), data.cut_short)
    enough = weights.effective_n >= MIN_EFFECTIVE
    ipcw, truncated = (
        np.where(enough, _mean(y, np.where(known, w, 0.0)), np.nan)
        for w in (weights.weights, weights.truncated)
    )
    return {
        "active": _mean(y, (known & active).astype(np.float64)),
        "balanced": _mean(y, balanced.astype(np.float64)),
        "ipcw": ipcw,
        "ipcw_truncated": truncated,
        "composite": _composite(data, active),
    }


def _mean(y: FloatArray, weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=0)
    summed = (np.where(weights > 0, y, 0.0) * weights).sum(axis=0)
    return np.asarray(summed / np.where(total > 0, total, np.nan))


def _composite(data: _Runs, active: BoolArray) -> FloatArray:
    if data.floor is None:
        return np.full(data.values.shape[1], np.nan)
    y = with_ends(data.values, active, data.failed, data.done, floor=data.floor)
    return _mean(y, (~np.isnan(y)).astype(np.float64))


def with_ends(
    values: FloatArray, active: BoolArray, failed: BoolArray, done: BoolArray, *, floor: float
) -> FloatArray:
    """Each run's values with where it ended up from there on.

    Args:
        values: Shape (n_runs, n_buckets), NaN where a run has none.
        active: Whether a run is still there; same shape.
        failed: Runs that failed or were cut short, which stand at the floor; shape (n_runs,).
        done: Runs that succeeded, whose last value is carried on; shape (n_runs,).
        floor: The worst end of the scale.
    """
    at = np.maximum.accumulate(np.where(~np.isnan(values), np.arange(values.shape[1]), 0), axis=1)
    carried = np.take_along_axis(values, at, axis=1)
    y = np.where(~active & done[:, None], carried, values)
    return np.where(~active & failed[:, None], floor, y)


def _ends(curve: FloatArray) -> float:
    """The change from the first tenth of the buckets to the last."""
    width = max(1, round(len(curve) / 10))
    first, last = curve[:width], curve[-width:]
    if np.isnan(first).all() or np.isnan(last).all():
        return float("nan")
    return float(np.nanmean(last) - np.nanmean(first))


def _jackknife(data: _Runs) -> dict[str, float]:
    """Standard errors of the changes, and of their differences, leaving groups of units out."""
    units = np.unique(data.unit)
    n_groups = min(GROUPS, len(units))
    if n_groups < 3:
        return {}
    group = (np.searchsorted(units, data.unit) * n_groups) // len(units)
    left = []
    for number in range(n_groups):
        changes = {
            name: _ends(curve) for name, curve in _readings(data.without(group == number)).items()
        }
        changes["active - balanced"] = changes["active"] - changes["balanced"]
        changes["balanced - ipcw"] = changes["balanced"] - changes["ipcw"]
        left.append(changes)
    errors = {}
    for name in left[0]:
        values = np.array([changes[name] for changes in left])
        if not np.isnan(values).any():
            spread = ((values - values.mean()) ** 2).sum() * (n_groups - 1) / n_groups
            errors[name] = float(np.sqrt(spread))
    return errors


def _change(
    name: str, readings: dict[str, FloatArray], errors: dict[str, float], data: _Runs
) -> Change:
    value = _ends(readings[name])
    if data.values.shape[1] < 2:
        return Change(value=None, reason="half of the runs end within the first bucket")
    if np.isnan(value):
        return Change(value=None, reason=_why_not(name, data))
    return Change(value=value, std_error=errors.get(name))


def _why_not(name: str, data: _Runs) -> str:
    if name == "composite" and data.floor is None:
        return "the scale is not known, so neither is its floor: state it with --scale"
    if name.startswith("ipcw"):
        return f"the weighted runs are worth fewer than {MIN_EFFECTIVE:g}"
    return "no run has a value at both ends"


def _verdict(
    changes: dict[str, Change], errors: dict[str, float], data: _Runs
) -> tuple[Verdict, str]:
    active, balanced, ipcw = (changes[name].value for name in ("active", "balanced", "ipcw"))
    if data.values.shape[1] < 2:
        return "not known", "half of the runs end within the first bucket"
    if (data.length >= data.values.shape[1]).all():
        return "none seen", "every run reaches the last turn looked at"
    if active is None or balanced is None or "active - balanced" not in errors:
        return "not known", "too few runs to compare those that end early with the others"
    apart = active - balanced
    if abs(apart) > LARGE * errors["active - balanced"] and abs(apart) > 1e-12:
        return "composition", (
            f"the runs still there change by {active:+.3g}, the same runs throughout by "
            f"{balanced:+.3g}: runs that end early differ from the others"
        )
    if ipcw is not None and "balanced - ipcw" in errors:
        apart = balanced - ipcw
        if abs(apart) > LARGE * errors["balanced - ipcw"] and abs(apart) > 1e-12:
            return "informative dropout", (
                f"weighted for those cut short the change is {ipcw:+.3g}, among survivors "
                f"{balanced:+.3g}: runs that get worse are cut short"
            )
    return "none seen", "the readings agree within two standard errors of their differences"


def _points(suite: Suite, readings: dict[str, FloatArray], data: _Runs) -> tuple[PointMeans, ...]:
    last = data.values.shape[1]
    weights = staying_weights(data.values, np.minimum(data.length, last), data.cut_short)
    active = (np.arange(1, last + 1) <= data.length[:, None]).sum(axis=0)
    return tuple(
        PointMeans(
            turn=int(suite.starts[index]),
            active=_known(readings["active"][index]),
            balanced=_known(readings["balanced"][index]),
            ipcw=_known(readings["ipcw"][index]),
            composite=_known(readings["composite"][index]),
            n_active=int(active[index]),
            effective_n=_known(weights.effective_n[index]),
        )
        for index in range(last)
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
