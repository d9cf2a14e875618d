"""Ends a run that goes round in circles, as a limit, so that it is still scored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from inspect_ai.log import EvalSample, transcript
from inspect_ai.util import LimitExceededError, current_span_id

from turncurve.readers.inspect_live import events_so_far, is_agents

if TYPE_CHECKING:
    from inspect_ai.event import Event as LogEvent

    from turncurve.model import Run


def stop_in_spiral(most_turns: int) -> None:
    """Raise the limit where the agent that is about to call its model has spiralled too long.

    To be called within a sample, right before a model call. A call within the span of a scorer, a
    grader or a probe is let through: a limit raised while a sample is scored would make it an
    error.

    Args:
        most_turns: Turns in a spiral, in a row, after which the run ends.

    Raises:
        LimitExceededError: The agent's last `most_turns` turns are all in a spiral.
    """
    events = events_so_far(transcript().events)
    if not is_agents(events, current_span_id()) or not _may_spiral(events):
        return
    run = _latest(events)
    n_turns, in_spiral = len(run.turns), turns_in_spiral(run)
    if in_spiral >= most_turns:
        raise LimitExceededError(
            "custom",
            value=in_spiral,
            limit=most_turns,
            message=f"spiral: turns {n_turns - in_spiral + 1} to {n_turns} go round in circles",
        )


def _may_spiral(events: Sequence[LogEvent]) -> bool:
    """Whether half of the last ten tool calls repeat one another, without which none spirals."""
    calls = (e for e in reversed(events) if e.event == "tool")
    last = [
        (e.function, json.dumps(e.arguments, sort_keys=True, default=str))
        for e in islice(calls, 10)
    ]
    return len(last) == 10 and len(set(last)) <= 5


def turns_in_spiral(run: Run) -> int:
    """How many turns at the end of a run so far are in a spiral, as the signal `spiral` has it."""
    from turncurve.inspect_ext.turn_table import table_of  # noqa: PLC0415 - numpy, not for all

    marks = table_of(run).column("spiral").tolist()
    return next((n for n, mark in enumerate(reversed(marks)) if mark != 1), len(marks))


def _latest(events: Sequence[LogEvent]) -> Run:
    """The run so far of the agent that acted last."""
    from turncurve.readers.inspect_log import sample_runs  # noqa: PLC0415 - as above

    sample = EvalSample.model_construct(id="live", epoch=1, messages=[], events=list(events))
    runs = sample_runs(sample, task="live", path="transcript", record="live")
    return max(runs, key=lambda run: int(run.turns[-1].record or 0) if run.turns else -1)
