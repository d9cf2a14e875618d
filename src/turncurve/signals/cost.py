"""Cost of each turn, as the trace gives it."""

from __future__ import annotations

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.table import SignalInfo


def cost_usd(run: Run) -> FloatArray:
    """US dollars that the trace says the turn cost; NaN where it does not say."""
    return per_turn([turn.cost_usd for turn in run.turns])


def cost_estimated(run: Run) -> FloatArray:
    """0 where the trace gives the turn's cost, NaN elsewhere.

    A cost worked out from tokens and a price table when runs are read is marked 1.
    """
    return per_turn([None if turn.cost_usd is None else 0.0 for turn in run.turns])


COST_USD = Signal(
    info=SignalInfo(
        name="cost_usd",
        title="Cost",
        unit="usd",
        better="low",
        denominator="turns with a known cost",
        low=0.0,
    ),
    observe=cost_usd,
)
COST_ESTIMATED = Signal(
    info=SignalInfo(
        name="cost_estimated",
        title="Cost worked out from a price table",
        unit="share",
        denominator="turns with a known cost",
        low=0.0,
        high=1.0,
        curve=False,
    ),
    observe=cost_estimated,
)
