"""Terminal-Bench results: one file a run of the suite, one trial of a task each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from turncurve.errors import ReadError
from turncurve.model import ExitType, Run, Totals
from turncurve.readers._items import as_list, as_mapping
from turncurve.readers._outcomes import exit_events
from turncurve.readers.absent import absent_signals
from turncurve.readers.base import OnProblem, Reader
from turncurve.readers.fields import as_count, as_name, parse_time
from turncurve.readers.stream import json_document

_RESULTS, _METADATA = "results.json", "run_metadata.json"
_START = re.compile(rb"\s*\{")
_KEYS = (b'"results"', b'"task_id"', b'"is_resolved"')
_TRIAL_NAME = re.compile(r"\.(\d{1,6})-of-\d{1,6}\.(.+)$")
_FINISHED = frozenset({"unset", "none", ""})
_BUDGET = frozenset({"agent_timeout", "context_length_exceeded", "output_length_exceeded"})
"""Failure modes that say the agent ran out of something."""

_SPELLS = {
    "the agent": ("agent_started_at", "agent_ended_at"),
    "the trial": ("trial_started_at", "trial_ended_at"),
}

_NO_TURNS = "Terminal-Bench results hold no turns: what the agent did is a recorded terminal"
_ABSENT = dict.fromkeys(
    (
        *("quality", "error", "context_tokens", "cached_input_tokens", "output_tokens"),
        *("reasoning_tokens", "cost_usd", "started_at", "seconds", "format_error", "compaction"),
    ),
    _NO_TURNS,
)


def looks_like(head: bytes, path: Path) -> bool:
    """Whether a JSON object has results of tasks that say whether each is resolved."""
    del path
    return bool(_START.match(head)) and all(key in head for key in _KEYS)


def read(path: Path, on_problem: OnProblem) -> Iterator[Run]:
    """Give each trial as a run without turns."""
    try:
        document = as_mapping(json_document(path, on_problem))
    except ReadError as problem:
        on_problem(problem)
        return
    if not isinstance(document.get("results"), list):
        got = type(document.get("results")).__name__
        on_problem(ReadError(path, f"wanted a list under `results`, got {got}", record="results"))
    ids, (agent, model) = set[str](), _agent_beside(path)
    for place, trial in enumerate(as_list(document.get("results"))):
        where = f"results[{place}]"
        if not isinstance(trial, dict) or as_name(trial.get("task_id")) is None:
            reason = f"wanted a trial with a task_id, got {type(trial).__name__}"
            fix = "the other trials were read"
            on_problem(ReadError(path, reason, record=where, fix=fix))
            continue
        run = _run(trial, where, path, ids)
        ids.add(run.id)
        yield replace(run, condition=agent, model=model)


def _told_elsewhere(_: ReadError) -> None:
    """A repair of a file beside the results is no problem of the results."""


def _agent_beside(path: Path) -> tuple[str | None, str | None]:
    """The agent and its model by the `run_metadata.json` of the same run of the suite."""
    beside = path.with_name(path.name.replace(_RESULTS, _METADATA))
    if beside == path or not beside.is_file():
        return None, None
    try:
        told = as_mapping(json_document(beside, _told_elsewhere))
    except ReadError:
        return None, None
    return as_name(told.get("agent_name")), as_name(told.get("model_name"))


def _run(trial: dict[str, Any], where: str, path: Path, ids: set[str]) -> Run:
    name, task = as_name(trial.get("trial_name")), as_name(trial.get("task_id"))
    match = _TRIAL_NAME.search(name or "")
    mode = as_name(trial.get("failure_mode")) or "unset"
    resolved = trial.get("is_resolved")
    success = resolved if isinstance(resolved, bool) else None
    exit_ = _exit_type(mode, success=success)
    run_id = name or f"{task}/{where}"
    return Run(
        id=run_id if run_id not in ids else f"{run_id}/{where}",
        turns=(),
        format="terminal_bench",
        path=str(path),
        record=where,
        scenario=task,
        trial=int(match[1]) or None if match else None,
        exit_type=exit_,
        exit_text=mode,
        success=success,
        events=exit_events(exit_, mode, 0),
        totals=_totals(trial),
        absent=absent_signals((), _ABSENT),
        notes=tuple(_notes(trial, mode, success=success)),
    )


def _exit_type(mode: str, *, success: bool | None) -> ExitType:
    """A time-out is the budget's end, whatever the tests found; other failures are no outcome."""
    if mode in _BUDGET:
        return ExitType.BUDGET
    if mode in _FINISHED:
        return ExitType.finished(success)
    return ExitType.finished(success) if success else ExitType.CRASH


def _totals(trial: dict[str, Any]) -> Totals | None:
    """Tokens of the trial; most agents report none, which is written as 0."""
    given = as_count(trial.get("total_input_tokens")), as_count(trial.get("total_output_tokens"))
    if not any(given):
        return None
    return Totals(input_tokens=given[0], output_tokens=given[1])


def _notes(trial: dict[str, Any], mode: str, *, success: bool | None) -> Iterator[str]:
    if not any(as_count(trial.get(f"total_{side}_tokens")) for side in ("input", "output")):
        yield "0 tokens are what an agent leaves that counts none, so tokens are absent"
    for who, (start, end) in _SPELLS.items():
        began, over = parse_time(trial.get(start)), parse_time(trial.get(end))
        if began is not None and over is not None and over >= began:
            yield f"{who} ran for {over - began:.0f} s, from {trial[start]}"
    if success is None:
        yield f"no outcome: the tests gave none ({mode})"


READER = Reader(
    name="terminal_bench",
    title="Terminal-Bench results (results.json)",
    recognised_by="a JSON object of results whose trials have a task_id and is_resolved",
    looks_like=looks_like,
    read=read,
    companions=(_METADATA, f"*{_METADATA}"),
    no_run="Terminal-Bench results without a trial",
)
