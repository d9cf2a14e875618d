"""Prompts of real traces: within their budget, whatever the format, and accounted for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from turncurve.grading.grade import why_not
from turncurve.grading.prompt import RunPrompts
from turncurve.grading.rubric_file import load_rubric
from turncurve.ingest.reading import iter_runs

STEPS = load_rubric("steps")


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    ["claude_code", "codex", "swe_agent", "mini_swe_agent", "gemini_cli", "openclaw", "tau_bench"],
)
def test_prompts_of_real_runs_keep_their_budget(corpus: Callable[[str], Path], name: str) -> None:
    """Each turn of each run has a prompt, that keeps 8,000 tokens and ends in the question."""
    n_turns = n_elided = 0
    for run in iter_runs([corpus(name)], on_problem=lambda _: None):
        if why_not(run, STEPS) is not None:
            continue
        prompts = RunPrompts(run, STEPS, 8_000)
        for position, turn in enumerate(run.turns[:200]):
            prompt = prompts.of(position)
            assert prompt.tokens <= 8_002
            assert prompt.parts[-1].endswith("Answer with the JSON object alone.")
            assert f"turn {turn.index}, to be judged" in prompt.parts[-1]
            n_turns += 1
            n_elided += prompt.elided.characters > 0
    assert n_turns > 10
    assert n_elided > 0 or name == "tau_bench"
