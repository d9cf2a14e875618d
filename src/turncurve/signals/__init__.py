"""Signals: one number a turn. To add one, write a `Signal` and name it in SIGNALS."""

from __future__ import annotations

from collections.abc import Mapping

from turncurve.registry import Registry
from turncurve.signals.base import Derive, Family, FloatArray, Observe, Signal, per_turn
from turncurve.table import TurnTable

SIGNALS: Registry[Signal] = Registry(
    "signal",
    {  # a derived signal comes after those whose columns it needs
        "quality": "turncurve.signals.quality:QUALITY",
        "error": "turncurve.signals.grades:ERROR",
        "grade_missing": "turncurve.signals.grades:GRADE_MISSING",
        "grade_neutral": "turncurve.signals.grades:GRADE_NEUTRAL",
        "grade_looping": "turncurve.signals.grades:GRADE_LOOPING",
        "grade_complexity": "turncurve.signals.grades:GRADE_COMPLEXITY",
        "grade_dependent": "turncurve.signals.grades:GRADE_DEPENDENT",
        "adherence": "turncurve.signals.adherence:ADHERENCE",
        "n_rules_applicable": "turncurve.signals.adherence:N_RULES_APPLICABLE",
        "schema_valid": "turncurve.signals.schema_validity:SCHEMA_VALID",
        "n_tool_calls": "turncurve.signals.tool_errors:N_TOOL_CALLS",
        "n_tool_results": "turncurve.signals.tool_errors:N_TOOL_RESULTS",
        "n_tool_results_known": "turncurve.signals.tool_errors:N_TOOL_RESULTS_KNOWN",
        "n_tool_errors": "turncurve.signals.tool_errors:N_TOOL_ERRORS",
        "n_tool_errors_flag": "turncurve.signals.tool_errors:N_TOOL_ERRORS_FLAG",
        "n_tool_errors_return_code": "turncurve.signals.tool_errors:N_TOOL_ERRORS_RETURN_CODE",
        "n_tool_errors_status": "turncurve.signals.tool_errors:N_TOOL_ERRORS_STATUS",
        "n_tool_errors_text": "turncurve.signals.tool_errors:N_TOOL_ERRORS_TEXT",
        "format_error": "turncurve.signals.tool_errors:FORMAT_ERROR",
        "context_tokens": "turncurve.signals.tokens:CONTEXT_TOKENS",
        "cached_input_tokens": "turncurve.signals.tokens:CACHED_INPUT_TOKENS",
        "output_tokens": "turncurve.signals.tokens:OUTPUT_TOKENS",
        "reasoning_tokens": "turncurve.signals.tokens:REASONING_TOKENS",
        "cost_usd": "turncurve.signals.cost:COST_USD",
        "cost_estimated": "turncurve.signals.cost:COST_ESTIMATED",
        "phase_explore": "turncurve.signals.phase:PHASE_EXPLORE",
        "phase_known": "turncurve.signals.phase:PHASE_KNOWN",
        "compaction": "turncurve.signals.events:COMPACTION",
        "seconds": "turncurve.signals.timing:SECONDS",
        "started_at": "turncurve.signals.timing:STARTED_AT",
        "tool_error": "turncurve.signals.tool_errors:TOOL_ERROR",
        "tool_error_rate": "turncurve.signals.tool_errors:TOOL_ERROR_RATE",
        "tool_success": "turncurve.signals.tool_errors:TOOL_SUCCESS",
        "n_actions": "turncurve.signals.repetition:N_ACTIONS",
        "n_actions_counted": "turncurve.signals.repetition:N_ACTIONS_COUNTED",
        "n_actions_with_result": "turncurve.signals.repetition:N_ACTIONS_WITH_RESULT",
        "repeated_action": "turncurve.signals.repetition:REPEATED_ACTION",
        "repeated_action_window": "turncurve.signals.repetition:REPEATED_ACTION_WINDOW",
        "repeated_action_consecutive": "turncurve.signals.repetition:REPEATED_ACTION_CONSECUTIVE",
        "repeated_result": "turncurve.signals.repetition:REPEATED_RESULT",
        "retry": "turncurve.signals.repetition:RETRY",
        "spiral": "turncurve.signals.repetition:SPIRAL",
    },
    Signal,
    lambda signal: signal.info.name,
)


def compute_derived(table: TurnTable) -> TurnTable:
    """Add every derived signal whose columns the table has.

    The same code runs on one run and on a million: each derived signal is a pass over columns, and
    signals of one family are worked out in one.

    Raises:
        BrokenPluginError: An installed signal failed; it is named.
    """
    families: dict[Family, Mapping[str, FloatArray]] = {}
    for name in SIGNALS:
        signal = SIGNALS[name]
        if not signal.derive or not all(column in table.columns for column in signal.needs):
            continue
        try:
            values = _derived(signal, signal.derive, table, families)
            table = table.with_columns({name: values}, {name: signal.info})
        except Exception as problem:  # noqa: BLE001 - raised again, as the plugin's fault
            SIGNALS.blame(name, problem)
    return table


def _derived(
    signal: Signal,
    derive: Derive,
    table: TurnTable,
    families: dict[Family, Mapping[str, FloatArray]],
) -> FloatArray:
    if signal.family is None:
        return derive(table)
    if signal.family not in families:
        families[signal.family] = signal.family(table)
    return families[signal.family][signal.info.name]


__all__ = ["SIGNALS", "Derive", "Family", "Observe", "Signal", "compute_derived", "per_turn"]
