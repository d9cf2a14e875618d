"""Make up trials of stages and of whole tasks: `examples/stages`, for `turncurve residual`.

Six tasks of four stages, of different difficulty. From a clean checkpoint a stage passes with the
task's own chance; on the way, with the history of all stages before, each stage after the first
passes with a chance a quarter lower. Whole runs whose history is reset at every checkpoint do as
well as from clean checkpoints. Run it as `python examples/make_stages_example.py`.
"""

from __future__ import annotations

import csv
import hashlib
import random
from pathlib import Path

from turncurve.experiments.study_file import load_study

FOLDER = Path(__file__).parent / "stages"
STAGES = ("plan", "search", "build", "report")
TASKS = {
    "billing": 0.97,
    "login": 0.94,
    "export": 0.92,
    "search": 0.88,
    "quota": 0.82,
    "audit": 0.74,
}
LOST = 0.75
N = 20
PROTOCOLS = (("reference", "clean", 1.0), ("own_prefix", "retained", LOST))
COLUMNS = (
    *("task", "stage", "trial", "success", "accepted", "protocol", "history", "intervention"),
    *("excluded", "turns", "tokens", "model", "prompt", "tools", "memory", "limits", "study"),
)
LOST_TO_PROVIDER = "the provider gave no answer"


def main() -> None:
    """Write `trials.csv`, a row a trial, under the study in `study.yaml`."""
    rng = random.Random(11)
    study = load_study(FOLDER / "study.yaml")
    parts = {name: digest(text) for name, text in study.agent.items()}
    reset = {**parts, "memory": digest("reset at every checkpoint")}
    records = []
    for task, chance in TASKS.items():
        for checkpoint, history, factor in PROTOCOLS:
            for place, stage in enumerate(STAGES):
                what = {"task": task, "stage": stage, "protocol": checkpoint, "history": history}
                p = chance * (factor if place else 1.0)
                records += [_stage({**what, "trial": k, **parts}, p, rng) for k in range(1, N + 1)]
        whole = {"task": task, "stage": "end_to_end"}
        for k in range(1, N + 1):
            records.append(_whole({**whole, "trial": k, **parts}, chance, LOST, rng))
            treated = {**whole, "trial": k, "intervention": "reset", **reset}
            records.append(_whole(treated, chance, 1.0, rng))
    records[7] |= {"success": "", "excluded": LOST_TO_PROVIDER}
    with (FOLDER / "trials.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows({**record, "study": study.digest} for record in records)


def digest(text: str) -> str:
    """A short hash of a part of the configuration."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _stage(what: dict[str, object], chance: float, rng: random.Random) -> dict[str, object]:
    turns = rng.randint(4, 12)
    tokens = turns * rng.randint(700, 1100)
    return {**what, "success": int(rng.random() < chance), "turns": turns, "tokens": tokens}


def _whole(
    what: dict[str, object], chance: float, factor: float, rng: random.Random
) -> dict[str, object]:
    accepted, turns, tokens = list[str](), 0, 0
    for place, stage in enumerate(STAGES):
        more = rng.randint(4, 12)
        turns += more
        tokens += more * rng.randint(700, 1100) * (1 + place)
        if rng.random() >= chance * (factor if place else 1.0):
            break
        accepted.append(stage)
    taken = {"accepted": ";".join(accepted) or "none", "turns": turns, "tokens": tokens}
    return {**what, "success": int(len(accepted) == len(STAGES)), **taken}


if __name__ == "__main__":
    main()
