"""What a scorer of turns leaves in a score: verdicts, counts, signals, outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai.scorer import Score

from turncurve.analysis.verdict_rates import RATES, RunVerdicts, count_verdicts
from turncurve.inspect_ext.turns_file import TurnsFolder
from turncurve.model import Grade, Run
from turncurve.readers.graded_turns import KEY, Source, record_of
from turncurve.table import TurnTable

INLINE_TURNS = 100
"""A longer run's signals go into a file of their own: the viewer holds all metadata in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run with one grade a turn.

    Attributes:
        run: The main agent's run.
        grades: Of turns 1, 2, ...
        source: What judged.
        outcome_from: The score that was named as the run's outcome, if one was.
        signals: Columns by name, one number or None a turn.
        beneath: Counts of the runs of sub-agents, by agent.
        notes: What to know of how it came about.
    """

    run: Run
    grades: Sequence[Grade]
    source: Source
    outcome_from: str | None = None
    signals: Mapping[str, Sequence[float | None]]
    beneath: Sequence[tuple[str, RunVerdicts]] = ()
    notes: Sequence[str] = ()


def score_of(judged: JudgedRun, folder: TurnsFolder) -> Score:
    """The score of a judged run.

    Its value holds the run's rates by name, None where there is none; its metadata one record
    under `turncurve.graded_turns`, which docs/howto/inspect-ai.md describes.

    Args:
        judged: The run.
        folder: Where the signals of a run over 100 turns go.
    """
    counts = count_verdicts(judged.grades)
    record: dict[str, Any] = {
        **record_of(judged.grades, source=judged.source),
        "agent": judged.run.agent,
        "counts": asdict(counts),
        "success": judged.run.success,
        "outcome_from": judged.outcome_from,
        "subagents": [{"agent": agent, **asdict(of)} for agent, of in judged.beneath],
        "notes": list(judged.notes),
    }
    if len(judged.grades) <= INLINE_TURNS:
        record["signals"] = dict(judged.signals)
    else:
        record |= folder.put(judged.run, {**record, "signals": dict(judged.signals)})
    return Score(
        value={**rates(counts), "error_rate_slope": counts.error_slope},
        explanation=sentence(counts),
        metadata={KEY: record},
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
