"""A scanner for Inspect Scout: one result a turn of a transcript's main agent."""

from __future__ import annotations

from inspect_ai.log import EvalSample
from inspect_scout import Result, Scanner, Transcript, scanner

from turncurve.inspect_ext.turn_record import signals_of
from turncurve.inspect_ext.turn_table import table_of
from turncurve.readers.inspect_log import sample_runs
from turncurve.signals.verdicts import turn_verdicts


@scanner(messages="all", events="all")
def turn_signals() -> Scanner[Transcript]:
    """Judge every turn by its signals.

    Gives a result a turn: its value is fail, neutral, pass or null, its explanation why, and its
    metadata `turn`, `looping` and the turn's `signals` by name.
    """

    async def scan(transcript: Transcript) -> list[Result]:
        sample = EvalSample.model_construct(
            id=transcript.task_id or transcript.transcript_id,
            epoch=transcript.task_repeat or 1,
            messages=transcript.messages,
            events=transcript.events,
        )
        task, path = transcript.task_set or "task", transcript.source_uri or "transcript"
        run, *_ = sample_runs(sample, task=task, path=path, record=transcript.transcript_id)
        table = table_of(run)
        signals = signals_of(table)
        return [
            Result(
                uuid=f"{transcript.transcript_id}:{row + 1}",
                value=verdict.validity,
                explanation=verdict.why,
                label=verdict.validity or "missing",
                metadata={
                    "turn": row + 1,
                    "looping": verdict.looping,
                    "signals": {
                        name: column[row]
                        for name, column in signals.items()
                        if column[row] is not None
                    },
                },
            )
            for row, verdict in enumerate(turn_verdicts(table))
        ]

    return scan
