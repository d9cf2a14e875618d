"""Runs with judgements, made by hand or by a grader whose errors are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from turncurve.analysis.judgements import Judgements, judgements_of
from turncurve.model import Construct, Grade, Run, Turn, Usage, Validity

LETTERS: dict[str, Validity] = {"f": "fail", "n": "neutral", "p": "pass"}


def grade(
    letter: str,
    grader: str = "g",
    *,
    construct: Construct | None = None,
    severity: str | None = None,
) -> Grade:
    """A grade: f, n, p, or - for one that could not be had."""
    return Grade(
        grader=grader,
        validity=LETTERS.get(letter),
        missing_reason=None if letter in LETTERS else "did not parse",
        construct=construct,
        severity=severity,
    )


def run(
    id_: str,
    letters: str,
    *,
    grader: str = "g",
    construct: Construct | None = None,
    severities: Sequence[str | None] = (),
    parent: str | None = None,
    path: str = "made/up.jsonl",
) -> Run:
    """A run whose turns are graded by letters; a space is a turn that nobody judged."""
    severe = [*severities, *[None] * len(letters)]
    turns = [
        Turn(
            index=i,
            grades=(grade(letter, grader, construct=construct, severity=severe[i - 1]),),
        )
        for i, letter in enumerate(letters, start=1)
        if letter != " "
    ]
    return Run(id=id_, turns=tuple(turns), format="graded", path=path, parent=parent)


def marked(
    id_: str, marks: Iterable[float | None], *, format_: str = "turns", path: str = "marks.csv"
) -> Run:
    """A run whose turns have marks of errors."""
    turns = [
        Turn(index=i, values={} if mark is None else {"error": mark})
        for i, mark in enumerate(marks, start=1)
    ]
    return Run(id=id_, turns=tuple(turns), format=format_, path=path)


def with_context(id_: str, tokens: Sequence[int | None], explore: Sequence[float | None]) -> Run:
    """A judged trace: what each turn read, and whether it looked around."""
    turns = [
        Turn(
            index=i,
            usage=None if n is None else Usage(input_uncached=n),
            values={} if looks is None else {"phase_explore": looks},
        )
        for i, (n, looks) in enumerate(zip(tokens, explore, strict=True), start=1)
    ]
    return Run(id=id_, turns=tuple(turns), format="turns", path="trace.jsonl")


def judged(*runs: Run, name: str = "GRADES", construct: Construct | None = None) -> Judgements:
    return judgements_of(runs, name=name, construct=construct)


def noisy_study(
    rng: np.random.Generator,
    n_runs: int,
    n_turns: int,
    *,
    failing: np.ndarray,
    sensitivity: np.ndarray,
    specificity: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Run, turn, graded failing and labelled failing of a grader with known rates by turn.

    Runs differ in how often they fail, so their turns hang together.
    """
    run_of = np.repeat(np.arange(n_runs), n_turns)
    turn = np.tile(np.arange(1, n_turns + 1), n_runs)
    at = turn - 1
    chance = np.clip(failing[at] + rng.normal(0, 0.06, size=n_runs)[run_of], 0.01, 0.99)
    labelled = rng.random(len(turn)) < chance
    caught = rng.random(len(turn)) < sensitivity[at]
    spared = rng.random(len(turn)) < specificity[at]
    return run_of, turn, np.where(labelled, caught, ~spared), labelled
