"""The runs of the sample that is being scored, read from its transcript as from its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inspect_ai.event import Event as LogEvent
from inspect_ai.log import EvalSample, resolve_sample_attachments, transcript
from inspect_ai.solver import TaskState

from turncurve.errors import UnknownNameError
from turncurve.model import Run
from turncurve.readers.inspect_live import events_so_far
from turncurve.readers.inspect_log import sample_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRuns:
    """The runs of one sample in one epoch."""

    main: Run
    beneath: tuple[Run, ...]
    """Runs of sub-agents."""
    events: Sequence[LogEvent] = ()
    """What the turns' `record` counts."""


def runs_of_state(state: TaskState, *, outcome: str | None = None) -> SampleRuns:
    """The runs of a sample, while its evaluation runs or from a finished log.

    Args:
        state: The sample's state; the scores of earlier scorers stand in it.
        outcome: Name of the earlier scorer whose result is the run's outcome; None takes the one
            score that can be a verdict.

    Raises:
        UnknownNameError: No earlier scorer has that name.
    """
    scores = dict(state.scores or {})
    if outcome is not None:
        if outcome not in scores:
            raise UnknownNameError("earlier score", outcome, scores)
        scores = {outcome: scores[outcome]}
    events = transcript()
    sample = EvalSample.model_construct(
        id=state.sample_id,
        epoch=state.epoch,
        input=state.input,
        target=state.target.text,
        messages=state.messages,
        output=state.output,
        scores=scores,
        metadata=state.metadata,
        events=list(events.events),
        attachments=dict(events.attachments),
        uuid=state.uuid,
    )
    if sample.attachments:
        sample = resolve_sample_attachments(sample, "core")
    record = f"{state.sample_id}_epoch_{state.epoch}"
    main, *beneath = sample_runs(sample, task="sample", path="transcript", record=record)
    return SampleRuns(
        main=replace(main, trial=state.epoch),
        beneath=tuple(beneath),
        events=events_so_far(sample.events),
    )
