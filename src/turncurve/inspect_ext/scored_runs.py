"""The verdicts of runs, taken from the scores that a scorer of turns gave them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import msgspec
from inspect_ai.scorer import SampleScore

from turncurve.analysis.verdict_rates import RunVerdicts
from turncurve.readers.graded_turns import KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRuns:
    """Runs, one a sample and epoch; both of the same length."""

    verdicts: Sequence[RunVerdicts]
    samples: Sequence[Hashable]
    """The sample of each run."""

    def scenarios(self, unit: str) -> Sequence[Hashable] | None:
        """The sample of each run where samples are the unit; None where runs are.

        Raises:
            ValueError: There is no such unit.
        """
        if unit not in ("run", "sample"):
            raise ValueError(f"unit: wanted 'run' or 'sample', got {unit!r}")
        return self.samples if unit == "sample" else None


def scored_runs(scores: Sequence[SampleScore]) -> ScoredRuns:
    """The runs behind some scores; a score without a record of turns is no run."""
    found = [
        (str(score.sample_id), msgspec.convert(record["counts"], RunVerdicts))
        for score in scores
        if (record := (score.score.metadata or {}).get(KEY)) is not None
    ]
    return ScoredRuns(
        samples=[sample for sample, _ in found], verdicts=[verdicts for _, verdicts in found]
    )
