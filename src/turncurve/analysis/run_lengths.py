"""How long runs are, and which of them ended before they were done."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable

CUT_SHORT = ("budget", "crash", "user_abort", "still_running")
"""Exit types of runs that something else ended, or that go on: they would have been longer."""

FINISHED = ("success_finish", "fail_finish")
"""Exit types of runs that ended by themselves."""


def last_turns(table: TurnTable) -> NDArray[np.int64]:
    """The last turn of each run, 0 for a run without a turn; shape (n_runs,)."""
    last = np.zeros(table.n_runs, dtype=np.int64)
    np.maximum.at(last, table.run, table.turn)
    return last
