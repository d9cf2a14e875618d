"""Made-up trials of stages and whole tasks, whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from turncurve.readers.stage_trials import StageTrial

SAME = dict.fromkeys(("model", "prompt", "tools", "memory", "limits"), "x")


def trial(task: str, stage: str | None, success: int | None, **more: Any) -> StageTrial:
    more.setdefault("conditions", SAME)
    more.setdefault("amounts", {})
    known = None if success is None else bool(success)
    return StageTrial(file="t.jsonl", record=1, task=task, stage=stage, success=known, **more)


def counted(
    stages: Sequence[tuple[int, int]], whole: tuple[int, int], task: str = "t", **more: Any
) -> list[StageTrial]:
    """Trials of one task with so many successes of so many, stage by stage and end to end."""
    made = [
        trial(task, f"s{i}", k < s, **more)
        for i, (s, n) in enumerate(stages, start=1)
        for k in range(n)
    ]
    return made + [trial(task, None, k < whole[0]) for k in range(whole[1])]


def made_up(
    q: Sequence[float],
    r: Sequence[float],
    *,
    task: str,
    n: int,
    m: int,
    rng: np.random.Generator,
    **more: Any,
) -> list[StageTrial]:
    """A task whose stages pass with chances q alone and r on the way."""
    trials = [
        trial(task, f"s{i}", bool(rng.random() < each), **more)
        for i, each in enumerate(q, start=1)
        for _ in range(n)
    ]
    for _ in range(m):
        passed = []
        for i, each in enumerate(r, start=1):
            if rng.random() >= each:
                break
            passed.append(f"s{i}")
        trials.append(trial(task, None, len(passed) == len(r), accepted=tuple(passed)))
    return trials
