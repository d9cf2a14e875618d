"""Carry out the example of matched stages: `examples/stages`, for `turncurve residual`.

Runs the frozen study with its made-up agent (examples/stages/agent.py says what is planted) and
keeps its trials as a table, `trials.csv`. Run it as `python examples/make_stages_example.py`; it
takes some seconds and no model. The trials are the same each time, as their seeds are the study's.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import msgspec

from turncurve.experiments.run_study import run_study
from turncurve.experiments.trial_file import Trial

FOLDER = Path(__file__).parent / "stages"
COLUMNS = (
    *("task", "stage", "trial", "success", "accepted", "protocol", "history", "intervention"),
    *("turns", "tokens", "model", "prompt", "tools", "memory", "limits", "agent", "study"),
)


def main() -> None:
    """Write `trials.csv`, a row a trial."""
    with tempfile.TemporaryDirectory() as folder:
        trials = run_study(FOLDER / "study.yaml", Path(folder, "trials.jsonl"))
    with (FOLDER / "trials.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(map(_row, sorted(trials, key=_order)))


def _row(trial: Trial) -> dict[str, object]:
    row = {**msgspec.structs.asdict(trial), **trial.conditions, "success": int(bool(trial.success))}
    if trial.stage is None:
        row |= {"stage": "end_to_end", "accepted": ";".join(trial.reached) or "none"}
    return row


def _order(trial: Trial) -> tuple[str, ...]:
    place = f"{trial.trial:03}"
    return trial.task, trial.stage or "", trial.protocol or "", trial.intervention or "", place


if __name__ == "__main__":
    main()
