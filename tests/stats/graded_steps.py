"""Steps of the shared collection of graded runs as plain arrays, read without turncurve."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

METHODS = Path(__file__).resolve().parents[3] / "shared" / "methods"

COMPLEXITY = {"low": 0.0, "medium": 1.0, "high": 2.0}


def shared_steps() -> dict[str, Any]:
    """The shared fixture of 24 runs that the values of published software are of, or a skip."""
    path = METHODS / "sims" / "fixtures" / "steps.csv"
    if not path.exists():
        pytest.skip("the shared fixtures are not here")
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    turn = np.array([float(row["turn"]) for row in rows])
    model = [float(row["model"] == "B") for row in rows]
    return {
        "error": np.array([float(row["err"]) for row in rows]),
        "turn": turn,
        "run": np.array([int(row["run"]) for row in rows]),
        "x": np.column_stack([np.ones(len(rows)), turn, model]),
    }


def steps(path: Path, *, with_missing: bool) -> dict[str, Any]:
    """Columns of a file: error, step, and the fixed terms of the published study."""
    rows = []
    with path.open() as lines:
        for number, line in enumerate(lines):
            run = json.loads(line)
            for step in run["steps"]:
                raw = step.get("raw") or {}
                if raw.get("parse_error") and not with_missing:
                    continue
                rows.append((number, run, step, raw))
    columns = {
        "error": np.array([s["validity"] == "fail" for _, _, s, _ in rows], float),
        "step": np.array([s["step_index"] for _, _, s, _ in rows], float),
        "run": np.array([number for number, *_ in rows]),
        "task": np.array([r["task_id"] for _, r, _, _ in rows]),
    }
    complexity = [COMPLEXITY.get(s.get("complexity") or "low", 0.0) for _, _, s, _ in rows]
    levels = {
        "model": [r["model"] for _, r, _, _ in rows],
        "outcome": [str(r["success"]) for _, r, _, _ in rows],
        "phase": [str(raw.get("step_phase")) for *_, raw in rows],
    }
    x = [np.ones(len(rows)), columns["step"]]
    if len(set(complexity)) > 1:
        x.append(np.array(complexity))
    for values in levels.values():
        x.extend(np.array([v == level for v in values], float) for level in sorted(set(values))[1:])
    columns["x"] = np.column_stack(x)
    return columns
