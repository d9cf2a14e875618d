"""Which signals have no value where, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The turns on which one signal has no value.

    Attributes:
        signal: Its name.
        n_missing: Turns without a value.
        n_turns: Turns in all.
        reasons: Reason to number of turns; the numbers add up to `n_missing`.
    """

    signal: str
    n_missing: int
    n_turns: int
    reasons: Mapping[str, int]


_NOT_APPLICABLE = {
    "quality": "the file gives no score for the turn",
    "error": "the turn was not graded",
    "adherence": "no rule applies to the turn",
    "schema_valid": "the turn has nothing to check against the schema",
    "tool_error": "turn without a tool result whose outcome is known",
    "tool_error_rate": "turn without a tool result whose outcome is known",
    "tool_success": "turn without a tool result whose outcome is known",
    "phase_explore": "the turn's commands are not known as exploring or acting",
    "repeated_action": "turn without an action",
    "repeated_action_window": "turn without an action",
    "repeated_action_consecutive": "turn without an action",
    "repeated_result": "turn without an action that has a result",
    "retry": "turn without an action",
    "spiral": "turn without an action, or before the run's tenth",
    "compaction": "the file does not tell whether the context was compacted",
}
_TOOLS = ("n_tool_errors", "n_tool_results", "n_tool_calls")
_NEEDS = {
    **dict.fromkeys(("tool_error", "tool_error_rate", "tool_success"), _TOOLS),
    **dict.fromkeys(("repeated_action", "repeated_action_window"), ("n_tool_calls",)),
    **dict.fromkeys(("repeated_action_consecutive", "retry", "spiral"), ("n_tool_calls",)),
    "repeated_result": ("n_tool_results", "n_tool_calls"),
}
"""Columns without which a derived signal has no value, if a run has none of it at all."""
_NO_FIGURE = "the file gives no figure for the turn"
_NO_GRADE = "a grade was tried and is missing"


def missing(table: TurnTable) -> tuple[Missing, ...]:
    """For each signal with turns that lack a value: how many, and why.

    A reason that a file's reader gives for the whole run, or for what the signal is derived from,
    goes first; then a grade that was tried and is missing; then what the signal needs and the turn
    does not have.

    Args:
        table: Any turn table.

    Returns:
        One entry a signal, most missing turns first; signals that no column has but that a reader
        calls absent are among them. Empty if there is no turn.
    """
    said = sorted({name for absent in table.runs.absent for name in absent} - set(table.columns))
    drawn = [name for name in table.columns if name not in table.info or table.info[name].curve]
    found = [_missing(table, name) for name in [*drawn, *said]]
    return tuple(sorted((m for m in found if m.n_missing), key=lambda m: (-m.n_missing, m.signal)))


def _missing(table: TurnTable, name: str) -> Missing:
    column = table.columns.get(name)
    lacking = np.ones(len(table.turn), dtype=bool) if column is None else np.isnan(column)
    reasons: Counter[str] = Counter()
    n_lacking = np.bincount(table.run[lacking], minlength=table.n_runs)
    n_turns = np.bincount(table.run, minlength=table.n_runs)
    excused = np.zeros(table.n_runs, dtype=bool)
    for run in np.flatnonzero(n_lacking):
        said = _said(table.runs.absent[run], name, nowhere=n_lacking[run] == n_turns[run])
        if said is not None:
            reasons[said] += int(n_lacking[run])
            excused[run] = True
    rest = lacking & ~excused[table.run]
    untold = _grade_missing(table, name) & rest
    reasons[_NO_GRADE] += int(untold.sum())
    reasons[_NOT_APPLICABLE.get(name, _NO_FIGURE)] += int((rest & ~untold).sum())
    return Missing(
        signal=name,
        n_missing=int(lacking.sum()),
        n_turns=len(table.turn),
        reasons={reason: n for reason, n in reasons.most_common() if n},
    )


def _said(absent: Mapping[str, str], name: str, *, nowhere: bool) -> str | None:
    """What a run's reader says of a signal, or of what it is derived from."""
    if name in absent or not nowhere:
        return absent.get(name)
    return next((absent[need] for need in _NEEDS.get(name, ()) if need in absent), None)


def _grade_missing(table: TurnTable, name: str) -> NDArray[np.bool_]:
    tried = table.columns.get("grade_missing")
    if name != "error" or tried is None:
        return np.zeros(len(table.turn), dtype=bool)
    return np.asarray(tried == 1)
