"""A run's actions in order: what the call table holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from turncurve.model import Run, ToolCall, ToolResult, Turn
from turncurve.signals.action_key import VOLATILE_KEYS, canonical_action, text_key, text_keys


class Action(NamedTuple):
    """One action of a run, as a row of the call table."""

    row: int
    """Position of its turn among the run's turns, from 0."""
    key: int
    result_key: int
    """Hash of action and result; 0 where there is no result."""
    failed: int
    """1 failed, 0 worked, -1 not known."""
    transient: bool


def actions(run: Run, *, volatile: frozenset[str] = VOLATILE_KEYS) -> Iterator[Action]:
    """Every action of a run, in order: its tool calls, or the action keys that the file gives.

    A result belongs to the call whose id it names. In a turn whose results name no call, and that
    has as many results as calls, they are taken in order.
    """
    for row, turn in enumerate(run.turns):
        if turn.tool_calls:
            results = _results_by_call(turn)
            for call, result in zip(turn.tool_calls, results, strict=True):
                yield _action(row, canonical_action(call, volatile=volatile), result)
        elif turn.action is not None:
            result = turn.tool_results[0] if len(turn.tool_results) == 1 else None
            yield _action(row, turn.action, result, _given_failure(turn))


def _action(row: int, text: str, result: ToolResult | None, failed: int = -1) -> Action:
    if result is None:
        return Action(row, text_key(text), 0, failed, transient=False)
    if result.error is not None:
        failed = int(result.error)
    # Neither a canonical action nor a key in a file holds a NUL, so no two pairs read the same.
    key, result_key = text_keys(text, result.text)
    return Action(row, key, result_key, failed, transient=result.transient)


def _results_by_call(turn: Turn) -> list[ToolResult | None]:
    calls: tuple[ToolCall, ...] = turn.tool_calls
    results = turn.tool_results
    if len(results) == len(calls) and all(result.call_id is None for result in results):
        return list(results)
    by_id = {result.call_id: result for result in results if result.call_id is not None}
    return [by_id.get(call.id) if call.id is not None else None for call in calls]


def _given_failure(turn: Turn) -> int:
    given = turn.values.get("tool_error")
    return int(given) if given in (0, 1) else -1
