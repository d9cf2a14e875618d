"""Where trials are not as their study declares."""

from __future__ import annotations

from collections.abc import Iterator

from turncurve.analysis.residual_counts import EXCLUDED, Sorted, by_task
from turncurve.analysis.residual_plan import StudyPlan


def departures_from(plan: StudyPlan, found: Sorted) -> Iterator[str]:
    """Reasons, protocols and numbers of trials that are not as declared, in words.

    Args:
        plan: What was declared.
        found: Trials that count, and what was left out.
    """
    if plan.exclude is not None:
        for reason, n in found.excluded.items():
            if reason.startswith(EXCLUDED) and reason.removeprefix(EXCLUDED) not in plan.exclude:
                yield f"{reason} ({n:,}), a reason that the study does not declare"
    for protocol in plan.protocols:
        if protocol not in found.stages:
            yield f"no stage trial is of the declared protocol {protocol}"
    if plan.protocols:
        for protocol in found.stages:
            if protocol not in plan.protocols:
                yield f"the study does not declare the protocol {protocol}"
    yield from _too_few(plan, found)


def _too_few(plan: StudyPlan, found: Sorted) -> Iterator[str]:
    whole = by_task(found.whole)
    if plan.whole_trials is not None:
        short = [task for task in plan.tasks if len(whole.get(task, ())) < plan.whole_trials]
        if short:
            yield (
                f"fewer end-to-end runs than the {plan.whole_trials:,} declared, in {len(short):,} "
                f"of {len(plan.tasks):,} tasks, first {short[0]}"
            )
    if plan.stage_trials is None:
        return
    for protocol, trials in found.stages.items():
        own = by_task(trials)
        short = [
            f"{task}, {stage}"
            for task, planned in plan.tasks.items()
            for stage in planned.stages
            if sum(t.stage == stage for t in own.get(task, ())) < plan.stage_trials
        ]
        if short:
            yield (
                f"fewer stage trials under {protocol} than the {plan.stage_trials:,} declared, in "
                f"{len(short):,} of the stages, first {short[0]}"
            )
