"""Runs as one record a turn: the format `turns`, which turncurve and any data frame read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from turncurve.model import Run, Turn
from turncurve.signals import SIGNALS
from turncurve.signals.action_key import canonical_action
from turncurve.table import TurnTable

NAMES = ("run", "condition", "scenario", "trial", "success", "turn", "action")

LOSSES = (
    "records of turns hold numbers: no text, and of several calls one joint action",
    "sub-agents' runs stand beside the others: the format has no parent",
)


def columns_of(table: TurnTable) -> tuple[str, ...]:
    """The signals that records hold: those that some turn has, derived ones left out."""
    return tuple(
        name
        for name, column in table.columns.items()
        if not _is_derived(name) and not np.isnan(column).all()
    )


def records(
    run: Run, signals: Sequence[Mapping[str, float]], columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The run's turns as records; a value that is not known is None.

    Args:
        run: The run.
        signals: Signals of each turn by name, without those that are missing.
        columns: The signals to write.
    """
    for turn, known in zip(run.turns, signals, strict=True):
        yield {
            "run": run.id,
            "condition": run.condition,
            "scenario": run.scenario,
            "trial": run.trial,
            "success": run.success,
            "turn": turn.index,
            "action": _action(turn),
            **{name: known.get(name) for name in columns},
        }


def _is_derived(name: str) -> bool:
    return name in SIGNALS and SIGNALS[name].derive is not None and name != "tool_error"


def _action(turn: Turn) -> str | None:
    """What the turn did, as one text that is the same for the same action."""
    if turn.tool_calls:
        return "\n".join(canonical_action(call) for call in turn.tool_calls)
    return turn.action
