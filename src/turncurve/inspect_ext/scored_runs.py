"""The verdicts and numbers of runs, taken from the scores that a scorer of turns gave them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from inspect_ai.scorer import SampleScore

from turncurve.analysis.number_rates import RunNumbers
from turncurve.analysis.verdict_rates import RunVerdicts
from turncurve.readers.graded_turns import KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRuns:
    """Runs, one a sample and epoch; those of one kind are of the same length.

    Attributes:
        verdicts: Runs with verdicts.
        samples: The sample of each of them.
        numbers: Runs by a rubric that gives numbers.
        numbered: The sample of each of them.
    """

    verdicts: Sequence[RunVerdicts]
    samples: Sequence[Hashable]
    numbers: Sequence[RunNumbers] = ()
    numbered: Sequence[Hashable] = ()

    def scenarios(self, unit: str) -> Sequence[Hashable] | None:
        """The sample of each run with verdicts where samples are the unit; None where runs are.

        Raises:
            ValueError: There is no such unit.
        """
        return self.samples if _is_sample(unit) else None

    def scenarios_of_numbers(self, unit: str) -> Sequence[Hashable] | None:
        """As `scenarios`, for the runs with numbers."""
        return self.numbered if _is_sample(unit) else None


def scored_runs(scores: Sequence[SampleScore]) -> ScoredRuns:
    """The runs behind some scores; a score without a record of turns is no run."""
    found = [
        (str(score.sample_id), _counts(record["counts"]))
        for score in scores
        if (record := (score.score.metadata or {}).get(KEY)) is not None
    ]
    verdicts = [(sample, run) for sample, run in found if isinstance(run, RunVerdicts)]
    numbers = [(sample, run) for sample, run in found if isinstance(run, RunNumbers)]
    return ScoredRuns(
        samples=[sample for sample, _ in verdicts],
        verdicts=[run for _, run in verdicts],
        numbered=[sample for sample, _ in numbers],
        numbers=[run for _, run in numbers],
    )


def _counts(given: Mapping[str, Any]) -> RunVerdicts | RunNumbers:
    if "signal" in given:
        return msgspec.convert(given, RunNumbers)
    return msgspec.convert(given, RunVerdicts)


def _is_sample(unit: str) -> bool:
    if unit not in ("run", "sample"):
        raise ValueError(f"unit: wanted 'run' or 'sample', got {unit!r}")
    return unit == "sample"
