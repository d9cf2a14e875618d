"""Runs as one record a turn: the format `turns`, which turncurve and any data frame read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from turncurve.model import Run, Turn
from turncurve.report.figures import counted
from turncurve.signals import SIGNALS
from turncurve.signals.action_key import canonical_action
from turncurve.signals.phase import action_phase, turn_phase
from turncurve.table import TurnTable

NAMES = ("run", "condition", "scenario", "trial", "success", "turn", "action")

LOSS = "records of turns hold numbers: no text"


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


def losses(run: Run) -> Iterator[str]:
    """What records cannot hold of a run, each in words that fit any run."""
    if not run.turns:
        yield "have no turn, and so no record"
    if run.parent is not None:
        yield "are sub-agents', which read back as runs of their own"
    if any(len(turn.tool_calls) > 1 for turn in run.turns):
        yield "have turns of several calls, whose actions are joined to one"
    if any(turn.tool_results for turn in run.turns):
        yield "lose the results of their actions: whether one brought the same or a passing error"
    if any(event.kind != "compaction" for event in run.events):
        yield "lose events other than compactions"
    if run.score is not None:
        yield "lose the score of the whole run"


def _action(turn: Turn) -> str | None:
    """What the turn did, as one text that is the same for the same action.

    Read back, a text must not tell another phase than its calls did; one that is no command and
    begins with no verb tells none, and the column `phase_explore` fills it.
    """
    if not turn.tool_calls:
        return turn.action
    text = "\n".join(canonical_action(call) for call in turn.tool_calls)
    if len(turn.tool_calls) == 1 and action_phase(text) == turn_phase(turn):
        return text
    return f"{counted(len(turn.tool_calls), 'call')}: {text}"
