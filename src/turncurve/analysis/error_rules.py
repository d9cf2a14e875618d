"""What counts as an error: the rules behind time to first error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.quality import QualitySignal, as_quality, default_threshold, pick_quality
from turncurve.analysis.settings import Settings
from turncurve.table import TurnTable

FloatArray: TypeAlias = NDArray[np.float64]
Rule: TypeAlias = Literal[
    "rolling_quality",
    "low_quality",
    "failing_grade",
    "schema_violation",
    "rule_breach",
    "tool_error",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTest:
    """A rule made concrete: the rule fires where the trailing mean of `values` is below."""

    signal: str | None
    values: FloatArray
    window: int
    threshold: float | None
    words: str
    why: str


def _rolling_quality(table: TurnTable, settings: Settings) -> RuleTest:
    picked = pick_quality(table, settings)
    threshold, chosen = _threshold(picked, settings)
    return RuleTest(
        signal=picked.name,
        values=as_quality(table, picked),
        window=settings.window,
        threshold=threshold,
        words=f"turn at which the mean quality of the last {settings.window} graded turns is low",
        why=f"{picked.why}; {chosen}" if picked.name else picked.why,
    )


def _low_quality(table: TurnTable, settings: Settings) -> RuleTest:
    picked = pick_quality(table, settings)
    threshold, chosen = _threshold(picked, settings)
    scored = picked.source == "rubric"
    return RuleTest(
        signal="quality",
        values=as_quality(table, picked) if scored else np.full(len(table.turn), np.nan),
        window=1,
        threshold=threshold,
        words="turn of low quality",
        why=f"{picked.why}; {chosen}" if scored else "quality is not read from rubric scores",
    )


def _threshold(picked: QualitySignal, settings: Settings) -> tuple[float | None, str]:
    if settings.threshold is not None:
        return settings.threshold, f"the threshold {settings.threshold:g} was given"
    threshold = default_threshold(picked)
    if threshold is None:
        return None, (
            "no threshold was given, and without a scale there is none by default: name the "
            "threshold (--threshold X) or the scale (--scale LOW HIGH)"
        )
    return threshold, f"the threshold {threshold:g} is 0.7 of the way up the scale, by convention"


def _failing_grade(table: TurnTable, settings: Settings) -> RuleTest:  # noqa: ARG001 - one signature
    return _flag("error", -table.column("error"), "turn graded as failing", "a grade of fail")


def _schema_violation(table: TurnTable, settings: Settings) -> RuleTest:  # noqa: ARG001
    valid = table.column("schema_valid")
    return _flag(
        "schema_valid", valid - 1, "turn whose output breaks the schema", "output against a schema"
    )


def _rule_breach(table: TurnTable, settings: Settings) -> RuleTest:  # noqa: ARG001
    kept = table.column("adherence")
    return _flag("adherence", kept - 1, "turn that breaks a rule", "checkable rules")


def _tool_error(table: TurnTable, settings: Settings) -> RuleTest:  # noqa: ARG001
    failed = table.column("tool_error")
    failed = np.where(np.isnan(failed) & _surely_without_tool_error(table), 0.0, failed)
    return _flag("tool_error", -failed, "turn with a failed tool call", "outcomes of tool calls")


def _surely_without_tool_error(table: TurnTable) -> NDArray[np.bool_]:
    """True for turns without a tool call or result, where those that fail would be known.

    They are known to fail in runs with a result of known outcome, and in runs without any call
    whose format tells the outcome in some other run.
    """
    told = np.nan_to_num(table.column("n_tool_results_known")) > 0
    acted = (table.column("n_tool_calls") > 0) | (table.column("n_tool_results") > 0)
    run_told = np.bincount(table.run[told], minlength=table.n_runs) > 0
    run_acted = np.bincount(table.run[acted], minlength=table.n_runs) > 0
    format_told = np.isin(table.runs.format, list(set(table.runs.format[run_told].tolist())))
    tells = run_told | (format_told & ~run_acted)
    idle = (table.column("n_tool_calls") == 0) & (table.column("n_tool_results") == 0)
    return np.asarray(idle & tells[table.run], dtype=np.bool_)


def _flag(signal: str, values: FloatArray, words: str, source: str) -> RuleTest:
    return RuleTest(
        signal=signal,
        values=values,
        window=1,
        threshold=0.0,
        words=words,
        why=f"goes by {source}"
        if not np.isnan(values).all()
        else f"no turn has what the rule goes by ({source})",
    )


RULES: Mapping[Rule, Callable[[TurnTable, Settings], RuleTest]] = {
    "rolling_quality": _rolling_quality,
    "low_quality": _low_quality,
    "failing_grade": _failing_grade,
    "schema_violation": _schema_violation,
    "rule_breach": _rule_breach,
    "tool_error": _tool_error,
}
