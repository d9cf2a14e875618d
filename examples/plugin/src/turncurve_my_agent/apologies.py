"""How often each turn says sorry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve import Run, Signal, SignalInfo


def apologies(run: Run) -> NDArray[np.float64]:
    """Apologies in each turn's text; NaN in a turn without text."""
    return np.array(
        [turn.text.lower().count("sorry") if turn.text else np.nan for turn in run.turns]
    )


APOLOGIES = Signal(
    info=SignalInfo(
        name="apologies",
        title="Apologies",
        unit="count",
        better="low",
        denominator="turns with text",
        low=0.0,
    ),
    observe=apologies,
)
