"""Graded runs whose truth is known: how the failing share changes, by task, phase and run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from table_factory import make_table
from turncurve.table import TurnTable


def made_up_runs(
    rng: np.random.Generator,
    *,
    n_runs: int = 30,
    n_turns: int = 60,
    slope: float = 0.0,
    slope_sd: float = 0.0,
    phase_drift: float = 0.0,
    acting: float = 0.0,
    runs_per_task: int = 1,
    level: float = 0.4,
) -> TurnTable:
    """Runs whose chance of failing at a turn is a line, each run with its own level and slope.

    Args:
        rng: Source of randomness.
        n_runs: Number of runs.
        n_turns: Turns of each.
        slope: Change of the chance by turn.
        slope_sd: SD of the runs' slopes.
        phase_drift: Change of the chance that a turn acts over a whole run, from a half.
        acting: By how much more an acting turn fails.
        runs_per_task: Runs that share a task, and with it level and slope.
        level: Mean chance in the middle of a run.
    """
    runs: dict[str, Mapping[str, np.ndarray]] = {}
    tasks = {}
    own_slope = own_level = 0.0
    for r in range(n_runs):
        if r % runs_per_task == 0:
            own_slope, own_level = rng.normal(slope, slope_sd), rng.normal(level, 0.08)
        at = np.arange(n_turns) - (n_turns - 1) / 2
        acts = rng.random(n_turns) < 0.5 + phase_drift * at / n_turns
        chance = own_level + own_slope * at + acting * (acts - 0.5)
        fail = (rng.random(n_turns) < np.clip(chance, 0, 1)).astype(float)
        runs[f"r{r}"] = {
            "error": fail,
            "grade_missing": np.zeros(n_turns),
            "grade_neutral": np.where(fail == 1, 0.0, rng.random(n_turns) < 0.5),
            "grade_looping": (rng.random(n_turns) < 0.1).astype(float),
            "grade_complexity": rng.integers(0, 3, n_turns).astype(float),
            "grade_dependent": np.where(fail == 1, rng.random(n_turns) < 0.3, np.nan),
            "phase_explore": (~acts).astype(float),
        }
        tasks[f"r{r}"] = f"t{r // runs_per_task}"
    return make_table(runs, scenario=tasks)
