"""Which runs an analysis is about: the agents' own, without the sub-agents that they started."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turncurve.table import TurnTable

SUBAGENT = "run of a sub-agent"
NO_TURN = "run without a turn"


def own_runs(table: TurnTable) -> NDArray[np.bool_]:
    """True for runs that no other run of the table started; shape (n_runs,).

    A sub-agent's run is part of what its parent did, so the two are no independent replicates. A
    sub-agent's run whose parent is not in the table stands for itself.
    """
    known = set(table.runs.id.tolist())
    return np.array([parent not in known for parent in table.runs.parent], dtype=np.bool_)


def root_of(table: TurnTable) -> NDArray[np.int64]:
    """Position of the run that each run was started for, in the end; its own for an agent's run."""
    position = {name: i for i, name in enumerate(table.runs.id.tolist())}
    roots = np.arange(table.n_runs)
    for run in np.flatnonzero(~own_runs(table)).tolist():
        top, seen = run, {run}
        while (parent := position.get(table.runs.parent[top])) is not None and parent not in seen:
            top = parent
            seen.add(top)
        roots[run] = top
    return roots


def repeats_scenarios(table: TurnTable, runs: NDArray[np.bool_]) -> bool:
    """Whether some scenario stands behind more than one of these runs."""
    named = [scenario for scenario in table.runs.scenario[runs] if scenario is not None]
    return len(set(named)) < len(named)


def scenario_codes(table: TurnTable) -> NDArray[np.int64]:
    """A number for each run's scenario; a run without one is a cluster of its own."""
    codes: dict[object, int] = {}
    names = [("run", i) if name is None else name for i, name in enumerate(table.runs.scenario)]
    return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)
