"""The curve before and after a compaction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve.analysis.axes import first_event_turns
from turncurve.analysis.degradation import Curve, Frame, curve_over, lay_out
from turncurve.analysis.settings import Settings
from turncurve.table import TurnTable


def curves_by_segment(
    table: TurnTable, signal: str, settings: Settings | None = None
) -> tuple[Curve, ...]:
    """The curve over buckets that a compaction had reached, and over those that none had.

    A run's bucket belongs to "with_compaction" if the run's first compaction lies in it or before
    it. A difference between the two need not be the compaction's doing: it comes late in a run, and
    to long runs.

    Returns:
        The curve with and the curve without, or nothing where no run has a compaction.

    Raises:
        UnknownNameError: The table has no such column.
    """
    frame = lay_out(table, signal, settings or Settings())
    compacted = _compacted(frame)
    if not compacted.any():
        return ()
    return (
        curve_over(frame, compacted, segment="with_compaction"),
        curve_over(frame, ~compacted, segment="without_compaction"),
    )


def _compacted(frame: Frame) -> NDArray[np.bool_]:
    """Whether each entry's cell of run and bucket has a compaction in it or before it."""
    table = frame.table
    first = first_event_turns(table, "compaction")
    cells = np.stack([frame.run, frame.bucket], axis=1)
    distinct, cell = np.unique(cells, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    last_turn = np.zeros(len(distinct))
    np.maximum.at(last_turn, cell, table.turn[frame.rows].astype(np.float64))
    return np.asarray(first[frame.run] <= last_turn[cell])
