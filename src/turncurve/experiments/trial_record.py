"""A trial's record: what was planned, and what became of it."""

from __future__ import annotations

from msgspec.structs import replace

from turncurve.experiments.stage_study import Ending, StageStudy
from turncurve.experiments.trial_file import Trial
from turncurve.experiments.trial_plan import TrialPlan
from turncurve.experiments.trial_watch import TrialWatch

NO_START = "no run of the agent arrived at this stage"
UNKNOWN = "it cannot be told whether a stage is accepted"


def planned(plan: TrialPlan, study: StageStudy, digest: str, conditions: dict[str, str]) -> Trial:
    """The record of a trial of which nothing is known yet.

    Args:
        plan: What is tried.
        study: The study.
        digest: Its frozen digest.
        conditions: Digest of each part of the agent's configuration.
    """
    return Trial(
        task=plan.task,
        kind="end_to_end" if plan.stage is None else "stage",
        stage=plan.stage,
        trial=plan.trial,
        protocol=plan.protocol,
        history=plan.history,
        intervention=plan.intervention,
        success=None,
        conditions=conditions,
        study=digest,
        version=study.version,
        seed=plan.seed(study.seed),
    )


def ended(
    trial: Trial,
    watch: TrialWatch,
    study: StageStudy,
    *,
    crashed: bool,
    unknown: bool,
    said: str | None,
) -> Trial:
    """The record of a trial that has ended.

    Args:
        trial: What was planned.
        watch: What was seen of it.
        study: The study, which says what leaves a trial out.
        crashed: The agent ended with an error.
        unknown: It cannot be told whether a stage is accepted.
        said: What went wrong.
    """
    how: Ending = watch.over() or ("crash" if crashed else "gave_up")
    left_out = how if how in study.exclude and not watch.is_done else None
    return replace(
        trial,
        success=None if unknown else watch.is_done,
        reached=list(watch.reached),
        ended=None if unknown else how,
        excluded=UNKNOWN if unknown else left_out,
        turns=watch.taken.turns,
        tokens=watch.taken.tokens,
        cost_usd=watch.taken.cost_usd,
        seconds=round(watch.seconds(), 3),
        said=said,
    )
