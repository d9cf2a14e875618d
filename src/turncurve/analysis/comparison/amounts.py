"""Success, cost, tokens and turns of two conditions, scenario by scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.comparison.pairs import Pairs
from turncurve.analysis.cost import with_subagents
from turncurve.analysis.run_amounts import run_amounts
from turncurve.stats.estimate import Estimate, absent
from turncurve.stats.mean import mean_with_interval
from turncurve.stats.paired_curve import MIN_PAIRS
from turncurve.stats.paired_ratio import Term, ratio_of_means
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["difference", "ratio"]
Better: TypeAlias = Literal["high", "low"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One figure of whole runs, of both conditions.

    Attributes:
        name: What it is.
        unit: "share", "usd", "tokens" or "turns".
        better: Its good direction; None where neither is.
        kind: Whether `change` is b - a or b / a.
        a: The figure of a, over the scenarios that have it on both sides.
        b: That of b.
        change: From a to b, paired by scenario.
    """

    name: str
    unit: str
    better: Better
    kind: Kind
    a: Estimate
    b: Estimate
    change: Estimate


def amounts_of(pairs: Pairs, *, level: float) -> tuple[Amount, ...]:
    """Success, cost for each success, cost, tokens and turns, each with its change.

    Every scenario weighs the same, whatever its number of runs. A run's cost and tokens include
    those of the sub-agents that it started.

    Args:
        pairs: Both conditions.
        level: Confidence level.
    """
    usd = _both(pairs, _usd)
    success = _both(pairs, lambda table: table.runs.success)
    judged = _both(pairs, lambda t: np.where(np.isnan(_usd(t)), np.nan, t.runs.success))
    spent = _both(pairs, lambda t: np.where(np.isnan(t.runs.success), np.nan, _usd(t)))
    return (
        _difference("success", "share", "high", success, level),
        _per_success(spent, judged, level),
        _ratio("cost of a run", "usd", "low", usd, level),
        _ratio("input tokens of a run", "tokens", None, _both(pairs, _input_tokens), level),
        _ratio("output tokens of a run", "tokens", None, _both(pairs, _output_tokens), level),
        _ratio("turns of a run", "turns", None, _both(pairs, _turns), level),
    )


def _usd(table: TurnTable) -> FloatArray:
    return with_subagents(table, run_amounts(table, "cost_usd", table.runs.total_cost_usd).value)


def _input_tokens(table: TurnTable) -> FloatArray:
    total = table.runs.total_input_tokens
    return with_subagents(table, run_amounts(table, "context_tokens", total).value)


def _output_tokens(table: TurnTable) -> FloatArray:
    total = table.runs.total_output_tokens
    return with_subagents(table, run_amounts(table, "output_tokens", total).value)


def _turns(table: TurnTable) -> FloatArray:
    return np.asarray(table.runs.n_turns, dtype=np.float64)


def _both(pairs: Pairs, amount: Callable[[TurnTable], FloatArray]) -> tuple[FloatArray, FloatArray]:
    """The scenarios' means on either side, of those that have one on both."""
    n = len(pairs.scenarios)
    a, b = (side.of_scenarios(amount(side.whole), n) for side in (pairs.a, pairs.b))
    both = ~np.isnan(a) & ~np.isnan(b)
    return a[both], b[both]


def _difference(
    name: str,
    unit: str,
    better: Better,
    values: tuple[FloatArray, FloatArray],
    level: float,
) -> Amount:
    estimands = _estimands(name, "difference")
    if (why := _too_few(name, values)) is not None:
        return _nothing(name, unit, better, "difference", why, level)
    arrays = (*values, values[1] - values[0])
    a, b, change = (
        _mean(estimand, array, level) for estimand, array in zip(estimands, arrays, strict=True)
    )
    return Amount(name=name, unit=unit, better=better, kind="difference", a=a, b=b, change=change)


def _ratio(
    name: str,
    unit: str,
    better: Better,
    values: tuple[FloatArray, FloatArray],
    level: float,
) -> Amount:
    why = _too_few(name, values)
    if why is None and min(array.mean() for array in values) <= 0:
        why = f"{name} is 0 throughout on one side"
    if why is not None:
        return _nothing(name, unit, better, "ratio", why, level)
    a, b = (
        _mean(estimand, array, level)
        for estimand, array in zip(_estimands(name, "ratio")[:2], values, strict=True)
    )
    terms = [(values[1], 1), (values[0], -1)]
    change = _product(_estimands(name, "ratio")[2], terms, level)
    return Amount(name=name, unit=unit, better=better, kind="ratio", a=a, b=b, change=change)


def _per_success(
    spent: tuple[FloatArray, FloatArray], judged: tuple[FloatArray, FloatArray], level: float
) -> Amount:
    name = "cost for each success"
    why = _too_few("a run with both a cost and an outcome", spent)
    if why is None and min(array.mean() for array in (*spent, *judged)) <= 0:
        side = "a" if min(spent[0].mean(), judged[0].mean()) <= 0 else "b"
        why = f"no run of {side} both cost something and succeeded"
    if why is not None:
        return _nothing(name, "usd", "low", "ratio", why, level)
    estimands = _estimands(name, "ratio")
    a, b = (
        _product(estimand, [(usd, 1), (success, -1)], level)
        for estimand, usd, success in zip(estimands[:2], spent, judged, strict=True)
    )
    terms = [(spent[1], 1), (judged[1], -1), (spent[0], -1), (judged[0], 1)]
    change = _product(estimands[2], terms, level)
    return Amount(name=name, unit="usd", better="low", kind="ratio", a=a, b=b, change=change)


def _estimands(name: str, kind: Kind) -> tuple[str, str, str]:
    of = "{} of {}, each scenario weighing the same."
    change = "b - a" if kind == "difference" else "b / a"
    words = f"{name[:1].upper()}{name[1:]}"
    return of.format(words, "a"), of.format(words, "b"), of.format(words, change)


def _too_few(name: str, values: tuple[FloatArray, FloatArray]) -> str | None:
    n = len(values[0])
    if n >= MIN_PAIRS:
        return None
    return f"{name} is known on both sides for {n} scenarios, and {MIN_PAIRS} are needed"


def _nothing(
    name: str,
    unit: str,
    better: Better,
    kind: Kind,
    why: str,
    level: float,
) -> Amount:
    a, b, change = (absent(estimand, why, level=level) for estimand in _estimands(name, kind))
    return Amount(name=name, unit=unit, better=better, kind=kind, a=a, b=b, change=change)


_ALIKE = "scenarios that do not differ give no interval"


def _mean(estimand: str, values: FloatArray, level: float) -> Estimate:
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
        warnings=() if mean.low is not None else (_ALIKE,),
    )


def _product(estimand: str, terms: Sequence[Term], level: float) -> Estimate:
    ratio = ratio_of_means(terms, level=level)
    return Estimate(
        estimand=estimand,
        value=ratio.value,
        std_error=ratio.std_error,
        low=ratio.low,
        high=ratio.high,
        level=level,
        method="means over scenarios, delta method on the log scale, t over scenarios",
        df=ratio.df,
        n_clusters=ratio.n,
        warnings=() if ratio.low is not None else (_ALIKE,),
    )
