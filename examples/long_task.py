"""The support desk as a task of Inspect's: 62 to 85 turns a run, compacted, offline, in seconds.

    inspect eval examples/long_task.py --display none
    turncurve report logs

The agent is the script of make_example.py, so neither model, key nor network is needed. Its turns
are judged by their signals, after the scorer that says whether the shift was handed over.
"""

from __future__ import annotations

import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.model import ModelInfo, set_model_cost, set_model_info

from turncurve.inspect_ext import signals_scorer

sys.path.insert(0, str(Path(__file__).resolve().parent))  # Inspect loads this file by its path

from make_example import COMPACTION, MODEL, TURN_LIMIT, USD_PER_MILLION, desk, scripted_model
from ticket_desk.rubric import handed_over
from ticket_desk.world import SCENARIOS


@task
def long_task(shifts: int = 3, trials: int = 1) -> Task:
    """The first shifts that are compacted, each some times.

    Args:
        shifts: How many of the six.
        trials: Epochs of each.
    """
    set_model_info(MODEL, ModelInfo(context_length=32_000))
    set_model_cost(MODEL, USD_PER_MILLION)
    compacted = [name for name, about in SCENARIOS.items() if not about.get("whole", False)]
    made = desk(compacted[:shifts], COMPACTION)
    return Task(
        name="long_task",
        dataset=made.dataset,
        setup=made.setup,
        solver=made.solver,
        scorer=[handed_over(), signals_scorer(outcome="handed_over")],
        model=scripted_model(),
        epochs=trials,
        turn_limit=TURN_LIMIT,
    )
