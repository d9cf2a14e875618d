"""Trials of a study in a file: a line each, on disk before it counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from turncurve.errors import StudyError
from turncurve.experiments.stage_study import Ending, History, Protocol, Restart
from turncurve.experiments.trial_plan import TrialPlan
from turncurve.ingest.append_file import AppendFile, open_append

FIRST_WORDS = b'{"task":'


class Trial(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a trial.

    Attributes:
        task: The task.
        kind: "stage" or "end_to_end".
        stage: The stage; None for a trial of the whole.
        trial: Which of its kind, from 1.
        success: Whether the stage, or the last of all stages, was accepted; None: not known.
        protocol: Where the state came from that a stage started in.
        history: What was known of what went before.
        intervention: What became of the history of a whole run at the declared checkpoints; None:
            the run was left alone.
        reached: Stages that were accepted on the way, in order.
        ended: How it ended.
        excluded: Why it does not count; None: it does.
        conditions: Digest of each part of the agent's configuration.
        study: Digest of the frozen study.
        version: The study's version.
        seed: What the agent was given.
        turns: Turns that it took, where they are known.
        tokens: Tokens that it took, where they are known.
        cost_usd: What it cost, where that is known.
        seconds: How long it took.
        checkpoint: The trial whose prefix was started from.
        said: What went wrong, in the words of whoever says so.
    """

    task: str
    kind: str
    stage: str | None = None
    trial: int
    success: bool | None
    protocol: Protocol | None = None
    history: History | None = None
    intervention: Restart | None = None
    reached: list[str] = []
    ended: Ending | None = None
    excluded: str | None = None
    conditions: dict[str, str]
    study: str
    version: int
    seed: int
    turns: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    checkpoint: int | None = None
    said: str | None = None

    @property
    def plan(self) -> TrialPlan:
        """What was planned."""
        return TrialPlan(
            task=self.task,
            stage=self.stage,
            trial=self.trial,
            protocol=self.protocol,
            history=self.history,
            intervention=self.intervention,
        )


class TrialFile:
    """Trials that are kept, one writer alone; see `open_trials`."""

    def __init__(self, file: AppendFile, had: list[Trial]) -> None:
        self._file = file
        self.path = file.path
        self.trials = had

    def write(self, trial: Trial) -> None:
        """Keep a trial; it is safe when this returns."""
        self._file.append(msgspec.json.encode(trial) + b"\n")
        self.trials.append(trial)


@contextmanager
def open_trials(path: Path, digest: str) -> Iterator[TrialFile]:
    """The trials of a frozen study, made where there are none.

    Args:
        path: The file.
        digest: The frozen study's.

    Raises:
        ReadError: The file is something else, cannot be written, or another process writes to it.
        StudyError: It holds trials of another study, or of another version of this one.
    """
    with open_append(
        path,
        "file of trials",
        is_own=lambda start: start.startswith(FIRST_WORDS),
        first_words=FIRST_WORDS,
        is_line=_is_trial,
    ) as file:
        yield TrialFile(file, _had(path, digest))


def _had(path: Path, digest: str) -> list[Trial]:
    had = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                trial = msgspec.json.decode(line, type=Trial)
            except msgspec.DecodeError as problem:
                raise StudyError(f"{path}:{number}: not a trial of a study: {problem}") from problem
            if trial.study != digest:
                raise StudyError(
                    f"{path}:{number}: a trial of study {trial.study[:12]} (version "
                    f"{trial.version}), not of {digest[:12]}; name a new file"
                )
            had.append(trial)
    return had


def _is_trial(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Trial)
    except msgspec.DecodeError:
        return False
    return True
