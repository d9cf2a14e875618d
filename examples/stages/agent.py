"""A made-up agent at a desk: the more of a task it remembers, the worse it does the next stage."""

from __future__ import annotations

import random
from typing import Any

STAGES = ("plan", "search", "build", "report")
CHANCES = {
    "billing": 0.97,
    "login": 0.94,
    "export": 0.92,
    "search": 0.88,
    "quota": 0.82,
    "audit": 0.74,
}
"""Chance to pass a stage, by task, without a memory of others."""
LOST = 0.75
"""What is left of it with one."""


def agent(trial: Any) -> None:
    """Do the stages that are asked for, one turn each, and stop at the first that fails."""
    rng = random.Random(trial.seed)
    task, asked = trial.goal.split(": ")
    for stage in asked.split(", "):
        if (trial.folder / stage).exists():
            continue
        known = trial.history.read_text() if trial.history.exists() else ""
        chance = CHANCES[task] * (LOST if known else 1.0)
        if rng.random() < chance:
            (trial.folder / stage).write_text("done")
        trial.history.write_text(f"{known}{stage}\n")
        trial.turn(tokens=rng.randint(700, 1100) + 400 * len(known.split()))
        if not (trial.folder / stage).exists():
            return
