"""Tool calls and their failures, with the detector that spoke."""

from __future__ import annotations

import numpy as np

from turncurve.model import Detector, Run
from turncurve.signals.base import FloatArray, Observe, Signal, per_turn, unknown
from turncurve.table import SignalInfo, TurnTable


def n_tool_calls(run: Run) -> FloatArray:
    """Tool calls in each turn; NaN for a run whose file holds no content of its turns."""
    if not _knows_tools(run):
        return unknown(run)
    return per_turn(len(turn.tool_calls) for turn in run.turns)


def n_tool_results(run: Run) -> FloatArray:
    """Tool results in each turn; NaN for a run whose file holds no content of its turns."""
    if not _knows_tools(run):
        return unknown(run)
    return per_turn(len(turn.tool_results) for turn in run.turns)


def n_tool_results_known(run: Run) -> FloatArray:
    """Results that are known to have failed or worked: the denominator of the tool-error rate.

    NaN for a run whose file holds no content of its turns.
    """
    if not _knows_tools(run):
        return unknown(run)
    return per_turn(
        sum(result.error is not None for result in turn.tool_results) for turn in run.turns
    )


def n_tool_errors(run: Run) -> FloatArray:
    """Failed tool results in each turn.

    NaN where the turn has results and the file cannot tell of any whether it failed, and for the
    whole run where it cannot tell of any result at all.
    """
    return _n_errors(run, None)


def _n_errors(run: Run, detector: Detector | None) -> FloatArray:
    if not _knows_tools(run):
        return unknown(run)
    counts: list[float | None] = []
    known = silent = False
    for turn in run.turns:
        told, failed = not turn.tool_results, 0
        for result in turn.tool_results:
            if result.error is not None:
                told = known = True
                failed += result.error and detector in (None, result.detector)
        silent = silent or not told
        counts.append(failed if told else None)
    return unknown(run) if silent and not known else per_turn(counts)


def _by_detector(detector: Detector) -> Observe:
    def observe(run: Run) -> FloatArray:
        return _n_errors(run, detector)

    return observe


def _knows_tools(run: Run) -> bool:
    """False where the file gives numbers about turns and nothing of what they held."""
    if "n_tool_calls" in run.absent:
        return False
    return any(turn.text or turn.tool_calls or turn.tool_results for turn in run.turns)


def format_error(run: Run) -> FloatArray:
    """1 where the answer could not be read as an action, 0 where it could, NaN if not known."""
    return per_turn(turn.format_error for turn in run.turns)


def tool_error_rate(table: TurnTable) -> FloatArray:
    """Failed share of a turn's tool results with a known status; NaN where there is none.

    Where a file gives `tool_error` for the turn in place of its tool results, it is that.
    """
    errors, known = table.columns["n_tool_errors"], table.columns["n_tool_results_known"]
    rate = np.divide(errors, known, out=np.full(len(errors), np.nan), where=known > 0)
    given = table.columns.get("tool_error")
    return rate if given is None else np.where(np.isnan(rate), given, rate)


def tool_error(table: TurnTable) -> FloatArray:
    """1 where at least one tool result of the turn failed, 0 where none did, NaN if not known.

    Where the file gives `tool_error` itself, it is that.
    """
    errors, known = table.columns["n_tool_errors"], table.columns["n_tool_results_known"]
    derived = np.where(known > 0, (errors > 0).astype(np.float64), np.nan)
    given = table.columns.get("tool_error")
    return derived if given is None else np.where(np.isnan(given), derived, given)


def tool_success(table: TurnTable) -> FloatArray:
    """1 less the tool-error rate; NaN where that is."""
    return 1.0 - table.columns["tool_error_rate"]


def _count(name: str, title: str) -> SignalInfo:
    return SignalInfo(
        name=name,
        title=title,
        unit="count",
        denominator="turns whose tool calls are known",
        low=0.0,
        curve=False,
    )


_RESULTS = "tool results with a known status"
N_TOOL_CALLS = Signal(info=_count("n_tool_calls", "Tool calls"), observe=n_tool_calls)
N_TOOL_RESULTS = Signal(info=_count("n_tool_results", "Tool results"), observe=n_tool_results)
N_TOOL_RESULTS_KNOWN = Signal(
    info=_count("n_tool_results_known", "Tool results with a known status"),
    observe=n_tool_results_known,
)
N_TOOL_ERRORS = Signal(info=_count("n_tool_errors", "Failed tool results"), observe=n_tool_errors)
N_TOOL_ERRORS_FLAG = Signal(
    info=_count("n_tool_errors_flag", "Failed tool results, by an error flag"),
    observe=_by_detector("flag"),
)
N_TOOL_ERRORS_RETURN_CODE = Signal(
    info=_count("n_tool_errors_return_code", "Failed tool results, by a return code"),
    observe=_by_detector("return_code"),
)
N_TOOL_ERRORS_STATUS = Signal(
    info=_count("n_tool_errors_status", "Failed tool results, by a status word"),
    observe=_by_detector("status"),
)
N_TOOL_ERRORS_TEXT = Signal(
    info=_count("n_tool_errors_text", "Failed tool results, by their text"),
    observe=_by_detector("text"),
)
FORMAT_ERROR = Signal(
    info=SignalInfo(
        name="format_error",
        title="Answers that were no action",
        unit="share",
        better="low",
        denominator="turns of formats that record it",
        low=0.0,
        high=1.0,
    ),
    observe=format_error,
)
TOOL_ERROR = Signal(
    info=SignalInfo(
        name="tool_error",
        title="Turns with a failed tool call",
        unit="share",
        better="low",
        denominator="turns with a tool result of known status",
        low=0.0,
        high=1.0,
        curve=False,
    ),
    derive=tool_error,
    needs=("n_tool_errors", "n_tool_results_known"),
)
TOOL_ERROR_RATE = Signal(
    info=SignalInfo(
        name="tool_error_rate",
        title="Tool-error rate",
        unit="share",
        better="low",
        denominator=_RESULTS,
        weight="n_tool_results_known",
        low=0.0,
        high=1.0,
    ),
    derive=tool_error_rate,
    needs=("n_tool_errors", "n_tool_results_known"),
)
TOOL_SUCCESS = Signal(
    info=SignalInfo(
        name="tool_success",
        title="Tool success",
        unit="share",
        better="high",
        denominator=_RESULTS,
        weight="n_tool_results_known",
        low=0.0,
        high=1.0,
        curve=False,
    ),
    derive=tool_success,
    needs=("tool_error_rate",),
)
