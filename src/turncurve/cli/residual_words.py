"""What the commands on studies of matched stages say, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from turncurve.experiments.run_study import planned_rounds
from turncurve.experiments.stage_study import StageStudy, starts
from turncurve.experiments.study_freeze import Frozen
from turncurve.experiments.trial_file import Trial
from turncurve.report.figures import counted


def study_words(study: StageStudy, named: str) -> str:
    """What a study comes to, and what to do next."""
    plans = [plan for plans in planned_rounds(study) for plan in plans]
    whole = sum(plan.stage is None for plan in plans)
    stages = {(task.id, stage.id) for task in study.tasks for stage in task.stages}
    pairs = ", ".join(f"{protocol} with {history} history" for protocol, history in starts(study))
    return (
        f"{study.name}, version {study.version}: {counted(len(study.tasks), 'task')} with "
        f"{counted(len(stages), 'stage')}; stages start from {pairs}.\n"
        f"{counted(len(plans), 'trial')}: {whole:,} of whole tasks, {len(plans) - whole:,} of "
        f"stages.\nFreeze it next: turncurve residual freeze {named}"
    )


def frozen_words(frozen: Frozen, named: str) -> str:
    """What was frozen, and what to do next."""
    return (
        f"{frozen.name}, version {frozen.version}: frozen as {frozen.digest[:12]}, with "
        f"{counted(len(frozen.files), 'file')}.\n"
        f"Make its trials next: turncurve residual run {named}"
    )


def trials_words(trials: Sequence[Trial], named: str) -> str:
    """What trials came to, and what to do next."""
    whole = [trial for trial in trials if trial.kind == "end_to_end"]
    out = Counter(trial.excluded for trial in trials if trial.excluded)
    lines = [
        f"{counted(len(trials), 'trial')} in {named}: {len(whole):,} of whole tasks, "
        f"{len(trials) - len(whole):,} of stages."
    ]
    lines += [f"Left out, {n:,}: {reason}." for reason, n in out.most_common()]
    return "\n".join([*lines, f"See what they say next: turncurve residual {named}"])
