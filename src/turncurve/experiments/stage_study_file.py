"""Study files: YAML to a study of matched stages, checked key by key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TypeVar, cast

from turncurve.errors import StudyError
from turncurve.experiments.acceptance_file import acceptance
from turncurve.experiments.stage_study import (
    AGENT_KINDS,
    EXCLUDABLE,
    HISTORIES,
    PARTS,
    PROTOCOLS,
    RESTARTS,
    AgentSpec,
    Budget,
    Intervention,
    Reference,
    Stage,
    StageStudy,
    StageTask,
    starts,
)
from turncurve.ingest.yaml_entry import Entry, yaml_entry, yaml_text

MOST_CHARACTERS = 1_000_000
MOST_TASKS = 1_000
MOST_STAGES = 100
END_STATES = ("success", "failure")
"""Where the checkpoint simulator ends."""
_KEYS = frozenset(
    {"name", "version", "margin", "trials", "protocols", "histories", "budgets"}
    | {"agent", "exclude", "seed", "intervention", "chain", "tasks"}
)
W = TypeVar("W", bound=str)


def study_text(kind: str) -> str:
    """A study file to change, for an agent of a kind.

    Raises:
        StudyError: There is no such kind.
    """
    if kind not in AGENT_KINDS:
        raise StudyError(f"no kind of agent {kind!r}; known: {', '.join(AGENT_KINDS)}")
    return (files("turncurve.experiments") / "studies" / f"{kind}.yaml").read_text("utf-8")


def load_study(path: Path) -> StageStudy:
    """The study of a file.

    Raises:
        StudyError: The file does not say what it should; the message names the key and what was
            wanted.
    """
    text = yaml_text(path, StudyError)
    entry = yaml_entry(text, str(path), StudyError, most_characters=MOST_CHARACTERS)
    entry.only(_KEYS)
    folder = path.resolve().parent
    trials = entry.mapping("trials")
    trials.only(frozenset({"stage", "end_to_end"}))
    budgets = _maybe(entry, "budgets")
    budgets.only(frozenset({"stage", "end_to_end"}))
    agent = _agent(entry.mapping("agent"))
    study = StageStudy(
        name=entry.name(),
        version=entry.count("version"),
        folder=folder,
        tasks=_tasks(entry, folder, has_store=agent.kind == "inspect"),
        agent=agent,
        protocols=_words(entry, "protocols", PROTOCOLS, ("reference",)),
        histories=_words(entry, "histories", HISTORIES, ("clean",)),
        stage_trials=trials.count("stage"),
        end_to_end_trials=trials.count("end_to_end"),
        stage_budget=_budget(_maybe(budgets, "stage")),
        end_to_end_budget=_budget(_maybe(budgets, "end_to_end")),
        margin=_share(entry, "margin"),
        exclude=_words(entry, "exclude", EXCLUDABLE, ()),
        seed=_seed(entry),
        intervention=_intervention(entry),
        chain=_chain(entry),
    )
    _check_starts(study, entry)
    _check_intervention(study, entry)
    return study


def _maybe(entry: Entry, key: str) -> Entry:
    """The mapping under a key that may be absent."""
    if entry.values.get(key) is None:
        return Entry(f"{entry.where}, {key}", {}, entry.error)
    return entry.mapping(key)


def _words(entry: Entry, key: str, known: Sequence[W], default: tuple[W, ...]) -> tuple[W, ...]:
    value = entry.values.get(key)
    if value is None or value == list(default):
        return default
    if not isinstance(value, list) or len(set(map(str, value))) < max(1, len(value)):
        raise entry.wrong(key, f"a list, each at most once, of {', '.join(known)}")
    if any(one not in known for one in value):
        raise entry.wrong(key, f"some of {', '.join(known)}")
    return tuple(cast(W, one) for one in value)


def _share(entry: Entry, key: str) -> float:
    value = entry.values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise entry.wrong(key, "a difference of success rates between 0 and 1, as 0.1")
    return float(value)


def _seed(entry: Entry) -> int:
    value = entry.values.get("seed", 0)
    if type(value) is not int or value < 0:
        raise entry.wrong("seed", "a whole number from 0")
    return value


def _budget(entry: Entry) -> Budget:
    entry.only(frozenset({"turns", "tokens", "seconds"}))
    seconds = entry.values.get("seconds")
    if seconds is not None and (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not 0 < seconds < math.inf
    ):
        raise entry.wrong("seconds", "a number above 0")
    return Budget(
        turns=entry.count("turns") if "turns" in entry.values else None,
        tokens=entry.count("tokens") if "tokens" in entry.values else None,
        seconds=None if seconds is None else float(seconds),
    )


def _agent(entry: Entry) -> AgentSpec:
    kind = entry.one_of("kind", AGENT_KINDS)
    own = {"command": {"command"}, "callable": {"target"}, "inspect": {"target", "model"}}[kind]
    entry.only(frozenset({"kind", "configuration", "compress", *own}))
    configuration = entry.mapping("configuration")
    configuration.only(frozenset(PARTS))
    for part in PARTS:
        if part not in configuration.values:
            raise configuration.wrong(part, "what it is in every trial, or none")
    if kind == "inspect" and "compress" in entry.values:
        raise entry.wrong("compress", "nothing: histories of Inspect are messages, not files")
    return AgentSpec(
        kind=kind,  # type: ignore[arg-type] # one of AGENT_KINDS
        command=entry.words("command") if kind == "command" else (),
        target=entry.text("target") if "target" in own else None,
        model=entry.text("model") if kind == "inspect" else None,
        configuration=configuration.values,
        compress=entry.words("compress") if "compress" in entry.values else (),
    )


def _tasks(entry: Entry, folder: Path, *, has_store: bool) -> tuple[StageTask, ...]:
    found: dict[str, StageTask] = {}
    for one in entry.entries("tasks", "task", MOST_TASKS):
        one.only(frozenset({"id", "goal", "workspace", "stages"}))
        task = StageTask(
            id=one.name("id"),
            goal=one.text("goal"),
            stages=_stages(one, folder, has_store=has_store),
            workspace=_folder(one, "workspace", folder) if "workspace" in one.values else None,
        )
        if task.id in found:
            raise one.wrong("id", "a name used once")
        found[task.id] = task
    return tuple(found.values())


def _stages(entry: Entry, folder: Path, *, has_store: bool) -> tuple[Stage, ...]:
    found: dict[str, Stage] = {}
    for one in entry.entries("stages", "stage", MOST_STAGES):
        one.only(frozenset({"id", "goal", "accept", "reference"}))
        stage = Stage(
            id=one.name("id"),
            goal=one.text("goal"),
            accept=acceptance(one.mapping("accept"), folder, in_inspect=has_store),
            reference=_reference(one.mapping("reference"), folder, has_store=has_store)
            if "reference" in one.values
            else None,
        )
        if stage.id in found:
            raise one.wrong("id", "a name used once in the task")
        found[stage.id] = stage
    return tuple(found.values())


def _reference(entry: Entry, folder: Path, *, has_store: bool) -> Reference:
    if has_store:
        entry.only(frozenset({"store"}))
        return Reference(store=entry.mapping("store").values)
    entry.only(frozenset({"folder", "history"}))
    history = entry.values.get("history")
    if history is not None and not (folder / entry.text("history")).is_file():
        raise entry.wrong("history", f"a file, from {folder}")
    return Reference(
        folder=_folder(entry, "folder", folder),
        history=None if history is None else folder / str(history),
    )


def _folder(entry: Entry, key: str, start: Path) -> Path:
    found = start / entry.text(key)
    if not found.is_dir():
        raise entry.wrong(key, f"a folder, from {start}")
    return found


def _intervention(entry: Entry) -> Intervention | None:
    if entry.values.get("intervention") is None:
        return None
    given = entry.mapping("intervention")
    given.only(frozenset({"at", "arms", "trials"}))
    at = given.values.get("at")
    if not isinstance(at, list) or not at or not all(isinstance(one, str) for one in at):
        raise given.wrong("at", "a list of stages")
    arms = _words(given, "arms", RESTARTS, ())
    if len(arms) < 2:
        raise given.wrong("arms", f"two or more of {', '.join(RESTARTS)}")
    return Intervention(at=tuple(at), arms=arms, trials=given.count("trials"))


def _chain(entry: Entry) -> dict[str, tuple[str, ...]]:
    if entry.values.get("chain") is None:
        return {}
    given = entry.mapping("chain")
    known = {*map(str, given.values), *END_STATES}
    chain: dict[str, tuple[str, ...]] = {}
    for state, follow in given.values.items():
        if state in END_STATES or not isinstance(follow, list) or not follow:
            raise given.wrong(state, "the states that may follow; nothing follows an end")
        if any(one not in known for one in follow):
            raise given.wrong(state, f"some of {', '.join(sorted(known))}")
        chain[str(state)] = tuple(map(str, follow))
    return chain


def _check_starts(study: StageStudy, entry: Entry) -> None:
    """Each protocol and each history must lead to trials, from states that there are."""
    if "reference" in study.protocols:
        for task in study.tasks:
            _check_references(task, entry)
    pairs = starts(study)
    for protocol in study.protocols:
        if not any(one == protocol for one, _ in pairs):
            fits = "clean" if protocol == "reference" else "retained, compressed or reset"
            raise entry.wrong("histories", f"one that goes with the protocol {protocol}: {fits}")
    for history in study.histories:
        if not any(one == history for _, one in pairs):
            fits = "reference" if history == "clean" else "harvested or own_prefix"
            raise entry.wrong("protocols", f"one that goes with the history {history}: {fits}")
    if "compressed" in study.histories and not study.agent.compress:
        raise StudyError(f"{entry.where}, agent: compressed histories need the key 'compress'")


def _check_references(task: StageTask, entry: Entry) -> None:
    for stage in task.stages[:-1]:
        if stage.reference is None:
            raise StudyError(
                f"{entry.where}, task {task.id}, stage {stage.id}: the protocol reference needs "
                "the key 'reference': the state once the stage is done"
            )


def _check_intervention(study: StageStudy, entry: Entry) -> None:
    if study.intervention is None:
        return
    for task in study.tasks:
        later = [stage.id for stage in task.stages[1:]]
        for at in study.intervention.at:
            if at not in later:
                raise StudyError(
                    f"{entry.where}, intervention: task {task.id} has no stage {at!r} after its "
                    f"first; it has {', '.join(later) or 'none'}"
                )
    if "compress" in study.intervention.arms and not study.agent.compress:
        raise StudyError(f"{entry.where}, agent: the arm compress needs the key 'compress'")
