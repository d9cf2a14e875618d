"""When a turn's model call started, and how long it took."""

from __future__ import annotations

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.table import SignalInfo


def seconds(run: Run) -> FloatArray:
    """Wall-clock seconds of the model call; NaN where the file does not say."""
    return per_turn([turn.seconds for turn in run.turns])


def started_at(run: Run) -> FloatArray:
    """Start of the model call in seconds since 1970, UTC; NaN where the file does not say."""
    return per_turn([turn.started_at for turn in run.turns])


SECONDS = Signal(
    info=SignalInfo(
        name="seconds",
        title="Seconds of the model call",
        unit="seconds",
        denominator="turns with a duration",
        low=0.0,
    ),
    observe=seconds,
)
STARTED_AT = Signal(
    info=SignalInfo(
        name="started_at",
        title="Start of the model call",
        unit="seconds since 1970",
        denominator="turns with a time",
        curve=False,
    ),
    observe=started_at,
)
