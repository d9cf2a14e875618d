"""Trials of single stages and of whole tasks: tables, not traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from turncurve.errors import ReadError
from turncurve.readers._rows import Columns, rows
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import as_float, as_int, as_json

T = TypeVar("T")

CONDITIONS = ("model", "prompt", "tools", "memory", "limits")
"""What must be the same in stage trials and end-to-end trials, in this order."""
AGENT = "agent"
"""How the agent is run: a part that trials of `turncurve residual run` name too."""
KINDS = ("stage", "end_to_end")
WHOLE = ("end_to_end", "end-to-end")
"""What may stand for the stage of an end-to-end trial, besides nothing."""
HISTORIES = ("clean", "retained", "compressed", "reset")
NONE = "none"
"""What stands in a cell for a run that was looked at and passed no stage; an empty cell says that
nobody looked."""
SUCCESS, FAILURE = "success", "failure"
"""States that a transition may end in."""
AMOUNTS = ("turns", "tokens", "cost_usd", "seconds")

_TEXTS = frozenset(
    (
        *("task", "stage", "next", "trial", "episode", "family", "protocol", "history"),
        *("intervention", "accepted", "excluded", "study", "kind", *CONDITIONS, AGENT),
    )
)
_COLUMNS = Columns(known=_TEXTS | {"success", "conditions", *AMOUNTS}, text=_TEXTS)
_FIX = "the other records were read"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTrial:
    """One trial of a stage from its checkpoint, or one end-to-end run of a task.

    Attributes:
        file: Where it stands.
        record: Its line, or row, from 1.
        task: What was to be done.
        stage: Which stage was tried by itself; None for an end-to-end run.
        success: Whether the stage's acceptance condition held, or the task was done; None where
            nobody knows.
        next: Of a trial that may go back or branch: the state it went to, `success` or `failure`.
        trial: Its number or seed; a second one of the same kind is a mistake.
        episode: The execution it is part of, where one execution gave several records.
        family: Tasks of one family are alike; None where a task is one by itself.
        protocol: How the stage's checkpoint was made.
        history: What the stage was given of what came before.
        intervention: What was done on purpose to an end-to-end run; None as deployed.
        accepted: Stages whose acceptance condition held on the way of an end-to-end run; None where
            nobody looked.
        excluded: Why it must not count; None where it counts.
        conditions: The agent's configuration by part; only parts that the record names.
        study: Digest of the study file it was made under.
        amounts: Turns, tokens, dollars, seconds, where given.
    """

    file: str
    record: int
    task: str
    stage: str | None
    success: bool | None
    next: str | None = None
    trial: str | None = None
    episode: str | None = None
    family: str | None = None
    protocol: str | None = None
    history: str | None = None
    intervention: str | None = None
    accepted: tuple[str, ...] | None = None
    excluded: str | None = None
    conditions: Mapping[str, str]
    study: str | None = None
    amounts: Mapping[str, float]


class _Wrong(Exception):
    """What is wrong with a record, in words."""


def read_stage_trials(path: Path, on_problem: OnProblem) -> Iterator[StageTrial]:
    """Give the trials of a table: CSV, JSON lines, a JSON list, Parquet; a row a trial.

    Columns are `task`, `stage` (empty or `end_to_end` for an end-to-end run) and `success` (true,
    false, 1, 0; empty where not known), or `next` for a trial that may go back. All else may be
    left out: `trial`, `episode`, `family`, `protocol`, `history` (clean, retained, compressed,
    reset), `intervention`, `accepted` (a list, or names joined by `;`, or `none`), `excluded` (a
    reason), `conditions` (an object of model, prompt, tools, memory, limits) or a column for each
    of these, `study`, and `turns`, `tokens`, `cost_usd`, `seconds`. Records of `turncurve residual
    run` are read as they are: they say `kind`, and `reached` for what a run passed.

    Args:
        path: The file.
        on_problem: Told of each record that is no trial, by file and record.
    """
    for where, row in rows(path, on_problem, _COLUMNS):
        try:
            trial = _trial(path, where, row)
        except _Wrong as problem:
            on_problem(ReadError(path, str(problem), record=where, fix=_FIX))
        else:
            yield trial


def _trial(path: Path, where: int, row: Mapping[str, Any]) -> StageTrial:
    task, stage = _name(row, "task"), _name(row, "stage")
    if task is None:
        raise _Wrong(f"wanted a task, got {row.get('task')!r:.60}")
    stage = None if stage in WHOLE else stage
    kind = _name(row, "kind")
    if kind is not None and kind != KINDS[stage is None]:
        raise _Wrong(f"kind {kind!r:.60} and stage {stage!r:.60} do not agree; give one")
    success, onward = _success(row), _name(row, "next")
    if onward is not None:
        if stage is None:
            raise _Wrong(f"wanted a stage beside next {onward!r:.60}, as it says where from")
        if success is not None and success != (onward == SUCCESS):
            raise _Wrong(f"success {success} and next {onward!r:.60} do not agree; give one")
        success = onward == SUCCESS
    return StageTrial(
        file=str(path),
        record=where,
        task=task,
        stage=stage,
        success=success,
        next=onward,
        trial=_name(row, "trial"),
        episode=_name(row, "episode"),
        family=_name(row, "family"),
        protocol=_of_stage(row, "protocol", stage),
        history=_history(row, stage),
        intervention=_of_whole("intervention", stage, _name(row, "intervention")),
        accepted=_of_whole("accepted", stage, _accepted(row, stage)),
        excluded=_name(row, "excluded"),
        conditions=_conditions(row),
        study=_name(row, "study"),
        amounts=_amounts(row),
    )


def _name(row: Mapping[str, Any], key: str) -> str | None:
    """A text or a whole number as text; None for nothing, an empty text included."""
    value = row.get(key)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        return value.strip()
    number = None if isinstance(value, bool) else as_int(value)
    if number is None:
        raise _Wrong(f"{key}: wanted a text or a whole number, got {value!r:.60}")
    return str(number)


def _success(row: Mapping[str, Any]) -> bool | None:
    value = row.get("success")
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    raise _Wrong(f"success: wanted true, false, 1, 0 or nothing, got {value!r:.60}")


def _history(row: Mapping[str, Any], stage: str | None) -> str | None:
    value = _of_stage(row, "history", stage)
    if value is not None and value not in HISTORIES:
        raise _Wrong(f"history: wanted one of {', '.join(HISTORIES)}, got {value!r:.60}")
    return value


def _of_stage(row: Mapping[str, Any], key: str, stage: str | None) -> str | None:
    """What only a stage trial has: an end-to-end run starts where the task does."""
    return None if stage is None else _name(row, key)


def _of_whole(key: str, stage: str | None, value: T | None) -> T | None:
    if stage is not None and value is not None:
        raise _Wrong(f"{key} belongs to end-to-end runs, and this one is of stage {stage!r:.60}")
    return value


def _accepted(row: Mapping[str, Any], stage: str | None) -> tuple[str, ...] | None:
    value = row.get("accepted")
    if value is None and stage is None and "ended" in row:
        value = row.get("reached", [])  # As trials of a study are kept: an empty list is left out.
    if value is None:
        return None
    if isinstance(value, str):
        names = [part.strip() for part in value.split(";") if part.strip()]
        if not names:
            return None
        names = [] if names == [NONE] else names
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        names = list(value)
    else:
        raise _Wrong(f"accepted: wanted a list of stages, got {value!r:.60}")
    return tuple(dict.fromkeys(names))


def _conditions(row: Mapping[str, Any]) -> dict[str, str]:
    given = row.get("conditions")
    if given is not None and not isinstance(given, dict):
        raise _Wrong(f"conditions: wanted an object, got {given!r:.60}")
    known = (*CONDITIONS, AGENT)
    named = {**{key: row.get(key) for key in known}, **(given or {})}
    for key in named:
        if key not in known:
            raise _Wrong(f"conditions: wanted some of {', '.join(known)}, got {key!r:.60}")
    return {
        key: value if isinstance(value, str) else as_json(value)
        for key, value in named.items()
        if value is not None and value != ""
    }


def _amounts(row: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for key in AMOUNTS:
        if row.get(key) is None:
            continue
        number = as_float(row[key])
        if number is None or number < 0:
            raise _Wrong(f"{key}: wanted a number from 0, got {row[key]!r:.60}")
        found[key] = number
    return found
