"""The scorer that judges turns by their signals: no model, no network."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from turncurve.inspect_ext.metrics import METRICS


@scorer(metrics=METRICS)
def signals_scorer(
    outcome: str | None = None,
    rules: str | None = None,
    output_schema: str | None = None,
    turns_dir: str | None = None,
) -> Scorer:
    """Judge every turn by its signals, live or on a finished log.

    A turn fails where a tool call failed, the answer was no readable action, or a given schema or
    rule is broken; it is neutral where it loops, passes where something is known to be in order,
    and has no verdict where nothing is known. See docs/howto/inspect-ai.md.

    Args:
        outcome: Name of an earlier scorer whose result is the run's outcome; where only one can be,
            it is found.
        rules: YAML file of checkable rules.
        output_schema: JSON Schema file for each turn's output.
        turns_dir: Folder for the signals of runs over 100 turns; by default `.turncurve` beside
            the log.
    """

    async def score(state: TaskState, target: Target) -> Score:
        del target
        # All of this takes seconds to import, and evaluations without the scorer do without it.
        from turncurve.inspect_ext.sample_runs import runs_of_state  # noqa: PLC0415
        from turncurve.inspect_ext.signals_judge import SignalsJudge  # noqa: PLC0415

        judge = SignalsJudge(
            rules=rules, output_schema=output_schema, outcome=outcome, turns_dir=turns_dir
        )
        return await judge.score(runs_of_state(state, outcome=outcome))

    return score
