"""Make up a grader and labels of the same turns: `examples/grader`, for `turncurve validate`.

30 runs of 4 to 30 turns. People found an error in a tenth of the first turns and in a quarter of
the late ones. The grader finds four of five errors early in a run and two of five late: the longer
the run, the less it sees. Run it as `python examples/make_grader_example.py`.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

FOLDER = Path(__file__).parent / "grader"
N_RUNS, LONGEST = 30, 30
RUBRIC = {"grader_model": "made-up/grader", "construct": "no_hindsight"}


def main() -> None:
    """Write `grades.jsonl`, a trace a line, and `labels.csv`, a turn a row."""
    rng = random.Random(7)
    grades, labels = [], []
    for number in range(N_RUNS):
        run, n_turns = f"run-{number:02d}", rng.randint(4, LONGEST)
        hard = rng.uniform(-0.05, 0.05)
        steps = []
        for turn in range(1, n_turns + 1):
            late = turn / LONGEST
            wrong = rng.random() < 0.10 + 0.15 * late + hard
            seen = rng.random() < (0.85 - 0.45 * late if wrong else 0.04)
            labels.append({"run": run, "turn": turn, "error": int(wrong)})
            steps.append(step(turn, failing=seen, rng=rng))
        grades.append({"trace_id": run, "task_id": run, "model": None, "steps": steps})
    FOLDER.mkdir(exist_ok=True)
    lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in grades]
    (FOLDER / "grades.jsonl").write_text("".join(lines), encoding="utf-8")
    with (FOLDER / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["run", "turn", "error"], lineterminator="\n")
        table.writeheader()
        table.writerows(labels)


def step(turn: int, *, failing: bool, rng: random.Random) -> dict[str, object]:
    """A graded step; one in a hundred of the grader's answers did not parse."""
    validity = "fail" if failing else rng.choice(["neutral", "pass"])
    raw = {"parse_error": "no JSON object found"} if rng.random() < 0.01 else {}
    severity = rng.choice(["low", "medium", "high"]) if failing else None
    return {
        "step_index": turn - 1,
        "validity": validity,
        "severity": severity,
        **RUBRIC,
        "raw": raw,
    }


main()
