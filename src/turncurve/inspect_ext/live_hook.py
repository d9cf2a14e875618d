"""The hook: records turns of any agent as they happen, and ends runs that spiral.

Imported only where one of its switches is set (see `switches`), since Inspect loads hooks for every
evaluation on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from inspect_ai.hooks import (
    BeforeModelGenerate,
    Hooks,
    SampleAttemptEnd,
    SampleAttemptStart,
    SampleEnd,
    SampleEvent,
    TaskStart,
    hooks,
)

from turncurve.inspect_ext.live_rows import LiveRun, append
from turncurve.inspect_ext.spiral_stop import stop_in_spiral
from turncurve.inspect_ext.switches import is_on, live_folder, most_turns_in_spiral
from turncurve.readers.inspect_live import LiveSample, LiveTurn

most_turns_in_spiral()  # a switch that can't be read is told now, not at every model call


@dataclass(slots=True, kw_only=True)
class _Active:
    """A sample that is running."""

    run: LiveRun
    live: LiveSample = field(default_factory=LiveSample)


@hooks(name="live_turns", description="turncurve: records turns, ends spirals")
class LiveTurns(Hooks):
    """One instance serves all samples of the process; state is kept by sample."""

    def __init__(self) -> None:
        self._tasks: dict[str, str] = {}
        self._active: dict[str, _Active] = {}

    def enabled(self) -> bool:
        return is_on()

    async def on_task_start(self, data: TaskStart) -> None:
        self._tasks[data.eval_id] = data.spec.task

    async def on_sample_attempt_start(self, data: SampleAttemptStart) -> None:
        self._active[data.sample_id] = _Active(
            run=LiveRun(
                task=self._tasks.get(data.eval_id, "task"),
                sample=str(data.summary.id),
                epoch=data.summary.epoch,
                eval_id=data.eval_id,
                attempt=data.attempt,
            )
        )

    async def on_sample_event(self, data: SampleEvent) -> None:
        active = self._active.get(data.sample_id)
        if active is not None:
            _record(active, active.live.take(data.event))

    async def on_sample_attempt_end(self, data: SampleAttemptEnd) -> None:
        self._finish(data.sample_id)

    async def on_sample_end(self, data: SampleEnd) -> None:
        self._finish(data.sample_id)

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        del data  # it names the sample by another id than the other calls do
        most_turns = most_turns_in_spiral()
        if most_turns is not None:
            stop_in_spiral(most_turns)

    def _finish(self, sample_id: str) -> None:
        active = self._active.pop(sample_id, None)
        if active is not None:
            _record(active, active.live.end())


def _record(active: _Active, turns: list[LiveTurn]) -> None:
    folder: Path | None = live_folder()
    if folder is not None:
        append(folder, active.run, turns)
