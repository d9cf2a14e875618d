"""What the estimate gets of a study file."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.studies import plain
from turncurve.errors import StudyError
from turncurve.experiments.study_freeze import freeze
from turncurve.experiments.study_plan import frozen_plan
from turncurve.experiments.trial_record import NO_START, UNKNOWN


def test_what_was_declared(tmp_path: Path) -> None:
    """Stages in order, starts as protocols by name, margin, numbers, reasons, digest and time."""
    path = plain(
        tmp_path,
        protocols=["reference", "own_prefix"],
        histories=["clean", "reset"],
        exclude=["crash"],
    )
    frozen = freeze(path)
    plan = frozen_plan(path)
    assert plan.tasks["t"].stages == ("a", "b", "c")
    assert plan.tasks["t"].arcs is None
    assert plan.protocols == ("reference, clean", "own_prefix, reset")
    assert (plan.margin, plan.stage_trials, plan.whole_trials) == (0.1, 30, 60)
    assert plan.exclude == ("crash", UNKNOWN, NO_START)
    assert (plan.digest, plan.frozen_at) == (frozen.digest, frozen.at)


def test_a_chain_is_the_graph_of_every_task(tmp_path: Path) -> None:
    """Its states in order, and where each may lead."""
    chain = {"a": ["a", "b", "failure"], "b": ["c", "failure"], "c": ["a", "success"]}
    path = plain(tmp_path, chain=chain)
    freeze(path)
    task = frozen_plan(path).tasks["t"]
    assert task.stages == ("a", "b", "c")
    assert task.arcs == {state: tuple(to) for state, to in chain.items()}


def test_a_study_that_is_not_frozen_has_no_plan(tmp_path: Path) -> None:
    """It must be on record first."""
    with pytest.raises(StudyError, match="freeze it first"):
        frozen_plan(plain(tmp_path))
