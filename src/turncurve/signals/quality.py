"""Quality: what a rubric gave the turn."""

from __future__ import annotations

from turncurve.model import Run
from turncurve.signals.base import FloatArray, Signal, given
from turncurve.table import SignalInfo


def quality(run: Run) -> FloatArray:
    """The rubric's score of each turn, on the run's `quality_scale`; NaN where there is none."""
    return given(run, "quality")


QUALITY = Signal(
    info=SignalInfo(
        name="quality",
        title="Quality",
        unit="rubric score",
        better="high",
        denominator="turns with a score",
    ),
    observe=quality,
)
