"""Turn tables of made-up suites: trials x scenarios x turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from table_factory import make_table
from turncurve.table import TurnTable


def suite_table(
    scores: NDArray[np.float64],
    *,
    events: Mapping[tuple[int, int], Sequence[int]] | None = None,
    scale: tuple[float, float] | None = (0.0, 4.0),
    **columns: Any,
) -> TurnTable:
    """A table of the scores, shape (n_trials, n_scenarios, n_turns); trailing NaN ends a run.

    Args:
        scores: By trial, scenario and turn.
        events: First turns after each compaction, by trial and scenario (from 0).
        scale: The rubric's.
        columns: Of the run table, by run `t<trial>s<scenario>`.
    """
    n_trials, n_scenarios, _ = scores.shape
    runs, scenario, trial, compactions = {}, {}, {}, {}
    for r in range(n_trials):
        for s in range(n_scenarios):
            known = np.flatnonzero(~np.isnan(scores[r, s]))
            if not len(known):
                continue
            name = f"t{r}s{s}"
            runs[name] = {"quality": scores[r, s, : known[-1] + 1]}
            scenario[name], trial[name] = f"s{s}", r + 1
            if events and (r, s) in events:
                compactions[name] = events[r, s]
    return make_table(
        runs,
        scenario=scenario,
        trial=trial,
        compaction_turns=compactions,
        quality_scale=scale,
        **columns,
    )
