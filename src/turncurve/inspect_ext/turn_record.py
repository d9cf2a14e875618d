"""What a scorer of turns leaves in a score: verdicts, counts, signals, outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai.scorer import Score

from turncurve.analysis.number_rates import RunNumbers, count_numbers
from turncurve.analysis.verdict_rates import RATES, RunVerdicts, count_verdicts
from turncurve.inspect_ext.turns_file import TurnsFolder
from turncurve.model import Grade, Run
from turncurve.readers.graded_turns import KEY, Source, record_of
from turncurve.readers.judged_numbers import record_of_numbers
from turncurve.table import TurnTable

INLINE_TURNS = 100
"""A longer run's detail goes into a file of its own: the viewer holds all metadata in memory."""
LEADING = ("quality", "adherence_judged", "goal_fidelity", "goal_fidelity_raw")
"""Of a rubric's numbers the first of these is what its metrics are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What judging one run's turns came to.

    Attributes:
        record: Verdicts or numbers, as the reader of logs takes them.
        counts: The numbers behind the metrics.
        value: The run's own rates by name; None where there is none.
        words: The counts in a sentence.
    """

    record: Mapping[str, Any]
    counts: RunVerdicts | RunNumbers
    value: Mapping[str, float | None]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run whose turns were judged.

    Attributes:
        run: The main agent's run.
        judged: What came of it.
        outcome_from: The score that was named as the run's outcome, if one was.
        detail: What there is of each turn beside, by name; a long run's goes into a file.
        beneath: Counts of the runs of sub-agents, by agent.
        notes: What to know of how it came about.
    """

    run: Run
    judged: Judged
    outcome_from: str | None = None
    detail: Mapping[str, Any]
    beneath: Sequence[tuple[str, RunVerdicts | RunNumbers]] = ()
    notes: Sequence[str] = ()


def score_of(judged: JudgedRun, folder: TurnsFolder) -> Score:
    """The score of a judged run.

    Its value holds the run's rates by name, None where there is none; its metadata one record
    under `turncurve.graded_turns`, which docs/howto/inspect-ai.md describes.

    Args:
        judged: The run.
        folder: Where the detail of a run over 100 turns goes.
    """
    found = judged.judged
    record: dict[str, Any] = {
        **found.record,
        "agent": judged.run.agent,
        "counts": asdict(found.counts),
        "success": judged.run.success,
        "outcome_from": judged.outcome_from,
        "subagents": [{"agent": agent, **asdict(of)} for agent, of in judged.beneath],
        "notes": list(judged.notes),
    }
    if len(judged.run.turns) <= INLINE_TURNS:
        record |= judged.detail
    elif judged.detail:
        record |= folder.put(judged.run, {**record, **judged.detail})
    return Score(value=dict(found.value), explanation=found.words, metadata={KEY: record})


def judged_grades(grades: Sequence[Grade | None], *, source: Source) -> Judged:
    """What grades of turns 1, 2, ... come to; None is a turn that was not to be judged."""
    counts = count_verdicts(grades)
    return Judged(
        record=record_of(grades, source=source),
        counts=counts,
        value={**rates(counts), "error_rate_slope": counts.error_slope},
        words=sentence(counts),
    )


def judged_numbers(
    turns: Sequence[Mapping[str, float] | None],
    *,
    grader: str,
    rubric: str,
    construct: str,
    scale: tuple[float, float] | None,
    missing: Mapping[int, str],
) -> Judged:
    """What numbers of turns 1, 2, ... come to; the arguments are those of `record_of_numbers`."""
    given = {name for turn in turns for name in turn or {}}
    signal = next((name for name in LEADING if name in given), None)
    counts = count_numbers(turns, signal)
    n_asked = counts.n_turns
    return Judged(
        record=record_of_numbers(
            turns,
            grader=grader,
            rubric=rubric,
            construct=construct,
            scale=scale,
            missing=missing,
        ),
        counts=counts,
        value={
            "rubric_mean": counts.mean,
            "rubric_slope": counts.slope,
            "missing_rate": counts.n_missing / n_asked if n_asked else None,
        },
        words=_sentence_of_numbers(counts),
    )


def rates(counts: RunVerdicts) -> dict[str, float | None]:
    """One run's shares by name; None where no turn counts."""
    return {
        name: rate.top(counts) / rate.bottom(counts) if rate.bottom(counts) else None
        for name, rate in RATES.items()
    }


def sentence(counts: RunVerdicts) -> str:
    """One run's counts in words."""
    first = "none failed" if counts.first_error is None else f"the first at {counts.first_error}"
    return (
        f"{counts.n_turns} turns: {counts.n_pass} pass, {counts.n_neutral} neutral, "
        f"{counts.n_fail} fail ({first}), {counts.n_missing} without a verdict"
    )


def _sentence_of_numbers(counts: RunNumbers) -> str:
    about = "no number" if counts.mean is None else f"{counts.signal} {counts.mean:.2f} on average"
    none = counts.n_turns - counts.n_missing - counts.n_values
    return (
        f"{counts.n_turns} turns: {about}, {counts.n_values} with one, {none} to which the "
        f"question does not apply, {counts.n_missing} without an answer"
    )


def signals_of(table: TurnTable) -> dict[str, list[float | None]]:
    """The columns of a table that know anything, as JSON holds them; whole numbers as ints."""
    return {
        name: [_plain(value) for value in column.tolist()]
        for name, column in table.columns.items()
        if any(not math.isnan(value) for value in column.tolist())
    }


def _plain(value: float) -> float | None:
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() else value
