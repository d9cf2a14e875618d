"""Instruction adherence: the share of the applicable rules that a turn keeps."""

from __future__ import annotations

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, per_turn
from turncurve.table import SignalInfo


def adherence(run: Run) -> FloatArray:
    """Adherence that the file itself gives; NaN where it gives none.

    With a rule file it is worked out when runs are read.
    """
    return per_turn(turn.values.get("adherence") for turn in run.turns)


def n_rules_applicable(run: Run) -> FloatArray:
    """Number of rules behind the adherence that the file itself gives; NaN where it gives none."""
    return per_turn(turn.values.get("n_rules_applicable") for turn in run.turns)


ADHERENCE = Signal(
    info=SignalInfo(
        name="adherence",
        title="Instruction adherence",
        unit="share",
        better="high",
        denominator="rules that apply to the turn",
        low=0.0,
        high=1.0,
    ),
    observe=adherence,
)
N_RULES_APPLICABLE = Signal(
    info=SignalInfo(
        name="n_rules_applicable",
        title="Rules that apply",
        unit="count",
        denominator="turns that rules were checked on",
        low=0.0,
        curve=False,
    ),
    observe=n_rules_applicable,
)
