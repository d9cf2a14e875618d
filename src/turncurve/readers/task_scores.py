"""Scores of agents on tasks, and how long people take for these tasks: tables, not traces."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._rows import Columns, rows
from turncurve.readers.base import OnProblem
from turncurve.readers.fields import as_float
from turncurve.readers.stream import head, json_document

_AGENT = ("agent", "alias", "model")
_TASK = ("task", "task_id", "scenario")
_FAMILY = ("family", "task_family")
_SCORE = ("score", "score_binarized", "success")
_THRESHOLD = ("threshold",)
_MINUTES = (("minutes", 1.0), ("human_minutes", 1.0), ("hours", 60.0))
_TEXTS = frozenset((*_AGENT, *_TASK, *_FAMILY, *_THRESHOLD))
_NUMBERS = frozenset((*_SCORE, *(name for name, _ in _MINUTES)))
_COLUMNS = Columns(known=_TEXTS | _NUMBERS, text=_TEXTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScore:
    """One run of an agent on a task."""

    agent: str
    task: str
    family: str
    """Tasks of one family are alike; a task that names none is one by itself."""
    score: float
    """0 failed, 1 succeeded, or a part of it."""
    minutes: float | None
    """How long a person takes, where the row says so; 0 or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTime:
    """How long a person takes for a task, or for so much of it."""

    task: str
    minutes: float
    """0 or more."""
    threshold: float | None
    """The score, 0 to 1, that takes a person so long; None where the whole task is meant."""


def read_task_scores(path: Path, on_problem: OnProblem) -> Iterator[TaskScore]:
    """Give the scores of a table, or of one JSON object of agents, their tasks and runs.

    A table (CSV, JSON lines, a JSON list, Parquet) has a row a run: `agent` (or `alias`, `model`),
    `task` (`task_id`, `scenario`), `score` from 0 to 1 (`score_binarized`, `success`), and may have
    `family` (`task_family`) and `minutes` (`human_minutes`, `hours`). The JSON object has
    `{"models": {agent: {"tasks": {task: {"runs": [{"score": ...}]}}}}}`, or `agents` in place of
    `models`.
    """
    for where, row in _score_rows(path, on_problem):
        agent, task, score = _text(row, _AGENT), _text(row, _TASK), _score(row)
        if agent is None or task is None or score is None:
            reason = "wanted an agent, a task and a score from 0 to 1"
            on_problem(ReadError(path, reason, record=where, fix="the other rows were read"))
            continue
        yield TaskScore(
            agent=agent,
            task=task,
            family=_text(row, _FAMILY) or task,
            score=score,
            minutes=_minutes(row),
        )


def read_task_times(path: Path, on_problem: OnProblem) -> Iterator[TaskTime]:
    """Give the times of a table, or of one JSON object of tasks and estimates.

    A table has a row an estimate: `task`, `minutes` (or `human_minutes`, `hours`), and may have
    `threshold`, as `25%` or .25. The JSON object has
    `{task: {"estimates": {source: {threshold: {"hours": ...}}}}}`. Several rows of one task are
    several estimates, all of which count.
    """
    for where, row in _time_rows(path, on_problem):
        task, minutes = _text(row, _TASK), _minutes(row)
        given = row.get("threshold")
        threshold = None if given is None else _share(given)
        if task is None or minutes is None or (given is not None and threshold is None):
            reason = "wanted a task, minutes or hours of 0 or more, and a threshold from 0 to 1"
            on_problem(ReadError(path, reason, record=where, fix="the other rows were read"))
            continue
        yield TaskTime(task=task, minutes=minutes, threshold=threshold)


def _score_rows(path: Path, on_problem: OnProblem) -> Iterator[tuple[str | int, Mapping[str, Any]]]:
    document = _one_object(path)
    agents = as_mapping(document.get("models")) or as_mapping(document.get("agents"))
    if not agents:
        yield from rows(path, on_problem, _COLUMNS)
        return
    for agent, entry in agents.items():
        for task, results in as_mapping(as_mapping(entry).get("tasks")).items():
            for number, run in enumerate(as_list(as_mapping(results).get("runs"))):
                where = f"{agent}.{task}.runs[{number}]"
                yield where, {**as_mapping(run), "agent": agent, "task": task}


def _time_rows(path: Path, on_problem: OnProblem) -> Iterator[tuple[str | int, Mapping[str, Any]]]:
    document = _one_object(path)
    if not any("estimates" in as_mapping(entry) for entry in document.values()):
        yield from rows(path, on_problem, _COLUMNS)
        return
    for task, entry in document.items():
        for source, estimates in as_mapping(as_mapping(entry).get("estimates")).items():
            # Estimates of several sources, or those of one without its name.
            given = as_mapping(estimates)
            inner = {source: given} if "hours" in given or "minutes" in given else given
            for threshold, time in inner.items():
                where = f"{task}.{source}.{threshold}"
                yield where, {**as_mapping(time), "task": task, "threshold": threshold}


def _one_object(path: Path) -> dict[str, Any]:
    """The file if it is one JSON object, else an empty one: a table then."""
    if not head(path, 4096).lstrip().startswith(b"{"):
        return {}
    try:
        return as_mapping(json_document(path, lambda _: None))
    except ReadError:
        return {}


def _text(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _score(row: Mapping[str, Any]) -> float | None:
    for name in _SCORE:
        value = row.get(name)
        if isinstance(value, bool):
            return float(value)
        number = as_float(value)
        if number is not None:
            return number if 0 <= number <= 1 else None
    return None


def _minutes(row: Mapping[str, Any]) -> float | None:
    for name, unit in _MINUTES:
        number = as_float(row.get(name))
        if number is not None:
            return number * unit if number >= 0 else None
    return None


def _share(value: object) -> float | None:
    """`25%`, `.25` or 0.25 as .25."""
    unit = 1.0
    if isinstance(value, str):
        text = value.strip()
        unit = 0.01 if text.endswith("%") else 1.0
        try:
            value = float(text.rstrip("% "))
        except ValueError:
            return None
    number = as_float(value)
    share = None if number is None else number * unit
    return share if share is not None and math.isfinite(share) and 0 <= share <= 1 else None
