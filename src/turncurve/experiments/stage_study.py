"""A study of matched stages: what is tried, from where, by whom, how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

Protocol: TypeAlias = Literal["reference", "harvested", "own_prefix"]
"""Where the state comes from that a stage starts in: a solution made beforehand, one run of the
agent that succeeded, or the accepted prefixes of all its runs. It changes what is estimated."""
History: TypeAlias = Literal["clean", "retained", "compressed", "reset"]
"""What the agent knows of what went before: nothing, for nothing of its own went before; all of
it; a shorter form of it; or nothing any more, though the state is of a run of its own."""
Restart: TypeAlias = Literal["retain", "reset", "compress"]
"""What becomes of the history of a whole run that is stopped and started again at a checkpoint."""
AgentKind: TypeAlias = Literal["command", "callable", "inspect"]
Way: TypeAlias = Literal["command", "test", "file", "json_schema", "callable", "judge"]
Ending: TypeAlias = Literal["accepted", "gave_up", "turns", "tokens", "seconds", "crash"]
"""How a trial ended: accepted, by the agent itself, by a limit, or by an error of the agent."""

PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
HISTORIES: tuple[History, ...] = get_args(History)
RESTARTS: tuple[Restart, ...] = get_args(Restart)
AGENT_KINDS: tuple[AgentKind, ...] = get_args(AgentKind)
WAYS: tuple[Way, ...] = get_args(Way)
EXCLUDABLE: tuple[Ending, ...] = ("turns", "tokens", "seconds", "crash")
"""Endings that a study may leave out instead of counting them as failures."""
PARTS = ("model", "prompt", "tools", "memory", "limits")
"""The parts of an agent's configuration that are held equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """An observable condition that a stage is done.

    Args:
        way: How it is checked.
        command: Words of a command that ends with status 0 where it is; for `command` and `test`.
        file: A file of the work folder; for `file`, `json_schema` and `judge`.
        contains: Text that the file has; None: it is enough that there is one.
        target: `FILE.py@NAME` of a function of the work folder (of Inspect: of the state) to
            bool; for `callable`.
        schema: The JSON Schema that the file keeps.
        criterion: What a judge is asked, yes or no.
        judge: The model that judges, as Inspect names it.
    """

    way: Way
    command: tuple[str, ...] = ()
    file: str | None = None
    contains: str | None = None
    target: str | None = None
    schema: Path | None = None
    criterion: str | None = None
    judge: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The state in which a stage's successor starts, made beforehand.

    Args:
        folder: The work folder once the stage is done; None where it is a store's values.
        history: A file with the history of whoever made it; None: there is none.
        store: Values of Inspect's store once the stage is done.
    """

    folder: Path | None = None
    history: Path | None = None
    store: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A part of a task with a condition that an evaluator can check.

    Args:
        id: Its name, unique in its task.
        goal: What the agent is asked in a trial of this stage alone.
        accept: Whether it is done.
        reference: The state once it is done, where the study makes it beforehand.
    """

    id: str
    goal: str
    accept: Acceptance
    reference: Reference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTask:
    """A task of several stages.

    Args:
        id: Its name, unique in the study; of Inspect, the id of the sample.
        goal: What the agent is asked in a trial of the whole.
        stages: Its parts, in order.
        workspace: The folder that each trial starts in a copy of; None where there is none.
    """

    id: str
    goal: str
    stages: tuple[Stage, ...]
    workspace: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much a trial may take; None: as much as it likes."""

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Who is tried.

    Args:
        kind: How it is run.
        command: Its words; `{goal}`, `{work}`, `{study}`, `{python}` are filled in.
        target: `FILE.py@NAME` of a function; of Inspect, of a solver or an agent.
        model: The model, as Inspect names it.
        configuration: What stays the same in every trial, a value for each of `PARTS`.
        compress: Words of a command that reads a history and writes a shorter one.
    """

    kind: AgentKind
    command: tuple[str, ...] = ()
    target: str | None = None
    model: str | None = None
    configuration: Mapping[str, Any]
    compress: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """What is done to whole runs at declared checkpoints: all are stopped and started again there.

    Args:
        at: Stages before which it is done.
        arms: What becomes of the history, compared with each other.
        trials: Of each arm and task.
    """

    at: tuple[str, ...]
    arms: tuple[Restart, ...]
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStudy:
    """A study of matched stages, whole.

    Args:
        name: Its name.
        version: Counts up where it is changed.
        folder: Where its file stands; paths in it start there.
        tasks: What is tried.
        agent: Who is tried.
        protocols: Where starting states come from; each is tried.
        histories: What is known of what went before; each is tried.
        stage_trials: Of each stage, protocol and history.
        end_to_end_trials: Of each task.
        stage_budget: Of a trial of a stage.
        end_to_end_budget: Of a trial of a task.
        margin: Difference of success rates below which two do not differ in practice.
        exclude: Endings that leave a trial out.
        seed: Of the order of trials and of what each is given.
        intervention: What is done to whole runs besides; None: nothing.
        chain: The states of the checkpoint simulator: each to those that may follow it; empty
            where stages follow each other once.
    """

    name: str
    version: int
    folder: Path
    tasks: tuple[StageTask, ...]
    agent: AgentSpec
    protocols: tuple[Protocol, ...]
    histories: tuple[History, ...]
    stage_trials: int
    end_to_end_trials: int
    stage_budget: Budget
    end_to_end_budget: Budget
    margin: float
    exclude: tuple[Ending, ...]
    seed: int
    intervention: Intervention | None = None
    chain: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def starts(study: StageStudy) -> tuple[tuple[Protocol, History], ...]:
    """The pairs of state and history that stages are started from.

    A state made beforehand has a clean history, or, where the study gives it one with each state,
    one to retain or compress; a state of a run of the agent's is never clean.
    """
    given = [stage.reference for task in study.tasks for stage in task.stages[:-1]]
    has_history = all(one is not None and one.history is not None for one in given)
    of_reference = {"clean", "retained", "compressed"} if has_history else {"clean"}
    return tuple(
        (protocol, history)
        for protocol in study.protocols
        for history in study.histories
        if (history in of_reference if protocol == "reference" else history != "clean")
    )
