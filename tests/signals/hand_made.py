"""Hand-made runs for tests of signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turncurve.ingest import ReadOptions, table_from_runs
from turncurve.model import Run, ToolCall, ToolResult, Turn
from turncurve.table import TurnTable

NO_PRICES = ReadOptions(prices=False)


def run_of(turns: Sequence[Turn], name: str = "run", **fields: Any) -> Run:
    """A run of these turns."""
    return Run(id=name, turns=tuple(turns), format="hand", path="hand.json", **fields)


def turn(index: int, **fields: Any) -> Turn:
    """A turn with a text, unless told otherwise."""
    return Turn(index=index, **{"text": "words", **fields})


def calling(index: int, *names: str, **fields: Any) -> Turn:
    """A turn that calls these tools, each without arguments."""
    return turn(index, tool_calls=tuple(ToolCall(name=name) for name in names), **fields)


def doing(keys: Sequence[object], name: str = "run") -> Run:
    """A run with one tool call a turn, named by the keys."""
    return run_of([calling(i, f"tool {key}") for i, key in enumerate(keys, start=1)], name)


def result(*, failed: bool | None, text: str = "out", **fields: Any) -> ToolResult:
    """A tool result that failed, worked, or does not tell (None)."""
    detector = None if failed is None else "flag"
    return ToolResult(error=failed, text=text, **{"detector": detector, **fields})


def table_of(*runs: Run) -> TurnTable:
    """The turn table of hand-made runs."""
    return table_from_runs(runs, options=NO_PRICES)
