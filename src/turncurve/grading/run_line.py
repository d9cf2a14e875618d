"""What a grade file says of a run."""

from __future__ import annotations

from turncurve.ingest.grade_join import place_of
from turncurve.model import Run
from turncurve.readers.grade_lines import RunLine


def run_line(run: Run) -> RunLine:
    """Where the run is from, and how it ended."""
    return RunLine(
        run=run.id,
        n_turns=len(run.turns),
        file=place_of(run.path),
        record=run.record,
        scenario=run.scenario,
        trial=run.trial,
        condition=run.condition,
        model=run.model,
        agent=run.agent,
        parent=run.parent,
        exit_type=run.exit_type.value,
        success=run.success,
        score=run.score,
    )
