"""Output-schema validity: does a turn's output follow a JSON Schema?"""

from __future__ import annotations

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.table import SignalInfo


def schema_valid(run: Run) -> FloatArray:
    """Validity that the file itself gives, 1 or 0; NaN where it gives none.

    With an output schema it is worked out when runs are read.
    """
    return per_turn(turn.values.get("schema_valid") for turn in run.turns)


SCHEMA_VALID = Signal(
    info=SignalInfo(
        name="schema_valid",
        title="Output follows its schema",
        unit="share",
        better="high",
        denominator="turns with an output to check",
        low=0.0,
        high=1.0,
    ),
    observe=schema_valid,
)
