"""Tool calls and their failures, with the detector that spoke."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from turncurve.model import Detector, Run, ToolResult
from turncurve.signals.base import FloatArray, Signal, observed_together, per_turn, unknown
from turncurve.table import SignalInfo, TurnTable

_DETECTORS: tuple[Detector, ...] = ("flag", "return_code", "status", "text")
_NAMES = (
    *("n_tool_calls", "n_tool_results", "n_tool_results_known", "n_tool_errors"),
    *(f"n_tool_errors_{detector}" for detector in _DETECTORS),
)
_NO_RESULT = (0,) * (len(_NAMES) - 1)
_SILENT = (0, *(None,) * (len(_NAMES) - 3))


def tool_counts(run: Run) -> Mapping[str, FloatArray]:
    """What there is of tool calls in each turn, by signal.

    `n_tool_calls` and `n_tool_results` are what their names say; `n_tool_results_known` are the
    results that are known to have failed or worked, the denominator of the tool-error rate. All
    are NaN for a run whose file holds no content of its turns.

    `n_tool_errors` are the failed results, and `n_tool_errors_flag` and so on those of them that a
    detector told. They are NaN where the turn has results and the file cannot tell of any whether
    it failed, and for the whole run where it cannot tell of any result at all.
    """
    if not _knows_tools(run):
        return dict.fromkeys(_NAMES, unknown(run))
    rows = [(len(turn.tool_calls), *_result_counts(turn.tool_results)) for turn in run.turns]
    columns = dict(zip(_NAMES, np.array(rows, dtype=np.float64).T, strict=True))
    errors = columns["n_tool_errors"]
    if np.isnan(errors).any() and not columns["n_tool_results_known"].any():
        columns |= dict.fromkeys(_NAMES[3:], unknown(run))
    return columns


def _result_counts(results: tuple[ToolResult, ...]) -> tuple[int | None, ...]:
    """Results, those with a known status, those failed, and those failed by each detector."""
    if not results:
        return _NO_RESULT
    known = [result for result in results if result.error is not None]
    if not known:
        return len(results), *_SILENT
    failed = [result.detector for result in known if result.error]
    if not failed:
        return len(results), len(known), *_NO_RESULT[2:]
    return len(results), len(known), len(failed), *map(failed.count, _DETECTORS)


def _knows_tools(run: Run) -> bool:
    """False where the file gives numbers about turns and nothing of what they held."""
    if "n_tool_calls" in run.absent:
        return False
    return any(turn.text or turn.tool_calls or turn.tool_results for turn in run.turns)


def format_error(run: Run) -> FloatArray:
    """1 where the answer could not be read as an action, 0 where it could, NaN if not known."""
    return per_turn([turn.format_error for turn in run.turns])


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
N_TOOL_CALLS = observed_together(tool_counts, _count("n_tool_calls", "Tool calls"))
N_TOOL_RESULTS = observed_together(tool_counts, _count("n_tool_results", "Tool results"))
N_TOOL_RESULTS_KNOWN = observed_together(
    tool_counts, _count("n_tool_results_known", "Tool results with a known status")
)
N_TOOL_ERRORS = observed_together(tool_counts, _count("n_tool_errors", "Failed tool results"))
N_TOOL_ERRORS_FLAG = observed_together(
    tool_counts, _count("n_tool_errors_flag", "Failed tool results, by an error flag")
)
N_TOOL_ERRORS_RETURN_CODE = observed_together(
    tool_counts, _count("n_tool_errors_return_code", "Failed tool results, by a return code")
)
N_TOOL_ERRORS_STATUS = observed_together(
    tool_counts, _count("n_tool_errors_status", "Failed tool results, by a status word")
)
N_TOOL_ERRORS_TEXT = observed_together(
    tool_counts, _count("n_tool_errors_text", "Failed tool results, by their text")
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
