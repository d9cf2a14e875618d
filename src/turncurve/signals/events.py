"""Events of a run, by turn."""

from __future__ import annotations

import numpy as np

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, unknown
from turncurve.table import SignalInfo


def compaction(run: Run) -> FloatArray:
    """Number of compactions right before each turn.

    0 where none happened and the format could tell; NaN for the whole run where it cannot (the run
    lists `compaction` among its absences). A compaction after the last turn is in the event table
    alone, since no turn can show its effect.
    """
    if "compaction" in run.absent:
        return unknown(run)
    counts = np.zeros(len(run.turns))
    events = [event.turn for event in run.events if event.kind == "compaction"]
    if events:
        turns = np.array([turn.index for turn in run.turns], dtype=np.int64)
        # Turn numbers may have gaps: the first turn there is after the event shows its effect.
        rows = np.searchsorted(turns, events)
        np.add.at(counts, rows[rows < len(counts)], 1.0)
    return counts


COMPACTION = Signal(
    info=SignalInfo(
        name="compaction",
        title="Compactions before the turn",
        unit="count",
        denominator="turns of formats that record compactions",
        low=0.0,
        curve=False,
    ),
    observe=compaction,
)
