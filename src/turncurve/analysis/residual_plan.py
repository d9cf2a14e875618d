"""What a study of matched stages declares, and how its residual is estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Inference: TypeAlias = Literal["population", "suite"]
Differing: TypeAlias = Literal["refuse", "report"]

SIGN = (
    "residual = predicted - observed and gamma = log(predicted / observed): above 0, the whole "
    "task succeeds less often than its stages predict"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """A task's stages in order, and where each may lead if there are ways back or branches.

    Attributes:
        stages: Names, in the order of the straight way.
        arcs: For each stage, the stages it may lead to, `success` and `failure` among them; None
            where each leads to the next or to failure, so that the product holds.
        steps: Transitions within which the task must be done; None for any number.
    """

    stages: tuple[str, ...]
    arcs: Mapping[str, tuple[str, ...]] | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What was declared before the first trial.

    Attributes:
        digest: Of the study file; None where there is none.
        name: Its name and version.
        tasks: By name; empty to take tasks and stages as the trials have them.
        protocols: How checkpoints are made, the first of them the primary one; empty to take those
            of the trials.
        margin: Residual that would not matter.
        frozen_at: When the study was frozen, UTC; None where it was not.
        stage_trials: Trials of each stage; None where not declared.
        whole_trials: End-to-end runs of each task; None where not declared.
        exclude: The only reasons for which a trial does not count; None where not declared.
    """

    digest: str | None = None
    name: str | None = None
    tasks: Mapping[str, TaskPlan] = field(default_factory=dict)
    protocols: tuple[str, ...] = ()
    margin: float | None = None
    frozen_at: str | None = None
    stage_trials: int | None = None
    whole_trials: int | None = None
    exclude: tuple[str, ...] | None = None


NO_PLAN = StudyPlan()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualSettings:
    """How the residual is estimated.

    Attributes:
        inference: "population": other tasks of the kind. "suite": these very tasks, were their
            trials run anew. One task alone says something of itself only.
        margin: Residual that would not matter, on the scale of chances; None to take the study's.
            Without one nothing can be found consistent.
        protocol: The primary one; None for the study's, or the first of the trials.
        differing: Whether trials of different configurations are refused, or used and reported.
        level: Confidence level of every interval; equivalence is tested at 1 - level.
        seed: Seed of every random procedure.
        resamples: Resamples of tasks.
    """

    inference: Inference = "population"
    margin: float | None = None
    protocol: str | None = None
    differing: Differing = "refuse"
    level: float = 0.95
    seed: int = 20_261_130
    resamples: int = 2_000

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < 1:
            raise ValueError(f"margin: wanted a number between 0 and 1, got {self.margin!r}")
        if not 0.5 < self.level < 1:
            raise ValueError(f"level: wanted above 0.5 and below 1, got {self.level!r}")
